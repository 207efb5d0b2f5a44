"""Fusion beside its peers on the public claim sets, and time and memory against claims.

Run by itself it prints the table:  python benchmarks/bench_fusion.py [FOLDER OF THE CLAIM SETS]
"""

from __future__ import annotations

import importlib.util
import os
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from partita.app.fuse import fuse_claims
from partita.evaluation.calibration import reliability, reliability_error
from partita.evaluation.fusion import SlotMeasure
from partita.evaluation.rows import table
from partita.fusion.claims import Claims
from partita.fusion.fuse import FusionSettings, fuse_slots
from partita.options import FuseOptions

CLAIMS = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "claims"
PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "fusion.svg"
SIZES = (10_000, 100_000, 1_000_000)
SOURCES = (10, 100, 1000)
STEEPEST = 14.0  # ratio of times where claims and sources are ten times as many
GIGABYTES = 2
DAWID_SKENE = "Dawid–Skene, crowd-kit, 100 rounds"
Row = tuple[str, str, float | None, float | None, float | None]


def measured(paths: list[Path], **wanted: object) -> SlotMeasure:
    [found] = fuse_claims(paths, FuseOptions(**wanted)).measured  # type: ignore[arg-type]
    return found


def crowd_product(folder: Path) -> Iterator[Row]:
    answers, truth = folder / "answer.csv", folder / "truth.csv"
    plain = measured([answers], truth=truth)
    paired = measured([answers], truth=truth, one_to_one="_")
    yield "crowd-product", "vote", plain.vote, plain.vote_f_same, None
    yield "crowd-product", "best source, of all questions", plain.best, None, None
    yield "crowd-product", DAWID_SKENE, *crowd_kit(answers, truth)
    yield "crowd-product", "fused", plain.accuracy, plain.f_same, plain.error
    yield "crowd-product", "fused, one to one", paired.accuracy, paired.f_same, paired.error


def birthplaces(folder: Path) -> Iterator[Row]:
    asked = {"truth": folder / "groundtruths.csv", "hierarchy": folder / "hierarchy.csv"}
    found = measured([folder / "claims.csv"], **asked)
    flat = measured([folder / "claims.csv"], truth=asked["truth"], kinds={"": "open"})
    yield "birthplaces", "vote", found.vote, None, None
    yield "birthplaces", f"best source, {found.best_source}", found.best, None, None
    yield "birthplaces", "fused without the hierarchy", flat.accuracy, None, flat.error
    yield "birthplaces", "fused", found.accuracy, None, found.error
    yield "birthplaces", "at least one source is right", found.possible, None, None


def book(folder: Path) -> Iterator[Row]:
    found = measured(
        [folder / "book.txt"],
        truth=folder / "book_golden.txt",
        columns=("source", "object", "-", "authors"),
        kinds=("people",),
    )
    yield "book", "vote (on sets of persons)", found.vote, None, None
    yield "book", "best source", found.best, None, None
    yield "book", "fused", found.accuracy, None, found.error
    yield "book", "at least one source is right", found.possible, None, None


def crowd_kit(answers: Path, truth: Path) -> tuple[float | None, float | None, float | None]:
    """Accuracy, F of "same" and reliability error of the peer, if it is installed."""
    if importlib.util.find_spec("crowdkit") is None:
        return None, None, None
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    said = pd.read_csv(answers).set_axis(["task", "worker", "label"], axis=1)
    true = pd.read_csv(truth).set_axis(["task", "label"], axis=1).set_index("task").label
    shares = DawidSkene(n_iter=100).fit_predict_proba(said).reindex(true.index)
    same, right = (shares[1] > 0.5).to_numpy(), (true == 1).to_numpy()
    f = 2 * (same & right).sum() / (same.sum() + right.sum())
    stated = np.concatenate([shares[1].to_numpy(), shares[0].to_numpy()])
    error = reliability_error(reliability(stated, np.concatenate([right, ~right])))
    return float((same == right).mean()), float(f), error


def rows(folder: Path) -> Iterator[Row]:
    for name, make in (("crowd-product", crowd_product), ("birthplaces", birthplaces),
                       ("book", book)):  # fmt: skip
        yield from make(folder / name)


def printed(found: Sequence[Row]) -> str:
    """Return the table in Markdown; the name of the claims stands in its first row alone."""
    lines, previous = [], ""
    for name, method, *figures in found:
        cells = ("" if value is None else f"{value:.4f}".removeprefix("0") for value in figures)
        missing = figures[0] is None
        method = f"{method}, not installed: pip install 'partita[bench]'" if missing else method
        lines.append(["" if name == previous else name, method, *cells])
        previous = name
    return table(["claims", "method", "accuracy", 'F of "same"', "error"], lines)


def made(claims: int, sources: int, seed: int = 0) -> Claims:
    """Sources of many reliabilities about a tenth as many objects, of ten thousand values."""
    rng = np.random.default_rng(seed)
    objects = claims // 10
    source, thing = rng.integers(0, sources, claims), rng.integers(0, objects, claims)
    truth = rng.integers(0, 10_000, objects)
    knows = rng.random(claims) < rng.beta(6, 3, sources)[source]
    value = np.where(knows, truth[thing], rng.integers(0, 10_000, claims))
    nothing = np.zeros(claims, dtype=np.int64)
    return Claims(
        objects=[f"o{n}" for n in range(objects)],
        slots=["value"],
        sources=[f"s{n}" for n in range(sources)],
        values=[str(n) for n in range(10_000)],
        object=thing,
        slot=nothing,
        source=source,
        value=value,
        confidence=np.ones(claims),
        file=nothing,
        line=np.arange(claims),
    )


def used(claims: int, sources: int) -> tuple[float, float]:
    """Return CPU seconds to fuse simulated claims, and the largest memory so far in GB."""
    given = made(claims, sources)
    start = time.process_time()
    fuse_slots(given, FusionSettings(kinds={"": "open"}))
    seconds = time.process_time() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


@pytest.mark.corpus
def test_table() -> None:
    if not CLAIMS.is_dir():
        pytest.skip(f"{CLAIMS} is not there")
    found = list(rows(CLAIMS))
    print("\n" + printed(found))
    best = {(name, method): accuracy for name, method, accuracy, _, _ in found}
    assert best["crowd-product", "fused, one to one"] > best["crowd-product", "fused"]
    assert best["crowd-product", "fused"] >= (best["crowd-product", DAWID_SKENE] or 0)


def test_draw_time_against_claims_and_sources() -> None:
    used(SIZES[0], SOURCES[0])  # what is loaded on the way is not counted
    rows = [(n, m, *used(n, m)) for n in SIZES for m in SOURCES]
    draw(rows)
    cells = [[f"{n:,}", f"{m:,}", f"{s:.1f}", f"{gb:.2f}"] for n, m, s, gb in rows]
    print("\n" + table(["claims", "sources", "CPU seconds", "GB"], cells))
    seconds = {(n, m): s for n, m, s, _ in rows}
    for (n, m), (n2, m2) in pairwise(zip(SIZES, SOURCES, strict=True)):
        assert seconds[n2, m2] / seconds[n, m] < STEEPEST, (n, m)
    assert rows[-1][3] < GIGABYTES


def draw(rows: Sequence[tuple[int, int, float, float]]) -> None:
    """Draw CPU seconds against claims, a line for each number of sources."""
    import altair as alt

    values = [{"claims": n, "sources": f"{m:,}", "seconds": s} for n, m, s, _ in rows]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("claims:Q", title="claims", scale=alt.Scale(type="log")),
            y=alt.Y("seconds:Q", title="CPU seconds, everything", scale=alt.Scale(type="log")),
            color=alt.Color("sources:N", sort=[f"{m:,}" for m in SOURCES]),
        )
        .properties(width=520, height=320)
    )
    chart.save(PICTURE)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CLAIMS
    print(printed(list(rows(folder))))

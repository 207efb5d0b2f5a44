"""Draw how long the main jobs take by their size: every set size, words of a text, scored pairs.

    python benchmarks/growth_curves.py [--out FOLDER]

Each point is the least CPU time of a few runs in this process, divided by that of NumPy multiplying
two matrices of 500 rows measured beside it, so that the curves of two machines can be compared.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import altair as alt
import numpy as np
import pandas

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

import partita  # noqa: E402
from bench_growth import LARGEST, SMALLEST, pairs_of  # noqa: E402
from bench_text import book  # noqa: E402
from oracles.instances import uniform_pairs  # noqa: E402
from partita.configurations.solve import solve_set  # noqa: E402

WORDS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
PAIRS = (100, 1_000, 10_000, 100_000, 1_000_000)
ROUNDS = 3
LONG = 5.0  # seconds from which a size is measured once
TITLES = {
    "n": "records in one dense set, exact",
    "words": "words of ordinary text (run)",
    "pairs": "scored pairs (cluster)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    out: Path = parser.parse_args().out
    rows = [
        {"job": job, "size": size, "ratio": ratio}
        for job, sizes in (("n", dense_sets()), ("words", texts()), ("pairs", scores()))
        for size, ratio in sizes
    ]
    print(json.dumps(rows, indent=1))
    charts = [chart(job, title, rows) for job, title in TITLES.items()]
    alt.hconcat(*charts).save(out / "growth.svg")


def chart(job: str, title: str, rows: list[dict[str, object]]) -> alt.Chart:
    """Return the curve of one job, both axes logarithmic but for the size of a set."""
    scale = alt.Scale(type="linear" if job == "n" else "log")
    frame = pandas.DataFrame([row for row in rows if row["job"] == job])
    return (
        alt.Chart(frame, width=250, height=220)
        .mark_line(point=True)
        .encode(
            x=alt.X("size:Q", title=title, scale=scale),
            y=alt.Y(
                "ratio:Q", title="CPU time, product of matrices = 1", scale=alt.Scale(type="log")
            ),
        )
    )


def measured(work: Callable[[], object]) -> float:
    """Return the least CPU time of a job as a multiple of a product of matrices."""
    matrix = np.random.default_rng(0).random((500, 500))
    least = unit = np.inf
    for _ in range(ROUNDS):
        unit = min(unit, seconds(lambda: matrix @ matrix))
        least = min(least, seconds(work))
        if least > LONG:
            break
    return least / unit


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def dense_sets() -> Iterator[tuple[int, float]]:
    rng = np.random.default_rng(0)
    for n in range(SMALLEST, LARGEST + 1):
        pairs = pairs_of(uniform_pairs(n, 0.05, 0.95, rng))
        solve_set(pairs, method="exact")  # loads or compiles
        yield n, measured(lambda pairs=pairs: solve_set(pairs, method="exact"))  # type: ignore[misc]


def texts() -> Iterator[tuple[int, float]]:
    partita.run("Anna met Per. She greeted him.")
    for words in WORDS:
        text = book(words)
        yield words, measured(lambda text=text: partita.run(text))  # type: ignore[misc]


def scores() -> Iterator[tuple[int, float]]:
    rng = np.random.default_rng(0)
    for count in PAIRS:
        left = rng.integers(0, count, count)
        frame = pandas.DataFrame(
            {
                "left": left,
                "right": left + rng.integers(1, 4, count),
                "probability": rng.beta(0.3, 0.3, count),
            }
        ).drop_duplicates(["left", "right"])
        yield count, measured(lambda frame=frame: partita.cluster(frame))  # type: ignore[misc]


if __name__ == "__main__":
    main()

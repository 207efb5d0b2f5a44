"""Pair scores to clusters: a million in some 70,000 sets, a long chain, one huge component."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

import partita
from partita.tables.writing import write_table

PAIRS = 1_000_000


def scores(rng: np.random.Generator, sizes: tuple[int, int], chosen: float) -> pd.DataFrame:
    """Sets of records that are connected; a share of the other pairs is listed as well."""
    columns: list[tuple[np.ndarray, ...]] = []
    rows = records = 0
    while rows < PAIRS:
        n = int(rng.integers(*sizes))
        a, b = np.triu_indices(n, 1)
        kept = (rng.random(len(a)) < chosen) | (b == a + 1)
        a, b = a[kept], b[kept]
        entity = rng.integers(0, max(1, n // 2), n)
        log_odds = rng.normal(np.where(entity[a] == entity[b], 3.0, -2.0), 2.0)
        columns.append((a + records, b + records, 1.0 / (1.0 + np.exp(-log_odds))))
        rows, records = rows + len(a), records + n
    left, right, p = map(np.concatenate, zip(*columns, strict=True))
    names = np.array([f"r{n:07d}" for n in range(records)])
    order = rng.permutation(len(left))
    frame = {"left": names[left], "right": names[right], "probability": p}
    return pd.DataFrame(frame).iloc[order]


def components(path: Path) -> int:
    frame = pd.read_csv(path)
    codes, names = pd.factorize(np.concatenate([frame.left.to_numpy(), frame.right.to_numpy()]))
    ends = codes[: len(frame)], codes[len(frame) :]
    graph = coo_matrix((np.ones(len(frame)), ends), shape=(len(names), len(names)))
    return int(connected_components(graph, directed=False)[0])


def clustered(path: Path) -> int:
    clusters = partita.cluster(path)
    write_table(path.with_name("clusters.csv"), clusters.columns("clusters"))
    return clusters.summary.sets


def seconds(action: Callable[[Path], int], path: Path) -> tuple[float, int]:
    start = time.process_time()
    sets = action(path)
    return time.process_time() - start, sets


@pytest.mark.parametrize(
    ("sizes", "chosen", "title"),
    [((2, 10), 1.0, "2 to 9, all compared"), ((2, 15), 0.3, "2 to 14"), ((2, 24), 0.1, "2 to 23")],
)
def test_a_million_scores(
    sizes: tuple[int, int], chosen: float, title: str, tmp_path: Path, ratio: Callable[..., None]
) -> None:
    path = tmp_path / "scores.csv"
    frame = scores(np.random.default_rng(0), sizes, chosen)
    frame.to_csv(path, index=False)
    small = tmp_path / "small.csv"
    frame.iloc[:1000].to_csv(small, index=False)
    clustered(small)  # compile
    base = min(seconds(components, path)[0] for _ in range(3))
    own, sets = seconds(clustered, path)
    ratio(f"clusters, {sets:,} sets of {title}", own / base, "read_csv and components", 60.0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 << 20


def chain(path: Path, records: int, width: int, rng: np.random.Generator) -> None:
    """Write scores of neighbours in a long chain of entities of three; links between are weak."""
    left = np.repeat(np.arange(records), width)
    right = left + np.tile(np.arange(1, width + 1), records)
    kept = right < records
    left, right = left[kept], right[kept]
    log_odds = rng.normal(np.where(left // 3 == right // 3, 3.0, -3.0), 1.5)
    names = np.array([f"r{n:06d}" for n in range(records)])
    frame = {"left": names[left], "right": names[right]}
    pd.DataFrame(frame | {"probability": 1.0 / (1.0 + np.exp(-log_odds))}).to_csv(path, index=False)


def command(*arguments: object) -> tuple[float, float, str]:
    """Run partita; return its CPU seconds, its largest memory in GB, and what it printed."""
    timed = ["/usr/bin/time", "-f", "%U %S %M", sys.executable, "-m", "partita"]
    run = subprocess.run([*timed, *map(str, arguments)], check=True, capture_output=True, text=True)
    user, system, kilobytes = map(float, run.stderr.split()[-3:])
    return user + system, kilobytes / (1 << 20), run.stdout


def test_a_chain_of_five_thousand(tmp_path: Path, ratio: Callable[..., None]) -> None:
    """Weak links join all records: exact in the model of pairs, and clustered."""
    path = tmp_path / "chain.csv"
    chain(path, 5_000, 4, np.random.default_rng(0))
    seconds, memory, _ = command(
        "solve", path, "--seconds", "30", "--out", tmp_path / "solved.jsonl"
    )
    (answer,) = map(json.loads, (tmp_path / "solved.jsonl").read_text().splitlines())
    assert answer["method"] == "exact"
    ratio(f"chain of 5,000, solve: exact, {memory:.1f} GB", seconds, "CPU seconds", 30.0)
    out = tmp_path / "clusters.csv"
    seconds, memory, shown = command("cluster", path, "--link-above", "0", "--out", out)
    assert "in 1 set," in shown
    assert len(pd.read_csv(out)) == 5_000
    ratio(f"chain of 5,000, cluster: {memory:.1f} GB", seconds, "CPU seconds", 30.0)


def test_a_component_of_100_000(tmp_path: Path, ratio: Callable[..., None]) -> None:
    path, out = tmp_path / "chain.csv", tmp_path / "clusters.csv"
    chain(path, 100_000, 4, np.random.default_rng(0))
    seconds, memory, shown = command("cluster", path, "--link-above", "0", "--out", out, "--json")
    summary = json.loads(shown)
    assert (summary["sets"], summary["records"], summary["largest_set"]) == (1, 100_000, 100_000)
    assert len(pd.read_csv(out)) == 100_000
    cut = f"{summary['cut_pairs']:,} pairs cut, {summary['cut_true_pairs']:,.0f} true"
    ratio(f"component of 100,000: {cut}, {memory:.1f} GB", seconds, "CPU seconds")
    assert memory <= 4.0

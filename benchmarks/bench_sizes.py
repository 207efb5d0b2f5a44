"""Beyond dense tables: sparse, sharp, typed and batched sets beside the naive way."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from bench_exact import child_seconds
from naive import naive, naive_seconds
from oracles.instances import log_odds, planted_pairs, symmetric, uniform_pairs
from partita.configurations.solve import solve_set
from partita.configurations.solve_batch import solve_many
from partita.configurations.sparse.order import plan_elimination
from partita.configurations.sparse.posterior import eliminate_exactly
from partita.core import CoreferenceSet, Distribution, FloatArray, PairProbabilities

Ratio = Callable[..., None]


def pairs_of(p: FloatArray) -> PairProbabilities:
    p = p.copy()
    np.fill_diagonal(p, 1.0)
    return PairProbabilities(CoreferenceSet.of(f"T{i}" for i in range(len(p))), p)


def timed(action: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def test_a_chain_of_two_thousand(ratio: Ratio) -> None:
    n, rng = 2000, np.random.default_rng(1)
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 6
    theta = log_odds(np.where(near, uniform_pairs(n, 0.05, 0.95, rng), 0.0))
    eliminate_exactly(theta[:40, :40]).pairs()

    def answered() -> None:
        found = eliminate_exactly(theta, plan_elimination(theta))
        found.pairs()
        assert found.log_normaliser.kind == "exact"

    took, _ = timed(answered)
    ratio(
        "chain of 6, n = 2,000: normaliser and pairs", took / naive_seconds(11), "naive n = 11", 1
    )
    assert took <= naive_seconds(11)


def test_five_types_of_forty(ratio: Ratio) -> None:
    n, rng = 200, np.random.default_rng(2)
    kind = np.arange(n) // 40
    holes = symmetric((rng.random((n, n)) < 0.3).astype(float)) > 0
    inside = (kind[:, None] == kind) & ~holes
    p = np.where(inside, uniform_pairs(n, 0.05, 0.95, rng), 0.0)
    took, found = timed(lambda: solve_set(pairs_of(p)))
    assert isinstance(found, Distribution)
    ratio(f"five types of 40, 30 % apart: {found.method}", took / naive_seconds(11), "naive n = 11")


def test_planted_clusters(ratio: Ratio) -> None:
    for n, bound in ((40, 0.01), (50, 0.5)):
        p = planted_pairs(n, np.random.default_rng(n))
        took, found = timed(lambda p=p: solve_set(pairs_of(p)))
        assert isinstance(found, Distribution)
        low, high = found.log_normaliser_interval or (0.0, 0.0)
        width = high - low
        what = f"planted n = {n}: {found.method}, log Z to {width:.1e}"
        ratio(what, took / naive_seconds(11), "naive n = 11")
        assert width <= bound


def small_sets(count: int) -> list[PairProbabilities]:
    rng = np.random.default_rng(0)
    return [
        PairProbabilities(CoreferenceSet.of([f"s{i}t{j}" for j in range(n)], f"s{i}"), matrix)
        for i in range(count)
        for n in [2 + i % 7]
        for matrix in [uniform_pairs(n, 0.05, 0.95, rng) + np.eye(n)]
    ]


def naive_per_set(sets: list[PairProbabilities]) -> float:
    took, _ = timed(lambda: [naive(pairs.matrix.tolist()) for pairs in sets])
    return took / len(sets)


def test_a_hundred_thousand_sets_in_process(ratio: Ratio) -> None:
    """solve_many computes all numbers before its first answer; records are built one by one."""
    sets = small_sets(100_000)
    for _ in solve_many(sets[:1000]):
        pass
    numbers, answers = timed(lambda: solve_many(sets))
    assert isinstance(answers, Iterator)
    records, count = timed(lambda: sum(1 for _ in answers))
    naively = naive_per_set(sets[:700]) * len(sets)
    ratio("naive, 100,000 sets of 2 to 8", naively / numbers, "ours, the numbers (at least 100)")
    ratio("naive, the same", naively / (numbers + records), "ours with a record for each")
    assert count == len(sets)
    assert naively / numbers >= 100


def test_a_hundred_thousand_sets_by_the_command(ratio: Ratio, tmp_path: Path) -> None:
    sets = small_sets(100_000)
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["left", "right", "probability"])
        for pairs in sets:
            ids = pairs.set.ids
            for i, left in enumerate(ids):
                for j in range(i + 1, len(ids)):
                    writer.writerow([left, ids[j], repr(float(pairs.matrix[i, j]))])
    command = [sys.executable, "-m", "partita", "solve", str(path), "--out", str(tmp_path / "o")]
    child_seconds([*command[:4], str(_first_lines(path, 20_000)), *command[5:]])  # compiles
    took = child_seconds(command)
    start = time.process_time()
    for pairs in sets[:700]:
        naive(pairs.matrix.tolist())
    value = (time.process_time() - start) / 700 * len(sets) / took
    ratio("naive, the same", value, "the command, with reading and writing (at least 40)")
    assert value >= 40


def _first_lines(path: Path, count: int) -> Path:
    first = path.with_name("first.csv")
    with path.open() as whole, first.open("w") as part:
        part.writelines(islice(whole, count))
    return first

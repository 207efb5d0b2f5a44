"""Time against n for each method and regime, drawn for the page on methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import altair as alt
import numpy as np

from naive import naive_seconds
from oracles.instances import planted_pairs, uniform_pairs
from partita.configurations.solve import solve_set
from partita.core import Budget, CoreferenceSet, FloatArray, PairProbabilities

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "methods.svg"
Regime = tuple[str, str, tuple[int, ...], Callable[[int], FloatArray]]


def chain(n: int) -> FloatArray:
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 6
    return np.where(near, uniform_pairs(n, 0.05, 0.95, np.random.default_rng(n)), 0.0)


REGIMES: tuple[Regime, ...] = (
    ("exact, dense", "exact", (4, 8, 12, 14, 16, 18, 20, 22),
     lambda n: uniform_pairs(n, 0.05, 0.95, np.random.default_rng(n))),
    ("exact, each with the 6 before it", "exact", (20, 50, 100, 200, 500, 1000, 2000), chain),
    ("certified, planted clusters", "certified", (20, 30, 40, 50, 60),
     lambda n: planted_pairs(n, np.random.default_rng(n))),
    ("sampled, planted clusters", "sampled", (20, 50, 100, 200),
     lambda n: planted_pairs(n, np.random.default_rng(n))),
)  # fmt: skip


def seconds(p: FloatArray, method: str) -> float:
    p = p.copy()
    np.fill_diagonal(p, 1.0)
    pairs = PairProbabilities(CoreferenceSet.of(f"T{i}" for i in range(len(p))), p)
    start = time.perf_counter()
    solve_set(pairs, method=method, budget=Budget(seconds=30))
    return time.perf_counter() - start


def rows() -> Iterator[dict[str, object]]:
    for name, method, sizes, make in REGIMES:
        seconds(make(sizes[min(4, len(sizes) - 1)]), method)
        for n in sizes:
            yield {"regime": name, "n": n, "seconds": seconds(make(n), method)}
    for n in range(4, 11):
        yield {"regime": "naive, in Python", "n": n, "seconds": naive_seconds(n)}


def test_draw_time_against_n() -> None:
    values = list(rows())
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("n:Q", title="templates in the set", scale=alt.Scale(type="log")),
            y=alt.Y("seconds:Q", title="seconds, everything", scale=alt.Scale(type="log")),
            color=alt.Color("regime:N", title=None, legend=alt.Legend(orient="bottom", columns=2)),
        )
        .properties(width=520, height=320)
    )
    chart.save(PICTURE)
    assert PICTURE.stat().st_size > 1000
    assert all(row["seconds"] > 0 for row in values)

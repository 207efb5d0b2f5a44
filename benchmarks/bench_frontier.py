"""Large sparse sets beside the naive way: a long chain, and graphs of n = 200 and width 18."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from naive import naive_seconds
from oracles import graphs
from partita.configurations.sparse.order import plan_elimination
from partita.configurations.sparse.posterior import eliminate_exactly
from partita.core import FloatArray

WIDE: dict[str, Callable[[np.random.Generator], FloatArray]] = {
    "random graph": lambda rng: graphs.sparse(200, 0.6, rng),
    "half of a band of 18": lambda rng: graphs.band(200, 18, rng, 0.5),
    "a fifth of a tree of cliques of 19": lambda rng: graphs.clique_tree(200, 18, rng, 0.2),
}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    eliminate_exactly(graphs.clique_tree(40, 5, np.random.default_rng(0), 0.8)).best(2)


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def test_a_chain_of_two_thousand(ratio: Callable[..., None]) -> None:
    theta = graphs.band(2000, 6, np.random.default_rng(0))
    found = eliminate_exactly(theta)
    naive = naive_seconds(11)
    ratio(
        "n = 2,000, band 6: plan, all",
        seconds(lambda: eliminate_exactly(theta)) / naive,
        "naive 11",
        1.0,
    )
    ratio(
        "n = 2,000, band 6: the 1,000 best", seconds(lambda: found.best(1000)) / naive, "naive 11"
    )
    rng = np.random.default_rng(0)
    ratio(
        "n = 2,000, band 6: 1,000 draws",
        seconds(lambda: found.draws(1000, rng)) / naive,
        "naive 11",
    )
    ratio("n = 2,000, band 6: exact count", seconds(found.count) / naive, "naive 11")


@pytest.mark.parametrize("name", WIDE)
def test_two_hundred_at_width_eighteen(name: str, ratio: Callable[..., None]) -> None:
    theta = WIDE[name](np.random.default_rng(0))
    chosen = plan_elimination(theta)
    taken = seconds(lambda: eliminate_exactly(theta, chosen))
    what = f"n = 200, width {chosen.width}, {name}"
    ratio(what, taken / naive_seconds(11), "naive 11")
    ratio(f"{what}: time", taken / (chosen.operations / 1e9), "what was predicted", 1.0)

"""Orders of elimination: widths of known graphs, honest predictions, no graph that hangs it."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oracles import graphs
from partita.configurations.sparse.order import plan_elimination
from partita.configurations.sparse.steps import count_cliques

RNG = np.random.default_rng(0)


def grid(side: int) -> np.ndarray:
    x, y = np.divmod(np.arange(side * side), side)
    apart = np.abs(np.subtract.outer(x, x)) + np.abs(np.subtract.outer(y, y))
    return graphs.on_graph(apart == 1, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("theta", "width"),
    [
        (graphs.band(30, 1, RNG), 1),
        (graphs.band(30, 5, RNG), 5),
        (np.zeros((9, 9)), 8),
        (np.zeros((1, 1)), 0),
    ],
)
def test_the_width_of_graphs_that_can_be_eliminated_without_new_pairs(
    theta: np.ndarray, width: int
) -> None:
    found = plan_elimination(theta)
    assert found.width == width
    assert sorted(found.order.tolist()) == list(range(len(theta)))


def test_the_width_of_a_grid() -> None:
    assert 7 <= plan_elimination(grid(7)).width <= 9


def test_a_shuffled_chain_is_as_narrow_as_in_text_order() -> None:
    theta = graphs.band(400, 4, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(400)
    assert plan_elimination(theta[np.ix_(order, order)]).width == 4


@pytest.mark.parametrize("n", [30, 60])
def test_a_tree_of_cliques_is_little_wider_than_its_cliques(n: int) -> None:
    """Steps follow one another, and so the branches that wait are part of the border."""
    theta = graphs.clique_tree(n, 4, np.random.default_rng(0))
    found = plan_elimination(theta)
    assert 4 <= found.width <= 4 * math.log2(n)
    assert [step.vertex for step in found.steps] == found.order.tolist()


@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("share", [0.7, 1.0])
def test_graphs_that_are_too_dense_have_no_finite_cost(n: int, share: float) -> None:
    found = plan_elimination(
        graphs.on_graph(graphs.chance(n, share, np.random.default_rng(0)), RNG)
    )
    assert (found.operations, found.bytes) == (math.inf, math.inf)


def test_cliques_are_counted_up_to_a_limit() -> None:
    everyone = np.ones((12, 12), dtype=bool)
    members = np.arange(10)
    assert count_cliques(everyone, members, 4, 10_000) == (1024, 1.5**4 * 2.0**6)
    assert count_cliques(everyone, members, 4, 1000)[0] == -1


def test_the_text_order_gives_a_plan_that_depends_on_the_graph_alone() -> None:
    theta = graphs.sparse(120, 1.0, np.random.default_rng(3))
    one, other = (
        plan_elimination(theta),
        plan_elimination(np.where(np.isfinite(theta), 1.0, -np.inf)),
    )
    assert np.array_equal(one.order, other.order)
    assert one.operations == other.operations


MEASURED = """
import ctypes
from pathlib import Path
import numpy as np
from oracles import graphs
from partita.configurations.sparse.order import plan_elimination
from partita.configurations.sparse.posterior import eliminate_exactly

def resident(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

def everything(theta, chosen):
    found = eliminate_exactly(theta, chosen)
    return found.count(), found.best(3), found.draws(3, np.random.default_rng(0))

rng = np.random.default_rng(0)
first, theta = graphs.clique_tree(30, 5, rng, 0.8), graphs.band(120, 16, rng, 0.6)
everything(first, plan_elimination(first))
chosen = plan_elimination(theta)
ctypes.CDLL(None).malloc_trim(0)
Path("/proc/self/clear_refs").write_text("5")
before = resident("VmRSS")
everything(theta, chosen)
print(chosen.bytes, resident("VmHWM") - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="reads the peak from /proc")
def test_no_more_memory_is_taken_than_predicted() -> None:
    out = subprocess.run(
        [sys.executable, "-c", MEASURED],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(graphs.__file__).parents[1])},
    ).stdout.split()
    predicted, taken = map(float, out)
    assert predicted / 50 < taken < predicted

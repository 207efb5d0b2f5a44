"""The recursion on logarithms equals the plain one."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import graphs
from partita.configurations.sparse import kernels
from partita.configurations.sparse.order import plan_elimination
from partita.configurations.sparse.recursion import LOG, MAX, SUM, Recursion
from partita.configurations.sparse.steps import steps
from partita.core import FloatArray

GRAPHS = [
    graphs.band(50, 5, np.random.default_rng(0)),
    graphs.clique_tree(40, 5, np.random.default_rng(1), 0.8),
    graphs.sparse(40, 2.0, np.random.default_rng(2)),
]


def marginals(recursion: Recursion) -> tuple[float, dict[tuple[int, int], float]]:
    """log Z and the probability of every cell."""
    log_z = recursion.keep()
    found = {}
    for step, masks, _, p in recursion.cells():
        keys = [(step.vertex, mask) for mask in masks.tolist()]
        found.update(zip(keys, p.tolist(), strict=True))
    return log_z, found


@pytest.mark.parametrize("theta", GRAPHS)
def test_logarithms_change_nothing(theta: FloatArray) -> None:
    steps, scale = plan_elimination(theta).steps, np.zeros(len(theta))
    log_z, cells = marginals(Recursion(steps, theta, scale, SUM))
    other, others = marginals(Recursion(steps, theta, scale, LOG))
    assert other == pytest.approx(log_z, abs=1e-10)
    assert others.keys() == cells.keys()
    assert max(abs(others[cell] - p) for cell, p in cells.items()) < 1e-11
    assert Recursion(steps, theta, scale, LOG).total() == pytest.approx(log_z, abs=1e-10)


@pytest.mark.parametrize("theta", GRAPHS)
def test_any_scale_gives_the_same(theta: FloatArray) -> None:
    steps, scale = (
        plan_elimination(theta).steps,
        np.random.default_rng(0).normal(0.0, 2.0, len(theta)),
    )
    log_z, cells = marginals(Recursion(steps, theta, np.zeros(len(theta)), SUM))
    other, others = marginals(Recursion(steps, theta, scale, SUM))
    assert other + scale.sum() == pytest.approx(log_z, abs=1e-10)
    assert max(abs(others[cell] - p) for cell, p in cells.items()) < 1e-11


def test_the_maximum_is_below_the_normaliser_and_reached() -> None:
    theta = GRAPHS[0]
    steps, scale = plan_elimination(theta).steps, np.zeros(len(theta))
    top = Recursion(steps, theta, scale, MAX).total()
    assert top < Recursion(steps, theta, scale, SUM).total()
    # at a low temperature the sum is the maximum, up to the number of configurations
    cold = Recursion(steps, 1e4 * theta, scale, LOG).total()
    assert cold / 1e4 == pytest.approx(top, abs=0.02)


@pytest.mark.parametrize(("bits", "above", "own"), [(4, 0, 0), (5, 2, 0), (6, 1, 1), (7, 0, 3)])
def test_products_over_disjoint_subsets(bits: int, above: int, own: int) -> None:
    rng = np.random.default_rng(bits)
    table, slope = rng.random(1 << bits), rng.random(1 << (bits + above))
    masks = np.arange(1 << (bits + above - own)) << own
    masks = masks[rng.random(len(masks)) < 0.7]
    weights = rng.random(len(masks))
    sums, most = np.zeros(len(slope)), np.full(len(slope), -np.inf)
    pulled, dots = np.zeros(len(table)), np.zeros(len(masks))
    for e, mask in enumerate(masks.tolist()):
        for place in range(len(table)):
            if place & mask == 0:
                sums[place | mask] += table[place] * weights[e]
                most[place | mask] = max(most[place | mask], table[place] + weights[e])
                pulled[place] += slope[place | mask] * weights[e]
                dots[e] += table[place] * slope[place | mask]
    found, highest, below = np.zeros(len(slope)), np.full(len(slope), -np.inf), np.zeros(len(table))
    kernels.push(SUM, found, table, bits, masks, weights)
    kernels.push(MAX, highest, table, bits, masks, weights)
    kernels.pull(SUM, below, slope, bits, masks, weights)
    assert np.allclose(found, sums, rtol=1e-12)
    assert np.array_equal(highest, most)
    assert np.allclose(below, pulled, rtol=1e-12)
    assert np.allclose(kernels.dot(SUM, table, slope, bits, masks), dots, rtol=1e-12)


def test_a_table_is_scaled_by_a_power_of_two_only() -> None:
    for largest in (1e-320, 1e-300, 0.7, 3.0, 1e300):
        table = np.array([0.0, largest, largest / 2])
        exponent = kernels.normalise(table)
        assert 0.5 <= table[1] < 1.0
        assert np.ldexp(table[1], exponent) == largest


def test_a_message_as_wide_as_is_allowed_is_not_refused() -> None:
    compatible = np.ones((6, 6), dtype=bool)
    assert steps(range(6), compatible, 5) is not None
    assert steps(range(6), compatible, 4) is None

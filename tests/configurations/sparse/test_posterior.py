"""The elimination engine against brute force, a recursion over subsets and the dense engine."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import graphs, subsets
from oracles.instances import log_odds, uniform_pairs, with_holes
from oracles.posteriors import ListedPosterior
from partita.configurations.count import log2_of
from partita.configurations.exact.posterior import exact
from partita.configurations.sparse.order import plan_elimination
from partita.configurations.sparse.posterior import (
    HARMLESS,
    EliminationPosterior,
    eliminate_exactly,
)
from partita.configurations.sparse.recursion import LOG, SUM
from partita.core import FloatArray
from partita.errors import TooLarge

SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
SPREADS = (None, 1.0, 30.0, 690.0)


def holed(n: int, share: float, rng: np.random.Generator) -> FloatArray:
    return log_odds(with_holes(uniform_pairs(n, 0.05, 0.95, rng), share, rng))


def kind(found: EliminationPosterior) -> int:
    return found._solved.recursion.kind


def assert_like_the_list(theta: FloatArray, found: EliminationPosterior) -> None:
    listed = ListedPosterior(theta)
    log_z = listed.log_normaliser.value
    assert found.log_normaliser.value == pytest.approx(log_z, rel=1e-12, abs=1e-9)
    assert np.abs(found.pairs().value - listed.pairs().value).max() < 1e-9
    assert found.entropy().value == pytest.approx(listed.entropy().value, abs=1e-8)
    assert found.count() == listed.count()
    assert 2.0 ** found.log2_count().value == pytest.approx(listed.count())
    cells, expected = dict(found.cells()), dict(listed.cells())
    assert set(cells) == set(expected)
    assert max(abs(cells[cell] - p) for cell, p in expected.items()) < 1e-9
    assert_same_best(found, listed, listed.count() or 0)
    assert_same_best(found, listed, 5)


def assert_same_best(found: EliminationPosterior, listed: ListedPosterior, k: int) -> None:
    ours, theirs = found.best(k), listed.best(k)
    assert np.allclose(ours.log_weights, theirs.log_weights, rtol=1e-12, atol=1e-9)
    rows = [tuple(row) for row in ours.labels.tolist()]
    assert len(set(rows)) == len(rows) == len(theirs.labels)
    assert np.allclose(
        ours.log_weights, [listed.weights[row] for row in rows], rtol=1e-12, atol=1e-9
    )


@pytest.mark.parametrize("share", SHARES)
def test_300_random_sets_equal_brute_force(share: float) -> None:
    rng = np.random.default_rng(int(100 * share))
    for number in range(43):
        n = 9 if number == 0 else 8 if number < 3 else 1 + number % 7
        theta = holed(n, share, rng)
        if spread := SPREADS[number % 4]:
            theta = graphs.stretched(theta, spread, rng)
        assert_like_the_list(theta, eliminate_exactly(theta))


def test_two_sets_in_one_equal_brute_force() -> None:
    rng = np.random.default_rng(0)
    theta = np.full((7, 7), -np.inf)
    theta[:4, :4], theta[4:, 4:] = holed(4, 0.2, rng), holed(3, 0.0, rng)
    mixed = rng.permutation(7)
    assert_like_the_list(
        theta[np.ix_(mixed, mixed)], eliminate_exactly(theta[np.ix_(mixed, mixed)])
    )


@pytest.mark.parametrize("share", [0.2, 0.6, 0.85])
@pytest.mark.parametrize("spread", [1.0, 690.0])
def test_equals_the_recursion_over_subsets(share: float, spread: float) -> None:
    rng = np.random.default_rng(3)
    theta = graphs.stretched(holed(12, share, rng), spread, rng)
    found = eliminate_exactly(theta)
    assert found.log_normaliser.value == pytest.approx(subsets.log_normaliser(theta), rel=1e-13)
    off = ~np.eye(12, dtype=bool)
    assert np.abs(found.pairs().value - subsets.pair_marginals(theta))[off].max() < 1e-9
    p = subsets.cell_marginals(theta)
    masks = {sum(1 << i for i in cell): value for cell, value in found.cells()}
    assert max(abs(masks.get(mask, 0.0) - value) for mask, value in enumerate(p)) < 1e-9


@pytest.mark.parametrize(
    "theta",
    [
        graphs.sparse(18, 5.0, np.random.default_rng(0)),
        graphs.band(18, 8, np.random.default_rng(1), 0.7),
        graphs.clique_tree(17, 6, np.random.default_rng(2)),
        graphs.clique_tree(16, 9, np.random.default_rng(3), 0.8),
        holed(15, 0.0, np.random.default_rng(4)),
    ],
)
def test_equals_the_dense_engine(theta: FloatArray) -> None:
    found, dense = eliminate_exactly(theta), exact(theta)
    assert found.log_normaliser.value == pytest.approx(dense.log_normaliser.value, abs=1e-9)
    assert np.abs(found.pairs().value - dense.pairs().value).max() < 1e-9
    assert found.entropy().value == pytest.approx(dense.entropy().value, abs=1e-8)
    assert found.count() == dense.count()
    ours, theirs = found.best(50), dense.best(50)
    assert np.allclose(ours.log_weights, theirs.log_weights)


def test_logarithms_where_doubles_would_lose() -> None:
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(12):
        theta = graphs.stretched(holed(10, 0.2, rng), 690.0, rng)
        found = eliminate_exactly(theta)
        kinds.add(kind(found))
        assert found.log_normaliser.value == pytest.approx(subsets.log_normaliser(theta), rel=1e-13)
        draws = found.draws(5, rng)
        assert all(found.log_weight(row) > -np.inf for row in draws)
    assert kinds == {SUM, LOG}


def test_a_set_of_one_and_an_impossible_configuration() -> None:
    alone = eliminate_exactly(np.zeros((1, 1)))
    assert alone.log_normaliser.value == 0.0
    assert (alone.count(), alone.entropy().value) == (1, 0.0)
    assert list(alone.cells()) == [((0,), 1.0)]
    apart = eliminate_exactly(graphs.band(4, 1, np.random.default_rng(0)))
    assert apart.log_weight(np.array([0, 1, 0, 2])) == -np.inf
    assert len(apart.best(0).labels) == 0
    assert apart.reason == "exact by elimination, width 1"


@lru_cache
def long_chain() -> tuple[FloatArray, EliminationPosterior]:
    theta = graphs.band(300, 4, np.random.default_rng(7))
    return theta, eliminate_exactly(theta)


def chain_count(n: int, reach: int) -> int:
    """Configurations of a band, by a walk along it with plain integers; bit 0 is the next one."""
    states = {0: 1}
    for i in range(n):
        after: dict[int, int] = {}
        room = (1 << min(reach, n - 1 - i)) - 1
        for covered, ways in states.items():
            free = 0 if covered & 1 else ~(covered >> 1) & room
            cell = free
            while True:
                state = (covered >> 1) | cell
                after[state] = after.get(state, 0) + ways
                if cell == 0:
                    break
                cell = (cell - 1) & free
        states = after
    return states[0]


def test_the_count_of_a_long_chain_is_known_as_a_power_of_two() -> None:
    assert long_chain()[1].log2_count().value == pytest.approx(log2_of(chain_count(300, 4)))


def test_the_slope_of_the_normaliser_is_the_pair_marginal() -> None:
    theta, found = long_chain()
    for i, j in ((0, 1), (150, 153), (298, 299)):
        moved = []
        for step in (-1e-4, 1e-4):
            other = theta.copy()
            other[i, j] = other[j, i] = theta[i, j] + step
            moved.append(eliminate_exactly(other).log_normaliser.value)
        slope = (moved[1] - moved[0]) / 2e-4
        assert found.pairs().value[i, j] == pytest.approx(slope, abs=1e-6)


def test_the_best_of_a_long_chain_are_in_order() -> None:
    _, found = long_chain()
    many, few = found.best(300), found.best(20)
    assert len({tuple(row) for row in many.labels.tolist()}) == 300
    assert (np.diff(many.log_weights) <= 0.0).all()
    assert np.array_equal(many.log_weights[:20], few.log_weights)
    assert many.log_weights[0] < found.log_normaliser.value
    draws = found.draws(200, np.random.default_rng(0))
    assert max(found.log_weight(row) for row in draws) <= many.log_weights[0]


@pytest.mark.parametrize(
    "theta",
    [
        graphs.band(60, 4, np.random.default_rng(0)),
        graphs.clique_tree(40, 4, np.random.default_rng(1), 0.8),
    ],
)
def test_draws_have_the_pair_marginals(theta: FloatArray) -> None:
    found = eliminate_exactly(theta)
    rows = found.draws(20_000, np.random.default_rng(5))
    assert np.array_equal(rows, found.draws(20_000, np.random.default_rng(5)))
    p = found.pairs().value
    i, j = np.nonzero(np.triu(np.isfinite(theta), 1))
    seen = (rows[:, i] == rows[:, j]).mean(axis=0)
    error = np.sqrt(p[i, j] * (1.0 - p[i, j]) / len(rows)) + 1e-4
    # about 200 pairs: a correct sampler stays below 6 errors in all but one of 10^6 runs
    assert (np.abs(seen - p[i, j]) / error).max() < 6.0


def test_draws_have_the_probabilities_of_whole_configurations() -> None:
    theta = holed(6, 0.4, np.random.default_rng(2))
    rows = eliminate_exactly(theta).draws(40_000, np.random.default_rng(3))
    drawn, counts = np.unique(rows, axis=0, return_counts=True)
    p = ListedPosterior(theta).probabilities()
    share = dict(zip(map(tuple, drawn.tolist()), counts / len(rows), strict=True))
    assert all(
        abs(share.get(row, 0.0) - q) < 6 * np.sqrt(q / len(rows)) + 1e-4 for row, q in p.items()
    )


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 30), st.floats(0.0, 4.0), st.integers(0, 2**32 - 1))
def test_invariants(n: int, degree: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta = graphs.sparse(n, min(degree, n - 1.0), rng)
    found = eliminate_exactly(theta)
    order = rng.permutation(n)
    shuffled = eliminate_exactly(theta[np.ix_(order, order)])
    assert shuffled.log_normaliser.value == pytest.approx(found.log_normaliser.value, abs=1e-9)
    pairs = found.pairs().value
    assert np.abs(shuffled.pairs().value - pairs[np.ix_(order, order)]).max() < 1e-9
    assert pairs.min() >= 0.0
    assert pairs.max() <= 1.0
    detour = pairs[:, :, None] + pairs[None, :, :] - pairs[:, None, :]
    assert detour.max() <= 1.0 + 1e-9
    covered = np.zeros(n)
    for cell, p in found.cells():
        covered[list(cell)] += p
    assert np.abs(covered - 1.0).max() < 1e-9


def test_a_dense_graph_is_refused_at_once() -> None:
    theta = np.zeros((2000, 2000))
    assert plan_elimination(theta).operations == np.inf
    with pytest.raises(TooLarge, match="an exact answer for 2000 templates would need"):
        eliminate_exactly(theta)


@pytest.mark.parametrize(("n", "known"), [(20, True), (24, True), (40, False)])
def test_a_count_is_exact_as_long_as_a_double_holds_it(n: int, known: bool) -> None:
    found, truth = eliminate_exactly(graphs.band(n, 4, np.random.default_rng(0))), chain_count(n, 4)
    assert (truth <= 2**53) == known
    assert found.count() == (truth if known else None)
    assert found.log2_count().value == pytest.approx(log2_of(truth), abs=1e-9)


def test_what_vanished_is_added_up_over_the_templates() -> None:
    solved = eliminate_exactly(np.zeros((7, 7)))._solved
    assert solved.sound
    assert solved._replace(loss=HARMLESS - 4).sound
    assert not solved._replace(loss=HARMLESS - 2).sound  # eight times as much, for 7 + 1

"""The greedy merger against the paper's example, and its posterior against brute force."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.instances import with_holes
from oracles.partitions import (
    cell_marginals,
    entropy_bits,
    pair_marginals,
    partitions,
)
from oracles.posteriors import ListedPosterior
from partita.configurations.exact.posterior import exact
from partita.configurations.pair_models import GreedyParameters, GreedyPosterior, greedy_labels
from partita.core import Best, Figure, Marginals, Posterior
from partita.errors import InputError

SHARES = st.floats(0.001, 0.999)


def compatibility(n, incompatible=()):
    matrix = np.ones((n, n), dtype=bool)
    for i, j in incompatible:
        matrix[i, j] = matrix[j, i] = False
    return matrix


def uniform_theta(compatible):
    theta = np.where(compatible, 0.0, -np.inf)
    np.fill_diagonal(theta, 0.0)
    return theta


PAPER = compatibility(4, [(0, 2), (1, 2)])


def test_the_papers_example_gives_AB_CD():
    assert greedy_labels(PAPER).tolist() == [0, 0, 1, 1]


def test_all_pairwise_compatible_gives_one_cell():
    assert greedy_labels(compatibility(6)).tolist() == [0] * 6


def test_nothing_compatible_gives_cells_of_one():
    assert greedy_labels(np.eye(4, dtype=bool)).tolist() == [0, 1, 2, 3]


def test_the_most_recently_merged_object_is_tried_first():
    """A, B differ; C joins A, which makes A&C the most recent: D joins it although B came later."""
    assert greedy_labels(compatibility(4, [(0, 1), (1, 2)])).tolist() == [0, 1, 0, 0]


def test_every_member_of_an_object_must_be_compatible():
    """C goes with B but not with A, and A&B are one object by then."""
    assert greedy_labels(compatibility(3, [(0, 2)])).tolist() == [0, 0, 1]


@st.composite
def graphs(draw, largest=6):
    n = draw(st.integers(2, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.3, 0.7]))
    compatible = with_holes(np.ones((n, n)), share, rng) > 0
    np.fill_diagonal(compatible, True)
    return compatible


@given(graphs(largest=12))
@settings(deadline=None, max_examples=60)
def test_cells_are_compatible_and_any_two_of_them_are_not(compatible):
    """So no further unification could succeed: "any unifications that succeed are performed"."""
    labels = greedy_labels(compatible)
    cells = [np.flatnonzero(labels == n) for n in range(labels.max() + 1)]
    for n, cell in enumerate(cells):
        assert compatible[np.ix_(cell, cell)].all()
        for other in cells[:n]:
            assert not compatible[np.ix_(cell, other)].all()


def brute(compatible, share):
    """The greedy model by its definition, over the list of all configurations."""
    greedy = tuple(greedy_labels(compatible).tolist())
    rest = list(ListedPosterior(uniform_theta(compatible)).weights)
    if len(rest) == 1:
        return {greedy: 1.0}
    each = (1 - share) / (len(rest) - 1)
    return {labels: share if labels == greedy else each for labels in rest}


def posterior(compatible, share) -> Posterior:
    uniform = ListedPosterior(uniform_theta(compatible))
    return GreedyPosterior(greedy_labels(compatible), share, uniform)


def test_the_papers_arithmetic():
    """Four templates, ten configurations, p = .344: each of the nine others gets .0729."""
    compatible = compatibility(4, [(0, 1)])
    found = posterior(compatible, 0.344)
    assert found.count() == 10
    other = np.array([0, 1, 2, 3])
    log_p = found.log_weight(other) - found.log_normaliser.value
    assert math.exp(log_p) == pytest.approx(0.0729, abs=5e-5)
    log_p = found.log_weight(greedy_labels(compatible)) - found.log_normaliser.value
    assert math.exp(log_p) == pytest.approx(0.344)


@given(graphs(), SHARES)
@settings(deadline=None, max_examples=60)
def test_everything_equals_brute_force(compatible, share):
    found, expected = posterior(compatible, share), brute(compatible, share)
    n = len(compatible)
    for labels in partitions(n):
        log_p = found.log_weight(np.array(labels)) - found.log_normaliser.value
        assert math.exp(log_p) == pytest.approx(expected.get(labels, 0.0), rel=1e-9)
    assert found.count() == len(expected)
    assert found.log2_count().value == pytest.approx(math.log2(len(expected)))
    assert found.entropy().value == pytest.approx(entropy_bits(expected), abs=1e-9)
    assert found.pairs().value == pytest.approx(pair_marginals(expected, n), abs=1e-12)
    assert dict(found.cells()) == pytest.approx(cell_marginals(expected), abs=1e-12)


@given(graphs(), SHARES)
@settings(deadline=None, max_examples=25)
def test_the_exact_engine_gives_what_brute_force_gives(compatible, share):
    labels = greedy_labels(compatible)
    found = GreedyPosterior(labels, share, exact(uniform_theta(compatible)))
    listed = posterior(compatible, share)
    assert found.log_normaliser.value == pytest.approx(listed.log_normaliser.value)
    assert found.entropy().value == pytest.approx(listed.entropy().value)
    assert found.pairs().value == pytest.approx(listed.pairs().value, abs=1e-12)
    assert dict(found.cells()) == pytest.approx(dict(listed.cells()), abs=1e-12)
    assert found.best(9).log_weights == pytest.approx(listed.best(9).log_weights)


@given(graphs(), SHARES, st.integers(1, 60))
@settings(deadline=None, max_examples=80)
def test_the_k_best_are_in_order_and_none_is_missing(compatible, share, k):
    found, expected = posterior(compatible, share), brute(compatible, share)
    best = found.best(k)
    rows = [tuple(row) for row in best.labels.tolist()]
    assert len(rows) == len(set(rows)) == min(k, len(expected))
    probabilities = np.exp(best.log_weights - found.log_normaliser.value)
    assert probabilities == pytest.approx([expected[row] for row in rows])
    assert probabilities == pytest.approx(sorted(expected.values(), reverse=True)[:k])
    assert best.gap == 0


def test_where_the_share_is_less_than_even_greedy_stands_last():
    found = posterior(PAPER, 0.01)
    assert found.best(7).labels[-1].tolist() == [0, 0, 1, 1]
    assert [0, 0, 1, 1] not in found.best(6).labels.tolist()


def test_where_the_share_is_more_than_even_greedy_stands_first():
    assert posterior(PAPER, 0.5).best(1).labels.tolist() == [[0, 0, 1, 1]]


@pytest.mark.parametrize("share", [0.05, 0.344, 0.9])
def test_draws_follow_the_distribution(share):
    number = 20_000
    found, expected = posterior(PAPER, share), brute(PAPER, share)
    rows = found.draws(number, np.random.default_rng(3))
    counts = Counter(tuple(row) for row in rows.tolist())
    assert rows.shape == (number, 4)
    assert set(counts) <= set(expected)
    for labels, p in expected.items():
        assert counts[labels] / number == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / number))
    assert np.array_equal(rows, found.draws(number, np.random.default_rng(3)))


def test_a_set_whose_members_exclude_each_other_has_one_configuration_with_probability_1():
    found = posterior(np.eye(3, dtype=bool), 0.3)
    assert found.count() == 1
    assert found.entropy() == Figure.exact(0.0)
    assert found.best(5).labels.tolist() == [[0, 1, 2]]
    assert found.log_weight(np.arange(3)) == found.log_normaliser.value == 0.0
    assert dict(found.cells()) == {(0,): 1.0, (1,): 1.0, (2,): 1.0}
    assert np.array_equal(found.pairs().value, np.eye(3))
    assert found.draws(2, np.random.default_rng(0)).tolist() == [[0, 1, 2], [0, 1, 2]]


class Huge:
    """A uniform posterior that knows its count only roughly, and that count has 300,000 digits."""

    size, method, reason = 3, "certified", "bounds"
    log_normaliser = Figure.interval(7e5, 7.1e5)

    def pairs(self):
        half = np.where(np.eye(3) > 0, 1.0, 0.5)
        low, high = np.maximum(half - 0.1, np.eye(3)), np.minimum(half + 0.1, 1.0)
        return Marginals(half, low, high, "interval")

    def log_weight(self, labels):
        return 0.0

    def count(self):
        return None

    def log2_count(self):
        return Figure.interval(7e5 / math.log(2), 7.1e5 / math.log(2))

    def best(self, k):
        return Best(np.array([[0, 0, 0], [0, 0, 1]])[:k], np.zeros(2)[:k], math.inf)


def test_counts_beyond_all_numbers_and_known_only_within_bounds():
    found = GreedyPosterior(np.array([0, 0, 1]), 0.25, Huge())
    assert found.method == "certified"
    assert found.count() is None
    assert found.log_normaliser.kind == found.entropy().kind == found.pairs().kind == "interval"
    greedy = found.log_weight(np.array([0, 0, 1])) - found.log_normaliser.value
    assert math.exp(greedy) == pytest.approx(0.25)
    bits = found.entropy()
    assert bits.low == pytest.approx(0.75 * 7e5 / math.log(2), rel=1e-5)
    assert bits.low < bits.value < bits.high
    pairs = found.pairs()
    assert pairs.value[0, 1] == pytest.approx(0.25 + 0.75 * 0.5)
    assert pairs.value[0, 2] == pytest.approx(0.75 * 0.5)
    assert pairs.low[0, 2] == pytest.approx(0.75 * 0.4)
    assert pairs.high[0, 1] == pytest.approx(0.25 + 0.75 * 0.6)
    assert found.best(2).labels.tolist() == [[0, 0, 1], [0, 0, 0]]
    assert found.best(2).gap == 0


class Rough:
    """A uniform posterior of the paper's seven configurations that says between 1 and 20."""

    def __init__(self):
        self.known = ListedPosterior(uniform_theta(PAPER))
        self.size, self.method, self.reason = 4, "certified", "bounds"
        self.log_normaliser = Figure.interval(0.0, math.log(20))

    def pairs(self):
        value = self.known.pairs().value
        return Marginals(value, value * 0.9, np.minimum(value * 1.1, 1.0), "interval")


@given(SHARES)
@settings(deadline=None, max_examples=30)
def test_bounds_hold_the_truth(share):
    found = GreedyPosterior(greedy_labels(PAPER), share, Rough())
    expected = brute(PAPER, share)
    truth, pairs = pair_marginals(expected, 4), found.pairs()
    assert (pairs.low <= truth + 1e-12).all()
    assert (truth <= pairs.high + 1e-12).all()
    assert (pairs.low <= pairs.value).all()
    assert (pairs.value <= pairs.high).all()
    assert found.entropy().low <= entropy_bits(expected) <= found.entropy().high
    other = math.log(expected[0, 1, 2, 3])
    assert -found.log_normaliser.high <= other <= -found.log_normaliser.low


def test_shares_by_the_number_of_templates():
    parameters = GreedyParameters(0.571, 0.652, 0.344)
    assert [parameters.share(n) for n in (2, 3, 4, 50)] == [0.571, 0.652, 0.344, 0.344]


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, math.nan])
def test_no_share_is_0_or_1(share):
    with pytest.raises(InputError, match="p3 of the greedy model"):
        GreedyParameters(0.5, share, 0.5)

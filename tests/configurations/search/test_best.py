"""The K best: the same as brute force, in order, and honest where the budget ends."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.instances import log_odds, planted_pairs, uniform_pairs, with_holes
from oracles.partitions import log_weights
from oracles.subsets import cell_log_weights
from partita.configurations.meters import SearchMeter
from partita.configurations.search.best import _by_first, _most_cells, best, pool
from partita.configurations.search.prices import (
    _median,
    cheap,
    mask_words,
    prices,
    rows_of,
    shares,
)
from partita.core import Budget, FloatArray, restricted_growth

AMPLE = Budget(work=10**9)


def _random(n: int, number: int) -> FloatArray:
    """Sets of every regime and density, in turn."""
    rng = np.random.default_rng(number)
    low, high = [(0.3, 0.7), (0.05, 0.95), (0.001, 0.3), (0.7, 0.999)][number % 4]
    p = planted_pairs(n, rng) if number % 5 == 4 else uniform_pairs(n, low, high, rng)
    return log_odds(with_holes(p, [0.0, 0.2, 0.5, 0.8][number // 4 % 4], rng))


@pytest.mark.parametrize("k", [1, 7, 200, 5000])
def test_equals_brute_force(k: int) -> None:
    for number in range(40):
        theta = _random(4 + number % 5, number)
        weights = log_weights(theta)
        expected = sorted(weights.values(), reverse=True)[:k]
        found = best(theta, k, AMPLE)
        assert found.gap == 0.0
        assert found.log_weights == pytest.approx(expected, abs=1e-9)
        rows = [tuple(row) for row in found.labels.tolist()]
        assert len(set(rows)) == len(rows)
        assert found.log_weights == pytest.approx([weights[row] for row in rows], abs=1e-9)


def _best_of_subsets(theta: FloatArray) -> float:
    """The largest log-weight by a recursion over all subsets."""
    weights = cell_log_weights(theta)
    table = np.zeros(len(weights))
    for subset in range(1, len(table)):
        lowest = subset & -subset
        rest = part = subset ^ lowest
        value = weights[lowest] + table[rest]
        while part:
            value = max(value, weights[lowest | part] + table[rest ^ part])
            part = (part - 1) & rest
        table[subset] = value
    return float(table[-1])


def test_the_first_equals_a_recursion_over_subsets() -> None:
    for number in range(6):
        theta = _random(10, number)
        assert best(theta, 50, AMPLE).log_weights[0] == pytest.approx(_best_of_subsets(theta))


@pytest.mark.parametrize(("low", "high", "n"), [(0.3, 0.7, 20), (0.05, 0.95, 24)])
def test_a_longer_list_begins_with_the_shorter_one(low: float, high: float, n: int) -> None:
    theta = log_odds(uniform_pairs(n, low, high, np.random.default_rng(n)))
    short, long = best(theta, 100, AMPLE), best(theta, 2000, AMPLE)
    assert short.gap == long.gap == 0.0
    assert np.array_equal(short.labels, long.labels[:100])
    assert np.all(np.diff(long.log_weights) <= 0.0)
    assert all(np.array_equal(row, restricted_growth(row)) for row in long.labels)


def test_order_of_templates_does_not_matter() -> None:
    rng = np.random.default_rng(8)
    theta = log_odds(with_holes(uniform_pairs(18, 0.1, 0.9, rng), 0.2, rng))
    shuffle = rng.permutation(18)
    here, there = best(theta, 300, AMPLE), best(theta[np.ix_(shuffle, shuffle)], 300, AMPLE)
    assert here.gap == there.gap == 0.0
    assert here.log_weights == pytest.approx(there.log_weights, abs=1e-9)


def test_ties_do_not_explode() -> None:
    found = best(np.zeros((20, 20)), 100, AMPLE)
    assert found.gap == pytest.approx(0.0, abs=1e-6)
    assert np.all(found.log_weights == 0.0)
    assert len(np.unique(found.labels, axis=0)) == 100


def test_more_than_one_word_of_templates() -> None:
    theta = log_odds(planted_pairs(70, np.random.default_rng(2)))
    found = best(theta, 50, AMPLE)
    assert found.gap == 0.0
    top = found.labels[0]
    apart = theta[top[:, None] != top[None, :]]
    assert apart.max() < 0.0


def test_extreme_odds() -> None:
    rng = np.random.default_rng(4)
    theta = np.triu(rng.choice([-690.0, -0.5, 0.5, 690.0], (9, 9)), 1)
    theta += theta.T
    theta[0, 3] = theta[3, 0] = -np.inf
    expected = sorted(log_weights(theta).values(), reverse=True)[:40]
    assert best(theta, 40, AMPLE).log_weights == pytest.approx(expected, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("work", [0, 1000, 100_000])
def test_out_of_work_the_gap_is_honest_and_the_same_again(work: int) -> None:
    theta = log_odds(uniform_pairs(20, 0.3, 0.7, np.random.default_rng(5)))
    truth = best(theta, 100, AMPLE)
    found = best(theta, 100, Budget(work=work))
    listed = {tuple(row) for row in found.labels.tolist()}
    rows = zip(truth.labels.tolist(), truth.log_weights, strict=True)
    unlisted = [weight for row, weight in rows if tuple(row) not in listed]
    ceiling = found.log_weights[-1] + found.gap
    assert all(weight <= ceiling + 1e-9 for weight in unlisted)
    again = best(theta, 100, Budget(work=work))
    assert np.array_equal(found.labels, again.labels)
    assert found.gap == again.gap
    assert (found.gap > 0.0) == (work < 100_000)


def test_prices_are_feasible_for_every_cell() -> None:
    for number in range(12):
        theta = _random(11, number)
        labels = best(theta, 1, AMPLE).labels[0]
        a = prices(theta, labels, 0.0, SearchMeter(AMPLE))
        assert a is not None
        weights = cell_log_weights(theta)
        inside = np.arange(len(weights))[:, None] >> np.arange(11) & 1
        reduced = inside @ a - weights
        assert reduced.min() >= -1e-9
        assert a.sum() >= shares(theta, labels).sum() - 1e-9


def test_cheap_cells_are_all_found() -> None:
    for number in range(8):
        theta = _random(11, number)
        a = 0.5 * np.maximum(theta, 0.0).sum(axis=1)
        found = cheap(theta, a, 2.0, SearchMeter(AMPLE), 1 << 20)
        weights = cell_log_weights(theta)
        inside = np.arange(len(weights))[:, None] >> np.arange(11) & 1
        expected = np.flatnonzero(inside @ a - weights < 2.0)[1:]
        masks = rows_of(found.masks, 11).astype(np.int64) @ (1 << np.arange(11))
        assert found.complete
        assert sorted(masks.tolist()) == expected.tolist()


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_the_median_is_numpys(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    assert _median(values) == pytest.approx(np.median(values))


@pytest.mark.parametrize("k", [64, 300])
def test_a_spent_budget_ends_the_rounds_once_k_are_there(k: int) -> None:
    theta = log_odds(uniform_pairs(14, 0.3, 0.7, np.random.default_rng(1)))
    spent, enough = SearchMeter(Budget(work=0)), SearchMeter(AMPLE)
    few, all_ = (pool(theta, np.arange(14), 0.0, k, meter) for meter in (spent, enough))
    assert len(few.weights) == len(all_.weights) == k
    assert spent.spent < enough.spent / 2


def test_every_round_is_work_and_so_is_every_configuration_written() -> None:
    meter = SearchMeter(AMPLE)
    found = pool(np.array([[0.0, 1.0], [1.0, 0.0]]), np.arange(2), 0.0, 1, meter)
    assert found.closed
    assert meter.spent == 1 + 2  # one configuration beside the start, and two rounds


@pytest.mark.parametrize("n", [1, 64, 65, 700])
@pytest.mark.parametrize("memory", [1 << 24, 1 << 30])
def test_cells_take_a_quarter_of_the_memory_when_they_are_sorted(n: int, memory: int) -> None:
    most = _most_cells(n, Budget(memory=memory))
    mask, cost, place = 8 * -(-n // 64), 8, 8
    held = most * (2 * (mask + cost) + place)  # as they were found and in order
    assert memory / 16 < held <= memory / 4


def test_masks_have_as_many_words_as_they_need() -> None:
    assert [mask_words(n) for n in (1, 63, 64, 65, 128, 129)] == [1, 1, 1, 2, 2, 3]


def test_many_cheap_cells_find_room_and_too_many_are_not_complete() -> None:
    theta, prices_ = np.zeros((16, 16)), np.zeros(16)
    found = cheap(theta, prices_, 1.0, SearchMeter(AMPLE), 1 << 16)
    assert found.complete
    assert np.array_equal(np.sort(found.masks[:, 0]), np.arange(1, 1 << 16))
    assert not found.costs.any()
    cut = cheap(theta, prices_, 1.0, SearchMeter(AMPLE), 20_000)
    assert not cut.complete
    assert len(np.unique(cut.masks)) == len(cut.costs) == 20_000


def test_cells_are_sorted_by_their_first_template_and_then_by_cost() -> None:
    n = 70  # more than one word
    theta = log_odds(uniform_pairs(n, 0.2, 0.4, np.random.default_rng(0)))
    cells = cheap(
        theta, np.zeros(n), 1.5, SearchMeter(AMPLE), 1 << 16
    )  # single ones and many pairs
    begin, masks, costs = _by_first(cells, n)
    assert (begin[0], begin[-1], len(begin)) == (0, len(cells.costs), n + 1)
    assert len(cells.costs) > n
    for i in range(n):
        own = slice(begin[i], begin[i + 1])
        assert np.all(rows_of(masks[own], n).argmax(axis=1) == i)
        assert np.all(np.diff(costs[own]) >= 0.0)

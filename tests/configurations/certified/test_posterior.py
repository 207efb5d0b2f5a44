"""Certified bounds: the truth lies between them, whatever the budget."""

from __future__ import annotations

import math
import tracemalloc
from itertools import pairwise, product

import numpy as np
import pytest

from oracles.instances import log_odds, planted_pairs, uniform_pairs, with_holes
from oracles.posteriors import ListedPosterior, certified
from oracles.subsets import cell_log_weights
from partita.configurations.certified import posterior as module
from partita.configurations.certified.posterior import (
    CertifiedPosterior,
    SearchEffort,
    Visited,
    _bounds,
    _limited_to_memory,
    cells,
    count_bounds,
    flow,
    from_list,
    narrowing,
)
from partita.configurations.meters import SearchMeter
from partita.configurations.search.prices import UNIT
from partita.core import Budget, FloatArray
from partita.errors import Unavailable


def _convolved(f: FloatArray, g: FloatArray) -> FloatArray:
    """h(S) = Σ_{T ⊆ S} f(T)·g(S∖T), all terms positive, by halves."""
    if len(f) == 1:
        return f * g
    if len(f) > 1 << 9:
        (f0, f1), (g0, g1) = np.split(f, 2), np.split(g, 2)
        return np.concatenate([_convolved(f0, g0), _convolved(f0, g1) + _convolved(f1, g0)])
    return _batch(f[None, :], g[None, :])[0]


def _batch(f: FloatArray, g: FloatArray) -> FloatArray:
    if f.shape[1] == 1:
        return f * g
    half = f.shape[1] // 2
    f0, f1, g0, g1 = f[:, :half], f[:, half:], g[:, :half], g[:, half:]
    both = _batch(np.concatenate([f0, f0, f1]), np.concatenate([g0, g1, g0]))
    low, left, right = np.split(both, 3)
    return np.concatenate([low, left + right], axis=1)


def _log_normaliser(theta: FloatArray) -> float:
    """Z[S ∪ {v}] = Σ_{T ⊆ S} w(T ∪ {v})·Z[S∖T] for v above all of S."""
    weights = np.exp(cell_log_weights(theta))
    z = np.ones(1)
    for v in range(len(theta)):
        z = np.concatenate([z, _convolved(weights[1 << v : 2 << v], z)])
    return float(np.log(z[-1]))


def _random(n: int, number: int) -> FloatArray:
    rng = np.random.default_rng(number)
    low, high = [(0.3, 0.7), (0.05, 0.95), (0.001, 0.4), (0.6, 0.99)][number % 4]
    p = planted_pairs(n, rng) if number % 3 == 2 else uniform_pairs(n, low, high, rng)
    return log_odds(with_holes(p, [0.0, 0.0, 0.3, 0.7][number // 4 % 4], rng))


def _contains(theta: FloatArray, budget: Budget) -> None:
    truth, found = _log_normaliser(theta), certified(theta, budget).log_normaliser
    error = 1e-12 * (1.0 + abs(truth))  # of the reference
    assert found.low <= truth + error
    assert truth - error <= found.high
    assert found.low > -np.inf
    assert found.high < np.inf


@pytest.mark.parametrize("block", range(5))
def test_the_truth_lies_in_the_interval_under_any_amount_of_work(block: int) -> None:
    for number in range(block, 480, 5):
        work = [0, 300, 3000, 30_000, 200_000][number // 5 % 5]
        _contains(_random(2 + number % 11, number), Budget(work=work))


@pytest.mark.parametrize("n", [13, 14, 15, 16])
@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.03, 0.1, 0.5])
def test_the_truth_lies_in_the_interval_under_any_time(n: int, seconds: float) -> None:
    _contains(_random(n, n + int(100 * seconds)), Budget(seconds=seconds))


def test_every_answer_holds() -> None:
    for number in range(40):
        theta = _random(4 + number % 5, number)
        truth = ListedPosterior(theta)
        found = certified(theta, Budget(work=[0, 500, 50_000][number % 3]))
        pairs, expected = found.pairs(), truth.pairs().value
        assert np.all(pairs.low <= expected + 1e-12)
        assert np.all(expected <= pairs.high + 1e-12)
        entropy = found.entropy()
        assert entropy.low <= truth.entropy().value + 1e-9
        assert truth.entropy().value <= entropy.high + 1e-9
        assert found.count() == truth.count()
        assert found.log2_count().value == pytest.approx(truth.log2_count().value)
        low, high = count_bounds(np.isfinite(theta))
        assert low <= truth.log2_count().value + 1e-9 <= high + 2e-9
        assert len(found.best(3).labels) == min(3, len(truth.weights))


@pytest.mark.parametrize("seed", range(6))
def test_the_entropy_of_any_part_that_was_visited_bounds_that_of_the_whole(seed: int) -> None:
    """Every part of the five configurations of three templates, whose mass is known or not.

    Where one configuration is missing and the mass is known, the lower end is the entropy, unless
    that of the part is less: then nothing would be missing."""
    rng = np.random.default_rng(seed)
    theta = log_odds(uniform_pairs(3, *((0.02, 0.98) if seed % 2 else (0.3, 0.7)), rng))
    rows = np.array(list(ListedPosterior(theta).weights))
    whole = _entropy_of(theta, rows)
    for chosen in product([False, True], repeat=len(rows)):
        if not any(chosen):
            continue
        visited = from_list(theta, rows[list(chosen)])
        inside = _entropy_of(theta, rows[list(chosen)])
        for high in (_log_normaliser(theta) + 1e-12, _log_normaliser(theta) + 0.5):
            found = CertifiedPosterior(theta, visited, high, Budget()).entropy()
            assert found.low <= whole + 1e-9
            assert whole <= found.high + 1e-9
            assert found.low <= inside + 1e-9
        known = CertifiedPosterior(theta, visited, _log_normaliser(theta) + 1e-12, Budget())
        if sum(chosen) >= len(rows) - 1:
            assert known.entropy().low == pytest.approx(min(inside, whole), abs=1e-9)


def _entropy_of(theta: FloatArray, rows: np.ndarray) -> float:
    """In bits, of configurations by their weights."""
    weights = ListedPosterior(theta).weights
    share = np.exp([weights[tuple(row)] for row in rows.tolist()])
    share /= share.sum()
    return float(-(share * np.log2(share)).sum())


def test_entropy_and_pairs_are_exact_where_all_is_visited() -> None:
    theta = log_odds(planted_pairs(9, np.random.default_rng(9), size=3))
    truth, found = ListedPosterior(theta), certified(theta, Budget(work=10**8))
    assert found.visited.flow is not None
    assert found.missing < 2e-6
    assert found.pairs().value == pytest.approx(truth.pairs().value, abs=2e-6)
    assert found.entropy().value == pytest.approx(truth.entropy().value, abs=2e-4)


def test_more_work_narrows() -> None:
    theta = log_odds(planted_pairs(30, np.random.default_rng(3)))
    figures = [certified(theta, Budget(work=10**d)).log_normaliser for d in (0, 5, 6, 7)]
    widths = [figure.high - figure.low for figure in figures]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 100 * widths[-1]
    assert max(f.low for f in figures) <= min(f.high for f in figures)


def test_each_pass_is_an_answer_that_keeps_what_is_known() -> None:
    theta = log_odds(planted_pairs(25, np.random.default_rng(13)))
    figures = [answer.log_normaliser for answer in narrowing(theta, Budget(work=10**6))]
    assert len(figures) > 3
    for one, two in pairwise(figures):
        assert one.low <= two.low <= two.high <= one.high


@pytest.mark.parametrize(("n", "width"), [(40, 0.01), (50, 0.01), (70, 0.5)])
def test_planted_clusters(n: int, width: float) -> None:
    theta = log_odds(planted_pairs(n, np.random.default_rng(n)))
    found = certified(theta, Budget(work=4 * 10**6)).log_normaliser
    assert 0.0 < found.high - found.low <= width


def test_the_same_work_gives_the_same_bytes() -> None:
    theta = log_odds(uniform_pairs(20, 0.05, 0.95, np.random.default_rng(6)))
    one, two = (certified(theta, Budget(work=300_000)) for _ in range(2))
    assert one.log_normaliser == two.log_normaliser
    assert np.array_equal(one.pairs().low, two.pairs().low)


def test_little_memory_is_wide_but_true() -> None:
    theta = log_odds(planted_pairs(12, np.random.default_rng(7)))
    truth = _log_normaliser(theta)
    found = certified(theta, Budget(work=10**6, memory=1 << 16)).log_normaliser
    assert found.low <= truth <= found.high


def test_extreme_odds() -> None:
    rng = np.random.default_rng(4)
    theta = np.triu(rng.choice([-690.0, -0.5, 0.5, 690.0], (8, 8)), 1)
    theta += theta.T
    theta[0, 3] = theta[3, 0] = -np.inf
    truth = ListedPosterior(theta).log_normaliser.value
    found = certified(theta, Budget(work=10**6)).log_normaliser
    assert found.low <= truth <= found.high
    assert found.high - found.low < 1.0


def test_draws_follow_the_pairs() -> None:
    theta = log_odds(planted_pairs(24, np.random.default_rng(11)))
    found = certified(theta, Budget(work=10**7))
    rows = found.draws(20_000, np.random.default_rng(0))
    together = (rows[:, :, None] == rows[:, None, :]).mean(axis=0)
    pairs = found.pairs()
    error = np.sqrt(pairs.value * (1.0 - pairs.value) / len(rows))
    assert np.all(np.abs(together - pairs.value) <= 6.0 * error + 1e-3)
    assert np.all(np.isfinite([found.log_weight(row) for row in rows[:100]]))


def test_what_it_cannot_answer_it_refuses() -> None:
    theta = log_odds(uniform_pairs(20, 0.3, 0.7, np.random.default_rng(12)))
    found = certified(theta, Budget(work=10_000))
    with pytest.raises(Unavailable, match="sampled"):
        found.draws(1, np.random.default_rng(0))
    with pytest.raises(Unavailable):
        found.cells()


def test_bounds_are_rounded_outward_by_a_unit_for_every_addition() -> None:
    def width(states: int, edges: int, price: float) -> float:
        mass = np.zeros(states)
        mass[0] = 1.0
        passed, b = np.arange(1, states, dtype=np.int32), np.full(4, price)
        low, high = _bounds(np.zeros((4, 4)), b, mass, passed, 0, 0.0, edges)
        assert low < 4 * price < high
        return (high - low) / UNIT

    least = width(10, 10, 0.0)
    assert width(10, 10 + 10**6, 0.0) - least >= 2e6
    assert width(10 + 10**6, 10, 0.0) - least >= 2e6
    assert width(10, 10, 1e5) - least >= 2 * 4 * 1e5


def test_pairs_of_a_flow_allow_for_the_rounding_of_its_edges() -> None:
    found = certified(log_odds(planted_pairs(25, np.random.default_rng(13))), Budget(work=10**6))
    assert found.visited.flow is not None
    edges = len(found.visited.flow.target)
    assert edges > 1000
    assert edges * UNIT < found.visited.slack < 1e-9


def test_all_cells_down_to_the_least_share_are_listed_however_small_the_room() -> None:
    for number, room in product(range(6), (2, 5, 20)):
        theta = _random(7, number)
        labels, guess = np.arange(7), np.zeros(7)
        listed = cells(
            theta, labels, guess, np.full(7, 1e-9), room, SearchMeter(Budget(work=10**7))
        )
        masks = np.arange(1, 1 << 7)
        inside = masks[:, None] >> np.arange(7) & 1
        shares = np.exp(cell_log_weights(theta)[1:] - inside @ listed.b)
        first = inside.argmax(axis=1)
        for i in range(7):
            of_i = listed.masks[listed.begin[i] : listed.begin[i + 1], 0]
            large = masks[(first == i) & (shares > listed.least[i] * (1 + 1e-9))]
            assert set(large.tolist()) <= set(of_i.tolist())


def test_pairs_of_a_list_are_exact_where_all_is_listed() -> None:
    for number in range(12):
        theta = _random(2 + number % 4, number)
        found = certified(theta, Budget(work=10**6)).pairs()
        assert found.value == pytest.approx(ListedPosterior(theta).pairs().value, abs=1e-9)
        assert (found.high - found.low < 1e-9).all()


@pytest.mark.parametrize("n", [60, 700])
def test_a_pass_fits_its_share_of_the_memory(n: int) -> None:
    memory, words = 1 << 26, -(-n // 64)
    effort = _limited_to_memory(SearchEffort(1e-3, 1 << 40, 1 << 40), n, memory)
    held = n * effort.cells * (8 * words + 8 + 8)  # a mask, a share and a tail for each cell
    assert memory / 64 < held <= memory / 8
    theta, meter = np.where(np.eye(n), 0.0, -math.inf), SearchMeter(Budget(work=10**6))
    single = cells(theta, np.arange(n), np.zeros(n), np.full(n, 1e-3), 2, meter)
    tracemalloc.start()
    flow(theta, single, effort, meter)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert memory / 16 < peak <= memory / 4


def test_the_mass_of_a_list_is_rounded_outward() -> None:
    """All configurations are listed, so that nothing but rounding makes the bounds differ."""
    theta = np.where(np.eye(3), 0.0, 1e5)
    found = certified(theta, Budget(work=10**6)).log_normaliser
    assert found.low + 3e5 * UNIT <= 3e5 <= found.high - 3e5 * UNIT
    assert found.high - found.low < 1e-6


def test_a_first_list_is_no_longer_than_there_is_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def noted(theta: FloatArray, labels: np.ndarray) -> Visited:
        lengths.append(len(labels))
        return from_list(theta, labels)

    module._compile()  # which lists something too
    monkeypatch.setattr(module, "from_list", noted)
    for pairs in (1, 100 * 12**2, 1 << 24):
        monkeypatch.setattr(module, "MOST_PAIRS", pairs)
        certified(_random(12, 0), Budget(work=1000))
    assert lengths == [8, 100, 256]


def test_cells_that_fit_their_room_are_listed_down_to_the_share_that_was_asked_for() -> None:
    """Of ten templates without evidence the first has 512 cells, of which none is large."""
    theta, least = np.zeros((10, 10)), np.full(10, 1e-9)
    listed = cells(theta, np.arange(10), np.zeros(10), least, 4096, SearchMeter(Budget(work=10**7)))
    assert np.array_equal(listed.least, least)
    assert listed.begin[-1] == (1 << 10) - 1

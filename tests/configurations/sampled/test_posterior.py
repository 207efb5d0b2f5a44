"""The sampled method against brute force, exact blocks, and sets on which chains do not mix."""

from __future__ import annotations

import math
import tracemalloc
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import partitions
from oracles.instances import log_odds, planted_pairs, symmetric, uniform_pairs, with_holes
from partita.configurations.exact.posterior import exact
from partita.configurations.meters import SweepMeter
from partita.configurations.sampled import posterior as module
from partita.configurations.sampled.posterior import (
    ChainSummary,
    ChainTally,
    SampledPosterior,
    _steepest,
    chain_bytes,
    chain_pairs,
    chains,
    sampled,
    starts,
)
from partita.core import Budget, Figure, FloatArray, Posterior, restricted_growth
from partita.errors import TooLarge, Unavailable

DENSITIES = (0.0, 0.3, 0.6, 0.9)
FAR = 5.0  # standard errors: a right method passes 10,000 runs


def _instance(share: float) -> FloatArray:
    rng = np.random.default_rng(round(10 * share))
    return log_odds(with_holes(uniform_pairs(8, 0.05, 0.95, rng), share, rng))


@cache
def _answer(share: float) -> SampledPosterior:
    return sampled(_instance(share), Budget(work=60_000), 1)


def _within(figure: Figure, truth: float) -> bool:
    return abs(figure.value - truth) <= FAR * (figure.high - figure.value) + 1e-9


@pytest.mark.parametrize("share", DENSITIES)
def test_pairs_normaliser_and_entropy_agree_with_brute_force(share: float) -> None:
    answer, probabilities = _answer(share), partitions.distribution(_instance(share))
    weights = partitions.log_weights(_instance(share))
    assert answer.converged, answer.reason
    truth = partitions.pair_marginals(probabilities, 8)
    assert (np.abs(answer.pairs().value - truth) <= FAR * answer.error + 1e-4).all()
    assert answer.error.max() <= 0.01
    assert _within(answer.log_normaliser, float(np.logaddexp.reduce(list(weights.values()))))
    assert _within(answer.entropy(), partitions.entropy_bits(probabilities))


@pytest.mark.parametrize("share", DENSITIES)
def test_the_best_visited_are_the_best(share: float) -> None:
    best = _answer(share).best(30)
    weights = sorted(partitions.log_weights(_instance(share)).values(), reverse=True)[:30]
    np.testing.assert_allclose(best.log_weights, weights, atol=1e-9)
    assert len({tuple(row) for row in best.labels.tolist()}) == len(weights)
    assert best.gap == math.inf
    for row, weight in zip(best.labels, best.log_weights, strict=True):
        assert _answer(share).log_weight(row) == pytest.approx(weight)
        assert (restricted_growth(row) == row).all()


@pytest.mark.parametrize("share", DENSITIES)
def test_draws_have_the_exact_frequencies(share: float) -> None:
    answer, count = _answer(share), 4000
    rows = answer.draws(count, np.random.default_rng(5))
    assert rows.shape == (count, 8)
    together = (rows[:, :, None] == rows[:, None, :]).mean(axis=0)
    truth = partitions.pair_marginals(partitions.distribution(_instance(share)), 8)
    spread = np.sqrt(truth * (1.0 - truth) / count)
    assert (np.abs(together - truth) <= FAR * 1.2 * spread + 1e-3).all()
    assert (rows == answer.draws(count, np.random.default_rng(5))).all()


def test_it_says_how_its_figures_were_obtained() -> None:
    answer: Posterior = _answer(0.3)
    assert answer.method == "sampled"
    assert answer.log_normaliser.kind == answer.entropy().kind == answer.pairs().kind == "estimate"
    assert "chains" in answer.reason
    with pytest.raises(Unavailable):
        answer.cells()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    theta, budget = _instance(0.3), Budget(work=4000)
    one, two, other = (sampled(theta, budget, seed) for seed in (3, 3, 4))
    assert one.pairs().value.tobytes() == two.pairs().value.tobytes()
    assert one.log_normaliser == two.log_normaliser
    assert one.pairs().value.tobytes() != other.pairs().value.tobytes()


@given(
    st.integers(1, 7),
    st.floats(0.0, 1.0),
    st.sampled_from([0.1, 2.0, 30.0, 700.0]),
    st.integers(0, 10**6),
)
@settings(deadline=None, max_examples=25)
def test_nothing_is_impossible(n: int, share: float, size: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta = symmetric(rng.uniform(-size, size, (n, n)))
    theta = np.where(with_holes(np.ones((n, n)), share, rng) == 0.0, -np.inf, theta)
    np.fill_diagonal(theta, 0.0)
    answer = sampled(theta, Budget(work=600), seed)
    p, least = answer.pairs(), max(partitions.log_weights(theta).values())
    assert ((p.low >= 0.0) & (p.low <= p.value) & (p.value <= p.high) & (p.high <= 1.0)).all()
    assert (p.value[theta == -np.inf] == 0.0).all()
    assert (p.value[:, :, None] + p.value[:, None, :] - p.value[None, :, :] <= 1.0 + 1e-6).all()
    assert answer.entropy().value >= 0.0
    figure = answer.log_normaliser
    assert math.isfinite(figure.low)
    assert figure.low <= figure.value <= figure.high
    assert figure.value >= answer.best(1).log_weights[0] - 1e-9
    assert answer.best(1).log_weights[0] <= least + 1e-9


def _blocks(size: int, count: int, seed: int) -> tuple[FloatArray, float, FloatArray]:
    """Independent blocks with the weakest of links, their log-normaliser and their pairs."""
    rng, n = np.random.default_rng(seed), size * count
    theta, truth, log_z = np.full((n, n), np.log(1e-9)), np.zeros((n, n)), 0.0
    for block in range(count):
        kind = (planted_pairs(size, rng), uniform_pairs(size, 0.3, 0.7, rng))[block % 2]
        here = slice(block * size, block * size + size)
        theta[here, here] = log_odds(kind)
        posterior = exact(theta[here, here])
        log_z += posterior.log_normaliser.value
        truth[here, here] = posterior.pairs().value
    np.fill_diagonal(theta, 0.0)
    mixed = rng.permutation(n)
    return theta[np.ix_(mixed, mixed)].copy(), log_z, truth[np.ix_(mixed, mixed)]


def test_independent_blocks_in_one_component() -> None:
    theta, log_z, truth = _blocks(20, 10, 0)
    answer = sampled(theta, Budget(work=32_000), 0)
    assert answer.converged, answer.reason
    assert np.abs(answer.pairs().value - truth).max() <= 0.02
    assert _within(answer.log_normaliser, log_z)
    assert answer.log_normaliser.high - answer.log_normaliser.value < 0.5


def test_blocks_that_exclude_each_other_but_for_a_chain_of_links() -> None:
    theta, log_z, truth = _blocks(8, 6, 1)
    weak = theta == np.log(1e-9)
    theta[weak] = -np.inf
    theta[0, 1:][weak[0, 1:]] = theta[1:, 0][weak[0, 1:]] = np.log(1e-9)
    answer = sampled(theta, Budget(work=60_000), 0)
    assert answer.converged, answer.reason
    assert np.abs(answer.pairs().value - truth).max() <= 0.02
    assert _within(answer.log_normaliser, log_z)


def test_chains_that_do_not_mix_are_no_answer() -> None:
    theta = log_odds(uniform_pairs(150, 0.05, 0.95, np.random.default_rng(0)))
    answer = sampled(theta, Budget(work=8000), 0)
    assert not answer.converged
    assert answer.disagreement > 0.5
    assert answer.log_normaliser.high - answer.log_normaliser.value >= 1.0
    assert "not mixed" in answer.reason
    assert answer.log_normaliser.value >= answer.best(1).log_weights[0]


def test_starts_are_opposite_and_possible() -> None:
    theta = _instance(0.3)
    apart, together, *others = starts(chain_pairs(theta), np.random.default_rng(0))
    assert len(set(apart.label[:-1])) == 8
    assert len(set(together.label[:-1])) <= min(len(set(s.label[:-1])) for s in others)
    for state in (apart, together, *others):
        labels = restricted_growth(state.label[:-1])
        weight = partitions.log_weights(theta)[tuple(labels.tolist())]
        assert state.score[0] == pytest.approx(weight)


def test_an_estimate_below_what_was_visited_is_refused() -> None:
    one = np.ones(1)
    fine = ChainSummary(100, one, 0.001 * one, 0.01, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 8)
    judged = module._verdict(Figure.estimate(5.0, 0.1), fine, 7.0, -np.inf)
    assert judged[0].value == 7.0
    assert not judged[1]
    assert "below" in judged[2]
    assert module._verdict(Figure.estimate(5.0, 0.1), fine, 4.9, -np.inf)[1]
    assert not module._verdict(Figure.estimate(5.0, 0.1), fine, 4.9, 4.0)[1]


def test_an_estimate_that_contradicts_certified_bounds_is_refused() -> None:
    one = np.ones(1)
    fine = ChainSummary(100, one, 0.001 * one, 0.01, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 8)
    for low, high, converged in ((4.0, 6.0, True), (5.3, 6.0, True), (5.5, 6.0, False)):
        bounds = Figure.interval(low, high)
        judged = module._verdict(Figure.estimate(5.0, 0.1), fine, 4.9, -np.inf, bounds)
        assert judged[1] is converged
    assert "contradicts its certified bounds" in judged[2]


def test_the_number_of_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = _instance(0.6)
    number = len(partitions.log_weights(theta))
    answer = sampled(theta, Budget(work=20_000), 2)
    assert answer.count() == number
    assert answer.log2_count() == Figure.exact(math.log2(number))
    monkeypatch.setattr(module, "count_configurations", lambda compatible: None)
    unknown = sampled(theta, Budget(work=20_000), 2)
    assert unknown.count() is None
    assert unknown.log2_count().kind == "estimate"
    assert _within(unknown.log2_count(), math.log2(number))


@pytest.mark.parametrize(("n", "holes"), [(200, 0.9), (400, 0.0)])
def test_memory_is_predicted_and_too_little_is_refused(n: int, holes: float) -> None:
    rng = np.random.default_rng(0)
    theta = log_odds(with_holes(planted_pairs(n, rng), holes, rng))
    with pytest.raises(TooLarge, match=f"sampling {n} templates"):
        sampled(theta, Budget(memory=1 << 20), 0)
    _answer(0.3)  # loads and compiles what it needs
    tracemalloc.start()
    sampled(theta, Budget(work=400), 0).pairs()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    predicted = chain_bytes(n, int(np.count_nonzero(theta > -np.inf)))
    assert peak <= predicted <= 2 * peak + (1 << 24)


def test_without_work_there_are_two_batches_as_an_error_needs() -> None:
    every = chains(chain_pairs(_instance(0.3)), np.random.SeedSequence(0))
    tally = ChainTally(every, 5, SweepMeter(0.0, 0.0))
    tally.add_halves(10)
    assert len(tally) == 2
    assert tally.summary().sweeps == 2 * 5


def test_progress_tells_the_error_and_the_clock_ends_it() -> None:
    told: list[str] = []
    theta = log_odds(uniform_pairs(60, 0.3, 0.7, np.random.default_rng(0)))
    answer = sampled(theta, Budget(seconds=0.3), 0, told.append)
    assert any("chains differ" in line for line in told)
    assert any("log-normaliser" in line for line in told)
    assert answer.size == 60


def test_memory_that_is_just_enough_is_not_refused() -> None:
    theta = _instance(0.0)
    needs = chain_bytes(8, 64)
    assert sampled(theta, Budget(memory=needs, work=100), 0).size == 8
    with pytest.raises(TooLarge):
        sampled(theta, Budget(memory=needs - 1, work=100), 0)


def test_annealing_starts_as_warm_as_the_largest_log_odds_need() -> None:
    weak, strong = np.full((2, 2), 0.2), np.array([[0.0, -7.0], [-7.0, 0.0]])
    apart = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    assert [_steepest(theta) for theta in (weak, strong, apart)] == [1.0, 7.0, 1.0]

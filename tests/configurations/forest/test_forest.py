"""The forest model against every spanning forest, determinants, and its own draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from oracles import forests
from partita.configurations.forest import network as networks
from partita.configurations.forest.model import ForestParameters, scores_of, weigh
from partita.configurations.forest.network import ForestNetwork, Watched
from partita.configurations.forest.posterior import (
    SampledForest,
    clopper_pearson,
    forest,
    of_graph,
)
from partita.configurations.odds import PairKnowledge
from partita.core import Budget, components
from partita.errors import InputError, TooLarge, Unavailable

DEFAULT = ForestParameters()
BUDGET = Budget(work=4000, seconds=math.inf)
seeds = st.integers(0, 10**6)


def exact(known: PairKnowledge) -> object:
    return forest(known, DEFAULT, BUDGET, method="exact")


@settings(max_examples=25)
@given(seeds, st.integers(1, 6), st.integers(0, 3), st.integers(0, 2), st.sampled_from([0.0, 0.05]))
def test_equals_brute_force(seed: int, n: int, apart: int, must: int, floor: float) -> None:
    known = forests.random_knowledge(np.random.default_rng(seed), n, 2.0, apart, must)
    posterior = forest(known, ForestParameters(floor=floor), BUDGET)
    expected = forests.distribution(known, floor)
    total = math.fsum(expected.values())
    for labels, weight in expected.items():
        log = posterior.log_weight(np.array(labels)) - posterior.log_normaliser.value
        assert math.exp(log) == pytest.approx(weight / total, rel=1e-6, abs=1e-12)
    marginals = posterior.pairs().value
    for i in range(n):
        for j in range(i):
            together = math.fsum(w for labels, w in expected.items() if labels[i] == labels[j])
            assert marginals[i, j] == pytest.approx(together / total, abs=1e-7)


@pytest.mark.parametrize("n", [7, 8])
def test_equals_brute_force_of_eight(n: int) -> None:
    known = forests.random_knowledge(np.random.default_rng(n), n, 1.5, apart=2)
    posterior = forest(known, DEFAULT, BUDGET)
    expected = forests.distribution(known)
    total = math.fsum(expected.values())
    best = posterior.best(5)
    top = sorted(expected.values(), reverse=True)[:5]
    assert np.exp(best.log_weights) == pytest.approx(np.array(top), rel=1e-9)
    assert best.gap == 0.0
    assert posterior.log_normaliser.value == pytest.approx(math.log(total), abs=1e-9)
    bits = -math.fsum(w / total * math.log2(w / total) for w in expected.values())
    assert posterior.entropy().value == pytest.approx(bits, abs=1e-9)
    assert posterior.count() == len(expected)


def test_two_templates_keep_their_probability() -> None:
    for p in (1e-6, 0.2, 0.7, 1.0 - 1e-6):
        known = PairKnowledge(
            np.full((2, 2), p), np.ones((2, 2), np.bool_), np.eye(2, dtype=np.bool_)
        )
        assert forest(known, DEFAULT, BUDGET).pairs().value[0, 1] == pytest.approx(p, rel=1e-9)


@settings(max_examples=12)
@given(seeds, st.integers(9, 17), st.sampled_from([1.0, 4.0, 9.0]))
def test_recursion_and_determinants_agree(seed: int, n: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    known = forests.random_knowledge(rng, n, spread, must=1)
    graph = weigh(scores_of(known), DEFAULT)
    dense = graph.dense()
    laplacian = np.diag(graph.sizes + dense.sum(axis=1)) - dense
    recursion = forest(known, DEFAULT, BUDGET, method="exact")
    value = recursion.log_normaliser.value
    assert value == pytest.approx(np.linalg.slogdet(laplacian)[1], rel=1e-9)
    network = ForestNetwork(graph)
    assert network.log_normaliser == pytest.approx(value, rel=1e-12)
    home = components(known.must)
    for row in network.draws(5, rng):
        log = network.log_weight(row)
        assert recursion.log_weight(row[home]) == pytest.approx(log, rel=1e-9, abs=1e-9)


def test_cells_are_weighed_together_as_one_by_one() -> None:
    rng = np.random.default_rng(5)
    network = ForestNetwork(weigh(scores_of(forests.random_knowledge(rng, 40, 3.0)), DEFAULT))
    rows = np.vstack([network.draws(3, rng), np.zeros((1, 40), dtype=np.int64)])
    alone = [network.log_weight(row) for row in rows]
    assert network.log_weights(rows) == pytest.approx(alone, rel=1e-12)


WAYS = {"elimination": (99, 0.0), "walk": (0, math.inf), "both": (3, math.inf)}


@pytest.mark.parametrize("apart", [0, 2])
@pytest.mark.parametrize("way", WAYS)
def test_draws_pass_a_chi_square_test(
    apart: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "WALK", WAYS[way][0])
    monkeypatch.setattr(networks, "STEPS", WAYS[way][1])
    statistic, freedom = 0.0, 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        known = forests.random_knowledge(rng, 3 + seed % 4, 1.5, apart, must=seed % 2)
        value, degrees = _chi_square(known, SampledForest, rng)
        statistic, freedom = statistic + value, freedom + degrees
    assert 1e-4 < chi2.sf(statistic, freedom) < 1.0 - 1e-4


def _chi_square(known: PairKnowledge, kind: type, rng: np.random.Generator) -> tuple[float, int]:
    """Compare draws with the exact posterior; rare configurations count as one."""
    graph, home = weigh(scores_of(known), DEFAULT), components(known.must)
    rows = kind(graph, Budget(work=10), 0).draws(2000, rng)[:, home]
    posterior = forest(known, DEFAULT, BUDGET, method="exact")
    best = posterior.best(10_000)
    expected = np.exp(best.log_weights - posterior.log_normaliser.value) * len(rows)
    place = {tuple(labels): k for k, labels in enumerate(best.labels.tolist())}
    seen = np.bincount([place[tuple(row)] for row in rows.tolist()], minlength=len(expected))
    common = expected > 5.0
    rest = expected[~common].sum()
    value = float(((seen - expected) ** 2 / expected)[common].sum())
    if rest > 1.0:
        value += float((seen[~common].sum() - rest) ** 2 / rest)
    return value, int(common.sum()) - (rest <= 1.0)


def test_strong_scores_are_drawn_at_once() -> None:
    rng = np.random.default_rng(2)
    known = forests.random_knowledge(rng, 60, 15.0)
    rows = SampledForest(weigh(scores_of(known), DEFAULT), Budget(work=50), 0).draws(50, rng)
    assert rows.shape == (50, 60)


@pytest.mark.parametrize("apart", [0, 1])
def test_sampled_answers_match_exact_ones(apart: int) -> None:
    known = forests.random_knowledge(np.random.default_rng(11), 12, 2.0, apart)
    sampled, right = (forest(known, DEFAULT, BUDGET, 3, m) for m in ("sampled", "exact"))
    error = 4.5 * math.sqrt(0.25 / 4000)
    assert sampled.pairs().value == pytest.approx(right.pairs().value, abs=error)
    assert sampled.log_normaliser.value == pytest.approx(right.log_normaliser.value, abs=0.1)
    assert (sampled.log_normaliser.kind == "exact") == (apart == 0)
    entropy = sampled.entropy()
    assert abs(entropy.value - right.entropy().value) < 5.0 * (entropy.error or 0.0)
    assert sampled.log_weight(sampled.rows[0]) == pytest.approx(
        right.log_weight(sampled.rows[0]), abs=1e-9
    )
    best, proved = sampled.best(3), right.best(1)
    assert best.log_weights[0] <= proved.log_weights[0] + 1e-9
    assert best.log_weights[-1] + best.gap >= proved.log_weights[0] - 1e-9
    assert sampled.count() == right.count()


@pytest.mark.parametrize("apart", [0, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_found_are_near_the_best_and_nothing_exceeds_their_gap(
    seed: int, apart: int
) -> None:
    known = forests.random_knowledge(np.random.default_rng(seed), 11, 2.5, apart, must=seed % 2)
    sampled, right = (forest(known, DEFAULT, BUDGET, seed, m) for m in ("sampled", "exact"))
    best, proved = sampled.best(5), right.best(1)
    assert best.log_weights[0] == pytest.approx(proved.log_weights[0], abs=1e-9)
    assert (np.diff(best.log_weights) <= 0.0).all()
    assert best.log_weights[-1] + best.gap >= proved.log_weights[0] - 1e-9


@pytest.mark.parametrize("must", [0, 3])
def test_watched_pairs_have_their_probabilities(must: int) -> None:
    rng = np.random.default_rng(must)
    known = forests.random_knowledge(rng, 12, 1.5, must=must)
    graph = weigh(scores_of(known), DEFAULT)
    exactly = of_graph(graph, BUDGET, method="exact").pairs().value[graph.left, graph.right]
    p = np.zeros(len(graph.left))
    rows = ForestNetwork(graph).draws(20_000, rng, Watched(graph.left, graph.right, graph.extra, p))
    share = (rows[:, graph.left] == rows[:, graph.right]).mean(axis=0)
    assert np.abs(p - exactly).max() < 0.012
    assert ((p - exactly) ** 2).mean() < ((share - exactly) ** 2).mean()


def test_same_seed_gives_the_same_rows() -> None:
    known = forests.random_knowledge(np.random.default_rng(3), 20, 2.0)
    first, second = (forest(known, DEFAULT, BUDGET, 7) for _ in range(2))
    assert np.array_equal(first.rows, second.rows)
    assert np.array_equal(first.pairs().value, second.pairs().value)


def test_too_many_cannot_links_are_refused() -> None:
    n = 40
    compatible = np.eye(n, dtype=np.bool_)
    for i in range(n - 1):
        compatible[i, i + 1] = compatible[i + 1, i] = True
    known = PairKnowledge(np.full((n, n), 0.9), compatible, np.eye(n, dtype=np.bool_))
    with pytest.raises(Unavailable, match="cannot-links"):
        forest(known, DEFAULT, BUDGET)


def test_refusals() -> None:
    known = forests.random_knowledge(np.random.default_rng(3), 20, 2.0)
    with pytest.raises(TooLarge, match="20 templates"):
        forest(known, DEFAULT, BUDGET, method="exact")
    with pytest.raises(InputError, match="no certified method"):
        forest(known, DEFAULT, BUDGET, method="certified")
    with pytest.raises(InputError, match="scale of the forest model is 0"):
        ForestParameters(0.0)
    with pytest.raises(InputError, match="floor of the forest model is 1"):
        ForestParameters(floor=1.0)


def test_clopper_pearson_bounds_nothing_to_zero() -> None:
    share, low, high = clopper_pearson(1000)
    assert low[0] == 0.0 < high[0] < 0.005
    assert high[-1] == 1.0 > low[-1] > 0.995
    assert ((low <= share) & (share <= high)).all()


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_number_of_cells_does_not_depend_on_the_size(n: int) -> None:
    """True pairs at .9 and a weak chain: the cells per template stay about the same."""
    known = _pairs_in_a_chain(n)
    network = ForestNetwork(weigh(known, DEFAULT))
    rows = network.draws(50, np.random.default_rng(0))
    assert 0.42 < float((rows.max(axis=1) + 1).mean()) / n < 0.62


def _pairs_in_a_chain(n: int) -> object:
    from partita.configurations.forest.model import ForestScores, log_odds

    left = np.arange(n - 1)
    p = np.where(left % 2 == 0, 0.9, 0.05)
    none = np.zeros((0, 2), dtype=np.int64)
    return ForestScores(np.arange(n), left, left + 1, log_odds(p), none, False)

"""The front door: the paper's numbers, knowledge, components, reports and many sets at once."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.instances import log_odds, symmetric, uniform_pairs, with_holes
from oracles.partitions import distribution, entropy_bits, joined, pair_marginals, partitions
from partita.configurations.exact.posterior import exact
from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters, split
from partita.configurations.solve import solve_set
from partita.configurations.solve_batch import solve_many, solve_rows
from partita.core import (
    Budget,
    Configuration,
    CoreferenceSet,
    Distribution,
    PairProbabilities,
    Posterior,
    Template,
    components,
    pair,
    restricted_growth,
)
from partita.errors import Contradiction, InputError, PartitaError, TooLarge

IDS = "ABCDEFGHIJKLMNOP"
TABLE_1 = {"AB": 0.671, "AC": 0.0, "AD": 0.505, "BC": 0.0, "BD": 0.752, "CD": 0.504}


def table_1() -> PairProbabilities:
    matrix = np.eye(4)
    for (left, right), value in TABLE_1.items():
        i, j = IDS.index(left), IDS.index(right)
        matrix[i, j] = matrix[j, i] = value
    return PairProbabilities(CoreferenceSet.of("ABCD", "depots"), matrix)


def pairs_of(matrix: np.ndarray, **known: frozenset[tuple[str, str]]) -> PairProbabilities:
    matrix = matrix.copy()
    np.fill_diagonal(matrix, 1.0)
    templates = tuple(Template(IDS[i]) for i in range(len(matrix)))
    return PairProbabilities(CoreferenceSet(templates, **known), matrix)


def shares(found: Distribution) -> dict[str, float]:
    return {str(item.configuration): item.probability for item in found.configurations}


def test_the_papers_example_evidential() -> None:
    found = solve_set(table_1())
    assert shares(found) == pytest.approx(
        {
            "(A B D) (C)": 0.3826,
            "(A) (B D) (C)": 0.1839,
            "(A B) (C D)": 0.1257,
            "(A B) (C) (D)": 0.1237,
            "(A D) (B) (C)": 0.0619,
            "(A) (B) (C D)": 0.0616,
            "(A) (B) (C) (D)": 0.0606,
        },
        abs=5e-5,
    )
    assert found.conflict == pytest.approx(0.66967, abs=5e-6)
    assert found.marginal("C", "D") == pytest.approx(0.187, abs=5e-4)
    assert (found.count, found.remainder.count, found.remainder.probability) == (7, 0, 0.0)
    assert found.method == "exact"


def test_the_papers_example_merging() -> None:
    found = shares(solve_set(table_1(), "merging"))
    expected = {
        "(A B D) (C)": 0.2503,
        "(A B) (C D)": 0.3382,
        "(A B) (C) (D)": 0.0825,
        "(A D) (B) (C)": 0.0204,
        "(A) (B D) (C)": 0.1227,
        "(A) (B) (C D)": 0.1658,
        "(A) (B) (C) (D)": 0.0200,
    }
    assert found == pytest.approx(expected, abs=5e-5)


def test_the_forbidden_yes_of_the_merging_model() -> None:
    pairs = table_1()
    pairs.matrix[1, 2] = pairs.matrix[2, 1] = 0.5
    found = solve_set(pairs, "merging")
    assert math.exp(found.log_normaliser) == pytest.approx(0.6645, abs=5e-5)
    assert shares(found)["(A B) (C D)"] == pytest.approx(0.2545, abs=5e-5)
    assert shares(found)["(A B D) (C)"] == pytest.approx(0.1883, abs=5e-5)


def test_uniform_and_greedy_as_the_paper_defines_them() -> None:
    assert list(shares(solve_set(table_1(), "uniform")).values()) == pytest.approx([1 / 7] * 7)
    found = solve_set(table_1(), "greedy", parameters=GreedyParameters(0.571, 0.652, 0.344))
    assert found.most_probable == Configuration([["A", "B"], ["C", "D"]])
    assert shares(found)["(A B) (C D)"] == pytest.approx(0.344)
    assert shares(found)["(A) (B) (C) (D)"] == pytest.approx((1 - 0.344) / 6)


def test_scaled_with_one_and_zero_is_evidential_and_with_zero_is_uniform() -> None:
    same = solve_set(table_1(), "scaled", parameters=ScaledParameters(1.0, 0.0))
    assert shares(same) == pytest.approx(shares(solve_set(table_1())))
    flat = solve_set(table_1(), "scaled", parameters=ScaledParameters(0.0, 0.0))
    assert list(shares(flat).values()) == pytest.approx([1 / 7] * 7)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_knowledge_conditions_the_distribution(seed: int, holes: float) -> None:
    """A must-link or an exclusion equals dropping what breaks it, whatever else is there."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    p = with_holes(uniform_pairs(n, 0.05, 0.95, rng), holes, rng)
    i, j = sorted(rng.choice(n, 2, replace=False).tolist())
    together = bool(rng.integers(2)) and p[i, j] > 0
    known = frozenset([pair(IDS[i], IDS[j])])
    found = solve_set(pairs_of(p, **{"must" if together else "incompatible": known}), top=10_000)
    truth = {
        labels: share
        for labels, share in distribution(log_odds(p)).items()
        if (labels[i] == labels[j]) == together
    }
    total = sum(truth.values())
    expected = {Configuration.from_labels(IDS[:n], c): q / total for c, q in truth.items()}
    listed = {item.configuration: item.probability for item in found.configurations}
    assert listed == pytest.approx(expected)
    assert found.count == len(expected)


def test_a_certain_pair_equals_contraction_and_the_conflict_counts_what_it_contradicts() -> None:
    p = symmetric(np.array([[0, 1.0, 0.3], [0, 0, 0.6], [0, 0, 0]]))
    found = solve_set(pairs_of(p))
    together, apart = 0.3 * 0.6, 0.7 * 0.4
    assert shares(found)["(A B C)"] == pytest.approx(together / (together + apart))
    assert found.conflict == pytest.approx(1 - together - apart)
    assert found.marginal("A", "B") == 1.0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_independent_parts_multiply_and_add(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = uniform_pairs(4, 0.05, 0.95, rng), uniform_pairs(3, 0.05, 0.95, rng)
    p = np.zeros((7, 7))
    p[:4, :4], p[4:, 4:] = first, second
    whole, left, right = (
        solve_set(pairs_of(p), top=200),
        solve_set(pairs_of(first)),
        solve_set(pairs_of(second)),
    )
    total = left.log_normaliser + right.log_normaliser
    assert whole.log_normaliser == pytest.approx(total)
    bits = left.entropy_bits + right.entropy_bits
    assert whole.entropy_bits == pytest.approx(bits)
    truth = distribution(log_odds(p))
    assert whole.count == len(truth) == 75
    assert np.abs(whole.marginals.value - pair_marginals(truth, 7)).max() < 1e-12
    assert [c.probability for c in whole.configurations] == pytest.approx(
        sorted(truth.values(), reverse=True)
    )
    rows = whole.posterior.draws(500, rng).tolist()
    assert {tuple(row) for row in rows} <= set(truth)


def test_all_excluded_is_one_configuration_with_probability_one() -> None:
    found = solve_set(pairs_of(np.zeros((5, 5))))
    assert shares(found) == {"(A) (B) (C) (D) (E)": 1.0}
    assert found.entropy_bits == 0.0


def test_one_template_and_none() -> None:
    assert shares(solve_set(pairs_of(np.zeros((1, 1))))) == {"(A)": 1.0}


def test_a_contradiction_names_the_templates_and_the_chain() -> None:
    p = symmetric(np.array([[0, 1.0, 0.0], [0, 0, 1.0], [0, 0, 0]]))
    with pytest.raises(Contradiction, match=r"A and C must be .* A = B = C\) and cannot"):
        solve_set(pairs_of(p))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="unknown model 'dempster', expected one of uniform"):
        solve_set(table_1(), "dempster")
    with pytest.raises(InputError, match="unknown method"):
        solve_set(table_1(), method="fast")
    with pytest.raises(InputError, match="scaled model needs"):
        solve_set(table_1(), "scaled")


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60), st.sampled_from([None, 0.3, 0.01, 1e-5]))
def test_nothing_is_lost_in_the_report(seed: int, top: int, threshold: float | None) -> None:
    rng = np.random.default_rng(seed)
    p = with_holes(uniform_pairs(int(rng.integers(2, 7)), 0.02, 0.98, rng), 0.3, rng)
    truth = sorted(distribution(log_odds(p)).values(), reverse=True)
    found = solve_set(pairs_of(p), top=top, threshold=threshold)
    listed = [item.probability for item in found.configurations]
    wanted = [q for q in truth[:top] if threshold is None or q >= threshold] or truth[:1]
    assert listed == pytest.approx(wanted)
    assert math.fsum(listed) + found.remainder.probability == pytest.approx(1.0, abs=1e-12)
    assert len(listed) + (found.remainder.count or 0) == len(truth)
    if found.remainder.count:
        spread = found.remainder.each * found.remainder.count
        assert spread == pytest.approx(found.remainder.probability)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_a_batch_equals_brute_force(seed: int, holes: bool) -> None:
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(2, 8)), 6
    theta = rng.normal(0, 3, (count, n * (n - 1) // 2))
    if holes:
        theta[rng.random(theta.shape) < 0.4] = -np.inf
    solved, (left, right) = solve_rows(theta, n, 10), np.triu_indices(n, 1)
    for row, of_pairs in enumerate(theta):
        matrix = np.zeros((n, n))
        matrix[left, right] = matrix[right, left] = of_pairs
        truth = distribution(matrix)
        shares = sorted(truth.values(), reverse=True)[:10]
        assert solved.counts[row] == len(truth)
        assert solved.pairs[row] == pytest.approx(pair_marginals(truth, n)[left, right], abs=1e-12)
        assert solved.entropies[row] == pytest.approx(entropy_bits(truth), abs=1e-10)
        assert solved.shares[row, : len(shares)] == pytest.approx(shares)
        assert solved.shares[row, len(shares) :] == pytest.approx(0.0)
        for labels, share in zip(solved.best[row], shares, strict=False):
            assert truth[tuple(labels.tolist())] == pytest.approx(share)
        assert solved.log_normalisers[row] == pytest.approx(exact(matrix).log_normaliser.value)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["evidential", "uniform", "scaled"]))
def test_many_sets_at_once_equal_one_at_a_time(seed: int, model: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("partita.configurations.solve_batch.MANY", 1)
        _compare_batch(seed, model)


def _compare_batch(seed: int, model: str) -> None:
    rng = np.random.default_rng(seed)
    parameters = ScaledParameters(0.6, -0.3) if model == "scaled" else None
    sets = [_random_set(rng) for _ in range(12)]
    together = list(solve_many(sets, model, parameters=parameters, top=7))
    for pairs, many in zip(sets, together, strict=True):
        if isinstance(many, PartitaError):
            with pytest.raises(Contradiction, match=re.escape(str(many))):
                solve_set(pairs, model, parameters=parameters)
            continue
        one = solve_set(pairs, model, parameters=parameters, top=7)
        assert np.abs(many.marginals.value - one.marginals.value).max() < 1e-12
        listed = [item.probability for item in many.configurations]
        assert listed == pytest.approx([item.probability for item in one.configurations])
        assert many.entropy_bits == pytest.approx(one.entropy_bits, abs=1e-9)
        assert many.conflict == pytest.approx(one.conflict)
        assert many.remainder.count == one.remainder.count
        first = many.configurations[0]
        log_p = many.log_probability(first.configuration)
        assert math.exp(log_p) == pytest.approx(first.probability)
        assert dict(many.posterior.cells()) == pytest.approx(dict(one.posterior.cells()))


def test_equal_configurations_are_listed_in_the_same_order_in_a_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    sets = [_random_set(rng) for _ in range(30)]
    sets = [pairs for pairs in sets if not pairs.set.must and pairs.matrix.shape[0] > 2]
    one_by_one = [solve_set(pairs, "uniform", top=9) for pairs in sets]
    monkeypatch.setattr("partita.configurations.solve_batch.MANY", 1)
    for one, many in zip(one_by_one, solve_many(sets, "uniform", top=9), strict=True):
        assert isinstance(many, Distribution)
        if len(np.unique(components(one.marginals.value > 0.0))) == 1:
            assert np.array_equal(many.configurations.rows, one.configurations.rows)


def _random_set(rng: np.random.Generator) -> PairProbabilities:
    n = int(rng.integers(2, 8))
    p = with_holes(uniform_pairs(n, 0.02, 0.98, rng), float(rng.choice([0, 0.3, 0.8])), rng)
    known = {}
    if rng.random() < 0.3:
        known["must"] = frozenset([pair(IDS[0], IDS[n - 1])])
    if rng.random() < 0.3:
        known["incompatible"] = frozenset([pair(IDS[0], IDS[1])])
    return pairs_of(p, **known)


def test_a_refused_set_stands_in_its_place_and_the_others_are_answered() -> None:
    bad = pairs_of(symmetric(np.array([[0, 1.0, 0.0], [0, 0, 1.0], [0, 0, 0]])))
    first, second, third = solve_many([table_1(), bad, table_1()])
    assert isinstance(second, Contradiction)
    assert isinstance(first, Distribution)
    assert isinstance(third, Distribution)
    assert shares(first) == shares(third)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_any_probability_gives_sound_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    choices = [0.0, 1e-300, 1e-12, 0.5, 1 - 1e-12, 1 - 1e-16]
    n = int(rng.integers(2, 9))
    found = solve_set(pairs_of(symmetric(rng.choice(choices, (n, n)))), top=50)
    numbers = np.array([*shares(found).values(), found.remainder.probability, found.conflict])
    assert np.all((numbers >= 0) & (numbers <= 1))
    assert not np.isnan(found.marginals.value).any()
    assert 0 <= found.entropy_bits < math.inf


def test_evidential_does_not_depend_on_the_order_and_merging_does() -> None:
    """(Reading a text backwards asks the same questions: that order would not show it.)"""
    p = uniform_pairs(5, 0.1, 0.9, np.random.default_rng(5))
    order = np.array([2, 0, 3, 1, 4])
    for model, same in (("evidential", True), ("merging", False)):
        one = solve_set(pairs_of(p), model).posterior
        other = solve_set(pairs_of(p[np.ix_(order, order)]), model).posterior
        gaps = []
        for labels in map(np.array, partitions(5)):
            left = one.log_weight(labels) - one.log_normaliser.value
            turned = restricted_growth(labels[order].tolist())
            gaps.append(abs(left - other.log_weight(turned) + other.log_normaliser.value))
        assert (max(gaps) < 1e-9) is same


def test_too_large_says_what_it_would_need() -> None:
    p = uniform_pairs(40, 0.3, 0.7, np.random.default_rng(0))
    np.fill_diagonal(p, 1.0)
    templates = CoreferenceSet.of([f"T{i}" for i in range(40)])
    with pytest.raises(TooLarge, match=r"40 templates would need .*, the budget is 1 GB"):
        solve_set(PairProbabilities(templates, p), method="exact", budget=Budget(memory=10**9))


def test_entropy_is_that_of_the_listed_probabilities() -> None:
    found = solve_set(table_1())
    truth = {(i,): q for i, q in enumerate(shares(found).values())}
    assert found.entropy_bits == pytest.approx(entropy_bits(truth))
    assert joined((0, 0, 1)) == [(0, 1)]


def test_parts_share_the_time_by_their_pairs() -> None:
    theta = np.full((10, 10), -np.inf)
    for first, last in ((0, 4), (4, 6), (6, 10)):
        theta[first:last, first:last] = 0.0
    asked: list[tuple[int, float]] = []

    def engine(part: np.ndarray, share: float) -> Posterior:
        asked.append((len(part), share))
        return exact(part)

    whole = split(theta, engine)
    assert asked == [(2, 4 / 36), (4, 16 / 32), (4, 1.0)]
    assert whole.count() == 15 * 2 * 15

"""Beliefs about one coreference set against general combination, and pools."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.partitions import partitions
from oracles.pools import linear_pool, log_pool, log_pooled_pairs
from partita.configurations.solve import solve_set
from partita.core import Configuration, CoreferenceSet, PairProbabilities
from partita.errors import InputError, TotalConflict
from partita.evidence import combine_all, discount, pair_mass, plausibility
from partita.fusion.set_beliefs import PairBelief, combine_beliefs

NAMES = "ABCD"
LAW = settings(deadline=None, max_examples=30)


def every(names):
    return [Configuration.from_labels(names, labels) for labels in partitions(len(names))]


@st.composite
def beliefs(draw, names=NAMES):
    pairs = list(combinations(names, 2))
    made = []
    for source in ("ann", "bob", "cy")[: draw(st.integers(1, 3))]:
        said = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)))
        masses = {two: draw(st.floats(0.02, 0.98)) for two in said}
        made.append(PairBelief(source, masses, draw(st.sampled_from([0.0, 0.3, 0.8, 1.0]))))
    return made


def brute(names, sources):
    """All pair masses, discounted, over all configurations, one after another."""
    frame = every(names)
    masses = [
        discount(pair_mass(frame, *two, p), source.reliability)
        for source in sources
        for two, p in source.pairs.items()
    ]
    return frame, combine_all(masses) if masses else None


def by_configuration(distribution):
    return {one.configuration: one.probability for one in distribution.configurations}


@LAW
@given(st.integers(2, 4), st.data())
def test_combination_equals_general_combination(size, data):
    names = NAMES[:size]
    sources = data.draw(beliefs(names))
    found = combine_beliefs(CoreferenceSet.of(names), sources, top=100)
    frame, general = brute(names, sources)
    if general is None:
        assert found.conflict == pytest.approx(0, abs=1e-12)
        return
    plausible = {one: plausibility(general.mass, [one]) for one in frame}
    total = sum(plausible.values())
    told = by_configuration(found.distribution)
    for one in frame:
        assert told.get(one, 0.0) == pytest.approx(plausible[one] / total, abs=1e-9)
    assert found.conflict == pytest.approx(general.conflict, abs=1e-9)


@LAW
@given(beliefs(), st.randoms(use_true_random=False))
def test_the_order_of_sources_does_not_matter(sources, chance):
    templates = CoreferenceSet.of(NAMES)
    first = combine_beliefs(templates, sources)
    second = combine_beliefs(templates, chance.sample(sources, len(sources)))
    assert np.allclose(first.pairs.matrix, second.pairs.matrix, atol=1e-12)
    assert first.conflict == pytest.approx(second.conflict, abs=1e-12)


@LAW
@given(beliefs(), st.floats(0, 1))
def test_a_source_of_reliability_0_changes_nothing(sources, p):
    templates = CoreferenceSet.of(NAMES)
    deaf = PairBelief("zero", {("A", "B"): p}, 0.0)
    before, after = (
        combine_beliefs(templates, sources),
        combine_beliefs(templates, [*sources, deaf]),
    )
    assert np.allclose(before.pairs.matrix, after.pairs.matrix, atol=1e-12)


def test_a_certain_source_decides_and_two_that_agree_strengthen():
    templates = CoreferenceSet.of("AB")
    doubtful = PairBelief("ann", {("A", "B"): 0.7}, 0.9)
    sure = PairBelief("bob", {("A", "B"): 0.0})
    assert combine_beliefs(templates, [doubtful, sure]).distribution.marginal("A", "B") == 0.0
    one = combine_beliefs(templates, [doubtful]).distribution.marginal("A", "B")
    two = combine_beliefs(templates, [doubtful, PairBelief("cy", {("A", "B"): 0.6}, 0.5)])
    assert two.distribution.marginal("A", "B") > one > 0.5


def test_a_large_set_of_sources_that_may_err_has_the_conflict_of_its_pairs():
    names = [f"T{n}" for n in range(13)]
    said = dict.fromkeys(combinations(names, 2), 0.5)
    weak = combine_beliefs(CoreferenceSet.of(names), [PairBelief("ann", said, 0.9)], top=1)
    assert weak.conflict is None
    assert weak.masses.conflict.max() == pytest.approx(0, abs=1e-12)
    sure = combine_beliefs(CoreferenceSet.of(names), [PairBelief("ann", said)], top=1)
    assert sure.conflict == pytest.approx(sure.distribution.conflict)


def test_total_conflict_names_the_sources():
    templates = CoreferenceSet.of("ABC")
    yes = PairBelief("ann", {("A", "B"): 1.0, ("B", "C"): 1.0})
    with pytest.raises(TotalConflict, match=r"ann \(on A = B\) and bob \(on A = B\)"):
        combine_beliefs(templates, [yes, PairBelief("bob", {("B", "A"): 0.0})])
    with pytest.raises(TotalConflict, match="ann and cy"):
        combine_beliefs(templates, [yes, PairBelief("cy", {("A", "C"): 0.0})])


def test_bad_beliefs_are_refused():
    with pytest.raises(InputError, match=r"reliability 1.5 of ann"):
        PairBelief("ann", {}, 1.5)
    with pytest.raises(InputError, match=r"probability -1 of A = B by ann"):
        PairBelief("ann", {("A", "B"): -1})
    with pytest.raises(InputError, match="ann refers to an unknown template Z"):
        combine_beliefs(CoreferenceSet.of("AB"), [PairBelief("ann", {("A", "Z"): 0.5})])
    with pytest.raises(InputError, match="there is no source to combine"):
        combine_beliefs(CoreferenceSet.of("AB"), [])


def matrix(values):
    found = np.eye(3)
    for (i, j), p in zip(((0, 1), (0, 2), (1, 2)), values, strict=True):
        found[i, j] = found[j, i] = p
    return PairProbabilities(CoreferenceSet.of("ABC"), found)


@LAW
@given(st.lists(st.floats(0.05, 0.95), min_size=6, max_size=6), st.floats(0.1, 5))
def test_the_logarithmic_pool_of_pairs_is_that_of_their_distributions(shares, weight):
    two = [matrix(shares[:3]), matrix(shares[3:])]
    pooled = by_configuration(solve_set(log_pooled_pairs(two, [1.0, weight])))
    expected = log_pool([by_configuration(solve_set(one)) for one in two], [1.0, weight])
    for one, p in expected.items():
        assert pooled[one] == pytest.approx(p, abs=1e-9)


def test_pools_differ_where_sources_exclude():
    ann, bob = {"a": 0.99, "b": 0.01}, {"c": 0.99, "b": 0.01}
    assert linear_pool([ann, bob]) == pytest.approx({"a": 0.495, "b": 0.01, "c": 0.495})
    assert log_pool([ann, bob])["b"] == 1.0
    assert linear_pool([ann, bob], [1, 0])["a"] == 0.99
    with pytest.raises(TotalConflict, match="opinion 1 and opinion 2"):
        log_pool([{"a": 1.0}, {"b": 1.0}])
    with pytest.raises(InputError, match="2 opinions need as many weights"):
        linear_pool([ann, bob], [1.0])

"""Dempster's rule: its laws, Zadeh's example, the product form, and an independent package."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pyds
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.evidence import MassFunction, combine, combine_all, conflicting, pair_mass
from oracles.partitions import joined, partitions
from partita.core import Configuration
from partita.errors import InputError, TotalConflict

TABLE_1 = {("A", "B"): 0.671, ("A", "D"): 0.505, ("B", "D"): 0.752, ("C", "D"): 0.504}


@st.composite
def mass_functions(draw, size=4, source="ann"):
    subsets = draw(st.lists(st.integers(1, 2**size - 1), min_size=1, max_size=8, unique=True))
    parts = [draw(st.integers(1, 1000)) for _ in subsets]
    masses = {s: p / sum(parts) for s, p in zip(subsets, parts, strict=True)}
    return MassFunction(tuple(range(size)), masses, (source,))


def close(left, right):
    subsets = left.masses.keys() | right.masses.keys()
    return all(
        left.masses.get(s, 0) == pytest.approx(right.masses.get(s, 0), abs=1e-12) for s in subsets
    )


def as_pyds(mass):
    return pyds.MassFunction(dict(mass.focal()))


@given(mass_functions(), mass_functions(source="bob"))
@settings(deadline=None, max_examples=80)
def test_the_order_of_two_sources_does_not_matter(left, right):
    assume(left.core & right.core)
    one, other = combine(left, right), combine(right, left)
    assert close(one.mass, other.mass)
    assert one.conflict == pytest.approx(other.conflict, abs=1e-12)


@given(mass_functions(), mass_functions(), mass_functions())
@settings(deadline=None, max_examples=80)
def test_the_grouping_of_three_sources_does_not_matter(a, b, c):
    assume(a.core & b.core & c.core)
    left, right = combine(a, b), combine(b, c)
    one, other = combine(left.mass, c), combine(a, right.mass)
    assert close(one.mass, other.mass)
    assert left.log_agreement + one.log_agreement == pytest.approx(
        right.log_agreement + other.log_agreement, abs=1e-12
    )
    together = combine_all([a, b, c])
    assert close(together.mass, one.mass)
    assert 1 - together.conflict == pytest.approx(
        (1 - left.conflict) * (1 - one.conflict), abs=1e-12
    )


@given(mass_functions(), mass_functions())
@settings(deadline=None, max_examples=80)
def test_an_independent_package_says_the_same(left, right):
    assume(left.core & right.core)
    ours, theirs = combine(left, right), as_pyds(left) & as_pyds(right)
    for outcomes, value in theirs.items():
        assert ours.mass.mass(outcomes) == pytest.approx(value, abs=1e-12)
    assert len(ours.mass.masses) == len([v for v in theirs.values() if v > 0])
    raw = as_pyds(left).combine_conjunctive(as_pyds(right), normalization=False)
    assert ours.conflict == pytest.approx(raw[frozenset()], abs=1e-12)


@given(mass_functions())
@settings(deadline=None, max_examples=40)
def test_ignorance_changes_nothing(mass):
    result = combine(mass, MassFunction.ignorant(mass.frame))
    assert close(result.mass, mass)
    assert result.conflict == 0
    assert result.log_agreement == pytest.approx(0, abs=1e-12)


def test_zadehs_example():
    """Two physicians agree on next to nothing: the rule then trusts the little that is left."""
    frame = ("meningitis", "concussion", "tumour")
    first = MassFunction(frame, {0b001: 0.99, 0b100: 0.01}, ("first",))
    second = MassFunction(frame, {0b010: 0.99, 0b100: 0.01}, ("second",))
    result = combine(first, second)
    assert result.mass.masses == pytest.approx({0b100: 1.0})
    assert result.conflict == pytest.approx(0.9999)
    assert math.exp(result.log_agreement) == pytest.approx(0.0001)
    assert result.mass.sources == ("first", "second")


def test_total_conflict_names_the_sources():
    left = MassFunction(("a", "b"), {0b01: 1.0}, ("ann",))
    right = MassFunction(("a", "b"), {0b10: 1.0}, ("bob",))
    with pytest.raises(TotalConflict, match="ann and bob leave nothing possible") as raised:
        combine(left, right)
    assert raised.value.sources == ("ann", "bob")


def test_of_many_sources_only_those_in_conflict_are_named():
    frame = ("a", "b", "c")
    said = {"ann": 0b011, "bob": 0b111, "cat": 0b110, "dan": 0b101, "eve": 0b111}
    masses = [MassFunction(frame, {subset: 1.0}, (name,)) for name, subset in said.items()]
    assert conflicting(masses) == [0, 2, 3]
    assert conflicting(masses[:3]) == []
    with pytest.raises(TotalConflict) as raised:
        combine_all(masses)
    assert raised.value.sources == ("ann", "cat", "dan")


def test_frames_must_be_the_same_and_there_must_be_a_source():
    with pytest.raises(InputError, match="different frames"):
        combine(MassFunction.ignorant("ab"), MassFunction.ignorant("abc"))
    with pytest.raises(InputError, match="no source"):
        combine_all([])


def test_agreement_below_the_smallest_number_is_not_taken_for_total_conflict():
    tiny = 1e-300
    left = MassFunction("abcd", {0b0001: 1.0, 0b0100: tiny, 0b1100: 3 * tiny})
    right = MassFunction("abcd", {0b0010: 1.0, 0b0100: tiny, 0b1000: tiny})
    result = combine(left, right)
    assert result.mass.masses == pytest.approx({0b0100: 4 / 7, 0b1000: 3 / 7})
    assert result.conflict == 1.0
    assert result.log_agreement == pytest.approx(math.log(7) + 2 * math.log(tiny))


def possible(ids, incompatible):
    """All configurations that join no incompatible pair, with the pairs that each joins."""
    found = {}
    for labels in partitions(len(ids)):
        pairs = {(ids[i], ids[j]) for i, j in joined(labels)}
        if not pairs & incompatible:
            found[Configuration.from_labels(ids, labels)] = pairs
    return found


def product_form(frame, probabilities):
    """The product of p or 1 - p over all pairs, for every configuration, and the normaliser."""
    weights = {
        one: math.prod(p if pair in pairs else 1 - p for pair, p in probabilities.items())
        for one, pairs in frame.items()
    }
    total = math.fsum(weights.values())
    return {one: weight / total for one, weight in weights.items()}, total


def assert_the_rule_gives_the_product_form(ids, incompatible, probabilities):
    frame = possible(ids, incompatible)
    expected, normaliser = product_form(frame, probabilities)
    masses = [pair_mass(list(frame), *pair, p) for pair, p in probabilities.items()]
    result = combine_all(masses)
    assert {len(focal) for focal, _ in result.mass.focal()} <= {1}
    for one, probability in expected.items():
        assert result.mass.mass({one}) == pytest.approx(probability, abs=1e-12)
    assert 1 - result.conflict == pytest.approx(normaliser, abs=1e-12)
    assert math.exp(result.log_agreement) == pytest.approx(normaliser, rel=1e-9)
    return masses, result


def test_table_1_of_the_paper():
    """The paper prints the second and the third of these values for each other's configuration."""
    _, result = assert_the_rule_gives_the_product_form("ABCD", {("A", "C"), ("B", "C")}, TABLE_1)
    probabilities = {str(one): mass for (one,), mass in map(unpacked, result.mass.focal())}
    assert probabilities == pytest.approx(
        {
            "(A B D) (C)": 0.3826,
            "(A B) (C D)": 0.1257,
            "(A) (B D) (C)": 0.1839,
            "(A B) (C) (D)": 0.1237,
            "(A D) (B) (C)": 0.0619,
            "(A) (B) (C D)": 0.0616,
            "(A) (B) (C) (D)": 0.0606,
        },
        abs=5e-5,
    )
    assert result.conflict == pytest.approx(0.66967, abs=5e-6)


def unpacked(focal):
    outcomes, mass = focal
    return tuple(outcomes), mass


def test_the_mass_of_one_pair_is_the_papers():
    frame = list(possible("ABCD", {("A", "C"), ("B", "C")}))
    mass = pair_mass(frame, "A", "B", 0.671)
    assert {len(outcomes): value for outcomes, value in mass.focal()} == pytest.approx(
        {3: 0.671, 4: 0.329}
    )
    assert mass.sources == ("A–B",)


@st.composite
def instances(draw, largest):
    """Templates, incompatible pairs (never two neighbours), and probabilities of the others."""
    n = draw(st.integers(2, largest))
    ids = "ABCDEFG"[:n]
    pairs = list(combinations(ids, 2))
    holes = draw(st.sets(st.sampled_from(pairs), max_size=n)) - set(pairwise(ids))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return ids, holes, {pair: float(rng.uniform(0.01, 0.99)) for pair in pairs if pair not in holes}


@given(instances(largest=7))
@settings(deadline=None, max_examples=25)
def test_combining_pair_masses_one_after_another_equals_the_product_form(instance):
    assert_the_rule_gives_the_product_form(*instance)


def test_seven_templates_with_all_pairs_compatible_have_877_configurations():
    rng = np.random.default_rng(7)
    probabilities = {pair: float(rng.uniform()) for pair in combinations("ABCDEFG", 2)}
    _, result = assert_the_rule_gives_the_product_form("ABCDEFG", set(), probabilities)
    assert len(result.mass.frame) == 877


@given(instances(largest=5))
@settings(deadline=None, max_examples=15)
def test_an_independent_package_combines_pair_masses_to_the_same(instance):
    masses, result = assert_the_rule_gives_the_product_form(*instance)
    theirs = as_pyds(masses[0]).combine_conjunctive([as_pyds(mass) for mass in masses[1:]])
    for outcomes, value in theirs.items():
        assert result.mass.mass(outcomes) == pytest.approx(value, abs=1e-12)


def test_certainty_about_a_pair_decides_and_contradiction_is_named():
    frame = list(possible("ABC", set()))
    sure = [pair_mass(frame, "A", "B", 1.0), pair_mass(frame, "B", "C", 1.0)]
    assert combine_all(sure).mass.mass({Configuration(["ABC"])}) == 1.0
    with pytest.raises(TotalConflict, match="A–B and B–C and A–C"):
        combine_all([*sure, pair_mass(frame, "A", "C", 0.0)])

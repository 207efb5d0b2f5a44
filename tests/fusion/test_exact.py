"""Beliefs against the slow way: all values of the domain, and Dawid and Skene by loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.fusion import dawid_skene, matching_marginals, open_posterior, simple_nesting
from partita.fusion.claims import Claims
from partita.fusion.estimation import Rates, estimate_rates, expect
from partita.fusion.fuse import MAX_EXACT, match_pairs
from partita.fusion.hierarchy import nested_order
from partita.fusion.open_slots import open_problem
from partita.fusion.slot import SHRINKAGE, closed_problem, closed_rates
from partita.fusion.value_reading import claim_statements

TREE = {"OSLO": "NORWAY", "BERGEN": "NORWAY", "ROME": "ITALY", "PISA": "ITALY", "LUCCA": "ITALY"}
PLACES = sorted({*TREE, *TREE.values()})


def gathered(rows, values):
    """Statements from rows of source, object, value."""
    claims = Claims.of([(s, o, "slot", v) for s, o, v in rows])
    value = np.array([values.index(claims.values[n]) for n in claims.value], dtype=np.int64)
    said = (claims.object, claims.source, value)
    return claim_statements(claims, values, said, claims.confidence)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(PLACES)), min_size=1, max_size=6,
             unique_by=lambda row: row[0]),
    st.lists(st.floats(0.05, 1), min_size=9, max_size=9),
    st.floats(0.1, 0.9),
)  # fmt: skip
def test_a_hierarchy_equals_the_sum_over_all_its_values(said, parts, leaf):
    rates = np.array(parts).reshape(3, 1, 3)
    rates /= rates.sum(axis=2, keepdims=True)
    prior = np.array([leaf, 1 - leaf])
    read = gathered([(s, "x", v) for s, v in said], PLACES)
    made = open_problem(read, nested_order(PLACES, simple_nesting(TREE)))
    order = ["abc".index(s) for s in read.sources]
    found = expect(made.problem, Rates(rates[order], prior))
    by_source = {s: rates["abc".index(s), 0] for s in "abc"}
    expected = open_posterior(said, by_source, prior, TREE, PLACES)
    named = {PLACES[v]: p for v, p in zip(made.value, found.probability, strict=True) if v >= 0}
    assert named.keys() == {v for _, v in said}
    for value, p in named.items():
        assert p == pytest.approx(expected[value], abs=1e-9)
    assert found.probability.sum() == pytest.approx(1)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.integers(0, 2)),
        min_size=3, max_size=30, unique_by=lambda row: row[:2],
    ),
    st.integers(1, 4),
)  # fmt: skip
def test_a_closed_slot_is_learned_as_by_loops(rows, rounds):
    values = ["0", "1", "2"]
    read = gathered([(s, str(o), str(v)) for s, o, v in rows], values)
    found = estimate_rates(closed_problem(read), rounds=rounds).expected.probability.reshape(-1, 3)
    start = closed_rates(0.7, 3).tolist()
    answers = [(s, str(o), v) for s, o, v in rows]
    done = estimate_rates(closed_problem(read), rounds=rounds).rounds
    expected = dawid_skene(answers, start, SHRINKAGE, done)
    for n, thing in enumerate(read.objects):
        assert found[n] == pytest.approx(expected[thing], abs=1e-9)


PAIRS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7, unique=True
)


@settings(deadline=None, max_examples=25)
@given(PAIRS, st.lists(st.floats(0.05, 0.95), min_size=7, max_size=7))
def test_matchings_equal_the_sum_over_all_of_them(pairs, shares):
    left, right = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    given_ = np.array(shares[: len(pairs)])
    found = match_pairs(left, right, given_)
    expected = matching_marginals(pairs, (given_ / (1 - given_)).tolist())
    assert found.probability == pytest.approx(expected, abs=1e-6)
    assert (found.exact, found.approximate) == (len(pairs), 0)


def test_a_large_component_with_circles_is_told_to_be_approximate():
    left, right = np.divmod(np.arange(100), 10)
    found = match_pairs(left, right, np.full(100, 0.5))
    assert (found.exact, found.approximate) == (0, 100)
    assert MAX_EXACT < 2 * 10
    for side in (left, right):
        assert np.all(np.bincount(side, found.probability) <= 1 + 1e-9)


def test_certain_pairs_exclude_their_rivals():
    found = match_pairs(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1.0, 0.9, 0.5]))
    assert found.probability == pytest.approx([1.0, 0.0, 0.5], abs=1e-6)

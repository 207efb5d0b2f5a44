"""Tests of attributes as bits, against their plain reading."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.patterns import holds
from partita.rules.compile import AttributeTests, Tests
from partita.rules.syntax import Test

BELOW = {"A": frozenset({"A", "B"}), "B": frozenset({"B"})}
VALUES = st.one_of(
    st.sampled_from(["x", "y", "true", "1", "1.0", "", "A", "B", "-2.5"]),
    st.sampled_from([True, False, 0, 1, 1.0, 2, -3]),
    st.lists(st.sampled_from(["x", "B", "1", 1, "true"]), max_size=2).map(tuple),
)
TESTS = st.one_of(
    st.builds(
        Test,
        st.sampled_from(["a", "sort"]),
        st.sampled_from(["=", "!="]),
        st.lists(st.sampled_from(["x", "A", "true", "1"]), min_size=1, max_size=2).map(tuple),
    ),
    st.builds(Test, st.sampled_from(["a", "sort"]), st.sampled_from(["has", "not"])),
    st.builds(Test, st.just("a"), st.sampled_from(["<", ">"]), st.sampled_from([("1",), ("-3",)])),
    st.builds(Test, st.just("a"), st.just("~"), st.sampled_from([("x|y",), ("[0-9.]+",), (".",)])),
)
PHRASES = st.fixed_dictionaries({}, optional={"a": VALUES, "sort": VALUES, "other": VALUES})


@settings(deadline=None, max_examples=400)
@given(st.lists(TESTS, min_size=1, max_size=8), st.lists(PHRASES, min_size=1, max_size=6))
def test_a_mask_has_the_tests_that_hold(tests: list[Test], phrases: list[dict[str, Any]]) -> None:
    made = Tests(BELOW)
    bits = [made.needed([test]) for test in tests]
    for phrase in phrases:  # several, so that what is remembered is used
        mask = made.mask(phrase)
        assert [bool(mask & bit) for bit in bits] == [holds(one, phrase, BELOW) for one in tests]


def test_slots_can_be_tested_for_being_there() -> None:
    made = Tests({})
    has, none = made.needed([Test("says", "has")]), made.needed([Test("says", "not")])
    assert made.mask({"says": {"TYPE": "RAIL"}}) == has
    assert made.mask({}) == none


def test_long_values_match_no_regular_expression() -> None:
    made = Tests({})
    bit = made.needed([Test("text", "~", ("x*",))])
    assert made.mask({"text": "x" * 64}) == bit
    assert made.mask({"text": "x" * 65}) == 0


def test_a_regular_expression_is_a_test_like_others() -> None:
    made = Tests({})
    noun, regex = Test("tag", "=", ("NN",)), Test("text", "~", ("x+",))
    atom = made.needed([noun, regex])
    assert made.mask({"tag": "NN", "text": "xx"}) == atom
    assert made.mask({"tag": "NN", "text": "xy"}) == made.bits[noun]
    assert made.mask({"tag": "VB", "text": "xx"}) == made.bits[regex]


def test_what_is_remembered_is_bounded(monkeypatch: Any) -> None:
    monkeypatch.setattr("partita.rules.compile.CACHE_SIZE", 3)
    column = AttributeTests()
    column.add(1, Test("a", "=", ("5",)), {})
    assert [column[str(n)] for n in range(10)] == [int(n == 5) for n in range(10)]
    assert len(column) <= 3

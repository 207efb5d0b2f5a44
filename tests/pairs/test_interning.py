"""Numbers for strings, bits for sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from partita.pairs.columns import NIL, class_indices, intern_values, string_sets

COLLECTIONS = st.lists(st.sets(st.text("abcdefgh", max_size=2)), min_size=1, max_size=8)


def test_equal_strings_get_equal_numbers_and_nothing_is_nil() -> None:
    assert intern_values(["a", "", "b", "a", None]).tolist() == [0, NIL, 1, 0, NIL]


def test_classes_and_all_others() -> None:
    assert class_indices(["x", "z", None], ("x", "y"), 2).tolist() == [0, 2, 2]


@given(COLLECTIONS)
def test_common_counts_the_intersection(members: list[set[str]]) -> None:
    s, t = (places.ravel() for places in np.indices((len(members), len(members))))
    off = s != t
    found = string_sets(members).common(s[off], t[off])
    expected = [len(members[a] & members[b]) for a, b in zip(s[off], t[off], strict=True)]
    assert found.tolist() == expected


@given(COLLECTIONS, st.text("abcdefgh", max_size=2))
def test_holds_is_membership_for_shared_strings(members: list[set[str]], word: str) -> None:
    made = string_sets(members)
    shared = sum(word in each for each in members) > 1
    bit = np.repeat(made.bit_of([word]), len(members))
    expected = [shared and word in each for each in members]
    assert made.holds(np.arange(len(members)), bit).tolist() == expected


def test_more_strings_than_one_machine_word_holds() -> None:
    many = {f"w{n}" for n in range(200)}
    made = string_sets([many, many | {"x"}, {"w199"}])
    assert made.bits.shape == (4, 3)
    assert made.common(np.array([0, 0]), np.array([1, 2])).tolist() == [200, 1]

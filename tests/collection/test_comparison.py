"""What speaks against two records of a collection."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from partita.collection.comparison import (
    APART,
    GIVEN_NAMES_DIFFER,
    NESTED,
    PART,
    RecordComparison,
)
from partita.collection.documents import EntityRecord, RecordMention, SourceDocument

SPANS = st.tuples(st.integers(0, 12), st.integers(1, 8)).map(lambda one: (one[0], sum(one)))


def document(name: str, *records: tuple[tuple[str, ...], list[tuple[int, int]]]) -> SourceDocument:
    made = [
        EntityRecord(
            f"{name}:{n}",
            name,
            names=names,
            mentions=tuple(RecordMention(*ends, "") for ends in spans),
        )
        for n, (names, spans) in enumerate(records)
    ]
    return SourceDocument(name, records=tuple(made))


@given(st.lists(st.lists(st.lists(SPANS, max_size=3), max_size=4), min_size=1, max_size=3))
def test_nested_records_are_those_of_which_a_mention_holds_another(
    texts: list[list[list[tuple[int, int]]]],
) -> None:
    documents = [document(str(n), *(((), one) for one in text)) for n, text in enumerate(texts)]
    comparison = RecordComparison.of(documents)
    expected, first = set(), 0
    for text in texts:
        for (a, one), (b, two) in product(enumerate(text), repeat=2):
            if a != b and any(m[0] <= k[0] and k[1] <= m[1] for m in one for k in two):
                expected.add(frozenset((first + a, first + b)))
        first += len(text)
    assert {frozenset(pair) for pair in comparison._nested.tolist()} == expected


def test_a_part_speaks_against_its_whole() -> None:
    monday = document(
        "monday", ((), [(0, 16)]), (("Norway",), [(10, 16)]), (("Ann Lee",), [(20, 27)])
    )
    friday = document("friday", (("Norway",), [(0, 6)]), (("Bob Lee",), [(9, 16)]))
    comparison = RecordComparison.of([monday, friday])
    left, right = (np.array(ends) for ends in ([0, 0, 1, 2, 0], [1, 3, 3, 4, 2]))
    rows = comparison.features(left, right)
    added = comparison.corrections(left, right, rows).tolist()
    assert added == [NESTED, 0.0, 0.0, GIVEN_NAMES_DIFFER, 0.0]
    assert comparison.conflicts(left, right).tolist() == [PART, 0, 0, APART, 0]


WORDS = ("dam", "Kinston", "Okafor", "strike", "union", "Norway", "club", "minister", "said")


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=3, max_size=6),
       st.integers(0, 2))  # fmt: skip
def test_features_do_not_depend_on_further_documents(texts: list[list[str]], other: int) -> None:
    """To the last bit: a pair may be compared on any machine."""
    documents = [
        SourceDocument(str(n), words=tuple(map(str.lower, text)), records=tuple(
            EntityRecord(f"{n}:{k}", str(n), types={"place": 0.3, "person": 0.7}, names=(word,),
                         words=tuple(map(str.lower, text[k:])))
            for k, word in enumerate(text)))
        for n, text in enumerate(texts)
    ]  # fmt: skip
    few = [one for n, one in enumerate(documents) if n != other]
    whole, part = RecordComparison.of(documents), RecordComparison.of(few)
    place = {one.id: n for n, one in enumerate(whole.records)}
    left, right = np.indices((len(part.records), len(part.records))).reshape(2, -1)
    names = np.array([place[one.id] for one in part.records])
    expected = whole.features(names[left], names[right])
    np.testing.assert_array_equal(part.features(left, right), expected)

from __future__ import annotations

import pytest

from partita.templates.quantities import Number, NumberType
from partita.templates.slots import compare, compatible_union, plain_texts


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (Number(1, 1), Number(1, 1), "identical"),
        (Number(1, 1), Number(1, 3), "more specific"),
        (Number(1, 3), Number(1, 1), "more general"),
        (Number(1, 3), Number(2, 4), "compatible"),
        (Number(1, 3), Number(4, 4), "distinct"),
    ],
)
def test_the_five_comparisons(left: Number, right: Number, expected: str) -> None:
    assert compare(NumberType(), left, right) == expected


def test_coherent() -> None:
    same = frozenset("ab"), frozenset("bc")
    assert compatible_union(*same, lambda a, b: a <= b) == frozenset("abc")
    assert compatible_union(*same, lambda a, b: a < b) is None


def test_plain() -> None:
    assert plain_texts(frozenset({"B"})) == "B"
    assert plain_texts(frozenset({"B", "A"})) == ["A", "B"]

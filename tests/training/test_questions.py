"""The two training sets of the paper."""

from __future__ import annotations

import numpy as np
import pytest

from partita.errors import InputError
from partita.training.pair_models import LabelledPairs, every_pair, merging_questions

# The paper's example: A, B, D corefer; C is incompatible with A and B.
LABELS = np.array([0, 0, 1, 0])
COMPATIBLE = np.ones((4, 4), dtype=bool)
COMPATIBLE[2, :2] = COMPATIBLE[:2, 2] = False


def told(asked: LabelledPairs) -> list[tuple[str, bool]]:
    names = "ABCD"
    return [
        (names[s] + names[t], bool(y))
        for s, t, y in zip(asked.left, asked.right, asked.yes, strict=True)
    ]


def test_every_compatible_pair() -> None:
    assert told(every_pair(LABELS, COMPATIBLE)) == [
        ("AB", True), ("AD", True), ("BD", True), ("CD", False),
    ]  # fmt: skip


def test_only_what_the_merger_asks() -> None:
    """B asks A; C is closed to both; D asks C, the latest, and then B, who stands for (A B)."""
    assert told(merging_questions(LABELS, COMPATIBLE)) == [
        ("AB", True), ("CD", False), ("BD", True),
    ]  # fmt: skip


def test_a_cell_closed_by_an_earlier_member_asks_no_question() -> None:
    compatible = np.ones((3, 3), dtype=bool)
    compatible[0, 2] = compatible[2, 0] = False
    found = merging_questions(np.array([0, 0, 1]), compatible)
    assert told(found) == [("AB", True)]
    assert told(every_pair(np.array([0, 0, 1]), compatible)) == [("AB", True), ("BC", False)]


@pytest.mark.parametrize("ask", [every_pair, merging_questions])
def test_nothing_to_ask_and_tables_of_another_size(ask: object) -> None:
    assert len(ask(np.zeros(0, dtype=np.int64), np.ones((0, 0), dtype=bool))) == 0  # type: ignore[operator]
    assert len(ask(np.zeros(1, dtype=np.int64), np.ones((1, 1), dtype=bool))) == 0  # type: ignore[operator]
    with pytest.raises(InputError, match="4 by 4"):
        ask(LABELS, np.ones((3, 3), dtype=bool))  # type: ignore[operator]

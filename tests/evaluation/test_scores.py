from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.core import IntArray, restricted_growth
from partita.evaluation.scores import (
    CoreferenceScores,
    ScoreTally,
    b_cubed,
    ceaf_entity,
    lea,
    muc,
    scores,
)

BAGGA = np.array([0] * 5 + [1] * 2 + [2] * 5)
MERGED_SMALL = np.array([0] * 5 + [1] * 7)
MERGED_LARGE = np.array([0] * 5 + [1] * 2 + [0] * 5)
CELLS = list[set[int]]


def cells(labels: IntArray) -> CELLS:
    return [{n for n, label in enumerate(labels) if label == k} for k in sorted(set(labels))]


def links(cell: set[int]) -> set[tuple[int, int]]:
    return set(combinations(sorted(cell), 2)) or {(n, n) for n in cell}


def test_bagga_and_baldwins_two_responses() -> None:
    """The example of the paper that introduced B³: MUC cannot tell the responses apart."""
    small, large = (muc(BAGGA, response) for response in (MERGED_SMALL, MERGED_LARGE))
    assert small == large == ScoreTally(9, 9, 9, 10)
    assert b_cubed(BAGGA, MERGED_SMALL).precision == pytest.approx(16 / 21)
    assert b_cubed(BAGGA, MERGED_LARGE).precision == pytest.approx(7 / 12)
    assert b_cubed(BAGGA, MERGED_LARGE).recall == 1


def test_ceaf_and_lea_by_hand() -> None:
    """Key (0 1 2)(3 4 5 6), response (0 1)(2 3)(4 5 6): sizes 3, 4 against 2, 2, 3."""
    key, response = np.array([0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2, 2])
    aligned = 2 * 2 / 5 + 2 * 3 / 7
    assert ceaf_entity(key, response) == ScoreTally(aligned, 2, aligned, 3)
    assert lea(key, response).recall == pytest.approx((3 * 1 / 3 + 4 * 3 / 6) / 7)
    assert lea(key, response).precision == pytest.approx((2 * 1 + 2 * 0 + 3 * 1) / 7)


def test_conll_is_the_mean_of_three() -> None:
    found = scores(BAGGA, MERGED_SMALL)
    assert found.conll == pytest.approx((found.muc.f + found.b_cubed.f + found.ceaf.f) / 3)
    assert found.muc.f == pytest.approx(2 * 0.9 / 1.9)


LABELS = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(0, 4), min_size=n, max_size=n).map(restricted_growth)] * 2
    )
)


def brute_lea(key: CELLS, response: CELLS) -> float:
    said = [links(cell) for cell in response]
    n = sum(map(len, key))
    return sum(len(k) * sum(len(links(k) & one) for one in said) / len(links(k)) for k in key) / n


def brute_ceaf(key: CELLS, response: CELLS) -> float:
    few, many = sorted((key, response), key=len)
    return max(
        sum(2 * len(a & b) / (len(a) + len(b)) for a, b in zip(few, chosen, strict=True))
        for chosen in permutations(many, len(few))
    )


def brute_muc(key: CELLS, response: CELLS) -> float:
    missing = sum(len([r for r in response if r & k]) - 1 for k in key)
    wanted = sum(len(k) - 1 for k in key)
    return (wanted - missing) / wanted if wanted else 0.0


def brute_b_cubed(key: CELLS, response: CELLS) -> float:
    home = {n: cell for cell in response for n in cell}
    total = sum(map(len, key))
    return sum(len(k & home[n]) / len(k) for k in key for n in k) / total


@settings(deadline=None, max_examples=150)
@given(LABELS)
def test_all_scores_are_the_definitions(drawn: tuple[IntArray, IntArray]) -> None:
    key, response = drawn
    k, r = cells(key), cells(response)
    found = scores(key, response)
    for tally, brute in (
        (found.muc, brute_muc),
        (found.b_cubed, brute_b_cubed),
        (found.lea, brute_lea),
    ):
        assert tally.recall == pytest.approx(brute(k, r))
        assert tally.precision == pytest.approx(brute(r, k))
    assert found.ceaf.recall == pytest.approx(brute_ceaf(k, r) / len(k))
    assert found.ceaf.precision == pytest.approx(brute_ceaf(k, r) / len(r))


@settings(deadline=None, max_examples=50)
@given(LABELS)
def test_the_key_itself_scores_one(drawn: tuple[IntArray, IntArray]) -> None:
    key, _ = drawn
    found = scores(key, key)
    assert found.b_cubed.f == found.ceaf.f == found.lea.f == 1
    assert found.muc.f == (1 if len(set(key)) < len(key) else 0)


def test_documents_add_up_and_none_is_nothing() -> None:
    one = scores(BAGGA, MERGED_SMALL)
    pairs = [(BAGGA, MERGED_SMALL), (BAGGA, BAGGA), (BAGGA[:0], BAGGA[:0])]
    both = sum((scores(key, response) for key, response in pairs), CoreferenceScores())
    assert both.b_cubed.precision == pytest.approx((16 / 21 + 1) / 2)
    assert both.muc.said == one.muc.said + 9

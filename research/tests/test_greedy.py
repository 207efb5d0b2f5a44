"""The greedy merger's shares, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from partita.core import Configuration, CoreferenceSet, PairProbabilities
from partita.errors import InputError
from partita.training.pair_models import MergedSets
from research.solve_parameters.greedy import KeyedSet, greedy_is_right, learn_greedy


def keyed(ids, cells, apart=(), must=()):
    """A set in which all pairs have .5, but for some that are incompatible or must corefer."""
    matrix = np.full((len(ids), len(ids)), 0.5)
    np.fill_diagonal(matrix, 1.0)
    for value, given in ((0.0, apart), (1.0, must)):
        for left, right in given:
            i, j = ids.index(left), ids.index(right)
            matrix[i, j] = matrix[j, i] = value
    return KeyedSet(PairProbabilities(CoreferenceSet.of(ids), matrix), Configuration(cells))


PAPER = keyed("ABCD", ["ABD", "C"], apart=["AC", "BC"])


def test_the_merger_is_wrong_on_the_papers_example():
    assert not greedy_is_right(PAPER)
    assert greedy_is_right(keyed("ABCD", ["AB", "CD"], apart=["AC", "BC"]))


def test_templates_that_must_corefer_are_merged_before():
    assert greedy_is_right(keyed("ABC", ["AC", "B"], apart=["AB"], must=["AC"]))
    assert greedy_is_right(keyed("ABCD", ["ABC", "D"], apart=["CD"], must=["AC"]))


def test_shares_are_counted_by_size_and_smoothed():
    sets = [
        keyed("AB", ["AB"]),
        keyed("AB", ["A", "B"]),
        keyed("AB", ["AB"]),
        keyed("ABC", ["ABC"]),
        PAPER,
        keyed("ABCDE", ["ABCDE"]),
        keyed("A", ["A"]),
    ]
    learned = learn_greedy(sets)
    assert learned == [MergedSets(3, 2), MergedSets(1, 1), MergedSets(2, 1)]
    assert [tally.share for tally in learned] == [2.5 / 4, 1.5 / 2, 1.5 / 3]


def test_a_size_never_seen_gets_one_half_and_no_share_is_0_or_1():
    two, *others = learn_greedy([keyed("AB", ["AB"])] * 1000)
    assert [tally.share for tally in others] == [0.5, 0.5]
    assert 0.999 < two.share < 1
    assert learn_greedy([])[0].share == 0.5


def test_a_key_and_its_set_have_the_same_templates():
    with pytest.raises(InputError, match="template C is not in both"):
        keyed("AB", ["AB", "C"])
    with pytest.raises(InputError, match="template B is not in both"):
        keyed("AB", ["A"])

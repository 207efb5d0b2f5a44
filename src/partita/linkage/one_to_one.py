"""Pairs of tables without duplicates: a record matches one record of another table at most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.configurations.forest.model import logistic
from partita.core import BoolArray, FloatArray, IntArray
from partita.linkage.pair_features import PairEnds

ROUNDS, MORE_ROUNDS = 25, 8
HALVINGS = 16  # of the range of scores, until the level is known to a thousandth of it
DAMPING = 0.5  # of the messages of belief propagation, so that they settle
LARGEST = 12  # records of a set that is solved exactly with such constraints


class Messages(NamedTuple):
    """What each end of a pair says about it: its odds against the other pairs of that record.

    `groups` are the numbers of the records, counted anew for every other source.
    """

    groups: tuple[IntArray, IntArray]
    sent: tuple[FloatArray, FloatArray]

    def against(self, side: int, kept: BoolArray | None = None) -> FloatArray:
        """Return 1 + the messages that the record of one side gets by its other pairs."""
        own = self.sent[side] if kept is None else np.where(kept, 0.0, self.sent[side])
        total = np.bincount(self.groups[side], own)[self.groups[side]]
        return np.asarray(1.0 + np.maximum(total - own, 0.0))


def matching_messages(
    ends: PairEnds, log_odds: FloatArray, source: IntArray, before: Messages | None = None
) -> Messages:
    """Return the messages of belief propagation over matchings, from those of near odds on."""
    odds = np.exp(np.clip(log_odds, -40.0, 40.0))
    count = int(source.max(initial=0)) + 1
    messages = before
    if messages is None:
        groups = [np.unique(ends[side] * count + source[ends[1 - side]], return_inverse=True)[1]
                  for side in (0, 1)]  # fmt: skip
        messages = Messages((groups[0], groups[1]), (odds, odds))
    for _ in range(ROUNDS if before is None else MORE_ROUNDS):
        # the pair as the record of the other side sees it, sent to the record of this side
        sent = [odds / messages.against(1 - side) for side in (0, 1)]
        mixed = [new**DAMPING * old ** (1.0 - DAMPING)
                 for new, old in zip(sent, messages.sent, strict=True)]  # fmt: skip
        messages = Messages(messages.groups, (mixed[0], mixed[1]))
    return messages


def matched_odds(log_odds: FloatArray, messages: Messages) -> FloatArray:
    """Return the log-odds of pairs given that matches exclude each other."""
    against = np.log(messages.against(0)) + np.log(messages.against(1))
    return np.asarray(log_odds - against)


def level_of_matches(
    ends: PairEnds, score: FloatArray, source: IntArray, slope: float, matches: float
) -> float:
    """Return the score at which the probabilities of pairs, of which those of a record exclude each
    other, add up to the number of matches.

    The score above which there are as many pairs is far off where few pairs are in between.
    """
    low, high = float(score.min(initial=0.0)), float(score.max(initial=0.0))
    messages = None
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        odds = slope * (score - middle)
        messages = matching_messages(ends, odds, source, messages)
        expected = float(logistic(matched_odds(odds, messages)).sum())
        low, high = (middle, high) if expected > matches else (low, middle)
    return low


def small_sets(
    ends: PairEnds, log_odds: FloatArray, messages: Messages, least: float, records: int
) -> tuple[BoolArray, FloatArray]:
    """Return the pairs of sets of few records, and their log-odds against all other pairs.

    Sets are joined by the most probable pairs first, above the log-odds `least`.
    """
    matched = matched_odds(log_odds, messages)
    home = np.arange(records)
    members: dict[int, list[int]] = {}
    kept = np.zeros(len(matched), dtype=np.bool_)
    above = np.flatnonzero(matched > least)
    for n in above[np.lexsort((above, -matched[above]))].tolist():
        a, b = int(home[ends.left[n]]), int(home[ends.right[n]])
        if a != b:
            both = members.get(a, [a]) + members.get(b, [b])
            if len(both) > LARGEST:
                continue
            members[a] = both
            home[both] = a
        kept[n] = True
    outside = [np.log(messages.against(side, kept)) for side in (0, 1)]
    return kept, np.asarray(log_odds - outside[0] - outside[1])

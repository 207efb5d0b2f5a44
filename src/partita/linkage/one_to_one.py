"""Pairs of tables without duplicates: a record matches one record of another table at most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray
from partita.linkage.pair_features import PairEnds

ROUNDS = 25
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


def matching_messages(ends: PairEnds, log_odds: FloatArray, source: IntArray) -> Messages:
    """Return the messages of belief propagation over matchings."""
    odds = np.exp(np.clip(log_odds, -40.0, 40.0))
    count = int(source.max(initial=0)) + 1
    groups = tuple(
        np.unique(ends[side] * count + source[ends[1 - side]], return_inverse=True)[1]
        for side in (0, 1)
    )
    messages = Messages((groups[0], groups[1]), (odds, odds))
    for _ in range(ROUNDS):
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

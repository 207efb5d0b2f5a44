"""Which records of several sources are about one thing, learned from the records alone.

A pair of records is compared in features, each at a level (ABSENT if one of them is silent). Levels
have probabilities m of pairs that are one thing and u of others, and
log odds = −log k + Σ_features log m[level]/u[level].
Two records of one source are hardly ever one thing. So these pairs are taken as known, and of the k
pairs of a record with those of another source at most one is: P = o/(1 + Σ_rivals o), o the odds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.records import FloatArray, IntArray

ABSENT = -1
ROUNDS = 100
CLOSE = 1e-4
HIGH = 50.0  # log odds beyond which nothing is told apart
SMOOTH = 1.0  # pairs at each level that are taken as seen before


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of records by number, with their levels; each record has a source."""

    left: IntArray
    right: IntArray
    levels: IntArray
    source: IntArray

    @property
    def apart(self) -> NDArray[np.bool_]:
        apart: NDArray[np.bool_] = self.source[self.left] == self.source[self.right]
        return apart

    def rivals(self) -> tuple[IntArray, IntArray]:
        """Two numbers for each pair; pairs that share one are rivals."""
        sources = int(self.source.max(initial=0)) + 1
        left = self.left * sources + self.source[self.right]
        right = self.right * sources + self.source[self.left]
        return np.unique(left, return_inverse=True)[1], np.unique(right, return_inverse=True)[1]


@dataclass(frozen=True, slots=True, eq=False)
class Linkage:
    """How probable levels are, by feature, of pairs that are one thing and of others."""

    same: FloatArray
    other: FloatArray

    def evidence(self, pairs: Pairs) -> FloatArray:
        """Σ log m/u of every pair; a feature that is absent tells nothing."""
        weights = np.log(self.same) - np.log(self.other)
        columns = np.arange(pairs.levels.shape[1])
        told = weights[columns, np.maximum(pairs.levels, 0)]
        evidence: FloatArray = np.where(pairs.levels == ABSENT, 0.0, told).sum(axis=1)
        return evidence


def learned(pairs: Pairs, depth: int) -> Linkage:
    """By expectation and maximisation, from higher levels being likelier of one thing."""
    rising = np.arange(1.0, depth + 1)
    start = np.tile(rising / rising.sum(), (pairs.levels.shape[1], 1))
    found = Linkage(start, start[:, ::-1])
    before = np.zeros(len(pairs.left))
    for _ in range(ROUNDS):
        one = _probability(pairs, found)
        found = Linkage(_rates(pairs.levels, one, depth), _rates(pairs.levels, 1 - one, depth))
        if np.max(np.abs(one - before), initial=0.0) < CLOSE:
            break
        before = one
    return found


def _probability(pairs: Pairs, linkage: Linkage) -> FloatArray:
    """That a pair is one thing, at most one among its k rivals and as likely as none of them."""
    rivals = pairs.rivals()
    many = np.max([np.bincount(rival)[rival] for rival in rivals], axis=0)
    odds = np.exp(np.minimum(linkage.evidence(pairs), HIGH)) / many
    odds[pairs.apart] = 0.0
    left, right = (np.bincount(rival, odds)[rival] for rival in rivals)
    probability: FloatArray = odds / (1 + left + right - odds)
    return probability


def _rates(levels: IntArray, weight: FloatArray, depth: int) -> FloatArray:
    counts = np.stack([(weight[:, None] * (levels == n)).sum(axis=0) for n in range(depth)], axis=1)
    rates: FloatArray = (counts + SMOOTH) / (counts + SMOOTH).sum(axis=1, keepdims=True)
    return rates


def agglomerated(gains: FloatArray, weights: FloatArray) -> list[list[int]]:
    """Groups of records: the two with the largest mean gain, by weight, are joined while above 0.

    Equal gains go to those that stand first: give records in an order of their own.
    """
    groups = [[n] for n in range(len(weights))]
    whole = np.outer(weights, weights)
    sums = np.where(np.eye(len(weights), dtype=bool), -np.inf, gains * whole)
    while len(groups) > 1:
        mean = sums / whole
        left, right = sorted(divmod(int(np.argmax(mean)), len(groups)))
        if mean[left, right] <= 0:
            break
        groups[left] += groups.pop(right)
        sums, whole = _joined(sums, left, right), _joined(whole, left, right)
    return [sorted(group) for group in groups]


def _joined(table: FloatArray, left: int, right: int) -> FloatArray:
    own = table[left, left]
    table[left] += table[right]
    table[:, left] += table[:, right]
    table[left, left] = own  # within a group nothing is to be gained any more
    joined: FloatArray = np.delete(np.delete(table, right, axis=0), right, axis=1)
    return joined

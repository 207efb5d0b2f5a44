"""What agreement in each column says about two records of this input (Fellegi and Sunter 1969)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core import FloatArray, IntArray
from partita.linkage.pair_features import ComparedRecords, PairEnds
from partita.linkage.splink_engine import Patterns, fit_patterns

EDGES = np.array([0.5, 0.7, 0.85, 0.95, 1.0])  # similarities from which the levels 1 to 5 begin
LEVELS = len(EDGES) + 1
PRIOR = np.array([0.5, 0.15, 0.05, 0.025, 0.015, 0.05])  # pairs of each level that are added
MOST_ADDED = 3.0  # to the log-odds by rarity of an equal value, at most


@dataclass(frozen=True, slots=True, eq=False)
class ColumnAgreement:
    """P(level) of every column for pairs that match and for random pairs, and P(match)."""

    match: float
    same: Sequence[FloatArray]
    random: Sequence[FloatArray]

    @classmethod
    def fitted(cls, records: ComparedRecords, ends: PairEnds, clean: bool) -> ColumnAgreement:
        """Fit the probabilities to pairs by expectation maximisation."""
        random = [_random_shares(chance) for chance in records.chance]
        levels, added = _levels(records, ends, random)
        rounded = np.round(2.0 * added.sum(axis=1)) / 2.0
        found, count = np.unique(np.column_stack([levels, rounded]), axis=0, return_counts=True)
        patterns = Patterns(found[:, :-1].astype(np.int64), found[:, -1], count.astype(np.float64))
        sizes = np.bincount(records.source).astype(np.float64)
        total = len(records) * (len(records) - 1) / 2.0
        if clean:
            total -= float((sizes * (sizes - 1.0) / 2.0).sum())
        fit = fit_patterns(patterns, random, len(records), max(total, 1.0))
        return cls(fit.match, fit.m, random)

    def ratios(self, records: ComparedRecords, ends: PairEnds) -> FloatArray:
        """Return the log-likelihood ratio of every column, 0 where a value is missing."""
        levels, added = _levels(records, ends, self.random)
        for n, (same, random) in enumerate(zip(self.same, self.random, strict=True)):
            level = levels[:, n]
            added[:, n] += np.where(level >= 0, np.log(same / random)[level], 0.0)
        return added

    @property
    def prior(self) -> float:
        """The log-odds of two random records."""
        return float(np.log(self.match) - np.log1p(-self.match))

    def to_dict(self) -> dict[str, Any]:
        """Return the probabilities as JSON holds them."""
        return {"match": self.match, "same": [one.tolist() for one in self.same],
                "random": [one.tolist() for one in self.random]}  # fmt: skip

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ColumnAgreement:
        """Return the probabilities of `to_dict`."""
        same, random = ([np.array(one) for one in values[name]] for name in ("same", "random"))
        return cls(float(values["match"]), same, random)


def _random_shares(chance: FloatArray) -> FloatArray:
    counts = np.bincount(np.searchsorted(EDGES, chance, side="right"), minlength=LEVELS) + PRIOR
    return np.asarray(np.maximum(counts / counts.sum(), 1e-6))


def _levels(
    records: ComparedRecords, ends: PairEnds, random: Sequence[FloatArray]
) -> tuple[IntArray, FloatArray]:
    """Return the levels of pairs by column (-1: missing), and what rare equal values add."""
    levels = np.full((len(ends.left), len(records.columns)), -1)
    added = np.zeros(levels.shape)
    for n, column in enumerate(records.columns):
        alike = column.similarities(ends)
        known = ~np.isnan(alike)
        levels[known, n] = np.searchsorted(EDGES, alike[known], side="right")
        rarity = records.bits(n, alike, ends) * np.log(2.0) + np.log(random[n][-1])
        equal = levels[:, n] == LEVELS - 1
        added[:, n] = np.where(equal, np.clip(rarity, -MOST_ADDED, MOST_ADDED), 0.0)
    return levels, added

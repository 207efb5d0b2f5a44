"""What agreement in each column says about two records of this input (Fellegi and Sunter 1969)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray
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
    def fitted(
        cls, records: ComparedRecords, pairs: AgreementLevels, clean: bool
    ) -> ColumnAgreement:
        """Fit the probabilities to pairs by expectation maximisation."""
        random = [_random_shares(chance) for chance in records.chance]
        rounded = np.round(2.0 * pairs.added(random).sum(axis=1)) / 2.0
        rows = np.column_stack([pairs.levels, rounded])
        found, count = np.unique(rows, axis=0, return_counts=True)
        patterns = Patterns(found[:, :-1].astype(np.int64), found[:, -1], count.astype(np.float64))
        sizes = np.bincount(records.source).astype(np.float64)
        total = len(records) * (len(records) - 1) / 2.0
        if clean:
            total -= float((sizes * (sizes - 1.0) / 2.0).sum())
        fit = fit_patterns(patterns, random, len(records), max(total, 1.0))
        return cls(fit.match, fit.m, random)

    def ratios(self, pairs: AgreementLevels) -> FloatArray:
        """Return the log-likelihood ratio of every column, 0 where a value is missing."""
        found = pairs.added(self.random)
        for n, (same, random) in enumerate(zip(self.same, self.random, strict=True)):
            level = pairs.levels[:, n]
            found[:, n] += np.where(level >= 0, np.log(same / random)[level], 0.0)
        return found

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


class AgreementLevels(NamedTuple):
    """The levels of pairs by column (-1: missing), and −log P of a random value so alike."""

    levels: NDArray[np.int8]
    rarity: FloatArray

    @classmethod
    def of(cls, records: ComparedRecords, ends: PairEnds, alike: FloatArray) -> AgreementLevels:
        """Return the levels of pairs whose values are so `alike` (pairs × columns)."""
        known = ~np.isnan(alike)
        levels = np.where(known, np.searchsorted(EDGES, alike, side="right"), -1).astype(np.int8)
        bits = [records.bits(n, alike[:, n], ends) for n in range(alike.shape[1])]
        return cls(levels, np.stack(bits, axis=1) * np.log(2.0))

    def added(self, random: Sequence[FloatArray]) -> FloatArray:
        """Return what rare equal values add to the log-odds of equal ones."""
        more = self.rarity + np.log([one[-1] for one in random])
        return np.where(self.levels == LEVELS - 1, np.clip(more, -MOST_ADDED, MOST_ADDED), 0.0)

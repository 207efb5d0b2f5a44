"""The joint model of a coreference set, given that incompatible templates do not corefer.

P(configuration | compatible) = P(configuration) / P(compatible): the sum over all configurations
of at most NINE templates, beyond that the share of draws of the joint model that are compatible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.count import bell, count
from partita.configurations.enumeration import partitions
from partita.configurations.joint.posterior import NINE, WIDTH, JointPosterior
from partita.configurations.merging.listed import cell_marginals
from partita.errors import TooLarge, Unavailable
from partita.records import Best, Figure, FloatArray, IntArray, Marginals, Method

BLOCK = 1024  # draws at a time
BLOCKS = 24  # at most
ENOUGH = 1000  # compatible draws
LEAST = 100

BoolArray = NDArray[np.bool_]


def within(joint: JointPosterior, compatible: BoolArray, seed: int = 0) -> Within:
    """Return the joint model given which pairs are incompatible."""
    if joint.size <= NINE:
        rows = _allowed(partitions(joint.size), compatible)
        logs = joint.log_weights(rows)
        total = Figure.exact(float(np.logaddexp.reduce(logs)))
        return Within(joint, compatible, rows, logs, total, len(rows))
    drawn, tried = _drawn(joint, compatible, np.random.default_rng(seed))
    found = np.concatenate((drawn, _allowed(joint.best(WIDTH).labels, compatible)))
    rows, where = np.unique(found, axis=0, return_inverse=True)
    numbers = np.bincount(where.reshape(-1)[: len(drawn)], minlength=len(rows))
    logs = joint.log_weights(rows)
    total = _normaliser(len(drawn), tried, float(np.logaddexp.reduce(logs)))
    return Within(joint, compatible, rows, logs, total, count(compatible), numbers)


def _normaliser(kept: int, tried: int, met: float) -> Figure:
    """Estimate log P(compatible) by the share of draws, at least the probability of those met."""
    share = kept / tried
    error = math.sqrt((1.0 - share) / kept)
    return Figure.estimate(max(math.log(share), met), error)


def _drawn(
    joint: JointPosterior, compatible: BoolArray, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """Return compatible draws, and the number of draws made for them."""
    kept: list[IntArray] = []
    while len(kept) < BLOCKS and sum(map(len, kept)) < ENOUGH:
        kept.append(_allowed(joint.draws(BLOCK, rng), compatible))
    rows, tried = np.concatenate(kept), BLOCK * len(kept)
    if len(rows) < LEAST:
        what = f"the joint model of {joint.size} templates, given which are incompatible,"
        needs = f"more draws: {len(rows)} of {tried:,} were compatible"
        raise TooLarge(what, needs, f"{tried:,}", "the other models need no draws")
    return rows, tried


def _allowed(rows: IntArray, compatible: BoolArray) -> IntArray:
    """Return the rows of labels that join no incompatible pair."""
    left, right = np.nonzero(np.triu(~compatible, 1))
    kept: IntArray = rows[~(rows[:, left] == rows[:, right]).any(axis=1)]
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """The joint model's posterior given the incompatible pairs.

    `rows` are all configurations or, with how often each was drawn, those that were met;
    `possible` is the number of configurations, where that is known.
    """

    joint: JointPosterior
    compatible: BoolArray
    rows: IntArray
    logs: FloatArray
    log_normaliser: Figure
    possible: int | None
    numbers: IntArray | None = None

    @property
    def size(self) -> int:
        return self.joint.size

    @property
    def exact(self) -> bool:
        return self.numbers is None

    @property
    def method(self) -> Method:
        return "exact" if self.exact else "sampled"

    @property
    def reason(self) -> str:
        if self.exact:
            return "exact by enumeration"
        return f"{self.met:,} compatible draws of the joint model"

    @property
    def met(self) -> int:
        return 0 if self.numbers is None else int(self.numbers.sum())

    def log_weight(self, labels: IntArray) -> float:
        one = np.asarray(labels, dtype=np.int64)[None, :]
        return self.joint.log_weight(labels) if len(_allowed(one, self.compatible)) else -math.inf

    def count(self) -> int | None:
        return self.possible

    def log2_count(self) -> Figure:
        if self.possible is None:
            return Figure.interval(0.0, math.log2(bell(self.size)))
        return Figure.exact(math.log2(self.possible))

    def shares(self) -> FloatArray:
        """Return the probability of each row."""
        found: FloatArray = np.exp(self.logs - self.log_normaliser.value)
        return found if self.numbers is None else self.numbers / self.met

    def entropy(self) -> Figure:
        """Return E[−log P], in bits."""
        bits = (self.log_normaliser.value - self.logs) / math.log(2)
        mean = max(0.0, float(self.shares() @ bits))
        if self.exact:
            return Figure.exact(mean)
        spread = math.sqrt(float(self.shares() @ (bits - mean) ** 2) / self.met)
        total = (self.log_normaliser.high - self.log_normaliser.value) / math.log(2)
        return Figure.estimate(mean, math.hypot(spread, total))

    def pairs(self) -> Marginals:
        shares, n = self.shares(), self.size
        value = np.stack([shares @ (self.rows == self.rows[:, i : i + 1]) for i in range(n)])
        np.clip(value, 0.0, 1.0, out=value)
        np.fill_diagonal(value, 1.0)
        if self.exact:
            return Marginals.exact(value)
        error = np.sqrt(value * (1.0 - value) / self.met)
        low, high = np.clip(value - error, 0.0, 1.0), np.clip(value + error, 0.0, 1.0)
        return Marginals(value, low, high, "estimate")

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        if not self.exact:
            raise Unavailable("cell probabilities need an exact answer; draws give some cells")
        return cell_marginals(self.rows, self.shares())

    def best(self, k: int) -> Best:
        """List the best of all configurations, or of those met."""
        order = np.argsort(-self.logs, kind="stable")[:k]
        return Best(self.rows[order], self.logs[order], 0.0 if self.exact else math.inf)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        """Draw from all configurations, or again from the draws."""
        chosen = rng.choice(len(self.rows), size=count, p=self.shares() / self.shares().sum())
        rows: IntArray = self.rows[chosen]
        return rows

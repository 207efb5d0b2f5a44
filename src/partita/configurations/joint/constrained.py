"""The joint model of a coreference set, given that incompatible templates do not corefer.

P(configuration | compatible) = P(configuration) / P(compatible): the sum over all configurations
of at most LARGEST templates; beyond that, the share of compatible draws of the joint model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.count import bell, count
from partita.configurations.exact.listed import LARGEST, listed_cells, partitions
from partita.configurations.joint.posterior import WIDTH, JointPosterior
from partita.core import Best, Figure, FloatArray, IntArray, Marginals, Method
from partita.errors import TooLarge, Unavailable

BLOCK = 1024  # draws at a time
BLOCKS = 24  # at most
ENOUGH = 2500  # compatible draws: standard errors of at most .01
LEAST = 100

BoolArray = NDArray[np.bool_]


def constrained(
    joint: JointPosterior, compatible: BoolArray, seed: int = 0
) -> ConstrainedPosterior:
    """Return the joint model given which pairs are incompatible."""
    if joint.size <= LARGEST:
        rows = _compatible_rows(partitions(joint.size), compatible)
        logs = joint.log_weights(rows)
        total = Figure.exact(float(np.logaddexp.reduce(logs)))
        return ConstrainedPosterior(joint, compatible, rows, logs, total, len(rows))
    draws, attempts = _compatible_draws(joint, compatible, np.random.default_rng(seed))
    configurations = np.concatenate((draws, _compatible_rows(joint.best(WIDTH).labels, compatible)))
    rows, where = np.unique(configurations, axis=0, return_inverse=True)
    numbers = np.bincount(where.reshape(-1)[: len(draws)], minlength=len(rows))
    logs = joint.log_weights(rows)
    total = _normaliser(len(draws), attempts, float(np.logaddexp.reduce(logs)))
    return ConstrainedPosterior(joint, compatible, rows, logs, total, count(compatible), numbers)


def _normaliser(compatible_draws: int, attempts: int, met: float) -> Figure:
    """Estimate log P(compatible) by the share of draws, at least the probability of those met."""
    share = compatible_draws / attempts
    error = math.sqrt((1.0 - share) / compatible_draws)
    return Figure.estimate(max(math.log(share), met), error)


def _compatible_draws(
    joint: JointPosterior, compatible: BoolArray, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """Return compatible draws, and the number of draws made for them."""
    blocks: list[IntArray] = []
    while len(blocks) < BLOCKS and sum(map(len, blocks)) < ENOUGH:
        blocks.append(_compatible_rows(joint.draws(BLOCK, rng), compatible))
    rows, attempts = np.concatenate(blocks), BLOCK * len(blocks)
    if len(rows) < LEAST:
        what = f"the joint model of {joint.size} templates, given which are incompatible,"
        needs = f"more draws: {len(rows)} of {attempts:,} were compatible"
        raise TooLarge(what, needs, f"{attempts:,}", "the other models need no draws")
    return rows, attempts


def _compatible_rows(rows: IntArray, compatible: BoolArray) -> IntArray:
    """Return the rows of labels that join no incompatible pair."""
    left, right = np.nonzero(np.triu(~compatible, 1))
    allowed: IntArray = rows[~(rows[:, left] == rows[:, right]).any(axis=1)]
    return allowed


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedPosterior:
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
        row = np.asarray(labels, dtype=np.int64)[None, :]
        return (
            self.joint.log_weight(labels)
            if len(_compatible_rows(row, self.compatible))
            else -math.inf
        )

    def count(self) -> int | None:
        return self.possible

    def log2_count(self) -> Figure:
        if self.possible is None:
            return Figure.interval(0.0, math.log2(bell(self.size)))
        return Figure.exact(math.log2(self.possible))

    def shares(self) -> FloatArray:
        """Return the probability of each row."""
        probabilities: FloatArray = np.exp(self.logs - self.log_normaliser.value)
        return probabilities if self.numbers is None else self.numbers / self.met

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
        return listed_cells(self.rows, self.shares())

    def best(self, k: int) -> Best:
        """List the best of all configurations, or of those met."""
        order = np.argsort(-self.logs, kind="stable")[:k]
        return Best(self.rows[order], self.logs[order], 0.0 if self.exact else math.inf)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        """Draw from all configurations, or again from the draws."""
        chosen = rng.choice(len(self.rows), size=count, p=self.shares() / self.shares().sum())
        rows: IntArray = self.rows[chosen]
        return rows

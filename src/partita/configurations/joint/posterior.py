"""The distribution of the joint model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from partita.configurations.count import bell
from partita.configurations.enumeration import LARGEST, enumerated_marginals, partitions
from partita.errors import InputError, Unavailable
from partita.records import Best, Figure, FloatArray, IntArray, Marginals, Method, restricted_growth


@dataclass(frozen=True, slots=True, eq=False)
class EnumeratedJoint:
    """log P of every row of the table of partitions of `size`."""

    size: int
    logs: FloatArray

    @property
    def probabilities(self) -> FloatArray:
        probabilities: FloatArray = np.exp(self.logs)
        probabilities /= probabilities.sum()
        return probabilities

    def entropy(self) -> Figure:
        return Figure.exact(max(0.0, -float(self.probabilities @ self.logs)) / math.log(2.0))

    def pairs(self) -> Marginals:
        return enumerated_marginals(self.probabilities, self.size)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        sums: dict[tuple[int, ...], float] = {}
        for row, share in zip(partitions(self.size), self.probabilities.tolist(), strict=True):
            for label in range(int(row.max()) + 1):
                cell = tuple(np.flatnonzero(row == label).tolist())
                sums[cell] = sums.get(cell, 0.0) + share
        return iter(sorted(sums.items()))

    def best(self, k: int) -> Best:
        order = np.argsort(-self.logs, kind="stable")[:k]
        return Best(partitions(self.size)[order], self.logs[order])


DRAWS = 128
FEWEST_DRAWS = 32
WIDTH, NARROW = 64, 8
FEW = 100  # templates; of more, each draw takes longer, and a narrow beam finds as good a list
COUNTED = 100  # templates whose configurations are counted exactly
Network = tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray, IntArray]
Mentions = tuple[NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What draws estimate: pair probabilities in the order of decisions, and the entropy."""

    value: FloatArray
    error: FloatArray
    bits: Figure
    rows: IntArray


@dataclass(slots=True, eq=False)
class JointPosterior:
    """The joint model's posterior; `order[k]` is the template that is decided as k-th."""

    order: IntArray
    mentions: Mentions
    network: Network
    seed: int = 0
    draw_count: int = DRAWS
    converged: bool = True
    _small: EnumeratedJoint | None = field(default=None, repr=False)
    _sampled: Estimates | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not len(self.order):
            raise InputError("a document without templates has no configurations")

    @property
    def size(self) -> int:
        return len(self.order)

    @property
    def method(self) -> Method:
        return "exact" if self.size <= LARGEST else "sampled"

    @property
    def reason(self) -> str:
        if self.size <= LARGEST:
            return "exact by enumeration"
        return f"exact probabilities of configurations, pairs from {self.draw_count} draws"

    @property
    def log_normaliser(self) -> Figure:
        return Figure.exact(0.0)

    @property
    def error(self) -> float:
        """The largest standard error of a pair probability."""
        return 0.0 if self.size <= LARGEST else float(self._draws().error.max(initial=0.0))

    def log_weight(self, labels: IntArray) -> float:
        """Return log P of one configuration."""
        return float(self.log_weights(np.asarray(labels, dtype=np.int64)[None, :])[0])

    def log_weights(self, rows: IntArray) -> FloatArray:
        """Return log P of several configurations."""
        from partita.configurations.joint.network_kernels import log_probabilities

        logs: FloatArray = log_probabilities(self.mentions, self.network, self.decided(rows))
        return logs

    def decided(self, rows: IntArray) -> IntArray:
        """Return labels in text order as labels in the order of decisions."""
        return np.array([restricted_growth(row) for row in rows[:, self.order].tolist()])

    def count(self) -> int | None:
        return bell(self.size) if self.size <= COUNTED else None

    def log2_count(self) -> Figure:
        return Figure.exact(log2_bell(self.size))

    def entropy(self) -> Figure:
        return self._enumerated().entropy() if self.size <= LARGEST else self._draws().bits

    def pairs(self) -> Marginals:
        if self.size <= LARGEST:
            return self._enumerated().pairs()
        estimates = self._draws()
        value, error = self._in_text_order(estimates.value), self._in_text_order(estimates.error)
        np.fill_diagonal(value, 1.0)
        low, high = np.clip(value - error, 0.0, 1.0), np.clip(value + error, 0.0, 1.0)
        return Marginals(value, low, high, "estimate")

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        if self.size <= LARGEST:
            return self._enumerated().cells()
        raise Unavailable("cell probabilities need an exact answer; draws give pair probabilities")

    def best(self, k: int) -> Best:
        """List the best by beam search, with exact log P; `gap` bounds what it may have missed."""
        if self.size <= LARGEST:
            return self._enumerated().best(k)
        from partita.configurations.joint.network_kernels import beam

        width = WIDTH if self.size <= FEW else NARROW
        rows, logs, dropped = beam(self.mentions, self.network, self.size, max(k, width))
        gap = max(0.0, dropped - float(logs[:k][-1]))
        return Best(self._in_text(rows[:k]), logs[:k], gap)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        from partita.configurations.joint.network_kernels import drawn

        none = np.zeros((0, 0))
        uniforms = rng.random((count, self.size))
        rows, _ = drawn(self.mentions, self.network, uniforms, none, none)
        return self._in_text(rows)

    def drawn_rows(self) -> IntArray:
        """Return the draws behind the pair probabilities."""
        return self._in_text(self._draws().rows)

    def _in_text(self, rows: IntArray) -> IntArray:
        placed = np.empty_like(rows)
        placed[:, self.order] = rows
        return np.array([restricted_growth(row) for row in placed.tolist()], dtype=np.int64)

    def _in_text_order(self, lower: FloatArray) -> FloatArray:
        matrix = np.empty_like(lower)
        matrix[np.ix_(self.order, self.order)] = lower + lower.T
        return matrix

    def _enumerated(self) -> EnumeratedJoint:
        if self._small is None:
            logs = self.log_weights(partitions(self.size))
            self._small = EnumeratedJoint(self.size, logs)
        return self._small

    def _draws(self) -> Estimates:
        if self._sampled is None:
            self._sampled = _sample(self)
        return self._sampled


def _sample(posterior: JointPosterior) -> Estimates:
    """Return means over independent draws, with their standard errors."""
    from partita.configurations.joint.network_kernels import drawn

    n, count = posterior.size, posterior.draw_count
    sums, squares = np.zeros((n, n)), np.zeros((n, n))
    uniforms = np.random.default_rng(posterior.seed).random((count, n))
    rows, nats = drawn(posterior.mentions, posterior.network, uniforms, sums, squares)
    sums /= count
    squares /= count
    squares -= sums**2
    np.maximum(squares, 0.0, out=squares)
    squares /= max(1, count - 1)
    np.sqrt(squares, out=squares)
    spread = float(nats.std()) / math.sqrt(max(1, count - 1))
    bits = Figure.estimate(float(nats.mean()) / math.log(2), spread / math.log(2))
    return Estimates(np.minimum(sums, 1.0), squares, bits, rows)


def draw_count(templates: int) -> int:
    """Return the usual number of draws for so many templates."""
    return max(FEWEST_DRAWS, min(DRAWS, DRAWS * FEW // max(1, templates)))


def log2_bell(n: int) -> float:
    """Return the binary logarithm of the number of partitions of n things.

    By Dobinski's formula, B_n = Σ_k k^n / (e k!), beyond the sizes that are counted exactly.
    """
    if n <= COUNTED:
        return math.log2(bell(n))
    k = np.arange(1, 2 * n + 1, dtype=np.float64)
    terms = n * np.log(k) - gammaln(k + 1) - 1.0
    return float(np.logaddexp.reduce(terms) / math.log(2.0))

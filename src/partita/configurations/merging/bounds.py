"""Bounds that follow from unexplored mass, and counts of configurations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partita.configurations.count import count as number
from partita.configurations.merging.model import Merger
from partita.core import Figure, FloatArray, Marginals


@dataclass(frozen=True, slots=True)
class MassBounds:
    """Logarithms of the mass kept and of the most that was dropped, and a bound for rounding.

    `single` bounds the log-weight of any one configuration that was dropped.
    """

    kept: float
    dropped: float = -math.inf
    single: float = -math.inf
    size: int = 0

    @property
    def exact(self) -> bool:
        return self.dropped == -math.inf

    @property
    def slack(self) -> float:
        """A bound on the rounding of logarithms: sums of up to `size`² terms of their magnitude."""
        return 1e-11 + 1e-13 * self.size + 1e-14 * abs(max(self.kept, -1e9)) + 1e-15 * self.size**2

    @property
    def residual(self) -> float:
        """The share of the total that may have been dropped."""
        return math.exp(self.dropped - float(np.logaddexp(self.kept, self.dropped)))

    def log_normaliser(self) -> Figure:
        if self.exact:
            return Figure.exact(self.kept)
        high = float(np.logaddexp(self.kept, self.dropped)) + self.slack
        return Figure.interval(self.kept - self.slack, high)

    def pairs(self, within: FloatArray) -> Marginals:
        """Bound all pair probabilities, from those within what was kept."""
        if self.exact:
            return Marginals.exact(np.clip(within, 0.0, 1.0))
        lost = self.residual + 1e-11
        low = np.clip(within * (1.0 - lost) - self.slack, 0.0, 1.0)
        high = np.clip(within * (1.0 - lost) + lost + self.slack, 0.0, 1.0)
        np.fill_diagonal(low, 1.0)
        return Marginals((low + high) / 2, low, high, "interval")

    def entropy(self, within: float, log2_count: float) -> Figure:
        """Bound the entropy of the whole in bits, from that within what was kept."""
        if self.exact:
            return Figure.exact(max(0.0, within))
        least = 1.0 - min(1.0, self.residual + 1e-11)
        spread = max(log2_count, within)
        peak = 1.0 / (1.0 + 2.0 ** min(1000.0, spread - within))  # where the upper bound is largest
        low = min(within, _mixture_entropy(least, within, 0.0))
        high = _mixture_entropy(max(least, peak), within, spread)
        return Figure.interval(max(0.0, low - 1e-9), high + 1e-9)


def _mixture_entropy(share: float, within: float, rest: float) -> float:
    """Return the entropy of a mixture of disjoint parts."""
    between = -sum(s * math.log2(s) for s in (share, 1.0 - share) if s > 0)
    return between + share * within + (1.0 - share) * rest


def bell_bits(n: int) -> float:
    """Return an upper bound for log₂ of the number of configurations of n templates.

    Template k has at most k choices, and Bell numbers are below (0.792 n / ln(n + 1))ⁿ.
    """
    if n < 2:
        return 0.0
    return min(math.lgamma(n + 1) / math.log(2), n * math.log2(0.792 * n / math.log(n + 1)))


def log_sum(logs: FloatArray) -> float:
    """Return the logarithm of a sum of exponentials; minus infinity for none."""
    top = float(logs.max(initial=-math.inf))
    return top if math.isinf(top) else top + math.log(float(np.exp(logs - top).sum()))


ISLANDS, WORK = 16, 2e8


def count(model: Merger) -> int | None:
    """Return the exact number, or None; templates that must corefer count as one."""
    first = np.unique(model.groups, return_index=True)[1]
    return number(model.compatible[np.ix_(first, first)])


def log2_count(model: Merger) -> Figure:
    """Return log₂ of the number, or an estimate of it."""
    exact = count(model)
    return _estimate(model) if exact is None else Figure.exact(math.log2(exact))


def _estimate(model: Merger) -> Figure:
    from partita.configurations.merging.particles import island, plan

    planned = plan(_equal_weights(model))
    draws = int(min(2048, max(8, WORK / (ISLANDS * planned.cost))))
    totals = [island(planned, draws, np.random.default_rng([0, r]))[2] for r in range(ISLANDS)]
    top = max(totals)
    shares = np.exp(np.array(totals) - top)
    error = float(shares.std(ddof=1) / shares.mean()) / math.sqrt(ISLANDS)
    value = (top + math.log(float(shares.mean()))) / math.log(2)
    return Figure.estimate(value, error / math.log(2))


def _equal_weights(model: Merger) -> Merger:
    """Return the model in which every possible configuration weighs the same."""
    first = np.unique(model.groups, return_index=True)[1]
    possible = model.compatible[np.ix_(first, first)]
    yes = np.where(possible, 0.0, -math.inf)
    return Merger(yes, np.zeros(possible.shape), possible, np.arange(len(first)))

"""What follows for the whole when a mass L is known and a mass of at most D is not looked at.

Z ∈ [L, L + D]; a pair that has the mass m of L lies in [m/(L + D), (m + D)/(L + D)]; the entropy
is h(λ) + λ·H(known) + (1 − λ)·H(rest) with λ ∈ [L/(L + D), 1] and 0 ≤ H(rest) ≤ log₂ count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partita.records import Figure, FloatArray, Marginals


@dataclass(frozen=True, slots=True)
class Kept:
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
        """Rounding of logarithms, outward: sums of up to `size`² terms of their magnitude."""
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
        """Of all from the pair probabilities within what was kept."""
        if self.exact:
            return Marginals.exact(np.clip(within, 0.0, 1.0))
        lost = min(1.0, self.residual + 1e-11)
        low = np.clip(within * (1.0 - lost) - self.slack, 0.0, 1.0)
        high = np.clip(within * (1.0 - lost) + lost + self.slack, 0.0, 1.0)
        np.fill_diagonal(low, 1.0)
        return Marginals((low + high) / 2, low, high, "interval")

    def entropy(self, within: float, log2_count: float) -> Figure:
        """Of all, in bits, from the entropy within what was kept."""
        if self.exact:
            return Figure.exact(max(0.0, within))
        least = 1.0 - min(1.0, self.residual + 1e-11)
        spread = max(log2_count, within)
        peak = 1.0 / (1.0 + 2.0 ** min(1000.0, spread - within))  # where the upper bound is largest
        low = min(within, _mixed(least, within, 0.0))
        high = _mixed(max(least, peak), within, spread)
        return Figure.interval(max(0.0, low - 1e-9), high + 1e-9)


def _mixed(share: float, known: float, rest: float) -> float:
    """The entropy of a mixture of disjoint parts."""
    between = -sum(s * math.log2(s) for s in (share, 1.0 - share) if s > 0)
    return between + share * known + (1.0 - share) * rest


def bell_bits(n: int) -> float:
    """An upper bound for log₂ of the number of configurations of n templates.

    Template k has at most k choices, and Bell numbers are below (0.792 n / ln(n + 1))ⁿ.
    """
    if n < 2:
        return 0.0
    return min(math.lgamma(n + 1) / math.log(2), n * math.log2(0.792 * n / math.log(n + 1)))


def log_sum(logs: FloatArray) -> float:
    """The logarithm of a sum of exponentials; minus infinity for none."""
    top = float(logs.max(initial=-math.inf))
    return top if math.isinf(top) else top + math.log(float(np.exp(logs - top).sum()))

"""Reliability in bins, and bootstrap intervals over documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray

LOW, HIGH = 0.05, 0.95  # below and above, what is stated is next to certain and hides the rest
BINS = 10
LEVEL = 0.95  # of intervals


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Statements of about the same probability."""

    count: int
    stated: float
    observed: float


def brier(stated: FloatArray, observed: NDArray[np.bool_]) -> float:
    """Return the Brier score: 0 is perfect; 0 also without statements."""
    return float(np.mean((stated - observed) ** 2)) if len(stated) else 0.0


def reliability(
    stated: FloatArray, observed: NDArray[np.bool_], bins: int = BINS, *, equal_width: bool = False
) -> tuple[ReliabilityBin, ...]:
    """Return bins of equal count, or of equal width, as many as the statements allow.

    Ties are in text order.
    """
    order = np.argsort(stated, kind="stable")
    ends: int | IntArray = bins
    if equal_width:
        ends = np.searchsorted(stated[order], np.arange(1, bins) / bins)
    chosen = (part for part in np.array_split(order, ends) if len(part))
    return tuple(
        ReliabilityBin(len(part), float(stated[part].mean()), float(observed[part].mean()))
        for part in chosen
    )


def reliability_error(bins: tuple[ReliabilityBin, ...]) -> float:
    """Return the mean distance of stated from observed, bins weighted by their count."""
    total = sum(each.count for each in bins)
    return sum(b.count * abs(b.stated - b.observed) for b in bins) / total if total else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class StatedProbabilities:
    """Probabilities that were stated, and whether what they are of is so."""

    stated: FloatArray
    observed: NDArray[np.bool_]

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, bool]]) -> StatedProbabilities:
        rows = list(pairs)
        return cls(
            np.array([stated for stated, _ in rows], dtype=np.float64),
            np.array([observed for _, observed in rows], dtype=np.bool_),
        )

    @classmethod
    def joined(cls, parts: Iterable[StatedProbabilities]) -> StatedProbabilities:
        some = [cls.of(()), *parts]
        return cls(
            np.concatenate([one.stated for one in some]),
            np.concatenate([one.observed for one in some]),
        )

    def undecided(self) -> StatedProbabilities:
        """Return the statements between .05 and .95."""
        return StatedProbabilities(*undecided(self.stated, self.observed))

    def bins(self) -> tuple[ReliabilityBin, ...]:
        return reliability(self.stated, self.observed)

    def __len__(self) -> int:
        return len(self.stated)


NOTHING = StatedProbabilities.of(())


def undecided(
    stated: FloatArray, observed: NDArray[np.bool_]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the statements between LOW and HIGH, both included."""
    between = (stated >= LOW) & (stated <= HIGH)
    return stated[between], observed[between]


def pair_reliability_error(
    stated: FloatArray, observed: NDArray[np.bool_], bins: int = BINS
) -> float:
    """Return the reliability error of marginals between .05 and .95."""
    return reliability_error(reliability(*undecided(stated, observed), bins))


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Interval:
    """The ends of an interval of 95 %."""

    low: float
    high: float


def bootstrap(
    documents: Sequence[T],
    figure: Callable[[Sequence[T]], float],
    rng: np.random.Generator,
    *,
    times: int = 1000,
) -> Interval:
    """Return percentiles of the figure over `times` samples of as many documents."""
    n = len(documents)
    drawn = rng.integers(0, n, size=(times, n)) if n else np.zeros((times, 0), dtype=np.int64)
    values = [figure([documents[k] for k in row]) for row in drawn.tolist()]
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))

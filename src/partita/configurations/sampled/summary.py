"""Summaries of chains: means over batches, their standard error, and how far chains differ.

error² = variance of batch means / batches · max(1, F), F = the variance between chains' means over
what batches within chains make expect, pooled over pairs: 1 for chains that mix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.records import FloatArray

ERROR = 0.01  # the largest standard error of a pair that still counts as an answer
APART = 0.08  # the largest difference of a pair between chains
SCALE = 1.05  # the largest R-hat of the log-weight
DRIFT = 4.0  # the largest F
MIXING = 1.5  # the largest F at which what has been counted is kept
PIECE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """One round: pairs i < j row by row, the log-weight, and the signs of mixing."""

    sweeps: int  # by each chain
    pairs: FloatArray
    error: FloatArray
    disagreement: float
    drift: float
    scale: float
    score: float
    score_error: float
    slowness: float  # sweeps that are worth one independent draw, for the slowest pair

    @property
    def worst(self) -> float:
        return float(self.error.max(initial=0.0))

    @property
    def mixing(self) -> bool:
        """Whether the chains seem independent of their starts."""
        return self.drift <= MIXING and self.scale <= SCALE

    @property
    def agreed(self) -> bool:
        """Whether no sign speaks against mixing, whatever the error."""
        return self.disagreement <= APART and self.drift <= DRIFT and self.scale <= SCALE

    @property
    def converged(self) -> bool:
        return self.agreed and self.worst <= ERROR


def summary(
    totals: list[NDArray[np.float32]],
    squares: FloatArray,
    length: int,
    batches: int,
    scores: FloatArray,
) -> Summary:
    """Summarise counts by chain, summed squares of batch counts, and log-weights, chain × sweep."""
    spread = _spread(totals, squares, length, batches)
    draws = len(totals) * length * batches
    # chains that stand still count as one draw each, not as one for every batch
    inflation = min(max(1.0, spread.drift), batches)
    error, slowness = spread.variance, 1.0
    error *= inflation / (len(totals) * batches)
    for piece in pieces(len(error)):
        unsure = spread.mean[piece] * (1.0 - spread.mean[piece])
        uncertain = unsure > 0.01
        slow = error[piece][uncertain] * draws / unsure[uncertain]
        slowness = max(slowness, float(slow.max(initial=1.0)))
        error[piece] = np.sqrt(error[piece]) + (unsure > 0.0) / draws
    return Summary(
        length * batches,
        spread.mean,
        error,
        spread.disagreement,
        spread.drift,
        _scale(scores),
        float(scores.mean()),
        _score_error(scores, batches),
        slowness,
    )


class _Spread(NamedTuple):
    mean: FloatArray
    variance: FloatArray  # of one batch
    drift: float
    disagreement: float


def _spread(
    totals: list[NDArray[np.float32]], squares: FloatArray, length: int, batches: int
) -> _Spread:
    """Compute in pieces: thousands of templates have many pairs."""
    mean, variance = np.zeros(len(squares)), np.zeros(len(squares))
    inside = outside = apart = 0.0
    for piece in pieces(len(squares)):
        means = np.stack([total[piece] for total in totals]).astype(np.float64)
        means /= length * batches
        about = squares[piece] / length**2 - batches * (means**2).sum(axis=0)
        within, between = np.maximum(about, 0.0), batches * means.var(axis=0) * len(totals)
        mean[piece] = means.mean(axis=0)
        variance[piece] = (within + between) / (len(totals) * batches - 1)
        inside += float(within.sum()) / (len(totals) * (batches - 1))
        outside += float(between.sum()) / (len(totals) - 1)
        apart = max(apart, float(np.ptp(means, axis=0).max()))
    return _Spread(mean, variance, _ratio(outside, inside), apart)


def pieces(count: int) -> Iterator[slice]:
    return (slice(start, start + PIECE) for start in range(0, count, PIECE))


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0.0 else (0.0 if above == 0.0 else np.inf)


def _scale(scores: FloatArray) -> float:
    """Return R-hat over half chains: sqrt(1 + variance of their means / variance within)."""
    halves = scores[:, : scores.shape[1] // 2 * 2].reshape(2 * len(scores), -1)
    means, within = halves.mean(axis=1), halves.var(axis=1).mean()
    size = float(np.abs(scores).max(initial=1.0))
    return float(
        np.sqrt(
            1.0
            + _ratio(_without_rounding(means.var(ddof=1), size), _without_rounding(within, size))
        )
    )


def _without_rounding(variance: float, size: float) -> float:
    """Return zero where it is no more than the rounding of numbers of this size."""
    return float(variance) if variance > (1e-12 * size) ** 2 else 0.0


def _score_error(scores: FloatArray, batches: int) -> float:
    """Return the error of the mean log-weight, by batches, at least as chains differ."""
    means = scores.reshape(len(scores), batches, -1).mean(axis=2)
    by_batch = means.std(ddof=1) / np.sqrt(means.size)
    by_chain = means.mean(axis=1).std(ddof=1) / np.sqrt(len(means))
    return float(max(by_batch, by_chain))

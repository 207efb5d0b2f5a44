"""Summaries of chains: means over batches, their standard error, and how far chains differ.

error² is the mean of two estimates, weighted by their degrees of freedom: the variance between the
chains' means, and the variance of batch means within chains · max(1, F), F = the ratio of the two,
pooled over pairs: 1 for chains that mix. Split R-hat² of a pair is 1 + the variance of the means of
half chains / p(1 - p), so 1 / (R-hat² - 1) is the number of independent draws in half a chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray

ERROR = 0.01  # the largest standard error of a pair that still counts as an answer
SCALE = 1.05  # the largest split R-hat of the log-weight and of a pair: ten draws in half a chain
DRIFT = 4.0  # the largest F
MIXING = 1.5  # the largest F at which what has been counted is kept
UNSURE = 0.01  # p(1 - p): below it split R-hat says little, and the error decides
WITHIN = 8  # degrees of freedom that the variance within chains is worth
UNSEEN = 1.5  # draws by which a frequency may be wrong, whatever its variance
PIECE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class ChainSummary:
    """One round: pairs i < j row by row, the log-weight, and the signs of mixing."""

    sweeps: int  # by each chain
    pairs: FloatArray
    error: FloatArray
    disagreement: float
    drift: float
    scale: float  # split R-hat of the log-weight
    pair_scale: float  # the largest split R-hat of a pair
    score: float
    score_error: float
    slowness: float  # sweeps that are worth one independent draw, for the slowest pair
    chains: int

    @property
    def worst(self) -> float:
        return float(self.error.max(initial=0.0))

    @property
    def mixing(self) -> bool:
        """Whether the chains seem independent of their starts."""
        return self.drift <= MIXING and self.scale <= SCALE and self.pair_scale <= SCALE

    @property
    def agreed(self) -> bool:
        """Whether no sign speaks against mixing, whatever the error."""
        return self.drift <= DRIFT and self.scale <= SCALE and self.pair_scale <= SCALE

    @property
    def converged(self) -> bool:
        return self.agreed and self.worst <= ERROR


class ChainCounts(NamedTuple):
    """What chains counted in batches of equal length: by chain, and summed squares of batches."""

    totals: list[NDArray[np.float32]]
    early: list[NDArray[np.float32]]
    squares: FloatArray
    length: int
    batches: int
    half: int  # the number of batches in `early`


def summarise_chains(counts: ChainCounts, scores: FloatArray) -> ChainSummary:
    """Summarise counts of pairs, and log-weights, chain × sweep."""
    spread = _spread(counts)
    chains, sweeps = len(counts.totals), counts.length * counts.batches
    # chains that stand still count as one draw each, not as one for every batch
    inflation = min(max(1.0, spread.drift), counts.batches)
    between = chains - 1
    sure = _two_errors(between + WITHIN) / 2.0
    slowness = 1.0
    error = spread.within
    for piece in pieces(len(error)):
        variance = WITHIN * inflation * error[piece] + between * spread.between[piece]
        variance /= between + WITHIN
        unsure = spread.mean[piece] * (1.0 - spread.mean[piece])
        uncertain = unsure > UNSURE
        slow = variance[uncertain] * chains * sweeps / unsure[uncertain]
        slowness = max(slowness, float(slow.max(initial=1.0)))
        error[piece] = sure * np.sqrt(variance)
    error += min(UNSEEN * slowness / (chains * sweeps), 1.0)
    return ChainSummary(
        sweeps,
        spread.mean,
        error,
        spread.disagreement,
        spread.drift,
        _scale(scores),
        spread.scale,
        float(scores.mean()),
        _score_error(scores, counts.batches),
        slowness,
        chains,
    )


def _two_errors(freedom: int) -> float:
    """Return the quantile of Student's t that covers as much as two errors of the normal one."""
    return 2.0 * (1.0 + 1.24 / freedom + 1.1 / freedom**2)


class _Spread(NamedTuple):
    mean: FloatArray
    within: FloatArray  # the variance of the mean, by batches
    between: FloatArray  # the same, by chains
    drift: float
    disagreement: float
    scale: float


def _spread(counts: ChainCounts) -> _Spread:
    """Compute in pieces: thousands of templates have many pairs."""
    chains, batches, length = len(counts.totals), counts.batches, counts.length
    mean, within, between = (np.zeros(len(counts.squares)) for _ in range(3))
    inside = outside = apart = 0.0
    scale = 1.0
    for piece in pieces(len(mean)):
        means = _means(counts.totals, piece, length * batches)
        about = counts.squares[piece] / length**2 - batches * (means**2).sum(axis=0)
        around = np.maximum(about, 0.0) / (chains * max(batches - 1, 1))
        mean[piece], within[piece] = means.mean(axis=0), around / (chains * batches)
        between[piece] = means.var(axis=0, ddof=1) / chains
        inside += float(within[piece].sum())
        outside += float(between[piece].sum())
        apart = max(apart, float(np.ptp(means, axis=0).max(initial=0.0)))
        scale = max(scale, _pair_scale(counts, piece, means))
    return _Spread(mean, within, between, _ratio(outside, inside), apart, scale)


def _means(totals: list[NDArray[np.float32]], piece: slice, sweeps: int) -> FloatArray:
    return np.stack([total[piece] for total in totals]).astype(np.float64) / max(sweeps, 1)


def _pair_scale(counts: ChainCounts, piece: slice, means: FloatArray) -> float:
    """Return the largest split R-hat of these pairs."""
    first, all_ = counts.half * counts.length, counts.batches * counts.length
    early = _means(counts.early, piece, first)
    late = (means * all_ - early * first) / max(all_ - first, 1)
    halves = np.concatenate([early, late]) if 0 < first < all_ else means
    unsure = means.mean(axis=0)
    unsure *= 1.0 - unsure
    uncertain = unsure > UNSURE
    ratio = halves.var(axis=0, ddof=1)[uncertain] / unsure[uncertain]
    return float(np.sqrt(1.0 + ratio.max(initial=0.0)))


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

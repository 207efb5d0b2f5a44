"""How far sources are trusted: r ~ Beta(right + λ·r̄, wrong + λ·(1 − r̄)), r̄ of all together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from partita.fusion.belief import Trust
from partita.fusion.knowing import EXACT, GENERAL, GUESS
from partita.fusion.reading import Read
from partita.records import FloatArray

TAIL = 0.025
WORTH = 1.0  # claims: the least that all sources' word on one is worth here


def trust(
    slot: str, read: Read, counts: FloatArray, given: Mapping[str, float]
) -> tuple[Trust, ...]:
    """Every source of the slot, in the order of their names."""
    right, rough, wrong = _closed(counts) if read.kind == "closed" else _open(counts)
    low, mean, high = _beta(right + rough, wrong)
    claims = np.bincount(read.said.source, minlength=len(read.said.sources))
    return tuple(
        Trust(
            source,
            slot,
            given.get(source, float(mean[n])),
            given.get(source, float(low[n])),
            given.get(source, float(high[n])),
            int(claims[n]),
            float(right[n]),
            float(rough[n]),
            float(wrong[n]),
            source in given,
        )
        for n, source in enumerate(read.said.sources)
    )


def _closed(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    right = np.trace(counts, axis1=1, axis2=2)
    return right, np.zeros(len(right)), np.maximum(counts.sum(axis=(1, 2)) - right, 0.0)


def _open(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    return counts[:, 0, EXACT], counts[:, 0, GENERAL], counts[:, 0, GUESS]


def _beta(right: FloatArray, wrong: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The mean and the interval that leaves out a tail on either side."""
    from scipy.special import betaincinv

    whole = right.sum() + wrong.sum()
    pooled = min(max(right.sum() / whole if whole else 0.5, 0.01), 0.99)
    a, b = right + WORTH * pooled, wrong + WORTH * (1 - pooled)
    return betaincinv(a, b, TAIL), a / (a + b), betaincinv(a, b, 1 - TAIL)


def interval(right: float, wrong: float, towards: float) -> tuple[float, float]:
    """The interval of one source that leaves out a tail on either side."""
    from scipy.special import betaincinv

    pooled = min(max(towards, 0.01), 0.99)
    a, b = right + WORTH * pooled, wrong + WORTH * (1 - pooled)
    return float(betaincinv(a, b, TAIL)), float(betaincinv(a, b, 1 - TAIL))

"""Intervals over documents: the figure recomputed on documents drawn with replacement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


def bootstrap(
    documents: Sequence[T],
    figure: Callable[[Sequence[T]], float],
    rng: np.random.Generator,
    *,
    times: int = 1000,
    level: float = 0.95,
) -> Interval:
    """Percentiles of the figure over `times` samples of as many documents."""
    n = len(documents)
    drawn = rng.integers(0, n, size=(times, n)) if n else np.zeros((times, 0), dtype=np.int64)
    values = [figure([documents[k] for k in row]) for row in drawn.tolist()]
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))

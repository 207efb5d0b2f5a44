"""Closed intervals, open-ended where a bound is None: [a, b] ⊓ [c, d] = [max(a, c), min(b, d)].

Intervals on a line that meet two by two have a point in common (Helly).
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import TypeVar

from partita.errors import InputError

T = TypeVar("T", int, date, Fraction)


def meet(
    left: tuple[T | None, T | None], right: tuple[T | None, T | None]
) -> tuple[T | None, T | None] | None:
    """What both hold, or None if nothing does."""
    lows = [low for low in (left[0], right[0]) if low is not None]
    highs = [high for high in (left[1], right[1]) if high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    return None if low is not None and high is not None and low > high else (low, high)


def forward(low: T | None, high: T | None) -> None:
    """Refuse an interval that runs backwards."""
    if low is not None and high is not None and low > high:
        raise InputError(f"the range {low}..{high} runs backwards")

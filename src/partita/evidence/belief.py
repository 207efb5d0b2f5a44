"""What a mass function says of a set:  Bel(A) = Σ_{B⊆A} m(B),  Pl(A) = Σ_{B∩A≠∅} m(B),
and of one outcome when a bet is due:  BetP(x) = Σ_{B∋x} m(B)/|B|.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from partita.evidence.masses import MassFunction, Outcome


def belief(mass: MassFunction[Outcome], outcomes: Iterable[Outcome]) -> float:
    """The mass that lies inside the set for certain."""
    mask = mass.mask(outcomes)
    inside = (value for subset, value in mass.masses.items() if not subset & ~mask)
    return min(1.0, math.fsum(inside))


def plausibility(mass: MassFunction[Outcome], outcomes: Iterable[Outcome]) -> float:
    """The mass that does not contradict the set."""
    mask = mass.mask(outcomes)
    touching = (value for subset, value in mass.masses.items() if subset & mask)
    return min(1.0, math.fsum(touching))


def pignistic(mass: MassFunction[Outcome]) -> dict[Outcome, float]:
    """The probability of every outcome, each focal set's mass shared evenly among its members."""
    shares = [0.0] * len(mass.frame)
    for subset, value in mass.masses.items():
        share = value / subset.bit_count()
        for n in _members(subset):
            shares[n] += share
    return dict(zip(mass.frame, shares, strict=True))


def _members(subset: int) -> Iterable[int]:
    while subset:
        lowest = subset & -subset
        yield lowest.bit_length() - 1
        subset ^= lowest

"""Dempster's rule of combination:  m(A) = Σ_{B∩C=A} m₁(B) m₂(C) / (1−κ).

κ = Σ_{B∩C=∅} m₁(B) m₂(C) is the conflict. Over a chain of sources  1−κ = Π (1−κ_i),
whatever their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from partita.errors import InputError, TotalConflict
from partita.evidence.masses import MassFunction, Outcome

SMALL = 1e-280  # below this, products of masses may have lost digits to underflow


@dataclass(frozen=True, slots=True)
class Combination(Generic[Outcome]):
    """The consensus of several sources and how much of their mass agreed.

    `log_agreement` is log(1−κ), which stays meaningful where κ rounds to 1.
    """

    mass: MassFunction[Outcome]
    conflict: float
    log_agreement: float


def combine(left: MassFunction[Outcome], right: MassFunction[Outcome]) -> Combination[Outcome]:
    """Two sources into one; total conflict raises TotalConflict."""
    if left.frame != right.frame:
        raise InputError("mass functions over different frames cannot be combined")
    if not left.core & right.core:
        raise TotalConflict((*left.sources, *right.sources))
    agreeing, conflict = _products(left.masses, right.masses)
    total = math.fsum((conflict, *agreeing.values()))
    log_scale = -math.log(total)
    if math.fsum(agreeing.values()) < SMALL:
        agreeing, log_scale = _rescued(left.masses, right.masses)
    agreement = math.fsum(agreeing.values())
    masses = {subset: mass / agreement for subset, mass in agreeing.items()}
    mass = MassFunction(left.frame, masses, (*left.sources, *right.sources))
    return Combination(mass, conflict / total, log_scale + math.log(agreement))


def combine_all(masses: Iterable[MassFunction[Outcome]]) -> Combination[Outcome]:
    """Any number of sources into one, with the conflict of all of them."""
    sources = list(masses)
    if not sources:
        raise InputError("there is no source to combine")
    if blamed := conflicting(sources):
        raise TotalConflict([name for n in blamed for name in sources[n].sources])
    consensus, log_agreement = sources[0], 0.0
    for source in sources[1:]:
        step = combine(consensus, source)
        consensus, log_agreement = step.mass, log_agreement + step.log_agreement
    return Combination(consensus, max(0.0, -math.expm1(log_agreement)), log_agreement)


def conflicting(masses: Sequence[MassFunction[Outcome]]) -> list[int]:
    """Positions of sources that together leave nothing possible, none of which can be spared.

    Conflict is total just where the cores have nothing in common, so no arithmetic is involved.
    """
    kept = list(range(len(masses)))
    if _common(masses, kept):
        return []
    for n in range(len(masses)):
        without = [k for k in kept if k != n]
        if not _common(masses, without):
            kept = without
    return kept


def _common(masses: Sequence[MassFunction[Outcome]], chosen: Sequence[int]) -> int:
    core = masses[0].whole
    for n in chosen:
        core &= masses[n].core
    return core


def _products(
    left: Mapping[int, float], right: Mapping[int, float]
) -> tuple[dict[int, float], float]:
    """Mass by intersection, and the mass that falls on the empty set."""
    agreeing: dict[int, float] = {}
    for a, x in left.items():
        for b, y in right.items():
            agreeing[a & b] = agreeing.get(a & b, 0.0) + x * y
    conflict = agreeing.pop(0, 0.0)
    return agreeing, conflict


def _rescued(
    left: Mapping[int, float], right: Mapping[int, float]
) -> tuple[dict[int, float], float]:
    """The agreeing products relative to the largest of them, and the logarithm of that."""
    logs = [
        (a & b, math.log(x) + math.log(y))
        for a, x in left.items()
        for b, y in right.items()
        if a & b
    ]
    top = max(log for _, log in logs)
    agreeing: dict[int, float] = {}
    for subset, log in logs:
        agreeing[subset] = agreeing.get(subset, 0.0) + math.exp(log - top)
    return agreeing, top

"""Mass functions over any finite frame, and Dempster's rule of combination.

A mass function distributes a mass of 1 over subsets of a frame:  Σ_A m(A) = 1,  m(∅) = 0.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from partita.core import Configuration
from partita.errors import InputError, TotalConflict

__all__ = [
    "Combination",
    "MassFunction",
    "belief",
    "combine",
    "combine_all",
    "conflicting",
    "discount",
    "pair_mass",
    "pignistic",
    "plausibility",
]

Outcome = TypeVar("Outcome", bound=Hashable)

TOLERANCE = 1e-9
SMALL = 1e-280  # below this, products of masses may have lost digits to underflow

# --- mass functions ---


@dataclass(frozen=True, slots=True)
class MassFunction(Generic[Outcome]):
    """Masses of subsets; a subset is a bit mask in which bit n stands for the frame's outcome n.

    Subsets without mass are not kept; the others are in the order of their bit masks.
    """

    frame: tuple[Outcome, ...]
    masses: Mapping[int, float]
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_frame(self.frame)
        _check_masses(self.masses, self.whole, self.sources)
        kept = {subset: float(mass) for subset, mass in sorted(self.masses.items()) if mass > 0}
        object.__setattr__(self, "masses", kept)

    @classmethod
    def of(
        cls,
        frame: Iterable[Outcome],
        masses: Mapping[frozenset[Outcome], float],
        source: str = "",
    ) -> MassFunction[Outcome]:
        """Return the mass function with these focal sets, given as sets of outcomes."""
        outcomes = tuple(frame)
        _check_frame(outcomes)
        bits = {outcome: 1 << n for n, outcome in enumerate(outcomes)}
        masked = {_mask(subset, bits): mass for subset, mass in masses.items()}
        return cls(outcomes, masked, (source,) if source else ())

    @classmethod
    def ignorant(cls, frame: Iterable[Outcome], source: str = "") -> MassFunction[Outcome]:
        """Return the mass function with all mass on the frame, which says nothing."""
        outcomes = tuple(frame)
        return cls(outcomes, {(1 << len(outcomes)) - 1: 1.0}, (source,) if source else ())

    @property
    def whole(self) -> int:
        """Return the frame as a bit mask."""
        return (1 << len(self.frame)) - 1

    @property
    def core(self) -> int:
        """Return the union of the focal sets: the outcomes that remain possible."""
        union = 0
        for subset in self.masses:
            union |= subset
        return union

    def mask(self, outcomes: Iterable[Outcome]) -> int:
        """Return the bit mask of some outcomes of the frame."""
        return _mask(outcomes, {outcome: 1 << n for n, outcome in enumerate(self.frame)})

    def outcomes(self, mask: int) -> frozenset[Outcome]:
        """Return the outcomes of a bit mask."""
        return frozenset(outcome for n, outcome in enumerate(self.frame) if mask >> n & 1)

    def focal(self) -> Iterator[tuple[frozenset[Outcome], float]]:
        """Return the focal sets as sets of outcomes, with their masses."""
        return ((self.outcomes(mask), mass) for mask, mass in self.masses.items())

    def mass(self, outcomes: Iterable[Outcome]) -> float:
        """Return the mass of exactly this set."""
        return self.masses.get(self.mask(outcomes), 0.0)


def _mask(outcomes: Iterable[Outcome], bits: Mapping[Outcome, int]) -> int:
    mask = 0
    for outcome in outcomes:
        if outcome not in bits:
            raise InputError(f"{outcome!r} is not an outcome of the frame")
        mask |= bits[outcome]
    return mask


def _check_frame(frame: tuple[Outcome, ...]) -> None:
    if not frame:
        raise InputError("a frame needs at least one outcome")
    if len(set(frame)) < len(frame):
        twice = next(outcome for n, outcome in enumerate(frame) if outcome in frame[:n])
        raise InputError(f"outcome {twice!r} appears twice in the frame")


def _check_masses(masses: Mapping[int, float], whole: int, sources: tuple[str, ...]) -> None:
    by = f" of {' and '.join(sources)}" if sources else ""
    for subset, mass in masses.items():
        if not 0 <= subset <= whole:
            raise InputError(f"subset {subset:#b}{by} does not lie in the frame")
        if not 0 <= mass < math.inf:
            raise InputError(f"mass {mass}{by} is not a number from 0 to 1")
    if masses.get(0, 0.0) > 0:
        raise InputError(f"the empty set has mass {masses[0]}{by}: it must have none")
    if abs((total := math.fsum(masses.values())) - 1) > TOLERANCE:
        raise InputError(f"the masses{by} sum to {total}, not to 1")


# --- discounting by reliability:  m'(A) = r m(A),  m'(frame) = r m(frame) + 1 − r ---


def discount(mass: MassFunction[Outcome], reliability: float) -> MassFunction[Outcome]:
    """Return the mass function of a source that is right only with this probability."""
    if not 0 <= reliability <= 1:
        named = " and ".join(mass.sources) or "a source"
        raise InputError(f"reliability {reliability} of {named} is not a number from 0 to 1")
    masses = {subset: reliability * value for subset, value in mass.masses.items()}
    masses[mass.whole] = masses.get(mass.whole, 0.0) + (1 - reliability)
    return MassFunction(mass.frame, masses, mass.sources)


# --- Dempster's rule:  m(A) = Σ_{B∩C=A} m₁(B) m₂(C) / (1−κ),  κ = Σ_{B∩C=∅} m₁(B) m₂(C) ---
# Over a chain of sources  1−κ = Π (1−κ_i),  whatever their order.


@dataclass(frozen=True, slots=True)
class Combination(Generic[Outcome]):
    """The combined mass function of several sources, and their conflict κ.

    `log_agreement` is log(1−κ), which stays meaningful where κ rounds to 1.
    """

    mass: MassFunction[Outcome]
    conflict: float
    log_agreement: float


def combine(left: MassFunction[Outcome], right: MassFunction[Outcome]) -> Combination[Outcome]:
    """Combine two sources; total conflict raises TotalConflict."""
    if left.frame != right.frame:
        raise InputError("mass functions over different frames cannot be combined")
    if not left.core & right.core:
        raise TotalConflict((*left.sources, *right.sources))
    agreeing, conflict = _products(left.masses, right.masses)
    total = math.fsum((conflict, *agreeing.values()))
    log_scale = -math.log(total)
    if math.fsum(agreeing.values()) < SMALL:
        agreeing, log_scale = _scaled_products(left.masses, right.masses)
    agreement = math.fsum(agreeing.values())
    masses = {subset: mass / agreement for subset, mass in agreeing.items()}
    mass = MassFunction(left.frame, masses, (*left.sources, *right.sources))
    return Combination(mass, conflict / total, log_scale + math.log(agreement))


def combine_all(masses: Iterable[MassFunction[Outcome]]) -> Combination[Outcome]:
    """Combine any number of sources, with the conflict of all of them."""
    sources = list(masses)
    if not sources:
        raise InputError("there is no source to combine")
    if contradicting := conflicting(sources):
        raise TotalConflict([name for n in contradicting for name in sources[n].sources])
    combined, log_agreement = sources[0], 0.0
    for source in sources[1:]:
        step = combine(combined, source)
        combined, log_agreement = step.mass, log_agreement + step.log_agreement
    return Combination(combined, max(0.0, -math.expm1(log_agreement)), log_agreement)


def conflicting(masses: Sequence[MassFunction[Outcome]]) -> list[int]:
    """Return a minimal set of positions of sources that together leave nothing possible.

    Conflict is total just where the cores have nothing in common, so no arithmetic is involved.
    """
    kept = list(range(len(masses)))
    if _common_core(masses, kept):
        return []
    for n in range(len(masses)):
        without = [k for k in kept if k != n]
        if not _common_core(masses, without):
            kept = without
    return kept


def _common_core(masses: Sequence[MassFunction[Outcome]], chosen: Sequence[int]) -> int:
    core = masses[0].whole
    for n in chosen:
        core &= masses[n].core
    return core


def _products(
    left: Mapping[int, float], right: Mapping[int, float]
) -> tuple[dict[int, float], float]:
    """Return the mass of each intersection, and the mass that falls on the empty set."""
    agreeing: dict[int, float] = {}
    for a, x in left.items():
        for b, y in right.items():
            agreeing[a & b] = agreeing.get(a & b, 0.0) + x * y
    conflict = agreeing.pop(0, 0.0)
    return agreeing, conflict


def _scaled_products(
    left: Mapping[int, float], right: Mapping[int, float]
) -> tuple[dict[int, float], float]:
    """Return the agreeing products relative to the largest, and the logarithm of the largest."""
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


# --- belief and plausibility:  Bel(A) = Σ_{B⊆A} m(B),  Pl(A) = Σ_{B∩A≠∅} m(B) ---


def belief(mass: MassFunction[Outcome], outcomes: Iterable[Outcome]) -> float:
    """Return the mass that lies inside the set."""
    mask = mass.mask(outcomes)
    inside = (value for subset, value in mass.masses.items() if not subset & ~mask)
    return min(1.0, math.fsum(inside))


def plausibility(mass: MassFunction[Outcome], outcomes: Iterable[Outcome]) -> float:
    """Return the mass that does not contradict the set."""
    mask = mass.mask(outcomes)
    touching = (value for subset, value in mass.masses.items() if subset & mask)
    return min(1.0, math.fsum(touching))


def pignistic(mass: MassFunction[Outcome]) -> dict[Outcome, float]:
    """Return the pignistic probability of every outcome,  BetP(x) = Σ_{B∋x} m(B)/|B|."""
    shares = [0.0] * len(mass.frame)
    for subset, value in mass.masses.items():
        share = value / subset.bit_count()
        for n in _members(subset):
            shares[n] += share
    return dict(zip(mass.frame, shares, strict=True))


def _members(subset: int) -> Iterator[int]:
    while subset:
        lowest = subset & -subset
        yield lowest.bit_length() - 1
        subset ^= lowest


# --- a pair probability as evidence about whole configurations, as in the paper ---


def pair_mass(
    configurations: Sequence[Configuration], left: str, right: str, probability: float
) -> MassFunction[Configuration]:
    """Return mass p on the configurations with the two together, and 1 − p on the others."""
    frame = tuple(configurations)
    together = sum(1 << n for n, one in enumerate(frame) if one.together(left, right))
    apart = (1 << len(frame)) - 1 - together
    masses = {together: probability, apart: 1 - probability}
    return MassFunction(frame, masses, (f"{left}–{right}",))

"""A mass function: what a source believes of the subsets of a frame;  Σ_A m(A) = 1,  m(∅) = 0."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from partita.errors import InputError

Outcome = TypeVar("Outcome", bound=Hashable)

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class MassFunction(Generic[Outcome]):
    """Masses of subsets; a subset is a bit mask in which bit n stands for the frame's outcome n.

    Subsets without mass are not kept, the others stand in the order of their bit masks.
    """

    frame: tuple[Outcome, ...]
    masses: Mapping[int, float]
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _refuse_frame(self.frame)
        _refuse_masses(self.masses, self.whole, self.sources)
        kept = {subset: float(mass) for subset, mass in sorted(self.masses.items()) if mass > 0}
        object.__setattr__(self, "masses", kept)

    @classmethod
    def of(
        cls,
        frame: Iterable[Outcome],
        masses: Mapping[frozenset[Outcome], float],
        source: str = "",
    ) -> MassFunction[Outcome]:
        """From focal sets written as sets of outcomes."""
        outcomes = tuple(frame)
        _refuse_frame(outcomes)
        bits = {outcome: 1 << n for n, outcome in enumerate(outcomes)}
        masked = {_mask(subset, bits): mass for subset, mass in masses.items()}
        return cls(outcomes, masked, (source,) if source else ())

    @classmethod
    def ignorant(cls, frame: Iterable[Outcome], source: str = "") -> MassFunction[Outcome]:
        """All mass on the frame: the source says nothing."""
        outcomes = tuple(frame)
        return cls(outcomes, {(1 << len(outcomes)) - 1: 1.0}, (source,) if source else ())

    @property
    def whole(self) -> int:
        """The frame as a bit mask."""
        return (1 << len(self.frame)) - 1

    @property
    def core(self) -> int:
        """The union of the focal sets: what the source leaves possible."""
        union = 0
        for subset in self.masses:
            union |= subset
        return union

    def mask(self, outcomes: Iterable[Outcome]) -> int:
        """The bit mask of some outcomes of the frame."""
        return _mask(outcomes, {outcome: 1 << n for n, outcome in enumerate(self.frame)})

    def outcomes(self, mask: int) -> frozenset[Outcome]:
        """The outcomes of a bit mask."""
        return frozenset(outcome for n, outcome in enumerate(self.frame) if mask >> n & 1)

    def focal(self) -> Iterator[tuple[frozenset[Outcome], float]]:
        """The focal sets as sets of outcomes, with their masses."""
        return ((self.outcomes(mask), mass) for mask, mass in self.masses.items())

    def mass(self, outcomes: Iterable[Outcome]) -> float:
        """The mass of exactly this set."""
        return self.masses.get(self.mask(outcomes), 0.0)


def _mask(outcomes: Iterable[Outcome], bits: Mapping[Outcome, int]) -> int:
    mask = 0
    for outcome in outcomes:
        if outcome not in bits:
            raise InputError(f"{outcome!r} is not an outcome of the frame")
        mask |= bits[outcome]
    return mask


def _refuse_frame(frame: tuple[Outcome, ...]) -> None:
    if not frame:
        raise InputError("a frame needs at least one outcome")
    if len(set(frame)) < len(frame):
        twice = next(outcome for n, outcome in enumerate(frame) if outcome in frame[:n])
        raise InputError(f"outcome {twice!r} appears twice in the frame")


def _refuse_masses(masses: Mapping[int, float], whole: int, sources: tuple[str, ...]) -> None:
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

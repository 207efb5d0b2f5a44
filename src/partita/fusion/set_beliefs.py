"""Combine several sources' beliefs about one coreference set by Dempster's rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from partita.configurations.solve import solve
from partita.errors import Contradiction, InputError, TotalConflict
from partita.records import (
    Budget,
    CoreferenceSet,
    Distribution,
    FloatArray,
    Pair,
    PairProbabilities,
    pair,
)


def agreement(together: FloatArray, apart: FloatArray, ignorance: FloatArray) -> float:
    """The mass of all choices that some configuration satisfies; 3^n steps for n templates."""
    size = len(together)
    joined, parted = together + ignorance, apart + ignorance

    @cache
    def linked(cell: int) -> float:
        whole = _inside(joined, cell)
        return whole - math.fsum(
            linked(part) * _inside(joined, cell ^ part) * _across(ignorance, part, cell ^ part)
            for part in _parts(cell)
        )

    @cache
    def agreeing(rest: int) -> float:
        if not rest:
            return 1.0
        return math.fsum(
            linked(cell) * _across(parted, cell, rest ^ cell) * agreeing(rest ^ cell)
            for cell in (*_parts(rest), rest)
        )

    return agreeing((1 << size) - 1)


def _parts(whole: int) -> Iterator[int]:
    """Proper parts of a set that hold its first member."""
    first = whole & -whole
    rest = part = whole ^ first
    while part:
        part = (part - 1) & rest
        yield first | part


def _inside(matrix: FloatArray, cell: int) -> float:
    members = _members(cell)
    return math.prod(float(matrix[i, j]) for n, i in enumerate(members) for j in members[n + 1 :])


def _across(matrix: FloatArray, left: int, right: int) -> float:
    others = _members(right)
    return math.prod(float(matrix[i, j]) for i in _members(left) for j in others)


def _members(cell: int) -> list[int]:
    return [n for n in range(cell.bit_length()) if cell >> n & 1]


SMALL = 12  # templates: of more, the conflict of sources that may err is told pair by pair only


@dataclass(frozen=True, slots=True)
class PairBelief:
    """A source, how reliable it is, and what it says of pairs; it knows nothing of the others."""

    source: str
    pairs: Mapping[Pair, float]
    reliability: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.reliability <= 1:
            told = f"reliability {self.reliability} of {self.source}"
            raise InputError(f"{told} is not a number from 0 to 1")
        for (left, right), p in self.pairs.items():
            if not 0 <= p <= 1:
                told = f"probability {p} of {left} = {right} by {self.source}"
                raise InputError(f"{told} is not a number from 0 to 1")


@dataclass(frozen=True, slots=True, eq=False)
class Masses:
    """Masses of every pair before normalisation, as matrices in text order."""

    together: FloatArray
    apart: FloatArray
    ignorance: FloatArray

    @property
    def conflict(self) -> FloatArray:
        """κ of every pair: what its sources contradict each other about."""
        rest: FloatArray = 1.0 - self.together - self.apart - self.ignorance
        return np.maximum(rest, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class CombinedBelief:
    """The sources' consensus: pair probabilities for any model, masses, and conflict κ.

    `conflict` is of all evidence at once, as general combination has it; None where a large set
    has sources that may err, of which only the conflict of each pair is known.
    """

    pairs: PairProbabilities
    masses: Masses
    conflict: float | None
    distribution: Distribution = field(repr=False)


def combined(
    templates: CoreferenceSet,
    beliefs: Sequence[PairBelief],
    top: int | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> CombinedBelief:
    """Several sources about one set into one distribution; total conflict names them."""
    pairs, masses = together(templates, beliefs)
    try:
        found = solve(pairs, top=top, budget=budget, seed=seed)
    except Contradiction as error:
        raise TotalConflict(certain(beliefs)) from error
    return CombinedBelief(pairs, masses, _conflict(masses, found), found)


def together(
    templates: CoreferenceSet, beliefs: Sequence[PairBelief]
) -> tuple[PairProbabilities, Masses]:
    """The sources' consensus about every pair, before a model makes a distribution of it."""
    if not beliefs:
        raise InputError("there is no source to combine")
    masses = _masses(templates, beliefs)
    _refuse_pairs(templates, beliefs, masses)
    return PairProbabilities(templates, plausible(masses)), masses


def plausible(masses: Masses) -> FloatArray:
    """The probability of every pair, from the plausibilities of "together" and "apart"."""
    joined = masses.together + masses.ignorance
    both = joined + masses.apart + masses.ignorance
    share: FloatArray = np.where(both > 0, joined / np.where(both > 0, both, 1.0), 0.5)
    np.fill_diagonal(share, 1.0)
    return share


def _masses(templates: CoreferenceSet, beliefs: Sequence[PairBelief]) -> Masses:
    size = len(templates)
    joined, apart, ignorance = (np.ones((size, size)) for _ in range(3))
    for belief in beliefs:
        t, a = _said(templates, belief)
        u = np.maximum(1.0 - t - a, 0.0)
        joined *= t + u
        apart *= a + u
        ignorance *= u
    return Masses(
        np.maximum(joined - ignorance, 0.0), np.maximum(apart - ignorance, 0.0), ignorance
    )


def _said(templates: CoreferenceSet, belief: PairBelief) -> tuple[FloatArray, FloatArray]:
    """A source's discounted masses on "together" and on "apart"."""
    place = {name: n for n, name in enumerate(templates.ids)}
    joined, apart = np.zeros((len(place), len(place))), np.zeros((len(place), len(place)))
    for (left, right), p in belief.pairs.items():
        if unknown := [name for name in (left, right) if name not in place]:
            raise InputError(f"{belief.source} refers to an unknown template {unknown[0]}")
        i, j = place[left], place[right]
        joined[i, j] = joined[j, i] = belief.reliability * p
        apart[i, j] = apart[j, i] = belief.reliability * (1.0 - p)
    return joined, apart


def _refuse_pairs(templates: CoreferenceSet, beliefs: Sequence[PairBelief], masses: Masses) -> None:
    """A pair of which one source is certain and another certain of the contrary."""
    possible = masses.together + masses.apart + masses.ignorance
    lost = np.argwhere(np.triu(possible == 0.0, 1))
    if not len(lost):
        return
    two = pair(templates.ids[lost[0][0]], templates.ids[lost[0][1]])
    named = [f"{b.source} (on {two[0]} = {two[1]})" for b in beliefs if _sure(b, two)]
    raise TotalConflict(named)


def _sure(belief: PairBelief, two: Pair) -> bool:
    said = {pair(*key): p for key, p in belief.pairs.items()}
    return belief.reliability == 1.0 and said.get(two) in (0.0, 1.0)


def certain(beliefs: Sequence[PairBelief]) -> list[str]:
    """Sources that leave no doubt about some pair."""
    return [
        belief.source
        for belief in beliefs
        if belief.reliability == 1.0 and any(p in (0.0, 1.0) for p in belief.pairs.values())
    ]


def _conflict(masses: Masses, found: Distribution) -> float | None:
    above = np.triu_indices(len(masses.together), 1)
    if not np.any(masses.ignorance[above]):
        kept = np.prod((masses.together + masses.apart)[above])
        return None if found.conflict is None else float(1.0 - kept * (1.0 - found.conflict))
    if len(masses.together) > SMALL:
        return None
    return max(0.0, 1.0 - agreement(masses.together, masses.apart, masses.ignorance))

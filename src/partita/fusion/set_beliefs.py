"""Combine several sources' beliefs about one coreference set by Dempster's rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from partita.configurations.solve import solve_set
from partita.core import (
    Budget,
    CoreferenceSet,
    Distribution,
    FloatArray,
    Pair,
    PairProbabilities,
    pair,
)
from partita.errors import Contradiction, InputError, TotalConflict


def agreement_mass(together: FloatArray, apart: FloatArray, ignorance: FloatArray) -> float:
    """Return the mass of all choices that some configuration satisfies, in 3^n steps."""
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
    """Yield the proper subsets that contain the first member."""
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


MAX_EXACT = 12  # templates: of larger sets, only the conflict of each pair is computed


@dataclass(frozen=True, slots=True)
class PairBelief:
    """The pair probabilities of a source, with its reliability; other pairs are unknown to it."""

    source: str
    pairs: Mapping[Pair, float]
    reliability: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.reliability <= 1:
            problem = f"reliability {self.reliability} of {self.source}"
            raise InputError(f"{problem} is not a number from 0 to 1")
        for (left, right), p in self.pairs.items():
            if not 0 <= p <= 1:
                problem = f"probability {p} of {left} = {right} by {self.source}"
                raise InputError(f"{problem} is not a number from 0 to 1")


@dataclass(frozen=True, slots=True, eq=False)
class Masses:
    """The masses of every pair before normalisation, as matrices in text order."""

    together: FloatArray
    apart: FloatArray
    ignorance: FloatArray

    @property
    def conflict(self) -> FloatArray:
        """Return κ of every pair."""
        rest: FloatArray = 1.0 - self.together - self.apart - self.ignorance
        return np.maximum(rest, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class CombinedBelief:
    """The combined belief: pair probabilities, masses, and conflict κ.

    `conflict` is that of all evidence, as in the general rule of combination; it is None for a
    large set with fallible sources, where only the conflict of each pair is computed.
    """

    pairs: PairProbabilities
    masses: Masses
    conflict: float | None
    distribution: Distribution = field(repr=False)


def combine_beliefs(
    templates: CoreferenceSet,
    beliefs: Sequence[PairBelief],
    top: int | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> CombinedBelief:
    """Combine the beliefs of several sources about one set into one distribution."""
    pairs, masses = combine_pairs(templates, beliefs)
    try:
        distribution = solve_set(pairs, top=top, budget=budget, seed=seed)
    except Contradiction as error:
        raise TotalConflict(certain_sources(beliefs)) from error
    return CombinedBelief(pairs, masses, _conflict(masses, distribution), distribution)


def combine_pairs(
    templates: CoreferenceSet, beliefs: Sequence[PairBelief]
) -> tuple[PairProbabilities, Masses]:
    """Combine the sources' beliefs about every pair."""
    if not beliefs:
        raise InputError("there is no source to combine")
    masses = _masses(templates, beliefs)
    _check_pairs(templates, beliefs, masses)
    return PairProbabilities(templates, plausible_pairs(masses)), masses


def plausible_pairs(masses: Masses) -> FloatArray:
    """Return pair probabilities from the plausibilities of "together" and "apart"."""
    joined = masses.together + masses.ignorance
    both = joined + masses.apart + masses.ignorance
    share: FloatArray = np.where(both > 0, joined / np.where(both > 0, both, 1.0), 0.5)
    np.fill_diagonal(share, 1.0)
    return share


def _masses(templates: CoreferenceSet, beliefs: Sequence[PairBelief]) -> Masses:
    size = len(templates)
    joined, apart, ignorance = (np.ones((size, size)) for _ in range(3))
    for belief in beliefs:
        t, a = _discounted_masses(templates, belief)
        u = np.maximum(1.0 - t - a, 0.0)
        joined *= t + u
        apart *= a + u
        ignorance *= u
    return Masses(
        np.maximum(joined - ignorance, 0.0), np.maximum(apart - ignorance, 0.0), ignorance
    )


def _discounted_masses(
    templates: CoreferenceSet, belief: PairBelief
) -> tuple[FloatArray, FloatArray]:
    """Return a source's discounted masses on "together" and on "apart"."""
    place = {name: n for n, name in enumerate(templates.ids)}
    joined, apart = np.zeros((len(place), len(place))), np.zeros((len(place), len(place)))
    for (left, right), p in belief.pairs.items():
        if unknown := [name for name in (left, right) if name not in place]:
            raise InputError(f"{belief.source} refers to an unknown template {unknown[0]}")
        i, j = place[left], place[right]
        joined[i, j] = joined[j, i] = belief.reliability * p
        apart[i, j] = apart[j, i] = belief.reliability * (1.0 - p)
    return joined, apart


def _check_pairs(templates: CoreferenceSet, beliefs: Sequence[PairBelief], masses: Masses) -> None:
    """Raise an error for a pair about which certain sources contradict each other."""
    possible = masses.together + masses.apart + masses.ignorance
    contradicted = np.argwhere(np.triu(possible == 0.0, 1))
    if not len(contradicted):
        return
    names = pair(templates.ids[contradicted[0][0]], templates.ids[contradicted[0][1]])
    sources = [f"{b.source} (on {names[0]} = {names[1]})" for b in beliefs if _is_certain(b, names)]
    raise TotalConflict(sources)


def _is_certain(belief: PairBelief, names: Pair) -> bool:
    probabilities = {pair(*key): p for key, p in belief.pairs.items()}
    return belief.reliability == 1.0 and probabilities.get(names) in (0.0, 1.0)


def certain_sources(beliefs: Sequence[PairBelief]) -> list[str]:
    """Return the sources that are certain about some pair."""
    return [
        belief.source
        for belief in beliefs
        if belief.reliability == 1.0 and any(p in (0.0, 1.0) for p in belief.pairs.values())
    ]


def _conflict(masses: Masses, distribution: Distribution) -> float | None:
    above = np.triu_indices(len(masses.together), 1)
    if not np.any(masses.ignorance[above]):
        kept = np.prod((masses.together + masses.apart)[above])
        return (
            None
            if distribution.conflict is None
            else float(1.0 - kept * (1.0 - distribution.conflict))
        )
    if len(masses.together) > MAX_EXACT:
        return None
    return max(0.0, 1.0 - agreement_mass(masses.together, masses.apart, masses.ignorance))

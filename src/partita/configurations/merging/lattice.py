"""The lattice of all decisions: states are (tail, what its cell still allows) for every live cell.

Configurations and paths are one to one. With w the weight of a decision s → s',
mass(s) = Σ w · mass(s'), the total is the mass of the first state, and a decision is taken with
the probability w · mass(s') / mass(s), whatever was dropped for being forbidden.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from partita.configurations.merging.bounds import MassBounds, log_sum
from partita.core import BoolArray, FloatArray, IntArray
from partita.errors import InputError, TooLarge

SMALL = 14  # up to so many templates plain arrays do
BITS = 62  # of a word of packed states are used: no shift meets the sign
FLOOR = 700.0  # e**-700 bounds what underflows beside the largest mass of a layer


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """All decisions about one template, in the order of the states that they start from."""

    first: IntArray  # where each state's decisions begin, and the end
    target: NDArray[np.int32]
    joined: NDArray[np.int16]  # the tail joined, −1 for a new cell
    weight: FloatArray

    def only(self, kept: BoolArray) -> Step:
        """Return only the decisions that lead to these states, which are renumbered."""
        number = np.cumsum(kept) - 1
        stays = kept[self.target]
        first = np.concatenate([[0], np.cumsum(stays)])[self.first]
        target = number[self.target[stays]].astype(np.int32)
        return Step(first, target, self.joined[stays], self.weight[stays])


class States(Protocol):
    """The states that a step leads to; state 0 of the first has no cells."""

    def __len__(self) -> int: ...

    def choices(self) -> IntArray:
        """Return an upper bound on the decisions of each state."""

    def take(self, kept: IntArray) -> States:
        """Return only these states."""

    def tails(self) -> IntArray:
        """Return the live tails of each state as bits: d is the template d + 1 before the next."""

    def grow(self, x: int) -> tuple[Step, States]:
        """Return all decisions about template x."""


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The steps, template by template, and the log-mass of every state before each and at the end.

    Before template `whole` nothing was dropped; `made` decisions were looked at in all.
    """

    steps: tuple[Step, ...]
    tails: tuple[IntArray, ...]
    masses: tuple[FloatArray, ...]
    mass: MassBounds
    whole: int
    made: int

    def __len__(self) -> int:
        return sum(len(step.target) for step in self.steps)

    def chances(self, x: int) -> FloatArray:
        """Return the probability of each decision about x, given its state."""
        step = self.steps[x]
        before = np.repeat(self.masses[x], np.diff(step.first))
        with np.errstate(invalid="ignore"):
            chance: FloatArray = np.exp(step.weight + self.masses[x + 1][step.target] - before)
        return np.nan_to_num(chance, copy=False)

    def taken(self) -> Iterator[tuple[Step, FloatArray, FloatArray]]:
        """Yield each step with its decisions' probabilities given their state, and of both."""
        visited: FloatArray = np.ones(1)
        for x, step in enumerate(self.steps):
            chance = self.chances(x)
            share = np.repeat(visited, np.diff(step.first)) * chance
            yield step, chance, share
            visited = _sum_by_target(step, share, len(self.masses[x + 1]))

    def visited(self) -> list[FloatArray]:
        """Return the probability of every state before each template, and at the end."""
        probabilities: list[FloatArray] = [np.ones(1)]
        for (step, _, share), masses in zip(self.taken(), self.masses[1:], strict=True):
            probabilities.append(_sum_by_target(step, share, len(masses)))
        return probabilities


def _sum_by_target(step: Step, shares: FloatArray, states: int) -> FloatArray:
    """Sum the values over the decisions that lead to each state."""
    sums: FloatArray = np.bincount(step.target, shares, states).astype(np.float64)
    return sums


@dataclass(slots=True, eq=False)
class _Growth:
    """A growing lattice: forward masses are computed when states must be dropped."""

    states: States
    steps: list[Step] = field(default_factory=list)
    tails: list[IntArray] = field(default_factory=list)
    reached: FloatArray = field(default_factory=lambda: np.zeros(1))
    at: int = 0
    dropped: list[float] = field(default_factory=list)
    single: float = -math.inf

    def grow(self, x: int) -> None:
        self.tails.append(self.states.tails())
        step, self.states = self.states.grow(x)
        self.steps.append(step)

    def cut(self, room: float) -> None:
        """Keep the states of most mass whose decisions there is room for."""
        while self.at < len(self.steps):
            self.reached = _forward(self.steps[self.at], self.reached)
            self.at += 1
        by = np.argsort(-self.reached, kind="stable")
        fits = max(1, int(np.searchsorted(np.cumsum(self.states.choices()[by]), room, "right")))
        kept = np.zeros(len(by), dtype=bool)
        kept[by[:fits]] = True
        self.dropped.append(log_sum(self.reached[~kept]))
        self.single = max(self.single, float(self.reached[~kept].max(initial=-math.inf)))
        self.reached, self.states = self.reached[kept], self.states.take(np.flatnonzero(kept))
        self.steps[-1] = self.steps[-1].only(kept)


def _forward(step: Step, reached: FloatArray) -> FloatArray:
    """Return the log-mass that arrives in each state; where it underflows, a bound for it."""
    arriving = np.repeat(reached, np.diff(step.first)) + step.weight
    top = float(arriving.max(initial=-math.inf))
    if top == -math.inf:
        return np.full(int(step.target.max(initial=-1)) + 1, top)
    sums = np.bincount(step.target, np.exp(arriving - top))
    masses: FloatArray = top + np.log(np.maximum(sums, math.exp(-FLOOR)))
    return masses


def lattice(states: States, size: int, decisions: float) -> Lattice:
    """Grow a lattice with at most so many decisions: three quarters freely, then evenly.

    The mass that a dropped state could still have had is at most the mass that reached it.
    """
    growth = _Growth(states)
    used, whole = 0, size
    for x in range(size):
        room = max((decisions - used) / (size - x), 0.75 * decisions - used)
        if len(growth.states) > 1 and growth.states.choices().sum() > room:
            growth.cut(room)
            whole = min(whole, x)
        growth.grow(x)
        used += len(growth.steps[-1].target)
    masses = _masses(growth.steps, len(growth.states))
    if masses[0][0] == -math.inf:
        if growth.dropped:
            raise TooLarge(
                "a possible configuration", "a wider search", f"{decisions:.0f} decisions"
            )
        raise InputError("the pair probabilities and must-links leave no configuration possible")
    dropped = log_sum(np.array(growth.dropped))
    bounds = MassBounds(float(masses[0][0]), dropped, growth.single, size)
    tails = (*growth.tails, growth.states.tails())
    return Lattice(tuple(growth.steps), tails, masses, bounds, whole, used)


def _masses(steps: list[Step], last: int) -> tuple[FloatArray, ...]:
    masses = [np.zeros(last)]
    for step in reversed(steps):
        masses.append(_sums(step, step.weight + masses[-1][step.target]))
    return tuple(masses[::-1])


def _sums(step: Step, logs: FloatArray) -> FloatArray:
    """Return, for every state, the logarithm of the sum over its decisions."""
    top = most(step, logs)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = np.exp(logs - np.repeat(top, np.diff(step.first)))
        sums: FloatArray = top + np.log(np.add.reduceat(np.append(scaled, 0.0), step.first[:-1]))
    return np.where(np.isneginf(top), top, sums)


def most(step: Step, values: FloatArray) -> FloatArray:
    """Return, for every state, the largest value of its decisions; −∞ if it has none."""
    ended = np.append(values, -math.inf)
    top = np.maximum.reduceat(ended, step.first[:-1])
    return np.where(np.diff(step.first) > 0, top, -math.inf)

"""Pair probabilities as log-odds; the scaled model; must-links contracted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray, Pair, PairProbabilities, components
from partita.errors import Contradiction, InputError


@dataclass(frozen=True, slots=True)
class ScaledParameters:
    """A scale and a bias on the log-odds of every pair; 1 and 0 are the evidential model."""

    scale: float
    bias: float

    def __post_init__(self) -> None:
        if not 0 <= self.scale < math.inf:
            raise InputError(
                f"scale of the scaled model is {self.scale}, not a non-negative number"
            )
        if not math.isfinite(self.bias):
            raise InputError(f"bias of the scaled model is {self.bias}, not a finite number")


def scale_log_odds(
    theta: FloatArray, parameters: ScaledParameters, numbers: FloatArray | None = None
) -> FloatArray:
    """Scale the log-odds; infinite ones (incompatible, must-link) are knowledge and stay.

    Between groups that must-links contracted, θ is a sum over pairs: `numbers` (`pair_numbers`)
    says how many, for each of them has the bias.
    """
    finite = np.isfinite(theta)
    bias = parameters.bias * (np.ones_like(theta) if numbers is None else numbers)
    scaled = np.where(finite, parameters.scale * np.where(finite, theta, 0.0) + bias, theta)
    np.fill_diagonal(scaled, 0.0)
    return scaled


UNSCALED = ScaledParameters(1.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class PairKnowledge:
    """Pair probabilities with what is known a priori, as matrices in text order.

    `compared` says which pairs have a probability of their own; by default all.
    """

    p: FloatArray
    compatible: BoolArray
    must: BoolArray
    compared: BoolArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Odds:
    """Log-odds between groups of templates that must corefer, groups in text order.

    `home` gives each template the number of its group; `base` is the log of the mass of the
    configuration in which no two groups corefer.
    """

    theta: FloatArray
    home: IntArray
    base: float


def checked_knowledge(pairs: PairProbabilities) -> PairKnowledge:
    """Return what is known, checked: a must-link closure over an incompatible pair raises."""
    knowledge = knowledge_of(pairs)
    _refuse_contradiction(pairs.set.ids, knowledge.must, knowledge.compatible)
    return knowledge


def knowledge_of(pairs: PairProbabilities) -> PairKnowledge:
    """Return what the set states, with probabilities 0 and 1 as knowledge too."""
    must = (pairs.matrix == 1.0) | _matrix(pairs, pairs.set.must)
    compatible = (pairs.matrix > 0.0) & ~_matrix(pairs, pairs.set.incompatible)
    np.fill_diagonal(must, True)
    np.fill_diagonal(compatible, True)
    return PairKnowledge(pairs.matrix, compatible, must, pairs.compared)


def odds_of(knowledge: PairKnowledge, scaled: ScaledParameters = UNSCALED) -> Odds:
    """Return θ between the groups that must-links make; scaled, if asked, pair by pair."""
    home = components(knowledge.must)
    theta = scale_log_odds(_pair_log_odds(knowledge), scaled)
    inside = home[:, None] == home[None, :]
    base = np.where(inside, -np.logaddexp(0.0, -theta), -np.logaddexp(0.0, theta))
    between = _between_groups(np.where(inside, 0.0, theta), home)
    return Odds(between, home, float(np.triu(base, 1).sum()))


def _pair_log_odds(knowledge: PairKnowledge) -> FloatArray:
    """Return log p/(1−p), infinite where something is known, 0 on the diagonal."""
    with np.errstate(divide="ignore"):
        theta = np.log(knowledge.p) - np.log1p(-knowledge.p)
    theta = np.where(knowledge.must, np.inf, np.where(knowledge.compatible, theta, -np.inf))
    np.fill_diagonal(theta, 0.0)
    return theta


def _matrix(pairs: PairProbabilities, members: frozenset[Pair]) -> BoolArray:
    """Return the pairs as a symmetric matrix."""
    place = {name: n for n, name in enumerate(pairs.set.ids)}
    matrix = np.zeros(pairs.matrix.shape, dtype=np.bool_)
    for left, right in members:
        matrix[place[left], place[right]] = matrix[place[right], place[left]] = True
    return matrix


def _refuse_contradiction(ids: tuple[str, ...], must: BoolArray, compatible: BoolArray) -> None:
    home = components(must)
    broken = np.argwhere((home[:, None] == home[None, :]) & ~compatible)
    if len(broken):
        left, right = broken[0].tolist()
        raise Contradiction(
            ids[left], ids[right], [ids[n] for n in _shortest_path(must, left, right)]
        )


def _shortest_path(adjacent: BoolArray, start: int, goal: int) -> list[int]:
    """Return a shortest path from start to goal; both are in one component."""
    source = {start: start}
    queue = [start]
    for node in queue:
        for neighbour in np.flatnonzero(adjacent[node]).tolist():
            if neighbour not in source:
                source[neighbour] = node
                queue.append(neighbour)
    path = [goal]
    while path[-1] != start:
        path.append(source[path[-1]])
    return path[::-1]


def _between_groups(theta: FloatArray, home: IntArray) -> FloatArray:
    """Sum the log-odds between the members of two groups; the diagonal is 0."""
    if (groups := home.max(initial=-1) + 1) == len(home):
        return theta
    member = (home[None, :] == np.arange(groups)[:, None]).astype(np.float64)
    apart = np.isneginf(theta)
    sums = member @ np.where(apart, 0.0, theta) @ member.T
    return np.where(member @ apart @ member.T > 0, -np.inf, sums)

"""One-to-one matching: competing pairs weaken each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.configurations.solve import solve
from partita.errors import InputError
from partita.fusion.belief import SlotBelief
from partita.records import (
    CoreferenceSet,
    FloatArray,
    IntArray,
    PairProbabilities,
    linked_components,
)

SMALL = 12  # things: components with circles up to this size are solved exactly
ROUNDS = 200
CLOSE = 1e-9
ODDS = 1e12  # beyond, a pair is as good as certain


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """The probability of every pair, and how many pairs lie in components of each treatment."""

    probability: FloatArray
    exact: int
    approximate: int


def matched(left: IntArray, right: IntArray, probability: FloatArray) -> Matched:
    """Pair probabilities that know about their rivals; `left` and `right` number two sides."""
    sides = int(left.max(initial=-1)) + 1
    other = right + sides
    things = sides + int(right.max(initial=-1)) + 1
    odds = np.clip(probability / np.maximum(1 - probability, 1 / ODDS), 1 / ODDS**2, ODDS)
    found = propagated(left, other, things, odds)
    component = linked_components(things, left, other)[left]
    size, circle = _shape(component, left, other)
    for number in np.unique(component[circle & (size <= SMALL)]).tolist():
        chosen = np.flatnonzero(component == number)
        found[chosen] = solved(left[chosen], other[chosen], probability[chosen])
    loose = circle & (size > SMALL)
    return Matched(found, int((~loose).sum()), int(loose.sum()))


def _shape(
    component: IntArray, left: IntArray, right: IntArray
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Of every pair's component: how many things it has, and whether it goes in a circle."""
    pairs = np.bincount(component)
    ends = np.unique(np.stack([np.tile(component, 2), np.concatenate([left, right])]), axis=1)
    size = np.bincount(ends[0], minlength=len(pairs))
    return size[component], (pairs >= size)[component]


def propagated(left: IntArray, right: IntArray, things: int, odds: FloatArray) -> FloatArray:
    """What every pair hears from its two ends, until nothing changes."""
    from_right = odds.copy()
    from_left = odds.copy()
    for _ in range(ROUNDS):
        from_left = odds / (1 + _others(left, from_right, things))
        again = odds / (1 + _others(right, from_left, things))
        moved = np.max(np.abs(np.log(again) - np.log(from_right)), initial=0.0)
        from_right = again
        if moved < CLOSE:
            break
    rivals = (1 + _others(left, from_right, things)) * (1 + _others(right, from_left, things))
    both: FloatArray = odds / (odds + rivals)
    return both


def _others(end: IntArray, message: FloatArray, things: int) -> FloatArray:
    """The sum of what a pair's rivals at one end say."""
    rest: FloatArray = np.bincount(end, message, minlength=things)[end] - message
    return np.maximum(rest, 0.0)


def solved(left: IntArray, right: IntArray, probability: FloatArray) -> FloatArray:
    """The same marginals from the distribution over configurations."""
    things = np.unique(np.concatenate([left, right]))
    a, b = np.searchsorted(things, left), np.searchsorted(things, right)
    matrix = np.eye(len(things))
    matrix[a, b] = matrix[b, a] = probability
    found = solve(PairProbabilities(CoreferenceSet.of(map(str, things)), matrix), top=1)
    marginals: FloatArray = found.marginals.value[a, b]
    return marginals


SAME = frozenset(("1", "SAME", "YES", "TRUE", "MATCH"))


def one_to_one(belief: SlotBelief, separator: str) -> SlotBelief:
    """The probabilities of "same" given all the others; objects are LEFT, separator, RIGHT."""
    same = _same(belief)
    left, right = _sides(belief, separator)
    is_same = belief.value == same
    given = np.zeros(len(left))
    given[belief.object[is_same]] = belief.probability[is_same]
    found = matched(left, right, given)
    now = found.probability[belief.object]
    probability = np.where(is_same, now, 1.0 - now)
    order = np.lexsort((belief.value, -probability, belief.object))
    told = f"{found.exact:,} pairs matched exactly"
    if found.approximate:
        told += f", {found.approximate:,} by belief propagation, which is approximate"
    return replace(belief, value=belief.value[order], probability=probability[order], method=told)


def _same(belief: SlotBelief) -> int:
    values = list(belief.read.said.values)
    found = [n for n, value in enumerate(values) if value in SAME]
    if belief.read.kind != "closed" or len(values) != 2 or len(found) != 1:
        said = ", ".join(values[:5])
        raise InputError(f"one to one needs judgements same (1, yes) or different, not {said}")
    return found[0]


def _sides(belief: SlotBelief, separator: str) -> tuple[IntArray, IntArray]:
    """Both sides of every object as numbers."""
    parts = [name.split(separator) for name in belief.read.said.objects]
    for name, part in zip(belief.read.said.objects, parts, strict=True):
        if len(part) != 2 or not all(part):
            raise InputError(f"object {name!r} is not a pair LEFT{separator}RIGHT")
    left, right = (np.unique([p[n] for p in parts], return_inverse=True)[1] for n in (0, 1))
    return left.reshape(-1), right.reshape(-1)

"""One-to-one matching: competing pairs weaken each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.core import (
    CoreferenceSet,
    FloatArray,
    IntArray,
    PairProbabilities,
    linked_components,
)
from partita.errors import InputError
from partita.fusion.belief import SlotBelief
from partita.fusion.claim_files import SAME

MAX_EXACT = 12  # things: components with circles up to this size are solved exactly
ROUNDS = 200
TOLERANCE = 1e-9
MAX_ODDS = 1e12  # treated as certain


@dataclass(frozen=True, slots=True, eq=False)
class PairMatching:
    """The probability of every pair, and how many pairs were solved exactly or approximately."""

    probability: FloatArray
    exact: int
    approximate: int


def match_pairs(left: IntArray, right: IntArray, probability: FloatArray) -> PairMatching:
    """Return pair probabilities given at most one match per side.

    `left` and `right` number the things of both sides.
    """
    sides = int(left.max(initial=-1)) + 1
    other = right + sides
    things = sides + int(right.max(initial=-1)) + 1
    odds = np.clip(
        probability / np.maximum(1 - probability, 1 / MAX_ODDS), 1 / MAX_ODDS**2, MAX_ODDS
    )
    result = propagate(left, other, things, odds)
    component = linked_components(things, left, other)[left]
    size, cyclic = _shape(component, left, other)
    for number in np.unique(component[cyclic & (size <= MAX_EXACT)]).tolist():
        chosen = np.flatnonzero(component == number)
        result[chosen] = solve_component(left[chosen], other[chosen], probability[chosen])
    approximate = cyclic & (size > MAX_EXACT)
    return PairMatching(result, int((~approximate).sum()), int(approximate.sum()))


def _shape(
    component: IntArray, left: IntArray, right: IntArray
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return for each pair the size of its component, and whether that has a cycle."""
    pairs = np.bincount(component)
    ends = np.unique(np.stack([np.tile(component, 2), np.concatenate([left, right])]), axis=1)
    size = np.bincount(ends[0], minlength=len(pairs))
    return size[component], (pairs >= size)[component]


def propagate(left: IntArray, right: IntArray, things: int, odds: FloatArray) -> FloatArray:
    """Return the pair probabilities by belief propagation, which is exact on trees."""
    from_right = odds.copy()
    from_left = odds.copy()
    for _ in range(ROUNDS):
        from_left = odds / (1 + _others(left, from_right, things))
        again = odds / (1 + _others(right, from_left, things))
        moved = np.max(np.abs(np.log(again) - np.log(from_right)), initial=0.0)
        from_right = again
        if moved < TOLERANCE:
            break
    rivals = (1 + _others(left, from_right, things)) * (1 + _others(right, from_left, things))
    both: FloatArray = odds / (odds + rivals)
    return both


def _others(end: IntArray, message: FloatArray, things: int) -> FloatArray:
    """Return the sum of the messages of a pair's rivals at one end."""
    rest: FloatArray = np.bincount(end, message, minlength=things)[end] - message
    return np.maximum(rest, 0.0)


def solve_component(left: IntArray, right: IntArray, probability: FloatArray) -> FloatArray:
    """Return the pair probabilities from the distribution over configurations."""
    from partita.configurations.solve import solve

    things = np.unique(np.concatenate([left, right]))
    a, b = np.searchsorted(things, left), np.searchsorted(things, right)
    matrix = np.eye(len(things))
    matrix[a, b] = matrix[b, a] = probability
    distribution = solve(PairProbabilities(CoreferenceSet.of(map(str, things)), matrix), top=1)
    marginals: FloatArray = distribution.marginals.value[a, b]
    return marginals


def one_to_one(belief: SlotBelief, separator: str) -> SlotBelief:
    """Condition "same" on one match per side; objects are LEFT, separator, RIGHT."""
    same = _same(belief)
    left, right = _sides(belief, separator)
    is_same = belief.value == same
    prior = np.zeros(len(left))
    prior[belief.object[is_same]] = belief.probability[is_same]
    matching = match_pairs(left, right, prior)
    updated = matching.probability[belief.object]
    probability = np.where(is_same, updated, 1.0 - updated)
    order = np.lexsort((belief.value, -probability, belief.object))
    method = f"{matching.exact:,} pairs matched exactly"
    if matching.approximate:
        method += f", {matching.approximate:,} by belief propagation, which is approximate"
    return replace(belief, value=belief.value[order], probability=probability[order], method=method)


def _same(belief: SlotBelief) -> int:
    values = list(belief.parsed.statements.values)
    matches = [n for n, value in enumerate(values) if value in SAME]
    if belief.parsed.kind != "closed" or len(values) != 2 or len(matches) != 1:
        shown = ", ".join(values[:5])
        raise InputError(f"one to one needs judgements same (1, yes) or different, not {shown}")
    return matches[0]


def _sides(belief: SlotBelief, separator: str) -> tuple[IntArray, IntArray]:
    """Return both sides of every object as numbers."""
    parts = [name.split(separator) for name in belief.parsed.statements.objects]
    for name, part in zip(belief.parsed.statements.objects, parts, strict=True):
        if len(part) != 2 or not all(part):
            raise InputError(f"object {name!r} is not a pair LEFT{separator}RIGHT")
    left, right = (np.unique([p[n] for p in parts], return_inverse=True)[1] for n in (0, 1))
    return left.reshape(-1), right.reshape(-1)

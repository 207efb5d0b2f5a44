"""Slots with many values: a source is exact, general or guessing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.fusion.estimation import Candidates, Problem, Relations, Said
from partita.fusion.hierarchy import Order
from partita.fusion.value_reading import Statements
from partita.records import FloatArray, IntArray


def ranges(starts: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """For every n the numbers starts[n] … starts[n] + counts[n] − 1, and n beside each."""
    owner = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) - before[owner] + starts[owner]


def grouped(
    owner: IntArray, member: IntArray, wanted: IntArray, owners: int
) -> tuple[IntArray, IntArray]:
    """The members of every wanted owner, with the place of the wanted one beside each."""
    by_owner = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=owners)
    starts = np.cumsum(counts) - counts
    place, at = ranges(starts[wanted], counts[wanted])
    return place, member[by_owner][at]


EXACT, GENERAL, GUESS = range(3)
LEAF, INNER = 0, 1
UNNAMED = -1
Pairs = tuple[IntArray, IntArray]
SHRINKAGE = 1.0
ROUGHLY = 0.2  # of what a source with a given reliability knows, where values are ordered
START = np.array([[0.6, 0.15, 0.25]])  # where learning starts


@dataclass(frozen=True, slots=True, eq=False)
class Open:
    """The problem, and the value of every candidate (UNNAMED: below or beside what was said)."""

    problem: Problem
    value: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Values as objects have them: pair n is what `claims` statements from `first` on say."""

    object: IntArray
    value: IntArray
    first: IntArray
    claims: IntArray

    @classmethod
    def of(cls, said: Statements, more: Pairs) -> Named:
        """What was said, and more pairs of an object and a value that nobody said."""
        values = len(said.values)
        key = said.object * values + said.value
        pairs = np.union1d(key, more[0] * values + more[1])
        first = np.searchsorted(key, pairs, "left")
        claims = np.searchsorted(key, pairs, "right") - first
        return cls(pairs // values, pairs % values, first, claims)

    def found(self, object_: IntArray, value: IntArray, values: int) -> IntArray:
        """Which pair each is; -1 where nobody said that of the object."""
        keys, wanted = self.object * values + self.value, object_ * values + value
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, place, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """Pairs of one object of which one lies above the other."""

    low: IntArray
    high: IntArray

    @classmethod
    def of(cls, named: Named, order: Order, values: int) -> Nested:
        starts, counts = order.starts[:-1], np.diff(order.starts)
        low, at = ranges(starts[named.value], counts[named.value])
        high = named.found(named.object[low], order.above[at], values)
        return cls(low[high >= 0], high[high >= 0])


def open_problem(said: Statements, order: Order, more: Pairs | None = None) -> Open:
    """Candidates of every object from what was said of it, and more pairs of object and value."""
    named = Named.of(said, more or (said.object[:0], said.value[:0]))
    nested = Nested.of(named, order, len(said.values))
    points, under = _shares(named, nested, order)
    rest = _rest(named, points + under, len(said.objects), order)
    below = [np.flatnonzero(under[:, kind] > 0) for kind in (LEAF, INNER)]
    beside = [np.flatnonzero(rest[:, kind] > 0) for kind in (LEAF, INNER)]
    pairs = len(named.object)
    kinds = [1 - order.leaf[named.value], *(0 * b + k for k, b in enumerate(below)),
             *(0 * b + k for k, b in enumerate(beside))]  # fmt: skip
    item = np.concatenate([named.object, *(named.object[b] for b in below), *beside])
    share = np.concatenate(
        [points.sum(axis=1), *(under[b, k] for k, b in enumerate(below)),
         *(rest[b, k] for k, b in enumerate(beside))]
    )  # fmt: skip
    places = [np.arange(pairs), *below]
    depth = np.repeat([0, 1, 1], [len(p) for p in places])
    relations = _relations(named, nested, order, np.concatenate(places), depth)
    candidates = Candidates(item, item, 0 * item, np.concatenate(kinds), np.log(share))
    value = np.full(len(item), UNNAMED)
    value[:pairs] = named.value
    return Open(_problem(said, candidates, relations, order), value)


def _problem(
    said: Statements, candidates: Candidates, relations: Relations, order: Order
) -> Problem:
    chance = 1.0 / order.size
    claims, objects = len(said), len(said.objects)
    guesses = np.full(claims, GUESS)
    density = np.full(claims, chance)
    return Problem(
        Said(said.source, said.object, guesses, density, said.confidence, chance),
        candidates,
        relations,
        sources=len(said.sources),
        blocks=objects,
        items=objects,
        kinds=2 if order.inner else 1,
        start=START,
        shrinkage=SHRINKAGE,
        mixed=1.0,
    )


def _shares(named: Named, nested: Nested, order: Order) -> tuple[FloatArray, FloatArray]:
    """P(exactly this | class) and P(an unnamed one below it | class), for leaves and inner ones."""
    leaf = order.leaf[named.value]
    points = np.stack([leaf / max(order.leaves, 1), (1 - leaf) / max(order.inner, 1)], axis=1)
    below = order.below[named.value]
    inside = (points + below)[nested.low]
    taken = [np.bincount(nested.high, inside[:, k], minlength=len(below)) for k in (LEAF, INNER)]
    return points, np.maximum(below - np.stack(taken, axis=1), 0.0)


def _rest(named: Named, taken: FloatArray, objects: int, order: Order) -> FloatArray:
    """What is left of each class for values that nobody said anything near."""
    sums = [np.bincount(named.object, taken[:, k], minlength=objects) for k in (LEAF, INNER)]
    whole = np.array([order.leaves > 0, order.inner > 0], dtype=float)
    left: FloatArray = np.maximum(whole - np.stack(sums, axis=1), 0.0)
    return left


def _relations(
    named: Named, nested: Nested, order: Order, pair: IntArray, depth: IntArray
) -> Relations:
    """Candidate n is pair[n] itself (depth 0) or something unnamed below it (depth 1)."""
    above, high = grouped(nested.low, nested.high, pair, len(named.object))
    candidate = np.concatenate([np.arange(len(pair)), above])
    said_pair = np.concatenate([pair, high])
    exact = (np.arange(len(candidate)) < len(pair)) & (depth[candidate] == 0)
    ways = np.maximum(order.heights[named.value[pair]] + depth, 1)
    factor = np.where(exact, 1.0, 1.0 / ways[candidate])
    row, claim = ranges(named.first[said_pair], named.claims[said_pair])
    return Relations(claim, candidate[row], np.where(exact, EXACT, GENERAL)[row], factor[row])


def reliable(reliability: float, ordered: bool) -> FloatArray:
    """The rates of a source that knows with this probability, and else guesses."""
    roughly = ROUGHLY if ordered else 0.0
    return np.array([[reliability * (1 - roughly), reliability * roughly, 1 - reliability]])

"""Slots with many values: a source is exact, general or guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.core import FloatArray, IntArray
from partita.fusion.dependence import SharedErrors
from partita.fusion.estimation import (
    Candidates,
    CodedClaims,
    EstimationProblem,
    ValueRelations,
    estimate_rates,
    expect,
    likelihoods,
)
from partita.fusion.hierarchy import Order
from partita.fusion.value_reading import ClaimStatements


def ranges(starts: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return all n and starts[n] … starts[n] + counts[n] − 1 for each, as two arrays."""
    owner = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) - before[owner] + starts[owner]


def grouped(
    owner: IntArray, member: IntArray, wanted: IntArray, owners: int
) -> tuple[IntArray, IntArray]:
    """Return the members of every wanted owner, with the position of the owner for each."""
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
GENERAL_SHARE = 0.2  # of a fixed reliability, where values are ordered
START = np.array([[0.6, 0.15, 0.25]])  # starting rates


@dataclass(frozen=True, slots=True, eq=False)
class OpenProblem:
    """The problem, and the value of every candidate (UNNAMED: one that no source states).

    `under` is the stated value that an unnamed candidate is right below, UNNAMED if there is none.
    `levels` are those of the candidate and of the stated value of every relation.
    """

    problem: EstimationProblem
    value: IntArray
    under: IntArray
    levels: Pairs

    def with_detail(self, detail: FloatArray) -> OpenProblem:
        """Return the problem in which general claims of sources have these shares of levels.

        Levels are counted from the top; those above the truth's own are possible.
        """
        relations = self.problem.relations
        truth, stated = (np.minimum(level, detail.shape[1] - 1) for level in self.levels)
        row = self.problem.claims.source[relations.claim]
        above = np.cumsum(detail, axis=1)[row, np.maximum(truth - 1, 0)]
        general = detail[row, stated] / np.maximum(above, 1e-12)
        factor = np.where(relations.outcome == EXACT, 1.0, general)
        problem = replace(self.problem, relations=replace(relations, factor=factor))
        return replace(self, problem=problem)


@dataclass(frozen=True, slots=True, eq=False)
class NamedValues:
    """The values of objects: pair n is stated by `claims` statements from `first` on."""

    object: IntArray
    value: IntArray
    first: IntArray
    claims: IntArray

    @classmethod
    def of(cls, statements: ClaimStatements, more: Pairs) -> NamedValues:
        """Return the stated pairs and `more` pairs of an object and a value."""
        values = len(statements.values)
        key = statements.object * values + statements.value
        pairs = key[np.diff(key, prepend=-1) != 0]  # statements are sorted by it
        if len(more[0]):
            pairs = np.union1d(pairs, more[0] * values + more[1])
        first = np.searchsorted(key, pairs, "left")
        claims = np.searchsorted(key, pairs, "right") - first
        return cls(pairs // values, pairs % values, first, claims)

    def find(self, object_: IntArray, value: IntArray, values: int) -> IntArray:
        """Return the index of each pair, or -1."""
        keys, wanted = self.object * values + self.value, object_ * values + value
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, place, -1)


@dataclass(frozen=True, slots=True, eq=False)
class NestedPairs:
    """Pairs of one object of which one is above the other."""

    low: IntArray
    high: IntArray

    @classmethod
    def of(cls, named: NamedValues, order: Order, values: int) -> NestedPairs:
        starts, counts = order.starts[:-1], np.diff(order.starts)
        low, at = ranges(starts[named.value], counts[named.value])
        high = named.find(named.object[low], order.above[at], values)
        return cls(low[high >= 0], high[high >= 0])


def open_problem(
    statements: ClaimStatements,
    order: Order,
    more: Pairs | None = None,
    weights: FloatArray | None = None,
) -> OpenProblem:
    """Return the problem with candidates from the statements and `more` object-value pairs."""
    named = NamedValues.of(statements, more or (statements.object[:0], statements.value[:0]))
    nested = NestedPairs.of(named, order, len(statements.values))
    points, under = _shares(named, nested, order)
    rest = _rest(named, points + under, len(statements.objects), order)
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
    relations, levels = _relations(named, nested, order, np.concatenate(places), depth)
    candidates = Candidates(item, 0 * item, np.concatenate(kinds), np.log(share))
    value, right_below = np.full(len(item), UNNAMED), np.full(len(item), UNNAMED)
    value[:pairs] = named.value
    right_below[pairs : len(depth)] = named.value[np.concatenate(below)]
    chance, classes = 1.0 / order.size, 2 if order.inner else 1
    density = np.full(len(statements), chance)
    problem = guessing_problem(statements, candidates, relations, density, chance, weights, classes)
    return OpenProblem(problem, value, right_below, levels)


def guessing_problem(
    statements: ClaimStatements,
    candidates: Candidates,
    relations: ValueRelations,
    density: FloatArray,
    flat: float,
    weights: FloatArray | None = None,
    kinds: int = 1,
) -> EstimationProblem:
    """Return the problem of sources that are exact, general or guess, with P(claim | a guess)."""
    claims, objects = len(statements), len(statements.objects)
    key = statements.object * max(len(statements.values), 1) + statements.value
    value = np.cumsum(np.diff(key, prepend=-1) != 0) - 1
    weight = np.ones(claims) if weights is None else weights
    coded = CodedClaims(statements.source, statements.object, np.full(claims, GUESS), density,
                        statements.confidence, flat, value, weight)  # fmt: skip
    return EstimationProblem(
        coded,
        candidates,
        relations,
        sources=len(statements.sources),
        items=objects,
        kinds=kinds,
        start=START,
        shrinkage=SHRINKAGE,
        mixed=1.0,
        spread=SharedErrors.of(coded, candidates, relations),
    )


def _shares(named: NamedValues, nested: NestedPairs, order: Order) -> tuple[FloatArray, FloatArray]:
    """Return P(this | class) and P(an unnamed value below it | class) for both classes."""
    leaf = order.leaf[named.value]
    points = np.stack([leaf / max(order.leaves, 1), (1 - leaf) / max(order.inner, 1)], axis=1)
    below = order.below[named.value]
    inside = (points + below)[nested.low]
    taken = [np.bincount(nested.high, inside[:, k], minlength=len(below)) for k in (LEAF, INNER)]
    return points, np.maximum(below - np.stack(taken, axis=1), 0.0)


def _rest(named: NamedValues, taken: FloatArray, objects: int, order: Order) -> FloatArray:
    """Return the share of each class that is left for values unrelated to the stated ones."""
    sums = [np.bincount(named.object, taken[:, k], minlength=objects) for k in (LEAF, INNER)]
    total = np.array([order.leaves > 0, order.inner > 0], dtype=float)
    remaining: FloatArray = np.maximum(total - np.stack(sums, axis=1), 0.0)
    return remaining


def _relations(
    named: NamedValues, nested: NestedPairs, order: Order, pair: IntArray, depth: IntArray
) -> tuple[ValueRelations, Pairs]:
    """Return the relations and the levels of what is true and stated.

    Candidate n is pair[n] (depth 0) or a value below it (depth 1).
    """
    above, high = grouped(nested.low, nested.high, pair, len(named.object))
    candidate = np.concatenate([np.arange(len(pair)), above])
    said_pair = np.concatenate([pair, high])
    exact = (np.arange(len(candidate)) < len(pair)) & (depth[candidate] == 0)
    ways = np.maximum(order.heights[named.value[pair]] + depth, 1)
    factor = np.where(exact, 1.0, 1.0 / ways[candidate])
    row, claim = ranges(named.first[said_pair], named.claims[said_pair])
    outcome = np.where(exact, EXACT, GENERAL)[row]
    truth = (order.heights[named.value[pair]] + depth)[candidate]
    levels = truth[row], order.heights[named.value[said_pair]][row]
    return ValueRelations(claim, candidate[row], outcome, factor[row]), levels


DETAIL_WEIGHT = 3.0  # of the detail of all sources, in claims
DETAIL_ROUNDS = 3
QUICK_ROUNDS = 8  # of the estimation of rates while the detail is learned


def detail_of(detail: Mapping[str, FloatArray], sources: Sequence[str]) -> FloatArray:
    """Return the shares of levels of these sources, those of an unseen one where unknown."""
    return np.stack([detail.get(source, detail[""]) for source in sources])


def learn_detail(one: OpenProblem, fixed: FloatArray) -> FloatArray:
    """Return, for every source, the shares of levels at which it is general.

    Shares are expected counts over how often a level was possible, in view of the others (the
    fixed point of the likelihood of choices among levels above the truth's own).
    """
    truth, stated = one.levels
    count = int(truth.max(initial=0)) + 1
    source = one.problem.claims.source[one.problem.relations.claim]
    general = one.problem.relations.outcome != EXACT
    key = (source * count)[general]
    detail = np.full((one.problem.sources, count), 1.0 / count)
    estimate = estimate_rates(one.problem, fixed, QUICK_ROUNDS)
    for _ in range(DETAIL_ROUNDS):
        share = likelihoods(one.problem, estimate.rates.theta).related_share
        weight = estimate.expected.probability[one.problem.relations.candidate] * share
        chosen, below = (
            np.bincount(key + level[general], weight[general], detail.size).reshape(detail.shape)
            for level in (stated, np.maximum(truth - 1, 0))
        )
        for _ in range(DETAIL_ROUNDS):
            pooled = chosen.sum(axis=0) + 1.0 / count
            prior = DETAIL_WEIGHT * pooled / pooled.sum()
            rates = below / np.maximum(np.cumsum(detail, axis=1), 1e-12)
            possible = np.cumsum(rates[:, ::-1], axis=1)[:, ::-1] + DETAIL_WEIGHT
            detail = (chosen + prior) / possible
            detail /= detail.sum(axis=1, keepdims=True)
        one = one.with_detail(detail)
        estimate = estimate_rates(
            one.problem, fixed, QUICK_ROUNDS, expect(one.problem, estimate.rates)
        )
    return detail


def open_rates(reliability: float, ordered: bool) -> FloatArray:
    """Return the rates of a source that knows with this probability and otherwise guesses."""
    roughly = GENERAL_SHARE if ordered else 0.0
    return np.array([[reliability * (1 - roughly), reliability * roughly, 1 - reliability]])

"""Dempster's conflict between sources about a slot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, TypeVar

import numpy as np

from partita.core import FloatArray
from partita.fusion.belief import SlotBelief, Trust
from partita.fusion.hierarchy import Order
from partita.fusion.kinds import SETS
from partita.templates.slots import SlotType, Value

V = TypeVar("V")
MAX_VALUES = 16  # distinct values of a slot; only the largest masses are used


def conflict(claims: Mapping[str, tuple[Value, float]], slot: SlotType[Any]) -> float:
    """Return κ of the claims about one slot, each a value with a mass from 0 to 1."""
    doubt: dict[Value, float] = {}
    for value, mass in claims.values():
        doubt[value] = doubt.get(value, 1.0) * (1.0 - mass)
    return kappa(doubt, lambda left, right: slot.unify(left, right) is not None)


def kappa(doubt: Mapping[V, float], agree: Callable[[V, V], bool]) -> float:
    """Return κ from 1 − g of every value, and a test whether two values agree."""
    largest = sorted(doubt, key=lambda value: (doubt[value], str(value)))[:MAX_VALUES]
    if all(agree(left, right) for left, right in combinations(largest, 2)):
        return 0.0
    masses = [(value, 1.0 - doubt[value]) for value in largest]
    return min(1.0, max(0.0, 1.0 - _agreeing_mass(masses, (), agree)))


def kappa_apart(doubt: Iterable[float]) -> float:
    """Return κ from 1 − g of values that all exclude each other."""
    none, one = 1.0, 0.0
    for part in doubt:
        none, one = none * part, one * part + none * (1.0 - part)
    return min(1.0, max(0.0, 1.0 - none - one))


def _agreeing_mass(
    rest: Sequence[tuple[V, float]], chosen: tuple[V, ...], agree: Callable[[V, V], bool]
) -> float:
    """Return the mass of choices without a contradiction, by recursion over the values."""
    if not rest:
        return 1.0
    (value, mass), *others = rest
    silent = (1.0 - mass) * _agreeing_mass(others, chosen, agree)
    if not all(agree(value, other) for other in chosen):
        return silent
    return silent + mass * _agreeing_mass(others, (*chosen, value), agree)


def conflicts(belief: SlotBelief) -> list[float]:
    """Return κ of every object; for sets it is 0, since a subset is not a contradiction."""
    statements = belief.parsed.statements
    if belief.parsed.kind in SETS:
        return [0.0] * len(statements.objects)
    key = statements.object * max(len(statements.values), 1) + statements.value
    first = np.flatnonzero(np.diff(key, prepend=-1))
    doubt = np.multiply.reduceat(1.0 - _masses(belief), first).tolist()
    objects, value = statements.object[first], statements.value[first].tolist()
    starts = np.searchsorted(objects, np.arange(len(statements.objects) + 1)).tolist()
    return [
        _conflict(belief, n, value[a:b], doubt[a:b]) if b - a > 1 else 0.0
        for n, (a, b) in enumerate(pairwise(starts))
    ]


def _conflict(belief: SlotBelief, thing: int, values: list[int], doubt: list[float]) -> float:
    """Return κ of one object, by a faster formula where no value is above another."""
    if not len(belief.parsed.order.above):
        return kappa_apart(doubt)
    return kappa(dict(zip(values, doubt, strict=True)), _agreement_test(belief, thing))


def _masses(belief: SlotBelief) -> FloatArray:
    """Return the mass of every statement; truths set by the user have mass 1."""
    statements, labels = belief.parsed.statements, len(belief.parsed.labels)
    guesses = 1 / labels if belief.parsed.kind == "closed" and labels > 1 else 0.0
    knowledge = {one.source: _knowledge(one, guesses) for one in belief.trust}
    mass = np.array([knowledge.get(source, 1.0) for source in statements.sources])
    masses: FloatArray = mass[statements.source] * statements.confidence
    return masses


def _knowledge(trust: Trust, guesses: float) -> float:
    """Return the reliability without lucky guesses; one set by the user has none."""
    return (
        trust.reliability
        if trust.given
        else max(0.0, (trust.reliability - guesses) / (1 - guesses))
    )


def _agreement_test(belief: SlotBelief, thing: int) -> Callable[[int, int], bool]:
    """Return a test whether two values hold together of a possible value of the object."""
    order = belief.parsed.order
    held = [_above(order, value) | {value} for value, _ in belief.of(thing)]
    return lambda left, right: any(left in both and right in both for both in held)


def _above(order: Order, value: int) -> set[int]:
    return set(order.above[order.starts[value] : order.starts[value + 1]].tolist())

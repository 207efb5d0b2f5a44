"""Dempster's conflict between sources about a slot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, TypeVar

import numpy as np

from partita.fusion.belief import SlotBelief, Trust
from partita.fusion.hierarchy import Order
from partita.fusion.kinds import SETS
from partita.records import FloatArray
from partita.templates.slots import SlotType, Value

V = TypeVar("V")
MOST = 16  # different values of a slot: of more the masses that are largest


def conflict(said: Mapping[str, tuple[Value, float]], slot: SlotType[Any]) -> float:
    """κ of what everybody says of one slot, each with a mass from 0 to 1."""
    doubt: dict[Value, float] = {}
    for value, mass in said.values():
        doubt[value] = doubt.get(value, 1.0) * (1.0 - mass)
    return kappa(doubt, lambda left, right: slot.unify(left, right) is not None)


def kappa(doubt: Mapping[V, float], agree: Callable[[V, V], bool]) -> float:
    """κ from 1 − g of every value, and which two of them hold together."""
    largest = sorted(doubt, key=lambda value: (doubt[value], str(value)))[:MOST]
    if all(agree(left, right) for left, right in combinations(largest, 2)):
        return 0.0
    masses = [(value, 1.0 - doubt[value]) for value in largest]
    return min(1.0, max(0.0, 1.0 - _agreeing_mass(masses, (), agree)))


def kappa_apart(doubt: Iterable[float]) -> float:
    """κ from 1 − g of values no two of which hold together: one of them at most."""
    none, one = 1.0, 0.0
    for part in doubt:
        none, one = none * part, one * part + none * (1.0 - part)
    return min(1.0, max(0.0, 1.0 - none - one))


def _agreeing_mass(
    rest: Sequence[tuple[V, float]], chosen: tuple[V, ...], agree: Callable[[V, V], bool]
) -> float:
    """The mass of choices that contain no contradiction, value by value."""
    if not rest:
        return 1.0
    (value, mass), *others = rest
    silent = (1.0 - mass) * _agreeing_mass(others, chosen, agree)
    if not all(agree(value, other) for other in chosen):
        return silent
    return silent + mass * _agreeing_mass(others, (*chosen, value), agree)


def conflicts(belief: SlotBelief) -> list[float]:
    """κ of every object; sets hold together, since a part of the truth is no contradiction."""
    said = belief.read.said
    if belief.read.kind in SETS:
        return [0.0] * len(said.objects)
    key = said.object * max(len(said.values), 1) + said.value
    first = np.flatnonzero(np.diff(key, prepend=-1))
    doubt = np.multiply.reduceat(1.0 - _masses(belief), first).tolist()
    thing, value = said.object[first], said.value[first].tolist()
    starts = np.searchsorted(thing, np.arange(len(said.objects) + 1)).tolist()
    return [
        _conflict(belief, n, value[a:b], doubt[a:b]) if b - a > 1 else 0.0
        for n, (a, b) in enumerate(pairwise(starts))
    ]


def _conflict(belief: SlotBelief, thing: int, values: list[int], doubt: list[float]) -> float:
    """Where nothing is above anything, values are apart, which is quick."""
    if not len(belief.read.order.above):
        return kappa_apart(doubt)
    return kappa(dict(zip(values, doubt, strict=True)), _agreeing(belief, thing))


def _masses(belief: SlotBelief) -> FloatArray:
    """Of every statement; truths that the user knows are no matter of trust."""
    said, labels = belief.read.said, len(belief.read.labels)
    guesses = 1 / labels if belief.read.kind == "closed" and labels > 1 else 0.0
    known = {one.source: _knows(one, guesses) for one in belief.trust}
    mass = np.array([known.get(source, 1.0) for source in said.sources])
    masses: FloatArray = mass[said.source] * said.confidence
    return masses


def _knows(one: Trust, guesses: float) -> float:
    """The part of a learned reliability that is not luck; a given one is without it."""
    return one.reliability if one.given else max(0.0, (one.reliability - guesses) / (1 - guesses))


def _agreeing(belief: SlotBelief, thing: int) -> Callable[[int, int], bool]:
    """Two values agree where both hold of something that the object may be."""
    order = belief.read.order
    held = [_above(order, value) | {value} for value, _ in belief.of(thing)]
    return lambda left, right: any(left in both and right in both for both in held)


def _above(order: Order, value: int) -> set[int]:
    return set(order.above[order.starts[value] : order.starts[value + 1]].tolist())

"""How far sources contradict each other about a slot, object by object: Dempster's conflict κ.

Who says v with confidence c puts r·c on v and all that is below it, and the rest on everything.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from partita.fusion.belief import SlotBelief, Trust
from partita.fusion.contradiction import kappa, kappa_apart
from partita.fusion.kinds import SETS
from partita.fusion.order import Order
from partita.records import FloatArray


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

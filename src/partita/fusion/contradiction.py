"""How far sources contradict each other about one slot: Dempster's conflict κ.

Source s puts its mass m_s on its value and 1 − m_s on everything; by value, g_v = 1 − Π(1 − m_s).
1 − κ = Σ_{sets of values that unify two by two} Π_in g_v · Π_out (1 − g_v).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

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
    return min(1.0, max(0.0, 1.0 - _agreeing(masses, (), agree)))


def kappa_apart(doubt: Iterable[float]) -> float:
    """κ from 1 − g of values no two of which hold together: one of them at most."""
    none, one = 1.0, 0.0
    for part in doubt:
        none, one = none * part, one * part + none * (1.0 - part)
    return min(1.0, max(0.0, 1.0 - none - one))


def _agreeing(
    rest: Sequence[tuple[V, float]], chosen: tuple[V, ...], agree: Callable[[V, V], bool]
) -> float:
    """The mass of choices that contain no contradiction, value by value."""
    if not rest:
        return 1.0
    (value, mass), *others = rest
    silent = (1.0 - mass) * _agreeing(others, chosen, agree)
    if not all(agree(value, other) for other in chosen):
        return silent
    return silent + mass * _agreeing(others, (*chosen, value), agree)

"""How far sources contradict each other about one slot: Dempster's conflict κ.

Source s puts its mass m_s on its value and 1 − m_s on everything; by value, g_v = 1 − Π(1 − m_s).
1 − κ = Σ_{sets of values that unify two by two} Π_in g_v · Π_out (1 − g_v).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from partita.templates.slots import SlotType, Value

MOST = 16  # different values of a slot: of more the masses that are largest


def conflict(said: Mapping[str, tuple[Value, float]], slot: SlotType[Any]) -> float:
    """κ of what everybody says of one slot, each with a mass from 0 to 1."""
    doubt: dict[Value, float] = {}
    for value, mass in said.values():
        doubt[value] = doubt.get(value, 1.0) * (1.0 - mass)
    largest = sorted(doubt, key=lambda value: (doubt[value], str(value)))[:MOST]
    masses = [(value, 1.0 - doubt[value]) for value in largest]
    return min(1.0, max(0.0, 1.0 - _agreeing(masses, (), slot)))


def _agreeing(
    rest: Sequence[tuple[Value, float]], chosen: tuple[Value, ...], slot: SlotType[Any]
) -> float:
    """The mass of choices that contain no contradiction, value by value."""
    if not rest:
        return 1.0
    (value, mass), *others = rest
    silent = (1.0 - mass) * _agreeing(others, chosen, slot)
    if any(slot.unify(value, other) is None for other in chosen):
        return silent
    return silent + mass * _agreeing(others, (*chosen, value), slot)

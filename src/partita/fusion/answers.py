"""Beliefs as records for people and programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from partita.fusion.belief import SlotBelief
from partita.fusion.kinds import SETS


@dataclass(frozen=True, slots=True)
class Valued:
    """A value with its probability and the sources that say it."""

    value: str
    probability: float
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What is believed of one slot of one object; with `unknown` the values add up to 1.

    Where a slot holds several values, a value is a set, and `members` tells of each member how
    probable it is that it belongs to the true set.
    """

    object: str
    slot: str
    values: tuple[Valued, ...]
    unknown: float
    members: tuple[Valued, ...] = ()


def answers(belief: SlotBelief) -> Iterator[Answer]:
    """Every object of a slot, in the order of their names."""
    said = belief.read.said
    sayers = _sayers(belief)
    unknown = np.clip(belief.unknown, 0.0, 1.0).tolist()
    for number, name in enumerate(said.objects):
        told = [
            (value, Valued(belief.read.labels[value], p, sayers.get((number, value), ())))
            for value, p in belief.of(number)
        ]
        values = tuple(one for _, one in told if one.sources or one.probability > 0)
        members = _members(belief, told) if belief.read.kind in SETS else ()
        yield Answer(name, belief.name, values, unknown[number], members)


def _sayers(belief: SlotBelief) -> dict[tuple[int, int], tuple[str, ...]]:
    """Who says which value of which object."""
    said = belief.read.said
    found: dict[tuple[int, int], list[str]] = {}
    for o, v, s in zip(
        said.object.tolist(), said.value.tolist(), said.source.tolist(), strict=True
    ):
        found.setdefault((o, v), []).append(said.sources[s])
    return {key: tuple(names) for key, names in found.items()}


def _members(belief: SlotBelief, told: list[tuple[int, Valued]]) -> tuple[Valued, ...]:
    shares: dict[str, float] = {}
    sayers: dict[str, set[str]] = {}
    for value, one in told:
        for member in belief.read.members[value]:
            shares[member] = shares.get(member, 0.0) + one.probability
            sayers.setdefault(member, set()).update(one.sources)
    order = sorted(shares, key=lambda member: (-shares[member], member))
    return tuple(Valued(m, min(shares[m], 1.0), tuple(sorted(sayers[m]))) for m in order)

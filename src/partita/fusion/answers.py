"""The fused values of each object, as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from partita.fusion.belief import SlotBelief
from partita.fusion.kinds import SETS


@dataclass(frozen=True, slots=True)
class ValueProbability:
    """A value, its probability and the sources that state it."""

    value: str
    probability: float
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The values of one slot of one object; with `unknown` they add up to 1.

    For a slot that holds several values, a value is a set, and `members` gives the probability that
    each member belongs to the true set.
    """

    object: str
    slot: str
    values: tuple[ValueProbability, ...]
    unknown: float
    members: tuple[ValueProbability, ...] = ()


def answers(belief: SlotBelief) -> Iterator[Answer]:
    """Yield the answer for every object of a slot, sorted by object."""
    statements = belief.parsed.statements
    sources = _sources_by_value(belief)
    unknown = np.clip(belief.unknown, 0.0, 1.0).tolist()
    for number, name in enumerate(statements.objects):
        valued = [
            (
                value,
                ValueProbability(belief.parsed.labels[value], p, sources.get((number, value), ())),
            )
            for value, p in belief.of(number)
        ]
        values = tuple(one for _, one in valued if one.sources or one.probability > 0)
        members = _members(belief, valued) if belief.parsed.kind in SETS else ()
        yield Answer(name, belief.name, values, unknown[number], members)


def _sources_by_value(belief: SlotBelief) -> dict[tuple[int, int], tuple[str, ...]]:
    """Return the sources of each value of each object."""
    statements = belief.parsed.statements
    sources: dict[tuple[int, int], list[str]] = {}
    for o, v, s in zip(
        statements.object.tolist(),
        statements.value.tolist(),
        statements.source.tolist(),
        strict=True,
    ):
        sources.setdefault((o, v), []).append(statements.sources[s])
    return {key: tuple(names) for key, names in sources.items()}


def _members(
    belief: SlotBelief, valued: list[tuple[int, ValueProbability]]
) -> tuple[ValueProbability, ...]:
    shares: dict[str, float] = {}
    sources: dict[str, set[str]] = {}
    for value, answer in valued:
        for member in belief.parsed.members[value]:
            shares[member] = shares.get(member, 0.0) + answer.probability
            sources.setdefault(member, set()).update(answer.sources)
    order = sorted(shares, key=lambda member: (-shares[member], member))
    return tuple(ValueProbability(m, min(shares[m], 1.0), tuple(sorted(sources[m]))) for m in order)

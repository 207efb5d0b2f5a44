"""The fused values of each object, as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial

import numpy as np

from partita.fusion.belief import SlotBelief
from partita.fusion.kinds import SETS
from partita.fusion.numeric_slots import LEVEL
from partita.fusion.tempering import exponents


@dataclass(frozen=True, slots=True)
class ValueProbability:
    """A value, its probability and the sources that state it."""

    value: str
    probability: float
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimated:
    """The median of a number or day, and an interval that has the truth with a probability."""

    median: str
    low: str
    high: str
    probability: float


@dataclass(frozen=True, slots=True)
class SlotAnswer:
    """The values of one slot of one object; with `unknown` they add up to 1.

    For a slot that holds several values, a value is a set, and `members` gives the probability that
    each member belongs to the true set. `estimate` is there for numbers and days with errors.
    """

    object: str
    slot: str
    values: tuple[ValueProbability, ...]
    unknown: float
    members: tuple[ValueProbability, ...] = ()
    estimate: Estimated | None = None


def answers(belief: SlotBelief) -> Iterator[SlotAnswer]:
    """Yield the answer for every object of a slot, sorted by object."""
    statements = belief.parsed.statements
    sources = _sources_by_value(belief)
    unknown = np.clip(belief.unknown, 0.0, 1.0).tolist()
    estimates = _estimates(belief)
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
        yield SlotAnswer(name, belief.name, values, unknown[number], members, estimates.get(number))


def _estimates(belief: SlotBelief) -> dict[int, Estimated]:
    """Return the medians and intervals of numbers and days whose errors were learned."""
    cells, scales = belief.cells, belief.parameters.scales
    if cells is None or scales is None:
        return {}
    from partita.fusion.numeric_kernels import central_intervals

    tau = exponents(belief)
    columns = (cells.starts, cells.position, cells.width, cells.probability)
    line = central_intervals(*columns, tau, LEVEL)
    far, near = cells.far**tau, (1.0 - cells.far) ** tau
    inside = LEVEL * near / np.maximum(near + far, 1e-300)
    rows = zip(line.tolist(), inside.tolist(), strict=True)
    written = partial(_written, relative=scales.relative, kind=belief.parsed.kind)
    return {
        n: Estimated(written(median), written(low), written(high), p)
        for n, ((low, median, high), p) in enumerate(rows)
        if median == median
    }


def _written(position: float, relative: bool, kind: str) -> str:
    """Return a position on the line of errors as a number or a day."""
    if kind == "date":
        last = date.max.toordinal()
        return date.fromordinal(min(max(round(position), 1), last)).isoformat()
    return f"{np.exp(position) if relative else position:.6g}"


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

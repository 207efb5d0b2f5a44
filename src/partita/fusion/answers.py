"""The fused values of each object, as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import pairwise

import numpy as np

from partita.core import FloatArray
from partita.fusion.belief import SlotBelief
from partita.fusion.kinds import SETS
from partita.fusion.levels import level_probabilities
from partita.fusion.numeric_slots import LEVEL, NumberCells
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
    `levels` are, with a hierarchy, the probabilities of a value or something within it, with the
    sources that state either. `changed` and `contradicted` are there for states: the probabilities
    that the state changed between reports, and that a report is wrong.
    """

    object: str
    slot: str
    values: tuple[ValueProbability, ...]
    unknown: float
    members: tuple[ValueProbability, ...] = ()
    estimate: Estimated | None = None
    levels: tuple[ValueProbability, ...] = ()
    changed: float | None = None
    contradicted: float | None = None


def answers(belief: SlotBelief) -> Iterator[SlotAnswer]:
    """Yield the answer for every object of a slot, sorted by object."""
    sources, labels = _sources_of_pairs(belief), belief.parsed.labels
    unknown = np.clip(belief.unknown, 0.0, 1.0).tolist()
    estimates, starts = _estimates(belief), belief.starts.tolist()
    levels = _levels(belief, sources)
    pairs = list(zip(belief.value.tolist(), belief.probability.tolist(), sources, strict=True))
    for number, name in enumerate(belief.parsed.statements.objects):
        valued = [
            (value, ValueProbability(labels[value], p, names))
            for value, p, names in pairs[starts[number] : starts[number + 1]]
        ]
        shown = (one for n, (_, one) in enumerate(valued)
                 if not n or one.sources or one.probability > 0)  # fmt: skip
        values = tuple(shown)
        members = _members(belief, valued) if belief.parsed.kind in SETS else ()
        parts = (members, estimates.get(number), levels[number] if levels else ())
        state = belief.state
        moves = () if state is None else (
            float(state.changed[number]), float(state.contradicted[number]))  # fmt: skip
        yield SlotAnswer(name, belief.name, values, unknown[number], *parts, *moves)


def _estimates(belief: SlotBelief) -> dict[int, Estimated]:
    """Return the medians and intervals of numbers and days whose errors were learned."""
    cells, scales = belief.cells, belief.parameters.scales
    if cells is None or scales is None:
        return {}
    from partita.fusion.numeric_kernels import central_intervals

    weights = _cell_weights(belief, cells)
    columns = (cells.starts, cells.position, cells.width, weights)
    line = central_intervals(*columns, scales.grain * (1 + 1e-9), LEVEL)
    objects = np.repeat(np.arange(len(line)), np.diff(cells.starts))
    inside = np.minimum(line[:, 3] * np.bincount(objects, weights, len(line)), 1.0)
    rows = zip(line[:, :3].tolist(), inside.tolist(), strict=True)
    written = partial(_written, relative=scales.relative, kind=belief.parsed.kind)
    return {
        n: Estimated(written(median), written(low), written(high), p)
        for n, ((low, median, high), p) in enumerate(rows)
        if median == median
    }


def _cell_weights(belief: SlotBelief, cells: NumberCells) -> FloatArray:
    """Return the stated probability of every cell.

    The probability of a value lies in the cells that it stands for, that of unknown in the others
    and anywhere else, in both cases as the tempered densities are.
    """
    tau, count = exponents(belief), len(belief.parsed.statements.values) + 1
    objects = np.repeat(np.arange(len(tau)), np.diff(cells.starts))
    density = np.maximum(cells.probability, 1e-300) / cells.width
    weights = cells.width * density ** tau[objects] * (cells.probability > 0)
    near, far = (1.0 - cells.far) ** tau, cells.far**tau
    total = np.bincount(objects, weights, len(tau))
    weights *= (near / np.maximum(total * (near + far), 1e-300))[objects]
    stated = np.concatenate([np.arange(len(tau)) * count, belief.object * count + belief.value + 1])
    probability = np.concatenate([belief.unknown, belief.probability])
    order = np.argsort(stated)
    group = objects * count + cells.owner + 1
    place = np.minimum(np.searchsorted(stated[order], group), len(stated) - 1)
    place = np.where(stated[order][place] == group, place, -1)
    sums = np.bincount(place[place >= 0], weights[place >= 0], len(stated))
    elsewhere = np.concatenate([far / np.maximum(near + far, 1e-300), 0.0 * belief.probability])
    sums += elsewhere[order]
    return np.where(place >= 0, weights * (probability[order] / np.maximum(sums, 1e-300))[place], 0)


def _written(position: float, relative: bool, kind: str) -> str:
    """Return a position on the line of errors as a number or a day."""
    if kind == "date":
        last = date.max.toordinal()
        return date.fromordinal(min(max(round(position), 1), last)).isoformat()
    return f"{np.exp(position) if relative else position:.6g}"


def _sources_of_pairs(belief: SlotBelief) -> list[tuple[str, ...]]:
    """Return the sources that state each pair of an object and a value."""
    statements = belief.parsed.statements
    names = [statements.sources[n] for n in statements.source.tolist()]
    count = max(len(statements.values), 1)
    key = statements.object * count + statements.value  # statements are sorted by it
    wanted = belief.object * count + belief.value
    ends = (np.searchsorted(key, wanted, side).tolist() for side in ("left", "right"))
    return [tuple(names[first:last]) for first, last in zip(*ends, strict=True)]


def _levels(
    belief: SlotBelief, sources: list[tuple[str, ...]]
) -> list[tuple[ValueProbability, ...]]:
    """Return the levels of every object, an empty list without a hierarchy."""
    levels = level_probabilities(belief)
    if levels is None:
        return []
    order, labels = belief.parsed.order, belief.parsed.labels
    names: dict[tuple[int, int], set[str]] = {}
    for thing, value, own in zip(
        belief.object.tolist(), belief.value.tolist(), sources, strict=True
    ):
        above = order.above[order.starts[value] : order.starts[value + 1]].tolist()
        for one in (value, *above):
            names.setdefault((thing, one), set()).update(own)
    rows = zip(levels.object.tolist(), levels.value.tolist(), levels.probability.tolist(),
               strict=True)  # fmt: skip
    flat = [ValueProbability(labels[v], p, tuple(sorted(names[o, v]))) for o, v, p in rows]
    starts = levels.starts.tolist()
    return [tuple(flat[a:b]) for a, b in pairwise(starts)]


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

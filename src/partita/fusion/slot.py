"""Fuse the claims about one slot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from partita.errors import InputError, TotalConflict
from partita.fusion import open_slots
from partita.fusion.belief import Parameters, SlotBelief
from partita.fusion.claims import Claims, joined
from partita.fusion.estimation import (
    Candidates,
    Learned,
    Problem,
    Rates,
    Said,
    expect,
    learn,
    no_relations,
    soundness,
)
from partita.fusion.kinds import TYPED, Kind, Reading
from partita.fusion.parsed_claims import lexicon_of
from partita.fusion.trust import trust
from partita.fusion.value_reading import Read, Statements, read_slot
from partita.records import FloatArray, IntArray

SHRINKAGE = 0.1  # a source's own habits show soon where there are few values
RIGHT = 0.7  # where learning starts: how often a source is right


def closed_problem(said: Statements) -> Problem:
    """Every value of the slot is a candidate for every object."""
    values, objects = len(said.values), len(said.objects)
    item = np.repeat(np.arange(objects), values)
    value = np.tile(np.arange(values), objects)
    return Problem(
        Said(
            said.source,
            said.object,
            said.value,
            np.ones(len(said)),
            said.confidence,
            1.0 / values,
        ),
        Candidates(item, item, value, value, np.zeros(len(item))),
        no_relations(),
        sources=len(said.sources),
        blocks=objects,
        items=objects,
        kinds=values,
        start=reliable(RIGHT, values),
        shrinkage=SHRINKAGE,
    )


def reliable(reliability: float, values: int) -> FloatArray:
    """The confusion matrix of a source that knows with this probability, and else guesses."""
    rates: FloatArray = reliability * np.eye(values) + (1 - reliability) / values
    return rates


KNOWN = "known truths"  # the source of what the user knows: it is always right, to the letter


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A slot's name and kind, how its values are read, and what is known of its sources."""

    name: str
    kind: Kind
    reading: Reading = field(default_factory=Reading)
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    fixed: Parameters | None = None


def fuse_slot(claims: Claims, slot: Slot) -> SlotBelief:
    """The claims about one slot into probabilities of values."""
    lexicon = slot.fixed.lexicon if slot.fixed else None
    if slot.kind == "people" and lexicon is None:
        lexicon = lexicon_of(claims)
    read = _read(claims, replace(slot, reading=replace(slot.reading, lexicon=lexicon)))
    problem, value = _problem(read)
    learned = _learned(problem, read, slot)
    _refuse_conflict(learned.expected.probability, problem, read, slot.reliabilities)
    made = Parameters(
        slot.kind,
        dict(zip(read.said.sources, learned.rates.theta, strict=True)),
        learned.pooled,
        learned.rates.prior,
        read.order.size,
        read.said.values if slot.kind == "closed" else (),
        dict(zip(read.said.values, read.labels, strict=True)),
        lexicon,
    )
    trusted = trust(slot.name, read, learned.expected.counts, slot.reliabilities)
    pairs, unknown = _pairs(problem, value, learned.expected.probability)
    return SlotBelief(
        slot.name,
        read,
        *pairs,
        unknown,
        _sound(problem, read, learned),
        slot.fixed or made,
        tuple(one for one in trusted if one.source != KNOWN),
        learned.rounds,
        learned.converged,
    )


def with_known(claims: Claims, slot: str, known: Mapping[tuple[str, str], str]) -> Claims:
    """Truths about objects of which something is said, as claims of a source of their own."""
    named = {claims.objects[n] for n in np.unique(claims.object).tolist()}
    rows = [
        (KNOWN, thing, slot, value)
        for (thing, of), value in sorted(known.items())
        if of == slot and thing in named
    ]
    return joined(claims, Claims.of(rows)) if rows else claims


def _read(claims: Claims, slot: Slot) -> Read:
    fixed = slot.fixed
    if fixed is None:
        return read_slot(claims, slot.kind, slot.reading)
    read = read_slot(claims, slot.kind, slot.reading, fixed.size, fixed.values)
    if slot.kind == "closed" and (new := set(read.said.values) - set(fixed.values)):
        known = ", ".join(fixed.values)
        raise InputError(f"{min(new)} is no value of {slot.name}, which has {known}: learn again")
    labels = zip(read.said.values, read.labels, strict=True)
    return replace(read, labels=[fixed.labels.get(value, label) for value, label in labels])


def _problem(read: Read) -> tuple[Problem, IntArray]:
    """The problem and the value of every candidate."""
    if read.kind == "closed":
        problem = closed_problem(read.said)
        return problem, problem.candidates.group
    made = open_slots.open_problem(read.said, read.order, read.more)
    return made.problem, made.value


def _learned(problem: Problem, read: Read, slot: Slot) -> Learned:
    fixed, sources = slot.fixed, read.said.sources
    if fixed is None:
        return learn(problem, _given(problem, read, slot))
    theta = np.stack([fixed.rates.get(source, fixed.pooled) for source in sources])
    given = _given(problem, read, slot)
    rates = Rates(np.where(np.isnan(given), theta, given), fixed.prior)
    return Learned(expect(problem, rates), rates, fixed.pooled, 0, True)


def _given(problem: Problem, read: Read, slot: Slot) -> FloatArray:
    """The rates of sources whose reliability is given; NaN of the others."""
    given = np.full((problem.sources, problem.groups, problem.outcomes), np.nan)
    for n, source in enumerate(read.said.sources):
        reliability = 1.0 if source == KNOWN else slot.reliabilities.get(source)
        if reliability is None:
            continue
        if read.kind == "closed":
            given[n] = reliable(reliability, problem.groups)
        else:
            ordered = read.kind == TYPED or len(read.order.above) > 0
            given[n] = open_slots.reliable(reliability, ordered and source != KNOWN)
    return given


def _sound(problem: Problem, read: Read, learned: Learned) -> FloatArray:
    probability, said = learned.expected.probability, read.said
    if read.kind == "closed":
        sound: FloatArray = probability[said.object * problem.groups + said.value]
        return sound
    return soundness(problem, learned.rates, probability)


def _refuse_conflict(
    probability: FloatArray, problem: Problem, read: Read, given: Mapping[str, float]
) -> None:
    """Where certain sources contradict each other nothing is possible: say who and where."""
    totals = np.bincount(problem.candidates.item, probability, minlength=problem.items)
    if not (lost := np.flatnonzero(totals == 0)).size:
        return
    said, thing = read.said, read.said.objects[lost[0]]
    here = [(said.sources[said.source[n]], read.labels[said.value[n]])
            for n in np.flatnonzero(said.object == lost[0]).tolist()]  # fmt: skip
    certain = [(who, what) for who, what in here if who == KNOWN or given.get(who) == 1.0]
    raise TotalConflict([f"{who} (says {what} of {thing})" for who, what in certain])


def _pairs(
    problem: Problem, value: IntArray, probability: FloatArray
) -> tuple[tuple[IntArray, IntArray, FloatArray], FloatArray]:
    """Named candidates by object, the most probable first, and what is left for the unnamed."""
    item = problem.candidates.item
    named = np.flatnonzero(value >= 0)
    order = named[np.lexsort((value[named], -probability[named], item[named]))]
    unnamed = value < 0
    unknown: FloatArray = np.bincount(
        item[unnamed], probability[unnamed], minlength=problem.items
    ).astype(np.float64)
    return (item[order], value[order], probability[order]), unknown

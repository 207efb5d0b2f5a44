"""How well things across sources are told: facts that are known, split among simulated sources.

A table of reliability r gives of each fact it speaks of the true value with probability r, and
else that of another thing which contradicts it. Whoever fuses them does not know r, nor who speaks
of what. A slot that takes several values is left out: nothing contradicts there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.core import Document, Template
from partita.errors import Incompatible
from partita.evaluation.calibration import reliability, reliability_error
from partita.evaluation.scores import b_cubed
from partita.fusion.entities import FusedEntity, FusedRecords
from partita.fusion.source_records import Origin, SourceRecord
from partita.templates.name import Name, NamedPlace
from partita.templates.schema import OWN_TYPE, Schema, Values, merge, plain_slots
from partita.templates.slots import StringsType, Value

KEPT = ("NUMBER",)  # what every record would say alike


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """A thing of a document: all that its cell says together."""

    name: str
    type: str
    values: Values


@dataclass(frozen=True, slots=True)
class AcrossMeasured:
    """Of all slots of all things the share that is told right, by the fused things and by each
    source; `of_source` is the same share of fused things where only that source's facts count.
    `error` is the reliability error of the stated probabilities, `f` B-cubed F of who is who."""

    facts: int
    accuracy: float
    error: float
    f: float
    by_source: Mapping[str, float]
    said_right: Mapping[str, float]
    of_source: Mapping[str, float]


def facts_of(documents: Iterable[Document], schema: Schema) -> list[Fact]:
    """The things that are named or placed, so that others could speak of them."""
    found = []
    for document in documents:
        by_id = {template.id: template for template in document.templates}
        for n, cell in enumerate(document.key):
            merged = _merged([by_id[name] for name in cell], schema)
            if merged and any(isinstance(v, Name | NamedPlace) for v in merged.values()):
                entity_type = str(merged.get(OWN_TYPE, ""))
                found.append(Fact(f"{document.name}.{n}", entity_type, merged))
    return found


def _merged(templates: Sequence[Template], schema: Schema) -> Values:
    """What a cell says together; nothing where a person has put together what contradicts."""
    try:
        return merge(templates, schema).values
    except Incompatible:
        return {}


def meant_by(
    records: Iterable[SourceRecord], documents: Iterable[Document], facts: Iterable[Fact]
) -> Iterator[tuple[str, str]]:
    """Which thing of the key the account of a message speaks of: by where its templates stand."""
    known = {fact.name for fact in facts}
    by_name = {document.name: document for document in documents}
    for record in records:
        document = by_name[record.message]
        spans = {(one.start, one.end) for one in record.origins}
        there = {one.id for one in document.templates if (one.start, one.end) in spans}
        for n, cell in enumerate(document.key):
            if f"{document.name}.{n}" in known and there & set(cell):
                yield record.id, f"{document.name}.{n}"
                break


def table_records(
    facts: Sequence[Fact],
    source: str,
    reliable: float,
    coverage: float,
    schema: Schema,
    rng: np.random.Generator,
) -> Iterator[tuple[SourceRecord, str]]:
    """The records of one source, each with the thing that it is meant to speak of."""
    for n, fact in enumerate(facts):
        if rng.random() >= coverage:
            continue
        slots = {}
        for name, value in fact.values.items():
            if name == OWN_TYPE or name in KEPT:
                continue
            true = rng.random() < reliable or _sorted_by(name, fact)
            slots[name] = (value if true else _other(facts, name, value, schema, rng)).json()
        template = Template("R", type=fact.type, slots=slots, rule="record")
        origin = Origin(source, source, n, str(n), "R")
        yield SourceRecord.of(source, str(n), template, schema, [origin]), fact.name


def _left_out(name: str, fact: Fact, schema: Schema) -> bool:
    kind = schema.slot(name)
    several = isinstance(kind, StringsType) and kind.several
    return several or name in KEPT or _sorted_by(name, fact)


def _sorted_by(name: str, fact: Fact) -> bool:
    """The slot says what the type says, which sources do not mistake."""
    return fact.values.get(name) == fact.values.get(OWN_TYPE)


def _other(
    facts: Sequence[Fact], name: str, value: Value, schema: Schema, rng: np.random.Generator
) -> Value:
    """A value of another thing that cannot be meant as well; the true one if there is none."""
    unify = schema.slot(name).unify
    known = sorted({f.values[name] for f in facts if name in f.values}, key=str)
    others = [one for one in known if unify(one, value) is None]
    return others[int(rng.integers(len(others)))] if others else value


def measure_across(
    fused: FusedRecords, meant: Mapping[str, str], facts: Sequence[Fact], schema: Schema
) -> AcrossMeasured:
    """`meant` says of accounts which thing they speak of; others are not measured."""
    told = _told(fused, meant)
    by_name = {fact.name: fact for fact in facts}
    wanted = [(fact, slot) for fact in facts for slot in plain_slots(fact.values)
              if not _left_out(slot, fact, schema)]  # fmt: skip
    right = {(f.name, slot): _right(told.get(f.name), by_name[f.name], slot) for f, slot in wanted}
    said = _said(fused, meant, by_name, schema)
    sources = sorted({source for source, _, _ in said})
    own = {s: {(t, x): ok for (who, t, x), ok in said.items() if who == s and (t, x) in right}
           for s in sources}  # fmt: skip
    stated, observed = _stated(told, by_name, wanted)
    return AcrossMeasured(
        len(wanted),
        _share(right.values()),
        reliability_error(reliability(stated, observed)),
        _f(fused, meant),
        {s: sum(own[s].values()) / max(len(right), 1) for s in sources},
        {s: _share(own[s].values()) for s in sources},
        {s: _share(right[key] for key in own[s]) for s in sources},
    )


def _share(marks: Iterable[bool]) -> float:
    given = list(marks)
    return sum(given) / len(given) if given else 0.0


def _told(fused: FusedRecords, meant: Mapping[str, str]) -> dict[str, FusedEntity]:
    """For every thing the fused one in which most of its accounts are, by trust."""
    votes: dict[str, dict[str, float]] = {}
    by_id = {entity.id: entity for entity in fused.entities}
    for entity in by_id.values():
        for record in entity.records:
            if record.id in meant:
                trust = fused.learned.reliabilities[record.source]
                mine = votes.setdefault(meant[record.id], {})
                mine[entity.id] = mine.get(entity.id, 0.0) + trust
    return {name: by_id[min(c, key=lambda t: (-c[t], t))] for name, c in votes.items()}


def _right(entity: FusedEntity | None, fact: Fact, slot: str) -> bool:
    if entity is None or slot not in entity.slots or not entity.slots[slot].values:
        return False
    return _is(entity.slots[slot].values[0].value, fact.values[slot])


def _is(told: object, value: Value) -> bool:
    return bool(told == value.json())


def _said(
    fused: FusedRecords, meant: Mapping[str, str], facts: Mapping[str, Fact], schema: Schema
) -> dict[tuple[str, str, str], bool]:
    """Whether a source is right about a slot of a thing: the best of what it says."""
    found: dict[tuple[str, str, str], bool] = {}
    for record in fused.records.records:
        if (name := meant.get(record.id)) is None or name not in facts:
            continue
        for slot, value in record.values.items():
            if slot in facts[name].values and slot in schema.slots:
                key = (record.source, name, slot)
                found[key] = found.get(key, False) or value == facts[name].values[slot]
    return found


def _stated(
    told: Mapping[str, FusedEntity], facts: Mapping[str, Fact], wanted: Sequence[tuple[Fact, str]]
) -> tuple[np.ndarray, np.ndarray]:
    stated, observed = [], []
    for fact, slot in wanted:
        entity = told.get(fact.name)
        for one in entity.slots[slot].values if entity is not None and slot in entity.slots else ():
            stated.append(one.probability.value)
            observed.append(_is(one.value, facts[fact.name].values[slot]))
    return np.array(stated), np.array(observed, dtype=np.bool_)


def _f(fused: FusedRecords, meant: Mapping[str, str]) -> float:
    home = {record.id: n for n, entity in enumerate(fused.entities) for record in entity.records}
    names = sorted(home.keys() & meant.keys())
    entities = {name: n for n, name in enumerate(sorted(set(meant.values())))}
    key = np.array([entities[meant[name]] for name in names])
    return b_cubed(key, np.array([home[name] for name in names])).f

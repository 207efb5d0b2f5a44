"""Link the tables of different sources, and group their records into coreference sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from partita.configurations.forest.model import ForestParameters, log_odds
from partita.configurations.solve_batch import solve_many
from partita.core import (
    Budget,
    CoreferenceSet,
    Distribution,
    FloatArray,
    Id,
    IntArray,
    Pair,
    PairProbabilities,
    pair,
)
from partita.errors import PartitaError, TotalConflict
from partita.fusion.schema_comparison import CERTAIN, Comparer, can_match, compatible_records
from partita.fusion.source_records import PairBelief, SourceRecord, SourceRecords
from partita.fusion.trust import SharedSlots, shared_slots
from partita.linkage.pair_features import ColumnValues, PairEnds
from partita.linkage.record_columns import cell_text
from partita.linkage.record_tables import (
    LinkageEngine,
    RecordTable,
    Scored,
    columns_to_compare,
    dated,
    record_ids,
)
from partita.linkage.sets import Sets
from partita.pairs.models import probability
from partita.templates.schema import Schema

# log₂ of the odds of two entities that a message distinguishes, beside what it says of them
SPLIT_WEIGHT = -3.17
Known = Callable[[Scored], Scored]
Judged = Mapping[Pair, Sequence[tuple[str, float, float]]]  # source, probability, reliability


class LinkedTable(Protocol):
    """Clusters of records, as `partita.link` makes them."""

    @property
    def compared(self) -> int: ...
    @property
    def solved_sets(self) -> Sets: ...
    @property
    def pair_probabilities(self) -> FloatArray: ...
    @property
    def clusters(self) -> Mapping[Id, Sequence[Id]]: ...


Linker = Callable[[LinkageEngine, Known], LinkedTable]  # given what else is known of pairs


def linked_records(records: SourceRecords) -> list[SourceRecord]:
    """Return records in the order of the files and their lines."""
    order = {file: n for n, file in enumerate(records.files)}
    origins = {one.id: one.origins[0] for one in records.records}
    return sorted(records.records, key=lambda one: (
        order.get(origins[one.id].file, len(order)), origins[one.id].line, one.id))  # fmt: skip


def record_table(
    records: Sequence[SourceRecord], schema: Schema, note: Callable[[str], None]
) -> RecordTable:
    """Return records as a table whose columns are the slots of the schema."""
    columns = {slot: [_cell(one.template.slots.get(slot)) for one in records]
               for slot in schema.slots}  # fmt: skip
    sources = [one.source for one in records]
    found, month_first = dated(columns, sources, note)
    compared = columns_to_compare(found, frozenset(), note)
    ids = record_ids(sources, _own_ids(records))
    return RecordTable(ids, sources, found, compared, month_first=month_first)


def _own_ids(records: Sequence[SourceRecord]) -> list[Id]:
    """Return the id that each row has in its table, or its number from 1."""
    rows: dict[str, list[Id]] = {}
    for one in records:
        rows.setdefault(one.source, []).append(one.row_id)
    numbered = {source: iter(ids if len({*ids} - {""}) == len(ids) else range(1, len(ids) + 1))
                for source, ids in rows.items()}  # fmt: skip
    return [next(numbered[one.source]) for one in records]


def _cell(value: Any) -> str | None:
    return cell_text("; ".join(map(str, value)) if isinstance(value, list) else value)


def known_pairs(
    records: Sequence[SourceRecord],
    judgements: Judged,
    same_message: Mapping[Pair, float],
    schema: Schema | None = None,
) -> Known:
    """Return how scores change by what is known of pairs beside their values.

    Records of one object are the same; a source that names two objects means two. With a schema,
    records that cannot match are not the same, and entities of one message are so as far as it says
    in `same_message`. A judgement of reliability r that gives probability p has the odds
    (1 - r + r p) / (1 - r p).
    """
    place = {one.id: n for n, one in enumerate(records)}
    named = {name: n for n, name in enumerate(dict.fromkeys(map(_object, records)))}
    objects = np.array([named[_object(one)] if _object(one) else -1 for one in records])
    sources = [one.source for one in records]
    judged = {_two(names, place): _judged(names, said) for names, said in judgements.items()}
    together = {_two(names, place): p for names, p in same_message.items()}

    def apart(a: int, b: int) -> bool:
        if schema is not None:
            possible = compatible_records if (a, b) in together else can_match
            return not possible(records[a], records[b], schema)
        return sources[a] == sources[b] and bool(min(objects[a], objects[b]) >= 0)

    def changed(scored: Scored) -> Scored:
        if schema is None and not judged and (objects < 0).all():
            return scored
        weight = {(int(a), int(b)): float(w) for a, b, w in zip(
            scored.left, scored.right, scored.weight, strict=True)}  # fmt: skip
        weight |= {two: SPLIT_WEIGHT + judged_weight(p, 1.0) for two, p in together.items()}
        unlisted = ForestParameters().unlisted_probability
        for two, more in judged.items():
            weight[two] = weight.get(two, float(np.log2(unlisted / (1.0 - unlisted)))) + more
        related = {*weight, *(_rivals(weight) if schema is not None else ())}
        weight |= {two: -CERTAIN for two in related if apart(*two)}
        weight |= dict.fromkeys(_same_object(objects), CERTAIN)
        left, right = np.array(sorted(weight), dtype=np.int64).reshape(-1, 2).T
        values = np.array([weight[two] for two in sorted(weight)])
        return Scored(left, right, np.clip(values, -CERTAIN, CERTAIN), scored.compared)

    return changed


def _two(names: Pair, place: Mapping[str, int]) -> tuple[int, int]:
    low, high = sorted(place[name] for name in names)
    return low, high


def _rivals(weight: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of records that are both compared with a third record."""
    compared: dict[int, list[int]] = {}
    for a, b in weight:
        compared.setdefault(a, []).append(b)
        compared.setdefault(b, []).append(a)
    for members in compared.values():
        yield from combinations(sorted(members), 2)


def apart_labels(records: Sequence[SourceRecord], same_message: Iterable[Pair]) -> list[str]:
    """Return labels such that records with equal ones are never the same.

    These are those of a message that tells its entities apart, and the rows of a table in which all
    have names of their own.
    """
    doubted = {name for two in same_message for name in two}
    named: dict[str, list[str]] = {}
    for one in records:
        named.setdefault(one.source, []).append(one.object)
    distinct = {name for name, ids in named.items() if "" not in ids and len({*ids}) == len(ids)}
    return [
        one.source if one.source in distinct
        else one.id if one.id in doubted or not one.is_document
        else one.document
        for one in records
    ]  # fmt: skip


def _object(record: SourceRecord) -> str:
    """Return the object that a record names, if it is more than the id of a row."""
    return "" if record.row_id else record.object


def _judged(names: Pair, said: Sequence[tuple[str, float, float]]) -> float:
    """Return what judgements about a pair add to its score; certain ones must not contradict."""
    certain = [(source, p) for source, p, reliability in said if reliability == 1.0]
    if {0.0, 1.0} <= {p for _, p in certain}:
        two = " = ".join(names)
        raise TotalConflict([f"{source} (on {two})" for source, p in certain if p in (0.0, 1.0)])
    return sum(judged_weight(p, reliability) for _, p, reliability in said)


def judged_weight(p: float, reliability: float) -> float:
    """Return log₂ of the odds that a judgement gives a pair."""
    same, different = 1.0 - reliability * (1.0 - p), 1.0 - reliability * p
    with np.errstate(divide="ignore"):
        return float(np.clip(np.log2(same) - np.log2(different), -CERTAIN, CERTAIN))


def _same_object(objects: IntArray) -> Iterator[tuple[int, int]]:
    """Yield all pairs of records of one object."""
    for number in np.unique(objects[objects >= 0]).tolist():
        members = np.flatnonzero(objects == number).tolist()
        yield from ((a, b) for n, a in enumerate(members) for b in members[n + 1 :])


AGREES, DIFFERS = 0.9, 0.5  # similarities from and below which two values agree and differ


def linked_slots(table: RecordTable, linked: LinkedTable) -> SharedSlots:
    """Return the columns that both records of a linked pair fill.

    Two values that are neither alike nor different say nothing about their sources.
    """
    sources = tuple(sorted(table.source_names))
    source = np.array([sources.index(name) for name in table.sources])
    ends = _ends(linked.solved_sets, table.ids)
    names = tuple(column.name for column in table.to_compare)
    rows: list[tuple[IntArray, FloatArray]] = []
    claims: dict[tuple[str, str], int] = {}
    for n, column in enumerate(table.to_compare):
        values = ColumnValues.of(column, table.columns[column.name])
        alike = values.similarities(ends)
        told = np.flatnonzero((alike >= AGREES) | (alike < DIFFERS))
        often = np.maximum(*(values.share[values.cells[end[told]]] for end in ends))
        share = np.where(alike[told] >= AGREES, often, 0.0)
        rows.append((np.stack([told, np.full(len(told), n)]), share))
        filled = np.bincount(source[values.cells >= 0], minlength=len(sources)).tolist()
        claims |= {(name, column.name): size for name, size in zip(sources, filled, strict=True)}
    number, slot = np.concatenate([one for one, _ in rows], axis=1)
    shares = np.concatenate([one for _, one in rows])
    left, right = (source[end[number]] for end in ends)
    return SharedSlots(
        number, left, right, slot, shares, np.ones(len(shares)), (left != right).astype(np.float64),
        linked.pair_probabilities, sources, np.arange(len(sources)), sources, names, claims,
    )  # fmt: skip


def compared_slots(
    linked: LinkedTable,
    records: Mapping[str, SourceRecord],
    sources: Sequence[str],
    comparer: Comparer,
) -> SharedSlots:
    """Return the slots that both records of a linked pair fill, compared by a schema."""
    left, right = _ends(linked.solved_sets, [*records])
    every = [*records.values()]
    both = ((every[a], every[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True))
    compared = {(a.id, b.id): comparer.compare(a, b) for a, b in both}
    return shared_slots(compared, records, sources, linked.pair_probabilities)


def _ends(sets: Sets, ids: Sequence[Id]) -> PairEnds:
    """Return the compared pairs of the sets by the numbers of their records."""
    place = {str(name): n for n, name in enumerate(ids)}
    numbers = np.array([place[name] for name in sets.ids], dtype=np.int64)
    offset = np.repeat(sets.starts[:-1], np.diff(sets.row_starts))
    return PairEnds(numbers[sets.left + offset], numbers[sets.right + offset])


@dataclass(frozen=True, slots=True)
class Reliabilities:
    """The reliability of each source and document, and of one never seen."""

    of: Mapping[str, float]
    unseen: float = 0.8

    def __getitem__(self, source: str) -> float:
        return self.of.get(source, self.unseen)

    def record(self, record: SourceRecord) -> float:
        """Return the reliability of a record's document, or else of its source."""
        return self.of.get(record.document, self[record.source])


@dataclass(frozen=True, slots=True, eq=False)
class RecordSet:
    """Records that may describe one entity, with their distribution (None for a single record).

    `answer` has the records of each entity, by number, `conflicts` the pairs about which sources
    contradict each other.
    """

    records: tuple[SourceRecord, ...]
    distribution: Distribution | None = None
    conflicts: Mapping[Pair, float] = field(default_factory=dict)
    answer: tuple[tuple[int, ...], ...] = ((0,),)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(record.id for record in self.records)


def linked_sets(
    linked: LinkedTable,
    records: Mapping[str, SourceRecord],
    judgements: Judged,
    top: int | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> list[RecordSet]:
    """Return the sets of linked records with their distributions, in the order of the records.

    `records` are by the ids that the linker knows them by.
    """
    sets = linked.solved_sets
    problems = [_of_records(problem, records, judgements) for problem in sets.pairs()]
    solved = solve_many(
        problems, "forest", parameters=ForestParameters(), top=top, budget=budget, seed=seed
    )
    cluster = {records[str(name)].id: n for n, members in enumerate(linked.clusters.values())
               for name in members}  # fmt: skip
    by_id = {one.id: one for one in records.values()}
    found = [RecordSet((records[one.id],)) for one in sets.singletons]
    for problem, answer in zip(problems, solved, strict=True):
        if isinstance(answer, PartitaError):
            raise answer
        names = problem.set.ids
        cells: dict[int, list[int]] = {}
        for place, name in enumerate(names):
            cells.setdefault(cluster[name], []).append(place)
        found.append(RecordSet(
            tuple(by_id[name] for name in names),
            answer,
            dict(_conflicts(problem, judgements)),
            tuple(sorted(map(tuple, cells.values()))),
        ))  # fmt: skip
    order = {name: n for n, name in enumerate(by_id)}
    return sorted(found, key=lambda one: order[one.ids[0]])


def _of_records(
    problem: PairProbabilities, records: Mapping[str, SourceRecord], judgements: Judged
) -> PairProbabilities:
    """Return a set of records: those of one object are the same, and certain judgements hold."""
    given = problem.set
    members = [records[name] for name in given.ids]
    apart, must = (
        frozenset(pair(records[a].id, records[b].id) for a, b in pairs)
        for pairs in (given.incompatible, given.must)
    )
    pairs = combinations(sorted(one.id for one in members), 2)
    certain = {(two, p) for two in pairs for _, p, r in judgements.get(two, ()) if r == 1.0}
    apart |= {two for two, p in certain if p == 0.0}
    must |= {two for two, p in certain if p == 1.0}
    named: dict[str, list[str]] = {}
    for one in members:
        named.setdefault(_object(one), []).append(one.id)
    for name, ids in named.items():
        same = {pair(a, b) for a, b in combinations(ids, 2)}
        if name and not same & apart:  # a table without duplicates has none of an object either
            must |= same
    templates = tuple(one.template for one in members)
    sets = CoreferenceSet(templates, apart, must, templates[0].id)
    return replace(problem, set=sets)


def _conflicts(problem: PairProbabilities, judgements: Judged) -> Iterator[tuple[Pair, float]]:
    """Yield Dempster's κ of the score of a pair and the judgements about it."""
    place = {name: n for n, name in enumerate(problem.set.ids)}
    for two in combinations(sorted(place), 2):
        if said := judgements.get(two):
            odds = log_odds(problem.matrix[place[two[0]], place[two[1]]][None])
            odds = odds - np.log(2.0) * sum(judged_weight(p, r) for _, p, r in said)
            together = float(probability(odds)[0])
            apart = 1.0 - together
            for _, p, r in said:
                together, apart = together * (1.0 - r + r * p), apart * (1.0 - r * p)
            yield two, 1.0 - together - apart


def resolve_judgements(
    judgements: Sequence[PairBelief], by_id: Mapping[str, SourceRecord]
) -> dict[Pair, list[tuple[str, float]]]:
    """Return the judgements by pair of records; an object stands for its first record."""
    first: dict[str, str] = {}
    for record in by_id.values():
        if record.object:
            first.setdefault(record.object, record.id)
    claims: dict[Pair, list[tuple[str, float]]] = {}
    for judgement in judgements:
        for ends, p in judgement.pairs.items():
            left, right = (name if name in by_id else first[name] for name in ends)
            claims.setdefault(pair(left, right), []).append((judgement.source, p))
    return claims

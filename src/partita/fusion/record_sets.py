"""Link the tables of different sources, and group their records into coreference sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from partita.errors import Contradiction, PartitaError, TotalConflict
from partita.fusion.schema_comparison import (
    Comparer,
    Comparison,
    compatible_records,
    component_names,
)
from partita.fusion.set_beliefs import Masses, PairBelief, certain_sources, combine_pairs
from partita.fusion.source_records import SourceRecord, SourceRecords
from partita.fusion.trust import SharedSlots
from partita.linkage.pair_features import ColumnValues, PairEnds
from partita.linkage.record_columns import cell_text
from partita.linkage.record_tables import (
    RecordTable,
    Scored,
    Settings,
    columns_to_compare,
    dated,
    record_ids,
)
from partita.linkage.sets import Sets
from partita.pairs.models import probability
from partita.templates.schema import Schema

CERTAIN = 1000.0  # log₂ of the odds of two records that are known to be the same
Known = Callable[[Scored], Scored]
Judged = Mapping[Pair, Sequence[tuple[str, float, float]]]  # source, probability, reliability


class LinkedTable(Protocol):
    """Clusters of records, as `partita.link` makes them."""

    @property
    def settings(self) -> Settings: ...
    @property
    def compared(self) -> int: ...
    @property
    def solved_sets(self) -> Sets: ...
    @property
    def pair_probabilities(self) -> FloatArray: ...
    @property
    def clusters(self) -> Mapping[Id, Sequence[Id]]: ...


class Linker(Protocol):
    """Link the records of a table: by a model given or trained, and by what else is known."""

    def __call__(
        self,
        table: RecordTable,
        settings: Settings | None,
        known: Known,
    ) -> LinkedTable: ...


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
) -> Known:
    """Return how scores change by the objects that records name, and by judgements.

    Records of one object are the same; a source that names two objects means two. A judgement of
    reliability r that gives probability p has the odds (1 - r + r p) / (1 - r p).
    """
    place = {one.id: n for n, one in enumerate(records)}
    named = {name: n for n, name in enumerate(dict.fromkeys(map(_object, records)))}
    objects = np.array([named[_object(one)] if _object(one) else -1 for one in records])
    sources = np.array([one.source for one in records])
    judged: dict[tuple[int, int], float] = {}
    for names, claims in judgements.items():
        low, high = sorted(place[name] for name in names)
        judged[low, high] = sum(judged_weight(p, reliability) for _, p, reliability in claims)

    def changed(scored: Scored) -> Scored:
        if not judged and (objects < 0).all():
            return scored
        weight = {(int(a), int(b)): float(w) for a, b, w in zip(
            scored.left, scored.right, scored.weight, strict=True)}  # fmt: skip
        unlisted = ForestParameters().unlisted_probability
        for two, more in judged.items():
            weight[two] = weight.get(two, float(np.log2(unlisted / (1.0 - unlisted)))) + more
        for a, b in weight:
            if sources[a] == sources[b] and min(objects[a], objects[b]) >= 0:
                weight[a, b] = -CERTAIN
        weight |= dict.fromkeys(_same_object(objects), CERTAIN)
        left, right = np.array(sorted(weight), dtype=np.int64).reshape(-1, 2).T
        values = np.array([weight[two] for two in sorted(weight)])
        return Scored(left, right, np.clip(values, -CERTAIN, CERTAIN), scored.compared)

    return changed


def _object(record: SourceRecord) -> str:
    """Return the object that a record names, if it is more than the id of a row."""
    return "" if record.row_id else record.object


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
        np.zeros(len(ends.left)), sources, np.arange(len(sources)), sources, names, claims,
        linked.pair_probabilities,
    )  # fmt: skip


def _ends(sets: Sets, ids: Sequence[Id]) -> PairEnds:
    """Return the compared pairs of the sets by the numbers of their records."""
    place = {str(name): n for n, name in enumerate(ids)}
    numbers = np.array([place[name] for name in sets.ids], dtype=np.int64)
    offset = np.repeat(sets.starts[:-1], np.diff(sets.row_starts))
    return PairEnds(numbers[sets.left + offset], numbers[sets.right + offset])


MIN_LINK = 0.02  # a less probable pair does not link two records
NO_EVIDENCE = -1.0  # log-odds of two records of a set without a common key or contradiction
SPLIT_ERROR = 0.1  # P(two entities that a message distinguishes are the same)
MODEL_SOURCE, MESSAGE_SOURCE = "the pair model", "the message itself"

Compared = Mapping[Pair, Comparison]


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

    def both(self, left: SourceRecord, right: SourceRecord) -> float:
        return self.record(left) * self.record(right)


@dataclass(frozen=True, slots=True, eq=False)
class RecordSet:
    """Accounts that may describe one entity, with their distribution (None for a single record).

    `answer` has the records of each entity, by number.
    """

    records: tuple[SourceRecord, ...]
    distribution: Distribution | None = None
    masses: Masses | None = None
    answer: tuple[tuple[int, ...], ...] = ((0,),)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(record.id for record in self.records)


@dataclass(frozen=True, slots=True, eq=False)
class SetContext:
    """The records, comparer and reliabilities that sets are built from."""

    records: SourceRecords
    comparer: Comparer
    reliabilities: Reliabilities
    by_id: Mapping[str, SourceRecord]
    judgements: Mapping[Pair, list[tuple[str, float]]]

    @classmethod
    def of(
        cls,
        records: SourceRecords,
        comparer: Comparer,
        reliabilities: Reliabilities,
    ) -> SetContext:
        by_id = {record.id: record for record in records.records}
        return cls(
            records,
            comparer,
            reliabilities,
            by_id,
            resolve_judgements(records.judgements, by_id),
        )

    def log_odds(self, names: Pair, comparison: Comparison) -> float:
        reliability = self.reliabilities.both(self.by_id[names[0]], self.by_id[names[1]])
        return comparison.log_odds(reliability, self.comparer.prior)


def record_components(context: SetContext, compared: Compared) -> list[list[str]]:
    """Return the connected components of the records under links, in order."""
    names = [record.id for record in context.records.records]
    component = component_names(names, _links(context, compared))
    members: dict[str, list[str]] = {}
    for name in names:
        members.setdefault(component[name], []).append(name)
    return list(members.values())


def _links(context: SetContext, compared: Compared) -> Iterator[Pair]:
    threshold = float(np.log(MIN_LINK / (1.0 - MIN_LINK)))
    for names, comparison in compared.items():
        left, right = (context.by_id[name] for name in names)
        same = left.object and left.object == right.object
        if same or context.log_odds(names, comparison) >= threshold:
            yield names
    for names, claims in context.judgements.items():
        if names[0] != names[1] and any(p >= MIN_LINK for _, p in claims):
            yield names


def solve_groups(
    context: SetContext,
    groups: Sequence[Sequence[str]],
    compared: Compared,
    top: int | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> list[RecordSet]:
    """Return every group with its distribution, in order."""
    problems = [_set(context, group, compared) if len(group) > 1 else None for group in groups]
    pairs = [problem[0] for problem in problems if problem is not None]
    answers = iter(solve_many(pairs, "evidential", top=top, budget=budget, seed=seed))
    sets = []
    for group, problem in zip(groups, problems, strict=True):
        records = tuple(context.by_id[name] for name in group)
        if problem is None:
            sets.append(RecordSet(records))
            continue
        answer = _check_answer(next(answers), context.records.judgements)
        cells = _numbered_cells(group, answer.most_probable)
        sets.append(RecordSet(records, answer, problem[1], cells))
    return sets


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
    problems = [_of_records(problem, records) for problem in sets.pairs()]
    solved = solve_many(
        problems, "forest", parameters=ForestParameters(), top=top, budget=budget, seed=seed
    )
    cluster = {records[str(name)].id: n for n, members in enumerate(linked.clusters.values())
               for name in members}  # fmt: skip
    by_id = {one.id: one for one in records.values()}
    found = [RecordSet((records[one.id],)) for one in sets.singletons]
    for problem, answer in zip(problems, solved, strict=True):
        names = problem.set.ids
        cells: dict[int, list[str]] = {}
        for name in names:
            cells.setdefault(cluster[name], []).append(name)
        found.append(RecordSet(
            tuple(by_id[name] for name in names),
            _check_answer(answer, ()),
            _judged_masses(problem, judgements),
            _numbered_cells(names, cells.values()),
        ))  # fmt: skip
    order = {name: n for n, name in enumerate(by_id)}
    return sorted(found, key=lambda one: order[one.ids[0]])


def _of_records(
    problem: PairProbabilities, records: Mapping[str, SourceRecord]
) -> PairProbabilities:
    """Return a set whose templates are those of the records."""
    given = problem.set
    apart, must = (
        frozenset(pair(records[a].id, records[b].id) for a, b in pairs)
        for pairs in (given.incompatible, given.must)
    )
    templates = tuple(records[name].template for name in given.ids)
    return replace(problem, set=CoreferenceSet(templates, apart, must, templates[0].id))


def _judged_masses(problem: PairProbabilities, judgements: Judged) -> Masses | None:
    """Return the masses of the scores and the judgements about a set, if there are judgements."""
    names = problem.set.ids
    judged = {two: judgements[two] for two in combinations(sorted(names), 2) if two in judgements}
    if not judged:
        return None
    place = {name: n for n, name in enumerate(names)}
    beliefs = []
    for two, said in judged.items():
        odds = log_odds(problem.matrix[place[two[0]], place[two[1]]][None])
        odds = odds - np.log(2.0) * sum(judged_weight(p, r) for _, p, r in said)
        beliefs.append(PairBelief(MODEL_SOURCE, {two: float(probability(odds)[0])}))
        beliefs += [PairBelief(source, {two: p}, r) for source, p, r in said]
    return combine_pairs(problem.set, beliefs)[1]


def _numbered_cells(
    names: Sequence[str], cells: Iterable[Iterable[str]]
) -> tuple[tuple[int, ...], ...]:
    place = {name: n for n, name in enumerate(names)}
    return tuple(sorted(tuple(sorted(place[name] for name in cell)) for cell in cells))


def _check_answer(
    answer: Distribution | PartitaError, judgements: Sequence[PairBelief]
) -> Distribution:
    if isinstance(answer, Contradiction):
        certain_names = certain_sources(judgements)
        raise TotalConflict([*certain_names, f"what is known ({answer})"]) from answer
    if isinstance(answer, PartitaError):
        raise answer
    return answer


def _set(
    context: SetContext, group: Sequence[str], compared: Compared
) -> tuple[PairProbabilities, Masses]:
    records = [context.by_id[name] for name in group]
    schema = context.comparer.schema
    apart, must, undecided = set(), set(), []
    for left, right in combinations(records, 2):
        names = pair(left.id, right.id)
        if left.object and left.object == right.object:
            must.add(names)
        elif _same_message(left, right):
            if not (
                context.records.same_message.get(names) and compatible_records(left, right, schema)
            ):
                apart.add(names)
        elif context.comparer.cannot_match(left, right):
            apart.add(names)
        else:
            undecided.append(names)
    across = dict(_log_odds_of_pairs(context, undecided, compared))
    apart |= {names for names, odds in across.items() if odds == -np.inf}
    templates = CoreferenceSet(
        tuple(one.template for one in records), frozenset(apart), frozenset(must), group[0]
    )
    log_odds = {names: odds for names, odds in across.items() if names not in apart}
    return combine_pairs(
        templates, list(_pair_beliefs(context, set(templates.ids), log_odds, apart | must))
    )


def _same_message(left: SourceRecord, right: SourceRecord) -> bool:
    return (left.source, left.message) == (right.source, right.message)


def _log_odds_of_pairs(
    context: SetContext, pairs: Sequence[Pair], compared: Compared
) -> Iterator[tuple[Pair, float]]:
    """Yield log-odds; pairs outside blocking that agree get at least `NO_EVIDENCE`."""
    missing = [names for names in pairs if names not in compared]
    new_comparisons = context.comparer.compare(context.by_id, missing)
    for names in pairs:
        odds = context.log_odds(names, compared.get(names) or new_comparisons[names])
        no_evidence = names in new_comparisons and not new_comparisons[names].contradicts
        yield names, max(odds, NO_EVIDENCE) if no_evidence else odds


def _pair_beliefs(
    context: SetContext,
    ids: set[str],
    log_odds: Mapping[Pair, float],
    settled_pairs: Iterable[Pair],
) -> Iterator[PairBelief]:
    shares = probability(np.array(list(log_odds.values()), dtype=float))
    yield PairBelief(MODEL_SOURCE, dict(zip(log_odds, shares.tolist(), strict=True)))
    same_message: dict[str, dict[Pair, float]] = {}
    decided = set(settled_pairs)
    judgements: dict[str, dict[Pair, float]] = {}
    for names in combinations(sorted(ids), 2):
        if names in context.records.same_message and names not in decided:
            source = context.by_id[names[0]].source
            same_message.setdefault(source, {})[names] = context.records.same_message[names]
        for source, p in context.judgements.get(names, ()):
            judgements.setdefault(source, {})[names] = p
    for source, pairs in sorted(same_message.items()):
        yield PairBelief(source, pairs, context.reliabilities[source])
        yield PairBelief(MESSAGE_SOURCE, dict.fromkeys(pairs, SPLIT_ERROR))
    for source, pairs in sorted(judgements.items()):
        yield PairBelief(source, pairs, context.reliabilities[source])


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

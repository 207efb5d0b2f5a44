"""Fuse reports and records of many sources into entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from partita.core import Budget, Distribution, Figure
from partita.core.cells import cells_of
from partita.entities.entities import longest_name
from partita.errors import InputError
from partita.fusion.accounts import Account, Accounts, merge_accounts
from partita.fusion.across_sets import (
    AcrossSet,
    Compared,
    Reliabilities,
    SetContext,
    components,
    linked_sets,
    resolve_judgements,
    solve_groups,
)
from partita.fusion.across_values import (
    SlotOfThing,
    ThingView,
    claim_row,
    slots_of,
    typed_reading,
    view_alone,
    view_of_cell,
)
from partita.fusion.belief import Parameters
from partita.fusion.blocking import Key, SchemaKeys, count_pairs
from partita.fusion.claims import Claims, checked_reliabilities
from partita.fusion.comparison import Chances, Comparer
from partita.fusion.copying import Copying
from partita.fusion.fuse import Settings, fuse
from partita.fusion.kinds import TYPED
from partita.fusion.linked_tables import (
    LinkedTable,
    Linker,
    known_pairs,
    linked_records,
    record_table,
    source_agreement,
)
from partita.fusion.open_slots import open_rates
from partita.fusion.trust import (
    Agreement,
    SlotReliability,
    agreement,
    interval,
    shared_slots,
)
from partita.fusion.value_reading import MIN_VALUES
from partita.linkage.engines import Settings as LinkSettings
from partita.linkage.record_tables import RecordTable
from partita.pairs.models import MaximumEntropy
from partita.templates.name import NameType
from partita.templates.schema import OWN_TYPE, Schema

DEFAULT_RELIABILITY = 0.8  # of a source without any evidence


class LearningTask(Protocol):
    """The part of a task that learning needs."""

    @property
    def schema(self) -> Schema: ...
    @property
    def model(self) -> MaximumEntropy | None: ...
    @property
    def tolerance(self) -> float: ...


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The model with which each set can be solved on its own.

    `fixed` are the reliabilities that were set by the user, `chances` the frequencies of values,
    `common` the blocking keys that are too frequent to be useful. `linked` is the model by which
    the records of tables without a domain were linked.
    """

    reliabilities: Reliabilities
    fixed: Mapping[str, float]
    slots: Mapping[str, Parameters]
    counts: tuple[SlotReliability, ...]
    intervals: Mapping[str, tuple[float, float]]
    chances: Chances | None = None
    common: frozenset[Key] = frozenset()
    linked: LinkSettings | None = None

    def interval(self, source: str) -> tuple[float, float]:
        """Return the 95 % interval of a source's reliability."""
        if source in self.fixed:
            return self.fixed[source], self.fixed[source]
        return self.intervals.get(source) or interval(0.0, 0.0, self.reliabilities[source])


def learn(accounts: Accounts, task: LearningTask) -> tuple[Learned, Compared]:
    """Learn reliabilities from agreement alone; also return the comparisons made for it."""
    fixed = checked_reliabilities(accounts.reliabilities)
    chances = Chances.of_accounts(accounts.accounts, task.schema)
    common = SchemaKeys(task.schema).crowded(accounts.accounts)
    comparer = Comparer(task.schema, chances, task.model, task.tolerance, common)
    context = SetContext.of(accounts, comparer, Reliabilities(fixed, DEFAULT_RELIABILITY))
    compared = comparer.compare(context.by_id, list(comparer.candidates(accounts.accounts)))
    shared = shared_slots(compared, context.by_id, accounts.sources)
    result = agreement(shared, fixed, chances.prior, DEFAULT_RELIABILITY)
    reliabilities = Reliabilities({**result.reliabilities, **fixed}, result.unseen)
    slots = {
        name: _rates(name, result, len(chances.counts.get(name, ())))
        for name in (OWN_TYPE, *task.schema.slots)
    }
    return Learned(
        reliabilities, fixed, slots, result.counts, result.intervals, chances, common
    ), compared


def _learned_from_tables(table: RecordTable, linked: LinkedTable, used: Accounts) -> Learned:
    """Learn the reliabilities of sources from the records that were linked."""
    fixed = checked_reliabilities(used.reliabilities)
    result = source_agreement(table, linked, fixed)
    values = {name: len({*texts} - {None}) for name, texts in table.columns.items()}
    slots = {name: _rates(name, result, size) for name, size in values.items()}
    reliabilities = Reliabilities({**result.reliabilities, **fixed}, result.unseen)
    return Learned(
        reliabilities, fixed, slots, result.counts, result.intervals, linked=linked.settings
    )


def _rates(slot: str, result: Agreement, values: int) -> Parameters:
    """Return the rates of all sources in a slot with this number of values."""
    rates = {
        source: open_rates(result.by_slot.get((source, slot), r), True)
        for source, r in result.reliabilities.items()
    }
    size = max(values, MIN_VALUES[TYPED])
    return Parameters(TYPED, rates, open_rates(result.unseen, True), np.ones(1), size)


CERTAIN = Figure.exact(1.0)
LINKED_BUDGET = Budget(memory=1 << 30, work=1000)  # draws: the error of a value is at most .016
DEFAULT_BUDGET = Budget(seconds=2.0, memory=1 << 30, work=30_000)  # work, not time: reproducible


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The schema of the accounts and the options of fusion.

    With a `linker`, accounts are rows of tables without a domain, which it links.
    In the slots of `latest`, a later statement of a source supersedes its earlier ones.
    """

    schema: Schema
    model: MaximumEntropy | None = None
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 0.0
    top: int | None = None
    budget: Budget = DEFAULT_BUDGET
    seed: int = 0
    linker: Linker | None = None
    latest: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """An entity: the accounts that describe one thing.

    It is a cell of the configuration of its set that is the answer; `probability` is that of
    exactly this cell. The values of its slots are taken over all configurations, around the
    account `anchor`.
    """

    id: str
    type: str
    name: str
    accounts: tuple[Account, ...]
    anchor: str
    probability: Figure
    slots: Mapping[str, SlotOfThing]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(sorted({account.source for account in self.accounts}))

    def sources_of(self, accounts: Collection[str]) -> tuple[str, ...]:
        """Return the sources of some of its accounts."""
        return tuple(sorted({one.source for one in self.accounts if one.id in accounts}))


@dataclass(frozen=True, slots=True)
class SourceTrust:
    """How reliable a source is, within which interval, and how many of its claims are right.

    `given` says that the reliability was set by the user; `slots` has the counts by slot.
    """

    source: str
    reliability: float
    low: float
    high: float
    given: bool
    accounts: int
    claims: int
    right: float
    wrong: float
    slots: Mapping[str, SlotReliability]


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """A set with its things."""

    set: AcrossSet
    things: tuple[Thing, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FusedAccounts:
    """The result of fusion.

    `compared` are comparisons by a schema. `compared_pairs` counts the pairs that were compared,
    out of `pairs` in total; `recomputed` is the number of sets that were solved in this call.
    """

    accounts: Accounts
    task: Task
    learned: Learned
    sets: tuple[Resolved, ...]
    compared: Compared
    compared_pairs: int
    pairs: int
    recomputed: int
    notes: tuple[str, ...] = ()

    @property
    def things(self) -> tuple[Thing, ...]:
        things = (thing for one in self.sets for thing in one.things)
        return tuple(replace(thing, id=f"E{n}") for n, thing in enumerate(things, 1))

    def source_trusts(self) -> list[SourceTrust]:
        """Return how reliable every source is."""
        accounts = Counter(one.source for one in self.accounts.accounts)
        return [self._trust(source, accounts[source]) for source in self.accounts.sources]

    def _trust(self, source: str, accounts: int) -> SourceTrust:
        counts = [one for one in self.learned.counts if one.source == source]
        claims, right = sum(one.claims for one in counts), sum(one.right for one in counts)
        reliability, interval_ = self.learned.reliabilities[source], self.learned.interval(source)
        given, slots = source in self.learned.fixed, {one.slot or "sort": one for one in counts}
        wrong = sum(one.claims - one.right for one in counts)
        return SourceTrust(
            source, reliability, *interval_, given, accounts, claims, right, wrong, slots
        )

    @property
    def distributions(self) -> tuple[Distribution, ...]:
        return tuple(one.set.distribution for one in self.sets if one.set.distribution is not None)


def fuse_accounts(accounts: Accounts, task: Task, learned: Learned | None = None) -> FusedAccounts:
    """Fuse accounts into things; with `learned`, no reliabilities are estimated."""
    used = _drop_unreliable(accounts, task)
    if learned is not None:
        learned = _with_reliabilities(learned, used.reliabilities)
    if task.linker is not None:
        return _fuse_tables(used, task, task.linker, learned)
    if learned is not None:
        return _fuse(used, task, learned, {}, {}, None)
    model, compared = learn(used, task)
    return _fuse(used, task, model, compared, {}, frozenset())


def _fuse_tables(
    used: Accounts, task: Task, linker: Linker, learned: Learned | None
) -> FusedAccounts:
    """Link the records of tables and fuse the values of each cluster."""
    notes: list[str] = []
    records = linked_records(used)
    table = record_table(records, task.schema, notes.append)
    by_id = {one.id: one for one in records}
    named = {str(name): one for name, one in zip(table.ids, records, strict=True)}
    judgements = {
        two: [(name, p, used.reliabilities.get(name, DEFAULT_RELIABILITY)) for name, p in said]
        for two, said in resolve_judgements(used.judgements, by_id).items()
        if two[0] != two[1]
    }
    known = known_pairs(records, judgements)
    settings = None if learned is None else learned.linked
    linked = linker(table, settings, used.reliabilities, known)
    model = learned or _learned_from_tables(table, linked, used)
    sets = linked_sets(linked, named, judgements, task.top, LINKED_BUDGET, task.seed)
    resolved = tuple(_resolve_sets(sets, task, model))
    pairs = count_pairs(used.accounts)
    return FusedAccounts(
        used, task, model, resolved, {}, linked.compared, pairs, len(sets), tuple(notes)
    )


def add_accounts(fused: FusedAccounts, more: Accounts) -> FusedAccounts:
    """Add accounts, keeping what was learned; sets that they do not touch stay as they are.

    Records of tables are linked again by the model learned before.
    """
    new = _drop_unreliable(more, fused.task)
    merged = merge_accounts([fused.accounts, new])
    if fused.task.linker is not None:
        return fuse_accounts(merged, fused.task, fused.learned)
    touched = {account.id for account in new.accounts}
    touched |= {name for judgement in new.judgements for names in judgement.pairs for name in names}
    touched |= {account.id for account in merged.accounts if account.object in touched - {""}}
    kept = {one.set.ids: one for one in fused.sets if touched.isdisjoint(one.set.ids)}
    learned = _with_reliabilities(fused.learned, merged.reliabilities)
    return _fuse(merged, fused.task, learned, fused.compared, kept, frozenset(touched))


def without(fused: FusedAccounts, source: str) -> FusedAccounts:
    """Fuse again without one source, including all estimates."""
    return fuse_accounts(fused.accounts.without(source), fused.task)


def _with_reliabilities(learned: Learned, reliabilities: Mapping[str, float]) -> Learned:
    """Add reliabilities set for new sources; one that was estimated before is an error."""
    new = checked_reliabilities({s: r for s, r in reliabilities.items() if s not in learned.fixed})
    if estimated := sorted(new.keys() & learned.reliabilities.of.keys()):
        problem = f"reliability of {estimated[0]} is given now but was estimated before"
        raise InputError(f"{problem}: fuse everything again")
    of = {**learned.reliabilities.of, **new}
    merged = replace(learned.reliabilities, of=of)
    return replace(learned, reliabilities=merged, fixed={**learned.fixed, **new})


def _drop_unreliable(accounts: Accounts, task: Task) -> Accounts:
    """Leave out the sources whose reliability is 0."""
    reliabilities = {**accounts.reliabilities, **task.reliabilities}
    unreliable = {source for source, r in reliabilities.items() if r == 0.0}
    used = accounts.only(set(accounts.sources) - unreliable) if unreliable else accounts
    if not used.accounts:
        raise InputError(
            "all sources have reliability 0 (expected at least one above 0)"
            if unreliable
            else "the sources make no statements"
        )
    return replace(used, reliabilities=reliabilities)


def _fuse(
    accounts: Accounts,
    task: Task,
    learned: Learned,
    earlier: Compared,
    kept: Mapping[tuple[str, ...], Resolved],
    touched: frozenset[str] | None,
) -> FusedAccounts:
    context = SetContext.of(accounts, _comparer(task, learned), learned.reliabilities)
    compared = _compare_new(context, earlier, touched)
    groups = [tuple(group) for group in components(context, compared)]
    changed = [group for group in groups if group not in kept]
    sets_ = solve_groups(context, changed, compared, task.top, task.budget, task.seed)
    resolved = dict(zip(changed, _resolve_sets(sets_, task, learned), strict=True))
    sets = tuple(kept[group] if group in kept else resolved[group] for group in groups)
    pairs = count_pairs(accounts.accounts)
    return FusedAccounts(
        accounts, task, learned, sets, compared, len(compared), pairs, len(changed)
    )


def _comparer(task: Task, learned: Learned) -> Comparer:
    assert learned.chances is not None
    return Comparer(task.schema, learned.chances, task.model, task.tolerance, learned.common)


def _compare_new(
    context: SetContext, earlier: Compared, touched: frozenset[str] | None
) -> Compared:
    """Return the earlier comparisons and those of the new candidate pairs."""
    pairs = context.comparer.candidates(context.accounts.accounts, touched)
    new = [names for names in pairs if names not in earlier]
    return {**earlier, **context.comparer.compare(context.by_id, new)}


def _resolve_sets(sets: Sequence[AcrossSet], task: Task, learned: Learned) -> list[Resolved]:
    views = [list(_views(set_)) for set_ in sets]
    settings = Settings(
        reading=typed_reading(task.schema, task.tolerance),
        reliabilities=learned.fixed,
        fixed=learned.slots,
    )
    trusted = learned.reliabilities
    slots_by_view = iter(
        slots_of(
            [view for set_views in views for view in set_views],
            task.schema,
            settings,
            trusted,
            task.latest,
        )
    )
    return [
        Resolved(set_, tuple(_thing(view, next(slots_by_view), task.schema) for view in set_views))
        for set_, set_views in zip(sets, views, strict=True)
    ]


def _views(set_: AcrossSet) -> Iterable[ThingView]:
    """Return a view of each cell of the set's answer."""
    if set_.distribution is None:
        return [view_alone(set_.accounts[0])]
    cells = cells_of(set_.distribution)
    return [view_of_cell(set_.accounts, cells, cell) for cell in set_.answer]


def _thing_name(
    accounts: Sequence[Account], slots: Mapping[str, SlotOfThing], schema: Schema
) -> str:
    """Return the longest name, or the most probable one if there is no domain."""
    longest = longest_name([one.template for one in accounts], schema)
    likeliest = _name(slots, schema)
    return likeliest or longest if schema.types is None else longest or likeliest


def _thing(view: ThingView, slots: Mapping[str, SlotOfThing], schema: Schema) -> Thing:
    accounts = tuple(view.accounts[n] for n in view.cell)
    share = view.around.cells.shares.get(view.cell, 0.0)
    figure = CERTAIN if len(view.accounts) == 1 else view.around.cells.figure(share)
    entity_type = slots.get(OWN_TYPE)
    return Thing(
        id="",
        type=entity_type.values[0].text if entity_type and entity_type.values else "",
        name=_thing_name(accounts, slots, schema),
        accounts=accounts,
        anchor=view.anchor,
        probability=figure,
        slots={name: one for name, one in slots.items() if name != OWN_TYPE},
    )


def _name(slots: Mapping[str, SlotOfThing], schema: Schema) -> str:
    """Return the most probable name of a record."""
    named = (slots[slot] for slot, kind in schema.slots.items()
             if isinstance(kind, NameType) and slot in slots and slots[slot].values)  # fmt: skip
    return next((one.values[0].text for one in named), "")


@dataclass(frozen=True, slots=True)
class ThingChange:
    """A slot whose most probable value changes, or (with an empty slot) a change of accounts."""

    thing: str
    slot: str
    before: str
    before_probability: float
    after: str
    after_probability: float


def changes_without(fused: FusedAccounts, source: str) -> tuple[ThingChange, ...]:
    """Return what changes, thing by thing, when a source is left out."""
    after = without(fused, source)
    thing_of = {account.id: thing for thing in after.things for account in thing.accounts}
    changes: list[ThingChange] = []
    for thing in fused.things:
        remaining = [account.id for account in thing.accounts if account.source != source]
        if not remaining:
            names = ", ".join(account.id for account in thing.accounts)
            changes.append(ThingChange(thing.id, "", names, thing.probability.value, "", 0.0))
            continue
        now = thing_of[thing.anchor if thing.anchor in remaining else remaining[0]]
        changes += _changes(thing, now, remaining)
    return tuple(changes)


def _changes(thing: Thing, after: Thing, remaining: list[str]) -> Iterator[ThingChange]:
    names = [account.id for account in after.accounts]
    if set(remaining) != set(names):
        yield ThingChange(
            thing.id,
            "",
            ", ".join(remaining),
            thing.probability.value,
            ", ".join(names),
            after.probability.value,
        )
    for slot, values in thing.slots.items():
        (value, p), (other, q) = _best(values), _best(after.slots.get(slot))
        if value != other:
            yield ThingChange(thing.id, slot, value, p, other, q)


def _best(slot: SlotOfThing | None) -> tuple[str, float]:
    if slot is None or not slot.values:
        return "", 0.0
    return slot.values[0].text, slot.values[0].probability.value


def find_copying_sources(fused: FusedAccounts) -> tuple[Copying, ...]:
    """Find apparent copying among the claims about things with several sources."""
    rows = [
        claim_row(account, thing.id, slot)
        for thing in fused.things
        if len(thing.sources) > 1
        for account in thing.accounts
        for slot in account.values
        if slot in thing.slots
    ]
    if not rows:
        return ()
    slots = {row[2] for row in rows}
    settings = Settings(
        reading=typed_reading(fused.task.schema, fused.task.tolerance),
        reliabilities=fused.learned.fixed,
        fixed={slot: fused.learned.slots[slot] for slot in sorted(slots)},
    )
    return fuse(Claims.of(rows), settings).copying

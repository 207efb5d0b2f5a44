"""Fuse reports and records of many sources into entities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from partita.core import Budget, Distribution, Figure, Pair
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
from partita.fusion.blocking import Index, Key, count_pairs
from partita.fusion.claims import Claims, checked_reliabilities
from partita.fusion.comparison import Chances, Comparer
from partita.fusion.copying import Copying
from partita.fusion.fuse import Settings, fuse
from partita.fusion.kinds import TYPED
from partita.fusion.open_slots import open_rates
from partita.fusion.record_model import RecordComparer, RecordModel, learn_records
from partita.fusion.trust import (
    Agreement,
    SlotReliability,
    agreement,
    interval,
    records_agreement,
    shared_slots,
)
from partita.fusion.value_reading import MIN_VALUES
from partita.pairs.models import MaximumEntropy
from partita.templates.name import NameType
from partita.templates.schema import OWN_TYPE, Schema

MAX_ODDS = 500.0  # log-odds of a pair, at most
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

    `chances` are the frequencies of values, `common` the blocking keys that are too frequent to be
    useful, `fixed` the reliabilities that were set by the user. `records` is the learned
    comparison of records without a domain.
    """

    chances: Chances
    common: frozenset[Key]
    reliabilities: Reliabilities
    fixed: Mapping[str, float]
    slots: Mapping[str, Parameters] = field(default_factory=dict)
    counts: tuple[SlotReliability, ...] = ()
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    records: RecordModel | None = None

    def interval(self, source: str) -> tuple[float, float]:
        """Return the 95 % interval of a source's reliability."""
        if source in self.fixed:
            return self.fixed[source], self.fixed[source]
        return self.intervals.get(source) or interval(0.0, 0.0, self.reliabilities[source])


def learn(accounts: Accounts, task: LearningTask) -> tuple[Learned, Compared]:
    """Learn reliabilities from agreement alone; also return the comparisons made for it."""
    fixed = checked_reliabilities(accounts.reliabilities)
    chances = Chances.of_accounts(accounts.accounts, task.schema)
    common = _crowded_keys(accounts, task.schema)
    comparer = Comparer(task.schema, chances, task.model, task.tolerance, common)
    context = SetContext.of(accounts, comparer, Reliabilities(fixed, DEFAULT_RELIABILITY))
    compared = comparer.compare(context.by_id, list(comparer.candidates(accounts.accounts)))
    shared = shared_slots(compared, context.by_id, accounts.sources)
    result = agreement(shared, fixed, chances.prior, DEFAULT_RELIABILITY)
    reliabilities = Reliabilities({**result.reliabilities, **fixed}, result.unseen)
    slots = {name: _rates(name, result, chances) for name in (OWN_TYPE, *task.schema.slots)}
    return Learned(
        chances, common, reliabilities, fixed, slots, result.counts, result.intervals
    ), compared


def learn_tables(accounts: Accounts, task: LearningTask) -> tuple[Learned, Compared]:
    """Learn the comparison of records and the reliabilities of sources from the records alone."""
    fixed = checked_reliabilities(accounts.reliabilities)
    records = learn_records(accounts.accounts, task.schema, fixed)
    chances = Chances.of_accounts(accounts.accounts, task.schema)
    result = records_agreement(records, accounts.sources, fixed)
    slots = {name: _rates(name, result, chances) for name in task.schema.slots}
    reliabilities = Reliabilities({**result.reliabilities, **fixed}, result.unseen)
    return Learned(
        chances,
        frozenset(),
        reliabilities,
        fixed,
        slots,
        result.counts,
        result.intervals,
        records,
    ), {}


def _rates(slot: str, result: Agreement, chances: Chances) -> Parameters:
    """Return the rates of all sources in a slot."""
    rates = {
        source: open_rates(result.by_slot.get((source, slot), r), True)
        for source, r in result.reliabilities.items()
    }
    size = max(len(chances.counts.get(slot, ())), MIN_VALUES[TYPED])
    return Parameters(TYPED, rates, open_rates(result.unseen, True), np.ones(1), size)


def _crowded_keys(accounts: Accounts, schema: Schema) -> frozenset[Key]:
    index = Index(schema)
    for account in accounts.accounts:
        index.add(account)
    return index.crowded_keys()


CERTAIN = Figure.exact(1.0)
DEFAULT_BUDGET = Budget(seconds=2.0, memory=1 << 30, work=30_000)  # work, not time: reproducible


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The schema of the accounts and the options of fusion.

    With `records`, accounts are rows of tables without a domain; how to compare them is learned.
    In the slots of `latest`, a later statement of a source supersedes its earlier ones.
    """

    schema: Schema
    model: MaximumEntropy | None = None
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 0.0
    top: int | None = None
    budget: Budget = DEFAULT_BUDGET
    seed: int = 0
    records: bool = False
    latest: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """An entity: the accounts that describe one thing.

    It is a cell of the most probable configuration of its set; `probability` is that of exactly
    this cell, `inside` that among the accounts of its set alone. The values of its slots are taken
    over all configurations, around the account `anchor`.
    """

    id: str
    type: str
    name: str
    accounts: tuple[Account, ...]
    anchor: str
    probability: Figure
    inside: Figure
    slots: Mapping[str, SlotOfThing]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(sorted({account.source for account in self.accounts}))


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """A set with its things."""

    set: AcrossSet
    things: tuple[Thing, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FusedAccounts:
    """The result of fusion.

    `compared` are the pairs that were compared, out of `pairs` in total; `recomputed` is the number
    of sets that were solved in this call.
    """

    accounts: Accounts
    task: Task
    learned: Learned
    sets: tuple[Resolved, ...]
    compared: Compared
    pairs: int
    recomputed: int

    @property
    def things(self) -> tuple[Thing, ...]:
        things = (thing for one in self.sets for thing in one.things)
        return tuple(replace(thing, id=f"E{n}") for n, thing in enumerate(things, 1))

    @property
    def distributions(self) -> tuple[Distribution, ...]:
        return tuple(one.set.distribution for one in self.sets if one.set.distribution is not None)


def fuse_accounts(accounts: Accounts, task: Task, learned: Learned | None = None) -> FusedAccounts:
    """Fuse accounts into things; with `learned`, no reliabilities are estimated."""
    used = _drop_unreliable(accounts, task)
    if learned is not None:
        return _fuse(used, task, _with_reliabilities(learned, used.reliabilities), {}, {}, None)
    model, compared = (learn_tables if task.records else learn)(used, task)
    return _fuse(used, task, model, compared, {}, None if task.records else frozenset())


def add_accounts(fused: FusedAccounts, more: Accounts) -> FusedAccounts:
    """Add accounts, keeping what was learned; sets that they do not touch stay as they are."""
    new = _drop_unreliable(more, fused.task)
    merged = merge_accounts([fused.accounts, new])
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
    if learned.records is not None:
        sets = _with_left_out(sets, compared)
    return FusedAccounts(
        accounts, task, learned, sets, compared, count_pairs(accounts.accounts), len(changed)
    )


def _with_left_out(sets: Sequence[Resolved], compared: Compared) -> tuple[Resolved, ...]:
    """Reduce the probability of each thing by that of links to records of other sets."""
    homes = _Homes.of(sets, compared)
    links: dict[int, dict[int, float]] = {}
    for names in compared:
        left, right = (homes.thing[name] for name in names)
        if homes.set[left] != homes.set[right]:
            p = homes.left_out(*names)
            for here, there in ((left, right), (right, left)):
                others = links.setdefault(here, {})
                others[there] = max(others.get(there, 0.0), p)
    numbers = iter(range(len(homes.set)))
    return tuple(
        replace(one, things=tuple(
            _reduced(thing, links.get(next(numbers), {}).values()) for thing in one.things
        ))
        for one in sets
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Homes:
    """The thing of every account, its set, and the odds with which each account belongs there.

    `place` is the account of a source in a thing.
    """

    thing: Mapping[str, int]
    set: Sequence[int]
    source: Mapping[str, str]
    place: Mapping[tuple[int, str], str]
    odds: Mapping[Pair, float]
    held: Mapping[str, float]

    @classmethod
    def of(cls, sets: Sequence[Resolved], compared: Compared) -> _Homes:
        things = [(n, thing) for n, one in enumerate(sets) for thing in one.things]
        members = [(k, account) for k, (_, one) in enumerate(things) for account in one.accounts]
        thing = {account.id: k for k, account in members}
        odds = {names: math.exp(min(one.log_odds(1.0, 0.0), MAX_ODDS))
                for names, one in compared.items()}  # fmt: skip
        held: dict[str, float] = {}
        for names, o in odds.items():
            if thing[names[0]] == thing[names[1]]:
                for name in names:
                    held[name] = max(held.get(name, 0.0), o)
        return cls(
            thing,
            [n for n, _ in things],
            {account.id: account.source for _, account in members},
            {(k, account.source): account.id for k, account in members},
            odds,
            held,
        )

    def left_out(self, left: str, right: str) -> float:
        """Return the probability of a link, against what holds its ends where they are."""
        odds = self.odds[left, right]
        held = min(self._held(left, self.thing[right]), self._held(right, self.thing[left]))
        return odds / (1.0 + odds + held)

    def _held(self, name: str, other: int) -> float:
        """Return the odds against an account's move to another thing."""
        rival = self.place.get((other, self.source[name]), "")
        return self.held.get(name, 0.0) + self.held.get(rival, 0.0)


def _reduced(thing: Thing, links: Iterable[float]) -> Thing:
    share = float(np.prod([1.0 - p for p in links]))
    inside = thing.inside
    return replace(thing, probability=replace(inside, value=inside.value * share))


def _comparer(task: Task, learned: Learned) -> Comparer | RecordComparer:
    if learned.records is not None:
        return RecordComparer(task.schema, learned.records)
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
    """Return a view of each cell of the set's most probable configuration."""
    if set_.distribution is None:
        return [view_alone(set_.accounts[0])]
    cells = cells_of(set_.distribution)
    place = {name: n for n, name in enumerate(set_.ids)}
    members = [tuple(sorted(place[name] for name in cell)) for cell in
               set_.distribution.most_probable]  # fmt: skip
    return [view_of_cell(set_.accounts, cells, cell) for cell in sorted(members)]


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
        inside=figure,
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

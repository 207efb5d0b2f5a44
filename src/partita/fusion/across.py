"""Fuse reports and records of many sources into entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from partita.entities.entities import called
from partita.entities.values import cells_of
from partita.errors import InputError
from partita.fusion.accounts import Account, Accounts, gathered
from partita.fusion.across_sets import (
    AcrossSet,
    Believing,
    Compared,
    Reliabilities,
    components,
    solved,
)
from partita.fusion.across_values import (
    Seen,
    SlotOfThing,
    claim,
    seen_alone,
    seen_from,
    slots_of,
    typed,
)
from partita.fusion.belief import Parameters
from partita.fusion.blocking import Index, Key, candidates, everything
from partita.fusion.claims import Claims, checked_reliabilities
from partita.fusion.comparison import Chances, Comparer
from partita.fusion.copying import Copying
from partita.fusion.fuse import Settings, fuse
from partita.fusion.kinds import TYPED
from partita.fusion.open_slots import reliable
from partita.fusion.trust import Agreed, Agreement, agreement, interval, meetings
from partita.fusion.value_reading import FEWEST
from partita.pairs.models import MaximumEntropy
from partita.records import Budget, Distribution, Figure
from partita.templates.schema import SORT, Schema

UNMET = 0.8  # the reliability of a source before anything is known of it


class Wanted(Protocol):
    """The part of a task that learning looks at."""

    @property
    def schema(self) -> Schema: ...
    @property
    def model(self) -> MaximumEntropy | None: ...
    @property
    def tolerance(self) -> float: ...


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """With it every set can be answered on its own: chances of values, keys that tell nothing,
    how far sources are trusted in all and by slot; `given` are reliabilities that were known."""

    chances: Chances
    common: frozenset[Key]
    reliabilities: Reliabilities
    given: Mapping[str, float]
    slots: Mapping[str, Parameters] = field(default_factory=dict)
    counts: tuple[Agreed, ...] = ()
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def interval(self, source: str) -> tuple[float, float]:
        """What holds the reliability of a source with probability .95."""
        if source in self.given:
            return self.given[source], self.given[source]
        return self.intervals.get(source) or interval(0.0, 0.0, self.reliabilities[source])


def learn(given: Accounts, task: Wanted) -> tuple[Learned, Compared]:
    """From agreement alone, with what was compared for it; reliabilities that are given stay."""
    known = checked_reliabilities(given.reliabilities)
    chances = Chances.of_accounts(given.accounts, task.schema)
    common = _crowded(given, task.schema)
    comparer = Comparer(task.schema, chances, task.model, task.tolerance)
    believing = Believing.of(given, comparer, Reliabilities(known, UNMET))
    compared = _compared_pairs(believing, common)
    met = meetings(compared, believing.by_id, given.sources)
    found = agreement(met, known, chances.prior, UNMET)
    trusted = Reliabilities({**found.reliabilities, **known}, found.unmet)
    slots = {name: _rates(name, found, chances) for name in (SORT, *task.schema.slots)}
    return Learned(chances, common, trusted, known, slots, found.counts, found.intervals), compared


def _rates(slot: str, found: Agreement, chances: Chances) -> Parameters:
    """The rates of all sources in a slot, however little they say of it."""
    rates = {
        source: reliable(found.by_slot.get((source, slot), r), True)
        for source, r in found.reliabilities.items()
    }
    size = max(len(chances.counts.get(slot, ())), FEWEST[TYPED])
    return Parameters(TYPED, rates, reliable(found.unmet, True), np.ones(1), size)


def _crowded(given: Accounts, schema: Schema) -> frozenset[Key]:
    index = Index(schema)
    for account in given.accounts:
        index.add(account)
    return index.crowded()


def _compared_pairs(believing: Believing, common: frozenset[Key]) -> Compared:
    schema = believing.comparer.schema
    pairs = list(candidates(believing.given.accounts, Index(schema, common), schema))
    return believing.comparer.compare(believing.by_id, pairs)


SURE = Figure.exact(1.0)
USUAL = Budget(seconds=2.0, memory=1 << 30, work=30_000)  # no clock: the same bytes everywhere


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What the accounts are about and how they are fused."""

    schema: Schema
    model: MaximumEntropy | None = None
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 0.0
    top: int | None = None
    budget: Budget = USUAL
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """What several sources speak of, as far as they speak of one thing.

    A cell of the most probable configuration of its set, with the probability of exactly this
    cell; the values of its slots are over all configurations, seen from the account `anchor`.
    """

    id: str
    sort: str
    name: str
    accounts: tuple[Account, ...]
    anchor: str
    probability: Figure
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
    """Everything that was found. `compared` are the pairs that were compared, of `pairs` that
    there are; `recomputed` tells how many sets were solved this time."""

    given: Accounts
    task: Task
    learned: Learned
    sets: tuple[Resolved, ...]
    compared: Compared
    pairs: int
    recomputed: int

    @property
    def things(self) -> tuple[Thing, ...]:
        found = (thing for one in self.sets for thing in one.things)
        return tuple(replace(thing, id=f"E{n}") for n, thing in enumerate(found, 1))

    @property
    def distributions(self) -> tuple[Distribution, ...]:
        return tuple(one.set.distribution for one in self.sets if one.set.distribution is not None)


def fuse_accounts(given: Accounts, task: Task, learned: Learned | None = None) -> FusedAccounts:
    """Accounts into things; what was `learned` before is taken as it is."""
    heard = _heard(given, task)
    if learned is not None:
        return _fused(heard, task, _knowing(learned, heard.reliabilities), {}, {}, None)
    known, compared = learn(heard, task)
    return _fused(heard, task, known, compared, {}, frozenset())


def added(fused: FusedAccounts, more: Accounts) -> FusedAccounts:
    """With more accounts, by what was learned before: sets that they do not touch stay."""
    fresh = _heard(more, fused.task)
    whole = gathered([fused.given, fresh])
    touched = {account.id for account in fresh.accounts}
    touched |= {name for one in fresh.judgements for two in one.pairs for name in two}
    touched |= {one.id for one in whole.accounts if one.object and one.object in touched}
    kept = {one.set.ids: one for one in fused.sets if touched.isdisjoint(one.set.ids)}
    known = _knowing(fused.learned, whole.reliabilities)
    return _fused(whole, fused.task, known, fused.compared, kept, frozenset(touched))


def without(fused: FusedAccounts, source: str) -> FusedAccounts:
    """What would be believed if a source were left out, everything learned anew."""
    return fuse_accounts(fused.given.without(source), fused.task)


def _knowing(learned: Learned, given: Mapping[str, float]) -> Learned:
    """With reliabilities that are given of sources that were not met before."""
    fresh = checked_reliabilities({s: r for s, r in given.items() if s not in learned.given})
    if met := sorted(fresh.keys() & learned.reliabilities.of.keys()):
        problem = f"reliability of {met[0]} is given now but was estimated before"
        raise InputError(f"{problem}: fuse everything again")
    of = {**learned.reliabilities.of, **fresh}
    trusted = replace(learned.reliabilities, of=of)
    return replace(learned, reliabilities=trusted, given={**learned.given, **fresh})


def _heard(given: Accounts, task: Task) -> Accounts:
    """All but the sources that are known never to know anything."""
    reliabilities = {**given.reliabilities, **task.reliabilities}
    deaf = {source for source, r in reliabilities.items() if r == 0.0}
    heard = given.only(set(given.sources) - deaf) if deaf else given
    if not heard.accounts:
        raise InputError(
            "all sources have reliability 0 (expected at least one above 0)"
            if deaf
            else "the sources make no statements"
        )
    return replace(heard, reliabilities=reliabilities)


def _fused(
    given: Accounts,
    task: Task,
    learned: Learned,
    before: Compared,
    kept: Mapping[tuple[str, ...], Resolved],
    touched: frozenset[str] | None,
) -> FusedAccounts:
    comparer = Comparer(task.schema, learned.chances, task.model, task.tolerance)
    believing = Believing.of(given, comparer, learned.reliabilities)
    compared = _compared(believing, learned, before, touched)
    groups = [tuple(group) for group in components(believing, compared)]
    fresh = [group for group in groups if group not in kept]
    found = solved(believing, fresh, compared, task.top, task.budget, task.seed)
    resolved = dict(zip(fresh, _resolved(found, task, learned), strict=True))
    sets = tuple(kept[group] if group in kept else resolved[group] for group in groups)
    return FusedAccounts(
        given, task, learned, sets, compared, everything(given.accounts), len(fresh)
    )


def _compared(
    believing: Believing, learned: Learned, before: Compared, touched: frozenset[str] | None
) -> Compared:
    """The comparisons of before, and those of pairs that are new; all where nothing was before."""
    schema = believing.comparer.schema
    index = Index(schema, learned.common)
    pairs = candidates(believing.given.accounts, index, schema, touched)
    fresh = [two for two in pairs if two not in before]
    return {**before, **believing.comparer.compare(believing.by_id, fresh)}


def _resolved(found: Sequence[AcrossSet], task: Task, learned: Learned) -> list[Resolved]:
    seen = [list(_seen(one)) for one in found]
    settings = Settings(
        reading=typed(task.schema, task.tolerance),
        reliabilities=learned.given,
        fixed=learned.slots,
    )
    trusted = learned.reliabilities
    told = iter(slots_of([each for some in seen for each in some], task.schema, settings, trusted))
    return [
        Resolved(one, tuple(_thing(each, next(told), task.schema) for each in some))
        for one, some in zip(found, seen, strict=True)
    ]


def _seen(one: AcrossSet) -> Iterable[Seen]:
    """The things of a set: the cells of its most probable configuration."""
    if one.distribution is None:
        return [seen_alone(one.accounts[0])]
    cells = cells_of(one.distribution)
    place = {name: n for n, name in enumerate(one.ids)}
    members = [tuple(sorted(place[name] for name in cell)) for cell in
               one.distribution.most_probable]  # fmt: skip
    return [seen_from(one.accounts, cells, cell) for cell in sorted(members)]


def _thing(seen: Seen, slots: Mapping[str, SlotOfThing], schema: Schema) -> Thing:
    accounts = tuple(seen.accounts[n] for n in seen.cell)
    share = seen.around.cells.shares.get(seen.cell, 0.0)
    sort = slots.get(SORT)
    return Thing(
        id="",
        sort=sort.values[0].text if sort and sort.values else "",
        name=called([one.template for one in accounts], schema),
        accounts=accounts,
        anchor=seen.anchor,
        probability=SURE if len(seen.accounts) == 1 else seen.around.cells.figure(share),
        slots={name: one for name, one in slots.items() if name != SORT},
    )


@dataclass(frozen=True, slots=True)
class ThingChange:
    """A thing whose slot is believed to have another value, or (without a slot) whose accounts
    are put together otherwise; what is empty is not there."""

    thing: str
    slot: str
    before: str
    before_probability: float
    after: str
    after_probability: float


def changed(fused: FusedAccounts, source: str) -> tuple[ThingChange, ...]:
    """Everything learned anew, thing by thing."""
    after = without(fused, source)
    home = {account.id: thing for thing in after.things for account in thing.accounts}
    found: list[ThingChange] = []
    for thing in fused.things:
        left = [account.id for account in thing.accounts if account.source != source]
        if not left:
            told = ", ".join(account.id for account in thing.accounts)
            found.append(ThingChange(thing.id, "", told, thing.probability.value, "", 0.0))
            continue
        seen = home[thing.anchor if thing.anchor in left else left[0]]
        found += _changes(thing, seen, left)
    return tuple(found)


def _changes(thing: Thing, after: Thing, left: list[str]) -> Iterator[ThingChange]:
    now = [account.id for account in after.accounts]
    if set(left) != set(now):
        yield ThingChange(
            thing.id,
            "",
            ", ".join(left),
            thing.probability.value,
            ", ".join(now),
            after.probability.value,
        )
    for slot, one in thing.slots.items():
        (value, p), (other, q) = _best(one), _best(after.slots.get(slot))
        if value != other:
            yield ThingChange(thing.id, slot, value, p, other, q)


def _best(slot: SlotOfThing | None) -> tuple[str, float]:
    if slot is None or not slot.values:
        return "", 0.0
    return slot.values[0].text, slot.values[0].probability.value


def copies(fused: FusedAccounts) -> tuple[Copying, ...]:
    """By all that is said of things of which more than one source speaks, slot by slot."""
    rows = [
        claim(account, thing.id, slot)
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
        reading=typed(fused.task.schema, fused.task.tolerance),
        reliabilities=fused.learned.given,
        fixed={slot: fused.learned.slots[slot] for slot in sorted(slots)},
    )
    return fuse(Claims.of(rows), settings).copying

"""What is learned of sources from the things that several of them speak of.

Trust tells which accounts belong together, and that tells whom to trust: a few passes, in each the
most probable things, the claims about them, and rates by expectation and maximisation as for any
claims. A source's reliability is that of all its slots, drawn towards that of all sources; in one
slot it is that of its claims there, drawn towards that of the source:
r_sx = (right_sx + W·r_s)/(n_sx + W).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from partita.fusion.accounts import Accounts
from partita.fusion.across_sets import (
    AcrossSet,
    Believing,
    Compared,
    Reliabilities,
    components,
    solved,
)
from partita.fusion.across_values import Row, claim, typed
from partita.fusion.belief import Parameters, Trust
from partita.fusion.blocking import Index, Key, candidates
from partita.fusion.chances import Chances
from partita.fusion.claims import Claims, checked_reliabilities
from partita.fusion.comparing import Comparer
from partita.fusion.copying import Copying
from partita.fusion.fuse import Fused, Settings, fuse
from partita.fusion.kinds import TYPED
from partita.fusion.knowing import reliable
from partita.fusion.reading import FEWEST
from partita.pairs.models import MaximumEntropy
from partita.records import Budget
from partita.templates.schema import SORT, Schema

PASSES = 3
UNMET = 0.8  # the reliability of a source before anything is known of it
WORTH = 2.0  # claims: what the word of all sources on one is worth
BY_SLOT = 10.0  # claims: what a source's reliability in all is worth for one slot


class Wanted(Protocol):
    """The part of a task that learning looks at."""

    @property
    def schema(self) -> Schema: ...
    @property
    def model(self) -> MaximumEntropy | None: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def budget(self) -> Budget | None: ...
    @property
    def seed(self) -> int: ...


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """With it every set can be answered on its own: chances of values, keys that tell nothing,
    how far sources are trusted in all and by slot; `given` are reliabilities that were known."""

    chances: Chances
    common: frozenset[Key]
    reliabilities: Reliabilities
    given: Mapping[str, float]
    slots: Mapping[str, Parameters] = field(default_factory=dict)
    trust: tuple[Trust, ...] = ()
    copying: tuple[Copying, ...] = ()


def learn(given: Accounts, task: Wanted) -> tuple[Learned, Compared]:
    """From agreement alone, with what was compared for it; reliabilities that are given stay."""
    known = checked_reliabilities(given.reliabilities)
    chances = Chances.of_accounts(given.accounts, task.schema)
    common = _crowded(given, task.schema)
    comparer = Comparer(task.schema, chances, task.model, task.tolerance)
    trusted = Reliabilities(known, UNMET)
    believing = Believing.of(given, comparer, trusted)
    compared = _compared(believing, common)
    fused = None
    for _ in range(PASSES):
        found = solved(
            believing, components(believing, compared), compared, 1, task.budget, task.seed
        )
        rows = list(_claims(found, task.schema))
        if not rows:
            break
        settings = Settings(reading=typed(task.schema, task.tolerance), reliabilities=known)
        fused = fuse(Claims.of(rows), settings)
        trusted = _trusted(fused, known)
        believing = Believing.of(given, comparer, trusted)
    slots = {name: _rates(name, fused, trusted) for name in (SORT, *task.schema.slots)}
    if fused is None:
        return Learned(chances, common, trusted, known, slots), compared
    trust = tuple(one for belief in fused.slots for one in belief.trust)
    return Learned(chances, common, trusted, known, slots, trust, fused.copying), compared


def _rates(slot: str, fused: Fused | None, trusted: Reliabilities) -> Parameters:
    """The rates of all sources in a slot, however little they say of it."""
    found = [one for one in fused.slots if one.name == slot] if fused else []
    told = [one for belief in found for one in belief.trust]
    here = {one.source: _mean([one], BY_SLOT, trusted[one.source]) for one in told}
    rates = {source: reliable(here.get(source, r), True) for source, r in trusted.of.items()}
    size = found[0].parameters.size if found else FEWEST[TYPED]
    return Parameters(TYPED, rates, reliable(trusted.unmet, True), np.ones(1), size)


def _crowded(given: Accounts, schema: Schema) -> frozenset[Key]:
    index = Index(schema)
    for account in given.accounts:
        index.add(account)
    return index.crowded()


def _compared(believing: Believing, common: frozenset[Key]) -> Compared:
    schema = believing.comparer.schema
    pairs = list(candidates(believing.given.accounts, Index(schema, common), schema))
    return believing.comparer.compare(believing.by_id, pairs)


def _claims(found: Iterable[AcrossSet], schema: Schema) -> Iterator[Row]:
    """What is said of things of which more than one source speaks."""
    for one in found:
        if one.distribution is None:
            continue
        by_id = {account.id: account for account in one.accounts}
        for cell in one.distribution.most_probable:
            accounts = [by_id[name] for name in cell]
            if len({account.source for account in accounts}) > 1:
                for account in accounts:
                    for slot in (SORT, *schema.slots):
                        if slot in account.values:
                            yield claim(account, cell[0], slot)


def _trusted(fused: Fused, known: Mapping[str, float]) -> Reliabilities:
    told = [one for belief in fused.slots for one in belief.trust]
    mean = _mean(told, 1.0, UNMET)
    by_source: dict[str, list[Trust]] = {}
    for one in told:
        by_source.setdefault(one.source, []).append(one)
    learned = {source: _mean(some, WORTH, mean) for source, some in by_source.items()}
    return Reliabilities({**learned, **known}, mean)


def _mean(told: Sequence[Trust], worth: float, towards: float) -> float:
    right = sum(one.right + one.rough for one in told)
    wrong = sum(one.wrong for one in told)
    return (right + worth * towards) / (right + wrong + worth)

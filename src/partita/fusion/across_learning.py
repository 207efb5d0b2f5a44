"""What is learned before things are told: chances of values, crowded keys, trust in sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from partita.fusion.accounts import Accounts
from partita.fusion.across_sets import Believing, Compared, Reliabilities
from partita.fusion.agreeing import Agreed, Agreement, agreement, meetings
from partita.fusion.belief import Parameters
from partita.fusion.blocking import Index, Key, candidates
from partita.fusion.chances import Chances
from partita.fusion.claims import checked_reliabilities
from partita.fusion.comparing import Comparer
from partita.fusion.kinds import TYPED
from partita.fusion.knowing import reliable
from partita.fusion.reading import FEWEST
from partita.fusion.trust import interval
from partita.pairs.models import MaximumEntropy
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
    compared = _compared(believing, common)
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


def _compared(believing: Believing, common: frozenset[Key]) -> Compared:
    schema = believing.comparer.schema
    pairs = list(candidates(believing.given.accounts, Index(schema, common), schema))
    return believing.comparer.compare(believing.by_id, pairs)

"""What is believed of the slots of a thing of which several sources speak.

P(x = v) = Σ_{cells C ∋ anchor} P(C)·P(v | what the accounts of C claim),  the second factor as for
claims: sources know, know roughly or guess, and unknown is what nobody has said. An account claims
each of its values with the probability that the message's own distribution gives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.entities.values import Around, Cells
from partita.fusion.accounts import Account
from partita.fusion.across_sets import Reliabilities
from partita.fusion.belief import SlotBelief
from partita.fusion.claims import Claims
from partita.fusion.conflict import conflict
from partita.fusion.fuse import Settings, fuse
from partita.fusion.kinds import Reading
from partita.fusion.typed import plain, said_as, written
from partita.records import Figure
from partita.templates.schema import SORT, Schema
from partita.templates.slots import Value

CHOICES = 64  # different combinations of accounts that are looked at for one slot
LEAST = 1e-4  # and their probability: what less probable ones say is unknown
Row = tuple[str, str, str, str, float]


@dataclass(frozen=True, slots=True)
class Stated:
    """A value, its probability, and the accounts of the thing that say it or something above."""

    value: Any
    text: str
    probability: Figure
    accounts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SlotOfThing:
    """Of one slot: the values, which with `unknown` add up to 1, and the sources' conflict κ."""

    values: tuple[Stated, ...]
    unknown: float
    conflict: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A thing seen from one account, the anchor: the cells around it, and who is in its own."""

    accounts: tuple[Account, ...]
    around: Around
    cell: tuple[int, ...]
    anchor: str


@dataclass(slots=True)
class _Asked:
    """Objects that are to be fused: every combination of accounts that speak of a slot, once."""

    rows: list[Row] = field(default_factory=list)
    names: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)

    def name(self, slot: str, accounts: Sequence[Account]) -> str:
        key = (slot, tuple(one.id for one in accounts))
        if key not in self.names:
            self.names[key] = self._called(slot, accounts[0])
            self.rows += [claim(one, self.names[key], slot) for one in accounts]
        return self.names[key]

    def _called(self, slot: str, first: Account) -> str:
        """A name that tells a person what it is about, if anything must be said of it."""
        name = ", ".join(filter(None, (first.object or first.id, slot)))
        self.taken[name] = self.taken.get(name, 0) + 1
        return name if self.taken[name] == 1 else f"{name} ({self.taken[name]})"


def claim(account: Account, thing: str, slot: str) -> Row:
    """What an account says of a slot."""
    return account.source, thing, slot, written(account.values[slot]), account.sure(slot)


def seen_alone(account: Account) -> Seen:
    cells = Cells({(0,): 1.0})
    return Seen((account,), Around.of(cells, 0, 1), (0,), account.id)


def seen_from(accounts: tuple[Account, ...], cells: Cells, cell: tuple[int, ...]) -> Seen:
    """The anchor is the account of the cell that says most; of several the first."""
    anchor = max(cell, key=lambda n: (len(accounts[n].values), -n))
    around = Around.of(cells, anchor, len(accounts))
    return Seen(accounts, around, cell, accounts[anchor].id)


def typed(schema: Schema, tolerance: float = 0.0) -> Reading:
    """Slots by their types, and the sort as one of them."""
    sort = {} if schema.sorts is None else {SORT: schema.slot(SORT)}
    return Reading(tolerance, types={**sort, **schema.slots})


def slots_of(
    things: Sequence[Seen], schema: Schema, settings: Settings, trusted: Reliabilities
) -> list[dict[str, SlotOfThing]]:
    """The slots of all things; every combination of accounts is fused once."""
    asked = _Asked()
    wanted = [
        {slot: _choices(seen, slot, asked) for slot in _filled(seen, schema)} for seen in things
    ]
    answered = _answers(asked, settings)
    return [
        {slot: _mixed(seen, slot, choices, answered, schema, trusted)
         for slot, choices in slots.items()}
        for seen, slots in zip(things, wanted, strict=True)
    ]  # fmt: skip


def _filled(seen: Seen, schema: Schema) -> list[str]:
    near = seen.around.members.any(axis=0)
    said = {name for n in np.flatnonzero(near).tolist() for name in seen.accounts[n].values}
    return [name for name in (SORT, *schema.slots) if name in said]


def _choices(seen: Seen, slot: str, asked: _Asked) -> list[tuple[str, float]]:
    """The combinations of accounts that speak of the slot, with their probabilities."""
    says = np.array([slot in account.values for account in seen.accounts])
    likely = seen.around.shares >= LEAST / CHOICES
    sums: dict[bytes, float] = {}
    rows: dict[bytes, NDArray[np.bool_]] = {}
    members = seen.around.members[likely] & says
    for row, share in zip(members, seen.around.shares[likely].tolist(), strict=True):
        key = row.tobytes()
        rows.setdefault(key, row)
        sums[key] = sums.get(key, 0.0) + share
    found = []
    for key in sorted(sums, key=lambda one: (-sums[one], one))[:CHOICES]:
        accounts = [seen.accounts[k] for k in np.flatnonzero(rows[key]).tolist()]
        if accounts and sums[key] >= LEAST:
            found.append((asked.name(slot, accounts), sums[key]))
    return found


def _answers(asked: _Asked, settings: Settings) -> dict[str, list[tuple[str, float]]]:
    """The values of every object as texts, with their probabilities."""
    if not asked.rows:
        return {}
    slots = {row[2] for row in asked.rows}
    fixed = {slot: settings.fixed[slot] for slot in sorted(slots)}
    fused = fuse(Claims.of(asked.rows), replace(settings, fixed=fixed))
    return {name: values for belief in fused.slots for name, values in _valued(belief)}


def _valued(belief: SlotBelief) -> Iterable[tuple[str, list[tuple[str, float]]]]:
    said = belief.read.said
    for number, name in enumerate(said.objects):
        yield name, [(said.values[v], p) for v, p in belief.of(number)]


def _mixed(
    seen: Seen,
    slot: str,
    choices: Sequence[tuple[str, float]],
    answered: Mapping[str, Sequence[tuple[str, float]]],
    schema: Schema,
    trusted: Reliabilities,
) -> SlotOfThing:
    """Over all combinations; values that look the same count together."""
    kind = schema.slot(slot)
    shares: dict[str, float] = {}
    forms: dict[str, Value] = {}
    for name, share in choices:
        for text, p in answered[name]:
            value = kind.read(plain(text))
            label = said_as(value)
            shares[label] = shares.get(label, 0.0) + share * p
            forms.setdefault(label, value)
    order = sorted(shares, key=lambda label: (-shares[label], label))
    mine = [seen.accounts[n] for n in seen.cell if slot in seen.accounts[n].values]
    values = tuple(
        Stated(
            forms[label].json(),
            label,
            seen.around.cells.figure(shares[label]),
            tuple(one.id for one in mine if kind.unify(one.values[slot], forms[label])
                  == forms[label]),
        )
        for label in order
        if shares[label] > 0.0
    )  # fmt: skip
    masses = {one.id: (one.values[slot], trusted[one.source] * one.sure(slot)) for one in mine}
    unknown = max(0.0, 1.0 - sum(one.probability.value for one in values))
    return SlotOfThing(values, unknown, conflict(masses, kind))

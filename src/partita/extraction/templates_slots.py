"""What the contributions about one phrase say together: a value for each slot, by rank."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from partita.extraction.contributions import Contribution, Refusal, fitting
from partita.templates.schema import Schema, plain
from partita.templates.slots import Value
from partita.templates.sorts import Hierarchy

REMEMBERED = 50_000  # values, over all messages

Read = tuple[Value | None, str]


@dataclass(slots=True)
class Reading:
    """Values brought to the types of a schema's slots; the same ones come again and again."""

    schema: Schema
    known: dict[tuple[str, Hashable], Read] = field(default_factory=dict)

    def value(self, slot: str, given: Any) -> Read:
        """The value as far as the slot's type takes it, or why it does not."""
        key = (slot, given)
        if key not in self.known:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            fits, reason = fitting(self.schema, slot, given)
            self.known[key] = None if fits is None else self.schema.slots[slot].read(fits), reason
        return self.known[key]


@dataclass(slots=True)
class Said:
    """Values of slots, and what could not be one of them."""

    values: dict[str, Value] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)

    def plain(self, schema: Schema) -> dict[str, Any]:
        """As files hold them, in the schema's order."""
        found = plain(self.values)
        return {slot: found[slot] for slot in schema.slots if slot in found}


def said(ranked: Iterable[Contribution], reading: Reading) -> Said:
    """The value of the best contribution to each slot, and of others what agrees with it.

    "The Kinston depot in North Carolina" is in Kinston, though the second match is longer. A
    slot that a rule sets to an empty text stays empty, whatever ranks below.
    """
    found = Said()
    empty: set[str] = set()
    for one in ranked:
        for slot, value in one.slots.items():
            if value == "":
                empty.add(slot)
            elif slot not in empty:
                _add(found, one, slot, value, reading)
    return found


def _add(found: Said, one: Contribution, slot: str, given: Any, reading: Reading) -> None:
    value, reason = reading.value(slot, given)
    if value is None:
        found.refusals.append(Refusal(one, slot, given, reason))
        return
    known = found.values.get(slot)
    both = value if known is None else reading.schema.slots[slot].unify(known, value)
    if both is None:
        found.refusals.append(Refusal(one, slot, given, f"it is {known} already"))
    else:
        found.values[slot] = both


def main_sort(ranked: Iterable[Contribution], wanted: Iterable[str], sorts: Hierarchy) -> str:
    """The first sort of the best contribution that lies under one that templates come out of."""
    under = tuple(wanted)
    for one in ranked:
        for sort in one.sort:
            if sort in sorts and any(sorts.subsumes(general, sort) for general in under):
                return sort
    return ""

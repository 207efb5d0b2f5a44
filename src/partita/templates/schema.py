"""A schema: for each slot its type, and the hierarchy of the templates' own sorts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.errors import InputError
from partita.records import Template
from partita.templates.slots import Json, SlotType, Value
from partita.templates.sort import SortType
from partita.templates.sorts import Hierarchy

Values = Mapping[str, Value]

# The template's own sort goes with the values of its slots, under a name that no slot has.
SORT = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """Slot types by name; where `sorts` is given, templates are compared by sort as well."""

    slots: Mapping[str, SlotType[Any]] = field(default_factory=dict)
    sorts: Hierarchy | None = None

    def __post_init__(self) -> None:
        if SORT in self.slots:
            raise InputError("a slot of the schema has no name")

    def slot(self, name: str) -> SlotType[Any]:
        """The type of a slot, or of the template's own sort."""
        if name == SORT and self.sorts is not None:
            return SortType(self.sorts)
        return self.slots[name]

    def read(self, slots: Mapping[str, object], of: str = "") -> dict[str, Value]:
        """The values of plain slots, in the schema's order; a slot that holds nothing is nil."""
        if unknown := [name for name in slots if name not in self.slots]:
            known = ", ".join(self.slots) or "none"
            raise InputError(f"{_named(of)}unknown slot {unknown[0]}; the slots are {known}")
        held = (name for name in self.slots if not _nil(slots.get(name)))
        return {name: self._value(name, slots[name], of) for name in held}

    def values(self, template: Template) -> dict[str, Value]:
        """All that the template says: its sort, where the schema compares sorts, and its slots."""
        values = self.read(template.slots, template.id)
        if self.sorts is None or _nil(template.sort):
            return values
        return {SORT: self._value(SORT, template.sort, template.id), **values}

    def _value(self, name: str, given: object, of: str) -> Value:
        try:
            value: Value = self.slot(name).read(given)
        except InputError as error:
            where = f"slot {name}" if name else "sort"
            raise InputError(f"{_named(of)}{where}: {error.problem}") from None
        return value


def plain(values: Values) -> dict[str, Json]:
    """The slots in the form that files hold and `Schema.read` reads back."""
    return {name: value.json() for name, value in values.items() if name != SORT}


def _named(template: str) -> str:
    return f"template {template}, " if template else ""


def _nil(given: object) -> bool:
    if isinstance(given, str):
        return not given.strip()
    return given is None or (isinstance(given, list | tuple | set | frozenset) and not given)

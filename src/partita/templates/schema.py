"""Schema: the type of each slot, and the hierarchy of the templates' own sorts."""

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

# The key of the template's own sort among the values of its slots.
SORT = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """Slot types by name; with `sorts`, templates are compared by sort as well."""

    slots: Mapping[str, SlotType[Any]] = field(default_factory=dict)
    sorts: Hierarchy | None = None

    def __post_init__(self) -> None:
        if SORT in self.slots:
            raise InputError("a slot of the schema has no name")

    def slot(self, name: str) -> SlotType[Any]:
        """Return the type of a slot, or of the template's own sort."""
        if name == SORT and self.sorts is not None:
            return SortType(self.sorts)
        return self.slots[name]

    def read(self, slots: Mapping[str, object], of: str = "") -> dict[str, Value]:
        """Return the values of plain slots, in the order of the schema, without empty slots."""
        if unknown := [name for name in slots if name not in self.slots]:
            names = ", ".join(self.slots) or "no slots"
            raise InputError(f"{_template_prefix(of)}unknown slot {unknown[0]} (expected {names})")
        filled = (name for name in self.slots if not _is_nil(slots.get(name)))
        return {name: self._value(name, slots[name], of) for name in filled}

    def values(self, template: Template) -> dict[str, Value]:
        """Return the values of a template: its sort, if the schema has sorts, and its slots."""
        values = self.read(template.slots, template.id)
        if self.sorts is None or _is_nil(template.sort):
            return values
        return {SORT: self._value(SORT, template.sort, template.id), **values}

    def _value(self, name: str, plain_value: object, of: str) -> Value:
        try:
            value: Value = self.slot(name).read(plain_value)
        except InputError as error:
            where = f"slot {name}" if name else "sort"
            raise InputError(f"{_template_prefix(of)}{where}: {error.problem}") from None
        return value


@dataclass(frozen=True, slots=True)
class ReadOnce(Schema):
    """A schema for templates with distinct ids, which reads the values of each once."""

    kept: dict[str, dict[str, Value]] = field(default_factory=dict)

    def values(self, template: Template) -> dict[str, Value]:
        """Return the values of a template; do not change them."""
        if template.id not in self.kept:
            self.kept[template.id] = Schema.values(self, template)
        return self.kept[template.id]


def plain_slots(values: Values) -> dict[str, Json]:
    """Return the slots in the plain form that `Schema.read` accepts."""
    return {name: value.json() for name, value in values.items() if name != SORT}


def _template_prefix(template: str) -> str:
    return f"template {template}, " if template else ""


def _is_nil(value: object) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, list | tuple | set | frozenset) and not value)

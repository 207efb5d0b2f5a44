"""Schema: the type of each slot, and the hierarchy of the templates' own types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.core import Status, Template
from partita.core.templates import FORMER
from partita.errors import InputError
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.slots import Json, SlotType, Value
from partita.templates.strings import Strings

Values = Mapping[str, Value]

# The key of the template's own type among the values of its slots.
OWN_TYPE = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """Slot types by name; with `types`, templates are compared by type as well."""

    slots: Mapping[str, SlotType[Any]] = field(default_factory=dict)
    types: Hierarchy | None = None

    def __post_init__(self) -> None:
        if OWN_TYPE in self.slots:
            raise InputError("a slot of the schema has no name")

    def slot(self, name: str) -> SlotType[Any]:
        """Return the type of a slot, or of the template's own type."""
        if name == OWN_TYPE and self.types is not None:
            return HierarchyType(self.types)
        return self.slots[name]

    def read(self, slots: Mapping[str, object], of: str = "") -> dict[str, Value]:
        """Return the values of plain slots, in the order of the schema, without empty slots."""
        if unknown := [name for name in slots if name not in self.slots]:
            names = ", ".join(self.slots) or "no slots"
            raise InputError(f"{_template_prefix(of)}unknown slot {unknown[0]} (expected {names})")
        filled = (name for name in self.slots if not _is_nil(slots.get(name)))
        return {name: self._value(name, slots[name], of) for name in filled}

    def values(self, template: Template) -> dict[str, Value]:
        """Return the values of a template: its type, if the schema has types, and its slots."""
        values = self.read(template.slots, template.id)
        if self.types is None or _is_nil(template.type):
            return values
        return {OWN_TYPE: self._value(OWN_TYPE, template.type, template.id), **values}

    def firm(self, template: Template) -> dict[str, Value]:
        """Return the asserted values of a template: those that tell it from others."""
        values = self.values(template)
        for slots, _ in self.not_asserted(template, "possible", "reported"):
            for name, value in slots.items():
                rest = _without(values[name], value) if name in values else None
                others = {n: other for n, other in values.items() if n != name}
                values = others if rest is None else {**others, name: rest}
        return values

    def not_asserted(
        self, template: Template, *statuses: Status
    ) -> list[tuple[dict[str, Value], Status]]:
        """Return the values of these statuses, each with its status."""
        return [
            (self.read(one.slots, template.id), one.status)
            for one in template.assertions
            if one.status in statuses and one.slots
        ]

    def denies(self, template: Template, values: Values) -> bool:
        """Return whether what a template is denied to be is what these values say.

        Slots that hold several strings deny single strings and tell nothing apart: a thing that was
        not destroyed in one report may be destroyed in another. Nor does what something was: "the
        school" may be the former school.
        """
        return any(
            all(
                name in values and self.slots[name].unify(values[name], value) == values[name]
                for name, value in slots.items()
            )
            for one in template.assertions
            if one.status == "denied" and one.slots and one.cue.lower() not in FORMER
            for slots in [self.read(one.slots, template.id)]
            if not any(isinstance(value, Strings) for value in slots.values())
        )

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


def _without(value: Value, part: Value) -> Value | None:
    """Return a value without a part of it: of several strings the others, else nothing."""
    if isinstance(value, Strings) and isinstance(part, Strings):
        rest = value.members - part.members
        return Strings(rest) if rest else None
    return None if value == part else value


def plain_slots(values: Values) -> dict[str, Json]:
    """Return the slots in the plain form that `Schema.read` accepts."""
    return {name: value.json() for name, value in values.items() if name != OWN_TYPE}


def _template_prefix(template: str) -> str:
    return f"template {template}, " if template else ""


def _is_nil(value: object) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, list | tuple | set | frozenset) and not value)

"""Schema: the type of each slot, the hierarchy of the templates' own types, and the algebra.

(s ⊓ t).x = s.x ⊓ t.x, where a missing slot is nil, the most general value: nil ⊓ v = v.
s ⊑ t (t subsumes s) ⇔ s ⊓ t has the values of s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal

from partita.core import Status, Template
from partita.core.templates import FORMER
from partita.errors import Incompatible, InputError
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.slots import Json, SlotType, Strings, Value

Values = Mapping[str, Value]

# The key of the template's own type among the values of its slots: empty, since no slot of a rule
# file can have an empty name, and so no domain can take the key away.
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


Relation = Literal["identical", "properly subsumed by", "properly subsumes", "otherwise consistent"]


@dataclass(frozen=True, slots=True)
class Merged:
    """Templates, in text order, and their unified values."""

    members: tuple[Template, ...]
    values: Values

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(member.id for member in self.members)

    @property
    def type(self) -> str:
        return str(self.values.get(OWN_TYPE, ""))

    @property
    def slots(self) -> Mapping[str, Value]:
        return {name: value for name, value in self.values.items() if name != OWN_TYPE}


TemplateLike = Template | Merged


def relation(s: TemplateLike, t: TemplateLike, schema: Schema) -> Relation:
    """Return what S is to T; "properly subsumed by" means that T is the more general one."""
    left, right = _values(s, schema), _values(t, schema)
    if left == right:
        return "identical"
    unified = unify(s, t, schema).values
    if unified == left:
        return "properly subsumed by"
    return "properly subsumes" if unified == right else "otherwise consistent"


def unify(s: TemplateLike, t: TemplateLike, schema: Schema) -> Merged:
    """Return the most general template that both subsume, with the members of both."""
    left, right = _values(s, schema), _values(t, schema)
    values = {**left, **right}
    for name in (shared for shared in left if shared in right):
        unified = schema.slot(name).unify(left[name], right[name])
        if unified is None:
            raise _incompatible(s, t, name, schema)
        values[name] = unified
    ordered = {name: values[name] for name in (OWN_TYPE, *schema.slots) if name in values}
    return Merged(_union_of_members(_members(s), _members(t)), ordered)


def merge(templates: Iterable[TemplateLike], schema: Schema) -> Merged:
    """Return the asserted values of all templates, at least one, unified in any order."""
    first, *rest = templates
    alone = Merged(_members(first), _values(first, schema))
    return reduce(lambda merged, template: unify(merged, template, schema), rest, alone)


def _values(described: TemplateLike, schema: Schema) -> Values:
    return schema.firm(described) if isinstance(described, Template) else described.values


def _members(described: TemplateLike) -> tuple[Template, ...]:
    return (described,) if isinstance(described, Template) else described.members


def _incompatible(s: TemplateLike, t: TemplateLike, name: str, schema: Schema) -> Incompatible:
    names = " and ".join("+".join(member.id for member in _members(x)) for x in (s, t))
    where = f"slot {name}" if name else "sort"
    left, right = (_values(x, schema)[name] for x in (s, t))
    return Incompatible(left, right, f"templates {names} ({where})")


def _union_of_members(
    left: tuple[Template, ...], right: tuple[Template, ...]
) -> tuple[Template, ...]:
    members = {member.id: member for member in left}
    for member in right:
        if members.setdefault(member.id, member) != member:
            raise InputError(f"duplicate template id {member.id}")
    return tuple(sorted(members.values(), key=lambda member: (member.start, member.end, member.id)))

"""The algebra of templates: compatibility, the four-way relation and unification, slot by slot.

(s ⊓ t).x = s.x ⊓ t.x, where a missing slot is nil, the most general value: nil ⊓ v = v.
s ⊑ t (t subsumes s) ⇔ s ⊓ t has the values of s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from partita.core import Template
from partita.errors import Incompatible, InputError
from partita.templates.schema import OWN_TYPE, Schema, Values
from partita.templates.slots import Value

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

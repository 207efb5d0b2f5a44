"""The algebra of templates: compatibility, the four-way relation and unification, slot by slot.

(s ⊓ t).x = s.x ⊓ t.x, where a missing slot is nil, the most general value: nil ⊓ v = v.
s ⊑ t (t subsumes s) ⇔ s ⊓ t says what s says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from partita.errors import Incompatible, InputError
from partita.records import Template
from partita.templates.schema import SORT, Schema, Values
from partita.templates.slots import Value

Relation = Literal["identical", "properly subsumed by", "properly subsumes", "otherwise consistent"]


@dataclass(frozen=True, slots=True)
class Merged:
    """What templates say together, and the templates themselves, in text order."""

    members: tuple[Template, ...]
    values: Values

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(member.id for member in self.members)

    @property
    def sort(self) -> str:
        return str(self.values.get(SORT, ""))

    @property
    def slots(self) -> Mapping[str, Value]:
        return {name: value for name, value in self.values.items() if name != SORT}


Described = Template | Merged


def relation(s: Described, t: Described, schema: Schema) -> Relation:
    """What S is to T; properly subsumed by: T is the more general one."""
    left, right = _values(s, schema), _values(t, schema)
    if left == right:
        return "identical"
    both = unify(s, t, schema).values
    if both == left:
        return "properly subsumed by"
    return "properly subsumes" if both == right else "otherwise consistent"


def unify(s: Described, t: Described, schema: Schema) -> Merged:
    """The most general template that both subsume, with the members of both."""
    left, right = _values(s, schema), _values(t, schema)
    said = {**left, **right}
    for name in (shared for shared in left if shared in right):
        both = schema.slot(name).unify(left[name], right[name])
        if both is None:
            raise _incompatible(s, t, name, schema)
        said[name] = both
    values = {name: said[name] for name in (SORT, *schema.slots) if name in said}
    return Merged(_together(_members(s), _members(t)), values)


def merge(templates: Iterable[Described], schema: Schema) -> Merged:
    """All of them unified, in any order; at least one."""
    first, *rest = templates
    alone = Merged(_members(first), _values(first, schema))
    return reduce(lambda merged, template: unify(merged, template, schema), rest, alone)


def _values(described: Described, schema: Schema) -> Values:
    return schema.values(described) if isinstance(described, Template) else described.values


def _members(described: Described) -> tuple[Template, ...]:
    return (described,) if isinstance(described, Template) else described.members


def _incompatible(s: Described, t: Described, name: str, schema: Schema) -> Incompatible:
    named = " and ".join("+".join(member.id for member in _members(x)) for x in (s, t))
    where = f"slot {name}" if name else "sort"
    left, right = (_values(x, schema)[name] for x in (s, t))
    return Incompatible(left, right, f"templates {named} ({where})")


def _together(left: tuple[Template, ...], right: tuple[Template, ...]) -> tuple[Template, ...]:
    members = {member.id: member for member in left}
    for member in right:
        if members.setdefault(member.id, member) != member:
            raise InputError(f"two different templates are called {member.id}")
    return tuple(sorted(members.values(), key=lambda member: (member.start, member.end, member.id)))

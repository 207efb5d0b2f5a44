"""What templates say, slot by slot, as columns: S ⊑ T (T subsumes S) ⇔ in every slot s ⊑ t.

Nil is the most general value. With a schema its slot types compare; without one a text is
subsumed by itself alone and a list by the lists that it contains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.pairs.interning import NIL, Bools, Column, Places, Sets, interned, sets
from partita.records import Template
from partita.templates.schema import Schema
from partita.templates.slots import compare

Below = Callable[[Places, Places], Bools]


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """One slot of all templates: values by number, and which of two is more specific.

    `table[a, b]` says that value a is subsumed by value b; `lists` are values that are lists.
    """

    values: Column
    table: Bools | None = None
    lists: Sets | None = None

    def equal(self, s: Places, t: Places) -> Bools:
        """Whether both hold the same value, which is not nil."""
        left = self.values[s]
        same: Bools = (left == self.values[t]) & (left != NIL)
        return same

    def below(self, s: Places, t: Places) -> Bools:
        """Whether the value of S is subsumed by that of T."""
        left, right = self.values[s], self.values[t]
        inside: Bools
        if self.table is not None:
            inside = self.table[left, right] & (left != NIL)
        elif self.lists is not None:
            inside = self.lists.common(s, t) == self.lists.size[t]
        else:
            inside = left == right
        nil: Bools = right == NIL
        return inside | nil


def slot_columns(templates: Sequence[Template], schema: Schema | None) -> tuple[Slot, ...]:
    """The slots that any template fills."""
    return _typed(templates, schema) if schema is not None else _plain(templates)


def _typed(templates: Sequence[Template], schema: Schema) -> tuple[Slot, ...]:
    said = [schema.values(template) for template in templates]
    return tuple(_typed_slot(name, said, schema) for name in _names(said))


def _typed_slot(name: str, said: Sequence[Mapping[str, Any]], schema: Schema) -> Slot:
    values = interned([each.get(name) for each in said])
    distinct = list(dict.fromkeys(each[name] for each in said if name in each))
    slot = schema.slot(name)
    narrower = ("identical", "more specific")
    table = [[compare(slot, a, b) in narrower for b in distinct] for a in distinct]
    return Slot(values, np.array(table, dtype=np.bool_))


def _plain(templates: Sequence[Template]) -> tuple[Slot, ...]:
    said = [_content(template) for template in templates]
    return tuple(_plain_slot([each.get(name) for each in said]) for name in _names(said))


def _content(template: Template) -> dict[str, Any]:
    """Sort, head, number and modifiers count as slots; a pronoun, no description, has no head."""
    own = {
        "sort": template.sort,
        "head": "" if template.form == "pronoun" else template.head,
        "number": template.number,
        "modifiers": template.context.get("MODIFIERS"),
    }
    said = {**own, **template.slots}
    return {name: value for name, value in said.items() if value not in (None, "", [], ())}


def _plain_slot(given: Sequence[Any]) -> Slot:
    several = [isinstance(value, list | tuple) for value in given]
    values = interned([_frozen(value) for value in given])
    if not any(several):
        return Slot(values)
    texts = [[] if value is None else _texts(value) for value in given]
    return Slot(values, lists=sets(texts))


def _frozen(value: Any) -> frozenset[str] | str | None:
    if isinstance(value, list | tuple):
        return frozenset(_texts(value))
    return None if value is None else str(value)


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]


def _names(said: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for each in said for name in each))

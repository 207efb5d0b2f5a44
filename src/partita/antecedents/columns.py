"""The properties of templates that decide on reference, as columns with one entry per template."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray, Template
from partita.templates.entity_types import Hierarchy
from partita.templates.name import Name, NameType
from partita.templates.words import symbol

BoolArray = NDArray[np.bool_]

NIL = -1
FORMS = ("pronoun", "definite", "name", "indefinite", "bare", "")
PRONOUN, DEFINITE, NAME = 0, 1, 2
SINGULAR, PLURAL = 1, 2
COLLECTIVE = frozenset({"ORGANIZATION", "ORGANISATION", "COMPANY", "GROUP", "GOVERNMENT"})
FIRST = ("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves")
SECOND = ("you", "your", "yours", "yourself", "yourselves")
HEADINGS = frozenset({"subject", "heading"})


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceColumns:
    """Columns over templates in text order; -1 where a property is unknown.

    `subsumes[s, t]` tells whether type s equals or subsumes type t, both as numbers.
    """

    start: IntArray
    end: IntArray
    sentence: IntArray
    in_heading: BoolArray
    form: IntArray
    head: IntArray
    number: IntArray
    count: IntArray
    person: IntArray
    gender: IntArray
    speaker: IntArray
    reflexive: BoolArray
    type: IntArray
    subsumes: BoolArray
    collective: BoolArray
    modifiers: tuple[frozenset[str], ...]
    names: tuple[Name | None, ...]

    def __len__(self) -> int:
        return len(self.start)


def reference_columns(
    templates: Sequence[Template], types: Hierarchy | None = None
) -> ReferenceColumns:
    """Return the columns of templates."""
    entity_type, names = number_values(symbol(t.type) for t in templates)
    return ReferenceColumns(
        start=_integers(t.start for t in templates),
        end=_integers(max(t.start, t.end) for t in templates),
        sentence=_integers(t.sentence for t in templates),
        in_heading=np.array([t.region in HEADINGS for t in templates], dtype=np.bool_),
        form=_integers(FORMS.index(t.form) for t in templates),
        head=number_values(t.head.casefold() for t in templates)[0],
        number=_integers(map(grammatical_number, templates)),
        count=_integers(t.number if isinstance(t.number, int) else NIL for t in templates),
        person=_integers(map(person, templates)),
        gender=number_values(str(t.context.get("GENDER", "")).casefold() for t in templates)[0],
        speaker=number_values(str(t.context.get("SPEAKER", "")) for t in templates)[0],
        reflexive=np.array([_reflexive(t) for t in templates], dtype=np.bool_),
        type=entity_type,
        subsumes=_subsumption(names, types),
        collective=np.array([symbol(t.type) in COLLECTIVE for t in templates], dtype=np.bool_),
        modifiers=tuple(modifier_set(t) for t in templates),
        names=tuple(template_name(t) for t in templates),
    )


def number_values(values: Iterable[Hashable]) -> tuple[IntArray, list[Hashable]]:
    """Return a number for each distinct value, -1 for an empty one, and the distinct values."""
    numbers: dict[Hashable, int] = {}
    column = [numbers.setdefault(value, len(numbers)) if value else NIL for value in values]
    return np.array(column, dtype=np.int64), list(numbers)


def _integers(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)


def grammatical_number(template: Template) -> int:
    """Return singular, plural or -1; a count such as 12 is plural."""
    if isinstance(template.number, int):
        return SINGULAR if template.number == 1 else PLURAL
    return {"singular": SINGULAR, "plural": PLURAL}.get(template.number or "", NIL)


def person(template: Template) -> int:
    """Return the person of a pronoun, 1 to 3, and -1 for any other expression."""
    if template.form != "pronoun":
        return NIL
    if (value := str(template.context.get("PERSON", ""))) in ("1", "2", "3"):
        return int(value)
    word = template.text.casefold() or template.head.casefold()
    return 1 if word in FIRST else 2 if word in SECOND else 3


def modifier_set(template: Template) -> frozenset[str]:
    value = template.context.get("MODIFIERS", ())
    words = [value] if isinstance(value, str) else value
    return frozenset(str(word).casefold() for word in words)


def template_name(template: Template) -> Name | None:
    """Return the NAME slot, or else the text of an expression that is a name."""
    value = template.slots.get("NAME") or (template.text if template.form == "name" else "")
    return NameType().read(value) if value else None


def _reflexive(template: Template) -> bool:
    word = template.head.casefold() or template.text.casefold()
    return template.form == "pronoun" and (
        bool(template.context.get("REFLEXIVE")) or word.endswith(("self", "selves"))
    )


def _subsumption(names: Sequence[Hashable], types: Hierarchy | None) -> BoolArray:
    table = np.eye(len(names), dtype=np.bool_)
    if types is not None:
        for g, general in enumerate(names):
            for s, special in enumerate(names):
                if general in types and special in types:
                    table[g, s] = types.subsumes(str(general), str(special))
    return table

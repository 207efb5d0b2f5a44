"""What the reference module knows of each template, as columns: one number for each template."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.records import IntArray, Template
from partita.templates.name import Name, NameType
from partita.templates.sorts import Hierarchy
from partita.templates.words import symbol

BoolArray = NDArray[np.bool_]

NIL = -1
FORMS = ("pronoun", "definite", "name", "indefinite", "bare", "")
PRONOUN, DEFINITE, NAME = 0, 1, 2
SINGULAR, PLURAL = 1, 2
COLLECTIVE = frozenset({"ORGANIZATION", "ORGANISATION", "COMPANY", "GROUP", "GOVERNMENT"})
FIRST = ("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves")
SECOND = ("you", "your", "yours", "yourself", "yourselves")
OVERHEAD = frozenset({"subject", "heading"})


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Columns over templates in text order; −1 where a template says nothing."""

    start: IntArray
    end: IntArray
    sentence: IntArray
    overhead: BoolArray
    form: IntArray
    head: IntArray
    number: IntArray
    counted: IntArray
    person: IntArray
    gender: IntArray
    speaker: IntArray
    reflexive: BoolArray
    sort: IntArray
    fits: BoolArray
    collective: BoolArray
    modifiers: tuple[frozenset[str], ...]
    names: tuple[Name | None, ...]

    def __len__(self) -> int:
        return len(self.start)


def kinds(templates: Sequence[Template], sorts: Hierarchy | None = None) -> Kinds:
    """The columns; `fits[s, t]` says that sort s equals or subsumes sort t (numbers of sorts)."""
    sort, names = numbered(symbol(t.sort) for t in templates)
    return Kinds(
        start=_whole(t.start for t in templates),
        end=_whole(max(t.start, t.end) for t in templates),
        sentence=_whole(t.sentence for t in templates),
        overhead=np.array([t.region in OVERHEAD for t in templates], dtype=np.bool_),
        form=_whole(FORMS.index(t.form) for t in templates),
        head=numbered(t.head.casefold() for t in templates)[0],
        number=_whole(map(number, templates)),
        counted=_whole(t.number if isinstance(t.number, int) else NIL for t in templates),
        person=_whole(map(person, templates)),
        gender=numbered(str(t.context.get("GENDER", "")).casefold() for t in templates)[0],
        speaker=numbered(str(t.context.get("SPEAKER", "")) for t in templates)[0],
        reflexive=np.array([_reflexive(t) for t in templates], dtype=np.bool_),
        sort=sort,
        fits=_fits(names, sorts),
        collective=np.array([symbol(t.sort) in COLLECTIVE for t in templates], dtype=np.bool_),
        modifiers=tuple(modifiers(t) for t in templates),
        names=tuple(named(t) for t in templates),
    )


def numbered(values: Iterable[Hashable]) -> tuple[IntArray, list[Hashable]]:
    """A number for each different value, −1 for what is empty; and the values."""
    seen: dict[Hashable, int] = {}
    found = [seen.setdefault(value, len(seen)) if value else NIL for value in values]
    return np.array(found, dtype=np.int64), list(seen)


def _whole(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)


def number(template: Template) -> int:
    """Singular, plural or −1: 12 is plural."""
    if isinstance(template.number, int):
        return SINGULAR if template.number == 1 else PLURAL
    return {"singular": SINGULAR, "plural": PLURAL}.get(template.number or "", NIL)


def person(template: Template) -> int:
    """Of a pronoun: 1, 2 or 3; −1 of everything else."""
    if template.form != "pronoun":
        return NIL
    if (given := str(template.context.get("PERSON", ""))) in ("1", "2", "3"):
        return int(given)
    word = template.text.casefold() or template.head.casefold()
    return 1 if word in FIRST else 2 if word in SECOND else 3


def modifiers(template: Template) -> frozenset[str]:
    given = template.context.get("MODIFIERS", ())
    several = [given] if isinstance(given, str) else given
    return frozenset(str(word).casefold() for word in several)


def named(template: Template) -> Name | None:
    """The NAME slot; else, of an expression that is a name, its text."""
    given = template.slots.get("NAME") or (template.text if template.form == "name" else "")
    return NameType().read(given) if given else None


def _reflexive(template: Template) -> bool:
    word = template.head.casefold() or template.text.casefold()
    return template.form == "pronoun" and (
        bool(template.context.get("REFLEXIVE")) or word.endswith(("self", "selves"))
    )


def _fits(names: Sequence[Hashable], sorts: Hierarchy | None) -> BoolArray:
    table = np.eye(len(names), dtype=np.bool_)
    if sorts is not None:
        for g, general in enumerate(names):
            for s, special in enumerate(names):
                if general in sorts and special in sorts:
                    table[g, s] = sorts.subsumes(str(general), str(special))
    return table

"""Templates of one document as columns: every text a number, so that pairs are compared in bulk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from partita.errors import InputError
from partita.pairs import readings
from partita.pairs.antecedents import Listed, listed
from partita.pairs.interning import NIL, Bools, Column, Sets, classed, interned, sets
from partita.pairs.slots import Slot, slot_columns
from partita.records import Form, Template
from partita.templates.schema import Schema

FORMS: tuple[str, ...] = tuple(form for form in get_args(Form) if form)
REGIONS = ("text", "heading", "subject", "table")
ROLES = ("subject", "object", "oblique", "possessive", "apposition")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """One entry for each template, in text order; NIL (−1) where nothing is known.

    `frequency` is how many templates have the same head. `rivals[k, j]` is how many of the first j
    templates are of kind k; `previous` and `previous_head` are the nearest earlier template of
    the same kind and of the same head.
    """

    templates: tuple[Template, ...]
    ids: tuple[str, ...]
    slots: tuple[Slot, ...]
    antecedents: Listed
    start: Column
    end: Column
    sentence: Column
    form: Column
    region: Column
    sort: Column
    head: Column
    head_bit: Column
    number: Column
    name: Column
    name_words: Sets
    compact: Column
    initials: Column
    text: Column
    words: Sets
    modifiers: Sets
    person: Column
    gender: Column
    speaker: Column
    role: Column
    pronoun: Column
    determiner: Column
    length: Column
    frequency: Column
    apposition: Column
    copula: Column
    kind: Column
    rivals: Column
    previous: Column
    previous_head: Column

    def __len__(self) -> int:
        return len(self.ids)


def columns(
    templates: Sequence[Template], *, schema: Schema | None = None, compatible: Bools | None = None
) -> Columns:
    """The columns of a document's templates, which are in text order.

    `schema` gives the slot types; `compatible` says which two templates may corefer, and without
    it those of one sort and number are taken to be rivals for each other.
    """
    ids = tuple(template.id for template in templates)
    if len(set(ids)) < len(ids):
        raise InputError(f"two templates are called {Counter(ids).most_common(1)[0][0]}")
    heads = interned(map(readings.head, templates))
    words = sets([readings.words(template) for template in templates])
    names = [readings.name(template) for template in templates]
    compact, initials = _short(names)
    kind, rivals = _rivals(templates, compatible)
    return Columns(
        templates=tuple(templates),
        ids=ids,
        slots=slot_columns(templates, schema),
        antecedents=listed(templates),
        start=_whole(template.start for template in templates),
        end=_whole(max(template.end, template.start) for template in templates),
        sentence=_whole(template.sentence for template in templates),
        form=classed((t.form for t in templates), FORMS, len(FORMS)),
        region=classed((t.region for t in templates), REGIONS, len(REGIONS)),
        sort=interned(template.sort for template in templates),
        head=heads,
        head_bit=words.bit_of(map(readings.head, templates)),
        number=interned(map(readings.number, templates)),
        name=interned(names),
        name_words=sets([readings.name_words(name) for name in names]),
        compact=compact,
        initials=initials,
        text=interned(template.text.casefold() for template in templates),
        words=words,
        modifiers=sets([readings.texts(t.context.get("MODIFIERS")) for t in templates]),
        person=_slot(templates, "PERSON", ("1", "2", "3")),
        gender=interned(str(t.context.get("GENDER", "")) for t in templates),
        speaker=interned(str(t.context.get("SPEAKER", "")) for t in templates),
        role=_slot(templates, "ROLE", ROLES),
        pronoun=_whole(map(readings.pronoun, templates)),
        determiner=_whole(map(readings.determiner, templates)),
        length=_whole(len(readings.all_words(template)) for template in templates),
        frequency=_frequency(heads),
        apposition=_target(templates, ids, "APPOSITION_OF"),
        copula=_target(templates, ids, "COPULA_OF"),
        kind=kind,
        rivals=rivals,
        previous=_previous_rival(kind, rivals),
        previous_head=_previous(heads),
    )


def _whole(values: Iterable[int]) -> Column:
    return np.fromiter(values, dtype=np.int32)


def _slot(templates: Sequence[Template], name: str, classes: Sequence[str]) -> Column:
    return classed((t.context.get(name) for t in templates), classes, len(classes))


def _short(names: Sequence[str]) -> tuple[Column, Column]:
    """Short names and the initials of long ones under common numbers, so that they can meet."""
    both = interned([*map(readings.compact, names), *map(readings.initials, names)])
    return both[: len(names)], both[len(names) :]


def _frequency(heads: Column) -> Column:
    counts = np.bincount(heads[heads != NIL], minlength=1)
    return np.where(heads == NIL, 1, counts[heads]).astype(np.int32)


def _target(templates: Sequence[Template], ids: Sequence[str], name: str) -> Column:
    place = {each: n for n, each in enumerate(ids)}
    return _whole(place.get(str(t.context.get(name, "")), NIL) for t in templates)


def _rivals(templates: Sequence[Template], compatible: Bools | None) -> tuple[Column, Column]:
    """The kind of each template, and for each kind how many of it are among the first j."""
    if compatible is not None:
        kind, member = np.arange(len(templates), dtype=np.int32), compatible
    else:
        kind = interned((t.sort, readings.number(t)) for t in templates)
        member = kind[None, :] == np.arange(kind.max(initial=-1) + 1)[:, None]
    counts = np.zeros((len(member), len(templates) + 1), dtype=np.int32)
    np.cumsum(member, axis=1, out=counts[:, 1:])
    return kind, counts


def _previous_rival(kind: Column, rivals: Column) -> Column:
    """The last template before each one that its kind counts."""
    found = np.full(len(kind), NIL, dtype=np.int32)
    for t, k in enumerate(kind.tolist()):
        if (row := rivals[k])[t]:
            found[t] = np.searchsorted(row, row[t]) - 1
    return found


def _previous(values: Column) -> Column:
    last: dict[int, int] = {}
    found = []
    for place, value in enumerate(values.tolist()):
        found.append(NIL if value == NIL else last.get(value, NIL))
        last[value] = place
    return np.array(found, dtype=np.int32)

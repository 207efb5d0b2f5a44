"""The templates of a document as integer columns, so that pairs are compared in bulk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.pairs import readings
from partita.pairs.readings import NIL, Bools, Codes, Column, Places, Sets, classed, interned, sets
from partita.records import Form, Template
from partita.templates.schema import Schema
from partita.templates.slots import compare

UNLISTED, POSSIBLE, PREFERRED = range(3)
TABLE = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Pairs that are listed, as S·n + T in order, with their codes; or all pairs in a table."""

    size: int
    keys: NDArray[np.int64]
    codes: Codes
    table: Codes | None

    def of(self, s: Places, t: Places) -> Codes:
        if self.table is not None:
            return self.table[s, t]
        if not len(self.keys):
            return np.zeros(len(s), dtype=np.uint8)
        wanted = s * self.size + t
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, self.codes[at], UNLISTED).astype(np.uint8)


def listed(templates: Sequence[Template]) -> Listed:
    """All antecedents that the templates name among themselves, with the chains of preferred ones.

    A later template is S nowhere: what is said of two counts for the pair in text order.
    """
    n = len(templates)
    place = {template.id: k for k, template in enumerate(templates)}
    found: dict[int, int] = {}
    chains: list[set[int]] = [set() for _ in templates]
    for t in _backwards_last(templates, place):
        for one in templates[t].antecedents:
            if (s := place.get(one.id)) is None or s == t:
                continue
            key = min(s, t) * n + max(s, t)
            found[key] = max(found.get(key, UNLISTED), POSSIBLE)
            if one.preferred:
                chains[t] |= {s} | chains[s]
        for s in chains[t] - {t}:
            found[min(s, t) * n + max(s, t)] = PREFERRED
    return _listed(n, found)


def _backwards_last(templates: Sequence[Template], place: dict[str, int]) -> list[int]:
    """Templates after their own preferred antecedents, which a heading may have below it."""
    order: list[int] = []
    state = [0] * len(templates)
    for root in range(len(templates)):
        waiting = [root]
        while waiting:
            here = waiting[-1]
            if state[here] == 0:
                state[here] = 1
                waiting += [k for k in _preferred(templates[here], place) if state[k] == 0]
            else:
                waiting.pop()
                if state[here] == 1:
                    state[here] = 2
                    order.append(here)
    return order


def _preferred(template: Template, place: dict[str, int]) -> list[int]:
    return [place[one.id] for one in template.antecedents if one.preferred and one.id in place]


def _listed(n: int, found: dict[int, int]) -> Listed:
    keys = np.array(sorted(found), dtype=np.int64)
    codes = np.array([found[key] for key in keys.tolist()], dtype=np.uint8)
    table = None
    if n <= TABLE:
        table = np.zeros((n, n), dtype=np.uint8)
        table[keys // max(n, 1), keys % max(n, 1)] = codes
    return Listed(n, keys, codes, table)


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

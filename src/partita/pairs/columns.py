"""The templates of a document as integer columns, for comparing pairs in bulk.

Strings are derived from the templates and numbered for use in columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from partita.core import Form, Template
from partita.errors import InputError
from partita.templates.name import NameType, PlaceType
from partita.templates.quantities import DateType, MeasureType, MoneyType
from partita.templates.schema import Schema
from partita.templates.slots import SlotType, StringsType, compare

NIL = -1

Column = NDArray[np.int32]
Codes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Places = NDArray[np.intp]


def intern_values(values: Iterable[Hashable | None]) -> Column:
    """Return the number of each value by first occurrence; NIL for None and empty strings."""
    first: dict[Hashable, int] = {}
    numbers = [
        NIL if value is None or value == "" else first.setdefault(value, len(first))
        for value in values
    ]
    return np.array(numbers, dtype=np.int32)


def class_indices(values: Iterable[object], classes: Sequence[str], other: int) -> Column:
    """Return the index of each value among the classes, `other` for values outside them."""
    place = {name: n for n, name in enumerate(classes)}
    return np.array([place.get(str(value), other) for value in values], dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class StringSets:
    """A set of strings per template: its size, and bits for strings in more than one set."""

    size: Column
    bits: NDArray[np.uint64]
    place: dict[str, int]

    def common(self, s: Places, t: Places) -> Column:
        """Return the number of strings that two sets share."""
        common = np.zeros(len(s), dtype=np.int32)
        for block in self.bits:
            common += np.bitwise_count(block[s] & block[t])
        return common

    def holds(self, sets: Places, bit: Column) -> Bools:
        """Return whether a set holds the string of a bit; NIL is in none."""
        if not len(self.bits):
            return np.zeros(len(sets), dtype=np.bool_)
        block = self.bits[np.maximum(bit, 0) >> 6, sets]
        inside = (block >> (np.maximum(bit, 0) & 63).astype(np.uint64)) & np.uint64(1)
        held: Bools = (bit != NIL) & (inside == 1)
        return held

    def bit_of(self, strings: Iterable[str]) -> Column:
        """Return the bits of strings, NIL for strings that no two sets share."""
        return np.array([self.place.get(string, NIL) for string in strings], dtype=np.int32)


def string_sets(members: Sequence[Collection[str]]) -> StringSets:
    """Return the collections as sets with bits."""
    distinct = [set(each) for each in members]
    counts = Counter(string for each in distinct for string in each)
    shared = sorted(string for string, times in counts.items() if times > 1)
    place = {string: n for n, string in enumerate(shared)}
    bits = np.zeros((-(-len(shared) // 64), len(members)), dtype=np.uint64)
    for owner, each in enumerate(distinct):
        for bit in (place[string] for string in each if string in place):
            bits[bit >> 6, owner] |= np.uint64(1 << (bit & 63))
    return StringSets(np.array([len(each) for each in distinct], dtype=np.int32), bits, place)


PRONOUNS = (
    "i me my mine myself",
    "we us our ours ourselves",
    "you your yours yourself yourselves",
    "he him his himself",
    "she her hers herself",
    "it its itself",
    "they them their theirs themselves themself",
    "this that these those",
    "who whom whose which",
)
DETERMINERS = (
    "the",
    "a an",
    "this that these those",
    "my your his her its our their whose",
    "no any every each all some",
)

_WORD = re.compile(r"\w+")
_FUNCTION_WORDS = frozenset(
    re.findall(_WORD, "the a an this that these those of and in on at for to with by s")
)


def group_numbers(groups: Iterable[str]) -> dict[str, int]:
    """Return the group number of each word."""
    return {word: n for n, group in enumerate(groups) for word in group.split()}


PRONOUN_GROUP = group_numbers(PRONOUNS)
DETERMINER_GROUP = group_numbers(DETERMINERS)
ORDINALS = (
    "first 1st",
    "another other others further additional second 2nd new different separate else",
    "third 3rd",
    "fourth 4th fifth 5th sixth 6th",
)  # which of several things an expression means; all but the first tell it from earlier ones
ORDINAL_GROUP = group_numbers(ORDINALS)
OPENING_WORDS = 3  # of an expression, among which an ordinal is: "the two other depots"


def _head_word(template: Template) -> str:
    """Return the head, or else the last word of the expression."""
    if template.head:
        return template.head.casefold()
    return next(reversed(_all_words(template)), "")


def _all_words(template: Template) -> list[str]:
    """Return the words of the expression, or of the name if there is none."""
    if listed := template.context.get("WORDS"):
        return [str(word).casefold() for word in listed]
    return _name_words(template.text or _name_of(template))


def _content_words(template: Template) -> set[str]:
    """Return the content words, and the head in its own form."""
    if template.form == "pronoun":
        return set()
    return ({*_all_words(template), _head_word(template)} - _FUNCTION_WORDS) - {""}


def _name_of(template: Template) -> str:
    value = template.slots.get("NAME", "")
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return " ".join(text.casefold().split())


def _name_words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _compact(text: str) -> str:
    """Return a short one-word name without full stops (u.s. gives us), or an empty string."""
    joined = "".join(_WORD.findall(text))
    return joined if " " not in text and 2 <= len(joined) <= 6 else ""


def _initials(text: str) -> str:
    """Return the initials of a name of several words, function words left out."""
    letters = [word[0] for word in _WORD.findall(text) if word not in _FUNCTION_WORDS]
    return "".join(letters) if len(letters) > 1 else ""


def _pronoun(template: Template) -> int:
    """Return the group of a pronoun; the next number for others, one more for no pronoun."""
    if template.form != "pronoun":
        return len(PRONOUNS) + 1
    return PRONOUN_GROUP.get(template.head.casefold(), len(PRONOUNS))


def _determiner(template: Template) -> int:
    """Return the group of the determiner; the next number for others, one more for none."""
    word = str(template.context.get("DETERMINER", "")).casefold()
    if not word:
        return len(DETERMINERS) + 1
    return DETERMINER_GROUP.get(word, len(DETERMINERS))


def _ordinal(template: Template) -> int:
    """Return the group of the ordinal before the head, NIL without one or in a name."""
    if template.form in ("pronoun", "name"):
        return NIL
    words = _all_words(template)[:OPENING_WORDS]
    return next((ORDINAL_GROUP[word] for word in words if word in ORDINAL_GROUP), NIL)


def template_number(template: Template) -> str | None:
    """Return singular or plural, also of a count."""
    if isinstance(template.number, int):
        return "singular" if template.number == 1 else "plural"
    return template.number or None


def _slot_texts(value: object) -> list[str]:
    """Return a slot's value as a list of texts."""
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return [] if value in (None, "") else [str(value)]


UNLISTED, POSSIBLE, PREFERRED = range(3)


def antecedent_table(templates: Sequence[Template]) -> Codes:
    """Return the codes of all pairs of a document, with chains of preferred antecedents.

    The pair is recorded in text order, whichever template names the other.
    """
    n = len(templates)
    place = {template.id: k for k, template in enumerate(templates)}
    codes = np.full((n, n), UNLISTED, dtype=np.uint8)
    chains: list[set[int]] = [set() for _ in templates]
    for t in _antecedents_first(templates, place):
        for antecedent in templates[t].antecedents:
            if (s := place.get(antecedent.id)) is None or s == t:
                continue
            pair = min(s, t), max(s, t)
            codes[pair] = max(codes[pair], POSSIBLE)
            if antecedent.preferred:
                chains[t] |= {s} | chains[s]
        for s in chains[t] - {t}:
            codes[min(s, t), max(s, t)] = PREFERRED
    return codes


def _antecedents_first(templates: Sequence[Template], place: dict[str, int]) -> list[int]:
    """Return the templates ordered after their preferred antecedents."""
    order: list[int] = []
    state = [0] * len(templates)
    for root in range(len(templates)):
        waiting = [root]
        while waiting:
            n = waiting[-1]
            if state[n] == 0:
                state[n] = 1
                waiting += [k for k in _preferred(templates[n], place) if state[k] == 0]
            else:
                waiting.pop()
                if state[n] == 1:
                    state[n] = 2
                    order.append(n)
    return order


def _preferred(template: Template, place: dict[str, int]) -> list[int]:
    return [
        place[antecedent.id]
        for antecedent in template.antecedents
        if antecedent.preferred and antecedent.id in place
    ]


@dataclass(frozen=True, slots=True, eq=False)
class SlotColumn:
    """One slot of all templates: values by number, and which values subsume others.

    `table[a, b]` tells that value b subsumes value a; `lists` holds values that are lists. `kind`
    says what equal values mean: the same place, name, code or quantity.
    """

    values: Column
    table: Bools | None = None
    lists: StringSets | None = None
    kind: str = ""

    def equal(self, s: Places, t: Places) -> Bools:
        """Return whether both hold the same value other than nil."""
        left = self.values[s]
        same: Bools = (left == self.values[t]) & (left != NIL)
        return same

    def below(self, s: Places, t: Places) -> Bools:
        """Return whether the value of T subsumes that of S."""
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


def slot_columns(templates: Sequence[Template], schema: Schema | None) -> tuple[SlotColumn, ...]:
    """Return the slots that any template fills."""
    return _typed(templates, schema) if schema is not None else _plain(templates)


def _typed(templates: Sequence[Template], schema: Schema) -> tuple[SlotColumn, ...]:
    values = [schema.values(template) for template in templates]
    return tuple(_typed_slot(name, values, schema) for name in _names(values))


def _typed_slot(name: str, rows: Sequence[Mapping[str, Any]], schema: Schema) -> SlotColumn:
    values = intern_values([row.get(name) for row in rows])
    distinct = list(dict.fromkeys(row[name] for row in rows if name in row))
    slot = schema.slot(name)
    narrower = ("identical", "more specific")
    table = [[compare(slot, a, b) in narrower for b in distinct] for a in distinct]
    return SlotColumn(values, np.array(table, dtype=np.bool_), kind=_kind(slot))


def _kind(slot: SlotType[Any]) -> str:
    if isinstance(slot, StringsType):
        return "" if slot.several else "code"
    return next((kind for types, kind in _KINDS if isinstance(slot, types)), "")


_KINDS: tuple[tuple[Any, str], ...] = (
    (PlaceType, "place"),
    (NameType, "name"),
    (DateType | MeasureType | MoneyType, "quantity"),
)


def _plain(templates: Sequence[Template]) -> tuple[SlotColumn, ...]:
    rows = [_content(template) for template in templates]
    return tuple(
        _plain_slot([row.get(name) for row in rows], "name" if name == "NAME" else "")
        for name in _names(rows)
    )


def _content(template: Template) -> dict[str, Any]:
    """Return slots with type, head, number and modifiers among them; a pronoun has no head."""
    properties = {
        "sort": template.type,
        "head": "" if template.form == "pronoun" else template.head,
        "number": template.number,
        "modifiers": template.context.get("MODIFIERS"),
    }
    content = {**properties, **template.slots}
    return {name: value for name, value in content.items() if value not in (None, "", [], ())}


def _plain_slot(column: Sequence[Any], kind: str = "") -> SlotColumn:
    lists = [isinstance(value, list | tuple) for value in column]
    values = intern_values([_frozen(value) for value in column])
    if not any(lists):
        return SlotColumn(values, kind=kind)
    sets = string_sets([_slot_texts(value) for value in column])
    return SlotColumn(values, lists=sets, kind=kind)


def _frozen(value: Any) -> frozenset[str] | str | None:
    if isinstance(value, list | tuple):
        return frozenset(_slot_texts(value))
    return None if value is None else str(value)


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


FORMS: tuple[str, ...] = tuple(form for form in get_args(Form) if form)
REGIONS = ("text", "heading", "subject", "table")
ROLES = ("subject", "object", "oblique", "possessive", "apposition")


@dataclass(frozen=True, slots=True, eq=False)
class TemplateColumns:
    """Columns with one entry per template, in text order; NIL (-1) where unknown.

    `frequency` counts the templates with the same head. `rivals[k, j]` counts those of kind k
    among the first j; `previous` and `previous_head` are the nearest earlier template of the same
    kind and of the same head.
    """

    templates: tuple[Template, ...]
    ids: tuple[str, ...]
    slots: tuple[SlotColumn, ...]
    antecedents: Codes
    start: Column
    end: Column
    sentence: Column
    form: Column
    region: Column
    type: Column
    head: Column
    head_bit: Column
    number: Column
    name: Column
    name_words: StringSets
    compact: Column
    initials: Column
    text: Column
    words: StringSets
    modifiers: StringSets
    person: Column
    gender: Column
    speaker: Column
    role: Column
    pronoun: Column
    determiner: Column
    ordinal: Column
    count: Column
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


def template_columns(
    templates: Sequence[Template], *, schema: Schema | None = None, compatible: Bools | None = None
) -> TemplateColumns:
    """Return the columns of a document's templates, given in text order.

    `schema` gives the slot types. `compatible` tells which two templates may corefer; without it,
    templates of the same type and number count as rivals.
    """
    ids = tuple(template.id for template in templates)
    if len(set(ids)) < len(ids):
        raise InputError(f"duplicate template id {Counter(ids).most_common(1)[0][0]}")
    heads = intern_values(map(_head_word, templates))
    words = string_sets([_content_words(template) for template in templates])
    names = [_name_of(template) for template in templates]
    compact, initials = _abbreviations(names)
    kind, rivals = _rivals(templates, compatible)
    return TemplateColumns(
        templates=tuple(templates),
        ids=ids,
        slots=slot_columns(templates, schema),
        antecedents=antecedent_table(templates),
        start=_integers(template.start for template in templates),
        end=_integers(max(template.end, template.start) for template in templates),
        sentence=_integers(template.sentence for template in templates),
        form=class_indices((t.form for t in templates), FORMS, len(FORMS)),
        region=class_indices((t.region for t in templates), REGIONS, len(REGIONS)),
        type=intern_values(template.type for template in templates),
        head=heads,
        head_bit=words.bit_of(map(_head_word, templates)),
        number=intern_values(map(template_number, templates)),
        name=intern_values(names),
        name_words=string_sets([_name_words(name) for name in names]),
        compact=compact,
        initials=initials,
        text=intern_values(template.text.casefold() for template in templates),
        words=words,
        modifiers=string_sets([_slot_texts(t.context.get("MODIFIERS")) for t in templates]),
        person=_slot(templates, "PERSON", ("1", "2", "3")),
        gender=intern_values(str(t.context.get("GENDER", "")) for t in templates),
        speaker=intern_values(str(t.context.get("SPEAKER", "")) for t in templates),
        role=_slot(templates, "ROLE", ROLES),
        pronoun=_integers(map(_pronoun, templates)),
        determiner=_integers(map(_determiner, templates)),
        ordinal=_integers(map(_ordinal, templates)),
        count=intern_values(t.number if isinstance(t.number, int) else None for t in templates),
        length=_integers(len(_all_words(template)) for template in templates),
        frequency=_frequency(heads),
        apposition=_target(templates, ids, "APPOSITION_OF"),
        copula=_target(templates, ids, "COPULA_OF"),
        kind=kind,
        rivals=rivals,
        previous=_previous_rival(kind, rivals),
        previous_head=_previous(heads),
    )


def _integers(values: Iterable[int]) -> Column:
    return np.fromiter(values, dtype=np.int32)


def _slot(templates: Sequence[Template], name: str, classes: Sequence[str]) -> Column:
    return class_indices((t.context.get(name) for t in templates), classes, len(classes))


def _abbreviations(names: Sequence[str]) -> tuple[Column, Column]:
    """Return short names and the initials of long ones, numbered together for comparison."""
    numbers = intern_values([*map(_compact, names), *map(_initials, names)])
    return numbers[: len(names)], numbers[len(names) :]


def _frequency(heads: Column) -> Column:
    counts = np.bincount(heads[heads != NIL], minlength=1)
    return np.where(heads == NIL, 1, counts[heads]).astype(np.int32)


def _target(templates: Sequence[Template], ids: Sequence[str], name: str) -> Column:
    place = {each: n for n, each in enumerate(ids)}
    return _integers(place.get(str(t.context.get(name, "")), NIL) for t in templates)


def _rivals(templates: Sequence[Template], compatible: Bools | None) -> tuple[Column, Column]:
    """Return the kind of each template, and the count of each kind among the first j."""
    if compatible is not None:
        kind, member = np.arange(len(templates), dtype=np.int32), compatible
    else:
        kind = intern_values((t.type, template_number(t)) for t in templates)
        member = kind[None, :] == np.arange(kind.max(initial=-1) + 1)[:, None]
    counts = np.zeros((len(member), len(templates) + 1), dtype=np.int32)
    np.cumsum(member, axis=1, out=counts[:, 1:])
    return kind, counts


def _previous_rival(kind: Column, rivals: Column) -> Column:
    """Return the nearest earlier template of each template's kind."""
    previous = np.full(len(kind), NIL, dtype=np.int32)
    for t, k in enumerate(kind.tolist()):
        if (row := rivals[k])[t]:
            previous[t] = np.searchsorted(row, row[t]) - 1
    return previous


def _previous(values: Column) -> Column:
    last: dict[int, int] = {}
    previous = []
    for place, value in enumerate(values.tolist()):
        previous.append(NIL if value == NIL else last.get(value, NIL))
        last[value] = place
    return np.array(previous, dtype=np.int32)

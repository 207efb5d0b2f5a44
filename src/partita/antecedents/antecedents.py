"""Find the antecedents of definite expressions, after Kameyama (1997).

The properties of templates that decide on reference are columns with one entry per template.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.core import Antecedent, IntArray, Template
from partita.templates.entity_types import Hierarchy
from partita.templates.name import Name, NameType
from partita.templates.slots import symbol

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
    said: tuple[frozenset[str], ...]  # modifiers, and the words of text slots
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
        said=tuple(modifier_set(t) | _slot_words(t) for t in templates),
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


def _slot_words(template: Template) -> frozenset[str]:
    """Return the words of slots: a depot that is in Rosta agrees with "the Rosta depot"."""
    texts = (value for value in template.slots.values() if isinstance(value, str))
    return frozenset(word for text in texts for word in text.casefold().split())


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


def admissible(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> IntArray:
    """Return the candidates that agree with the anaphor, in the given order."""
    form = columns.form[anaphor]
    if form == NAME:
        return _aliases(columns, anaphor, candidates)
    left = candidates[_agree(columns, anaphor, candidates)]
    if form == PRONOUN:
        return left[_pronoun_agrees(columns, anaphor, left)]
    return _same_modifiers(columns, anaphor, left[_definite_agrees(columns, anaphor, left)])


def _agree(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> BoolArray:
    return _number_agrees(columns, anaphor, candidates) & _type_agrees(columns, anaphor, candidates)


def _number_agrees(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> BoolArray:
    """Return which candidates agree in number.

    An unknown number agrees with any; plural pronouns also agree with organisations. Two counts
    must be equal.
    """
    number, count = columns.number[anaphor], columns.count[anaphor]
    numbers, counts = columns.number[candidates], columns.count[candidates]
    agree: BoolArray = (numbers == number) | (numbers == NIL) | (number == NIL)
    if number == PLURAL and columns.form[anaphor] == PRONOUN:
        agree |= columns.collective[candidates]
    same: BoolArray = (counts == count) | (counts == NIL) | (count == NIL)
    return agree & same


def _type_agrees(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> BoolArray:
    """Return which candidates have a type that the anaphor's type subsumes, or an unknown one."""
    entity_type, types = columns.type[anaphor], columns.type[candidates]
    if entity_type == NIL:
        return np.ones(len(candidates), dtype=np.bool_)
    return np.where(types == NIL, True, columns.subsumes[entity_type, types])


def _pronoun_agrees(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> BoolArray:
    """Return which candidates agree in person and gender.

    The first and second person refer only to pronouns of the same speaker.
    """
    person = columns.person[anaphor]
    persons = columns.person[candidates]
    gender, genders = columns.gender[anaphor], columns.gender[candidates]
    agree: BoolArray = (genders == gender) | (genders == NIL) | (gender == NIL)
    if person in (1, 2):
        speakers, speaker = columns.speaker[candidates], columns.speaker[anaphor]
        same: BoolArray = (persons == person) & (speakers == speaker)
    else:
        same = (persons == 3) | (persons == NIL)
    return agree & same


def _definite_agrees(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> BoolArray:
    """Return which candidates have the same head, or none: names and third-person pronouns."""
    heads, head = columns.head[candidates], columns.head[anaphor]
    forms, persons = columns.form[candidates], columns.person[candidates]
    headless: BoolArray = (forms == NAME) | ((forms == PRONOUN) & (persons == 3))
    same: BoolArray = (heads == head) | (heads == NIL) | (head == NIL)
    return headless | same


def _same_modifiers(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> IntArray:
    """Return the candidates whose modifiers include the anaphor's, or the reverse."""
    modifiers = columns.modifiers[anaphor]
    agree = [
        modifiers <= columns.said[n] or columns.modifiers[n] <= modifiers or columns.form[n] == NAME
        for n in candidates.tolist()
    ]
    return candidates[np.array(agree, dtype=np.bool_)]


def _aliases(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> IntArray:
    """Return the names of a compatible type that unify with the anaphor's name."""
    name, name_type = columns.names[anaphor], NameType()
    if name is None:
        return candidates[:0]
    aliases = [
        n
        for n in candidates[_types_related(columns, anaphor, candidates)].tolist()
        if (other := columns.names[n]) is not None and name_type.unify(name, other) is not None
    ]
    return np.array(aliases, dtype=np.int64)


def _types_related(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> BoolArray:
    """Return which candidates have a type that subsumes the anaphor's, or the reverse."""
    entity_type, types = columns.type[anaphor], columns.type[candidates]
    if entity_type == NIL:
        return np.ones(len(candidates), dtype=np.bool_)
    either: BoolArray = (
        columns.subsumes[entity_type, types] | columns.subsumes[types, entity_type] | (types == NIL)
    )
    return either


UNLIMITED = 1 << 40
WINDOWS = {NAME: UNLIMITED, DEFINITE: 10, PRONOUN: 3}  # sentences before the anaphor's own


def with_antecedents(
    templates: Sequence[Template],
    *,
    types: Hierarchy | None = None,
    compatible: BoolArray | None = None,
) -> tuple[Template, ...]:
    """Return the templates, given in text order, with their possible antecedents.

    `compatible` excludes pairs that are known to differ.
    """
    columns = reference_columns(templates, types)
    return tuple(
        replace(
            template,
            antecedents=_antecedents(templates, _ordered_candidates(columns, place, compatible)),
        )
        for place, template in enumerate(templates)
    )


def _antecedents(templates: Sequence[Template], order: IntArray) -> tuple[Antecedent, ...]:
    return tuple(
        Antecedent(templates[n].id, preferred=k == 0) for k, n in enumerate(order.tolist())
    )


def _ordered_candidates(
    columns: ReferenceColumns, anaphor: int, compatible: BoolArray | None
) -> IntArray:
    if int(columns.form[anaphor]) not in WINDOWS:
        return np.empty(0, dtype=np.int64)
    candidates = admissible(columns, anaphor, _visible(columns, anaphor, compatible))
    return _in_order(columns, anaphor, _in_window(columns, anaphor, candidates))


def _visible(columns: ReferenceColumns, anaphor: int, compatible: BoolArray | None) -> IntArray:
    """Return what precedes the anaphor and does not overlap it; headings also see what follows."""
    start, end = columns.start[anaphor], columns.end[anaphor]
    visible = (columns.end <= start) | (columns.start >= end)
    if not columns.in_heading[anaphor]:
        visible[anaphor:] = False
    if compatible is not None:
        visible = visible & compatible[anaphor]
    visible[anaphor] = False
    return np.flatnonzero(visible)


def _in_window(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> IntArray:
    """Return the candidates within the window of sentences, or else the nearest one before it."""
    reach = 0 if columns.reflexive[anaphor] else WINDOWS[int(columns.form[anaphor])]
    if columns.in_heading[anaphor] and reach:
        return candidates
    back = columns.sentence[anaphor] - columns.sentence[candidates]
    within = candidates[back <= reach]
    return within if len(within) else candidates[-1:]


def _in_order(columns: ReferenceColumns, anaphor: int, candidates: IntArray) -> IntArray:
    """Order candidates: same and previous sentence forwards, earlier ones backwards, then later."""
    place = np.searchsorted(candidates, anaphor)  # they are in order and without the anaphor
    before, later = candidates[:place], candidates[place:]
    back = columns.sentence[anaphor] - columns.sentence[before]
    same, previous, earlier = before[back < 1], before[back == 1], before[back > 1]
    return np.concatenate((same, previous, earlier[::-1], later))

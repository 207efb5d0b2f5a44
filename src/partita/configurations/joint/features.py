"""The templates of a document as the joint model sees them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint.codes import (
    ATTRIBUTES,
    COMPLEMENT,
    DETERMINER,
    DETERMINERS,
    END,
    FEMININE,
    FLAGS,
    GENDER,
    HE,
    HEAD,
    HEAD_COUNT,
    IT,
    KIND,
    KINDS,
    LAST_PRONOUN,
    LENGTH,
    LEXEME_ID,
    MASCULINE,
    MODIFIERS,
    NEUTER,
    NUMBER,
    OWNER,
    PARAGRAPH,
    PARENT,
    PLURAL,
    POINTER,
    POINTING,
    POSITION,
    REGION,
    ROLE,
    ROLES,
    SENTENCE,
    SHE,
    SINGULAR,
    SORT,
    SORTS,
    START,
    YOU,
)
from partita.records import IntArray, Template


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


POSSESSIVES = word_set("my our your his her its their whose thy 's ’s")
ABSOLUTE = word_set("mine ours yours hers theirs")
DEICTICS = word_set("here there now then today yesterday tomorrow tonight where when ago once")
THIS = ("this", "that", "these", "those")
PRONOUNS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(word_set("i me my mine myself"), "i")
    | dict.fromkeys(word_set("we us our ours ourselves"), "we")
    | dict.fromkeys(word_set("you your yours yourself yourselves ye thou thee thy thine"), "you")
    | dict.fromkeys(word_set("he him his himself"), "he")
    | dict.fromkeys(word_set("she her hers herself"), "she")
    | dict.fromkeys(word_set("it its itself"), "it")
    | dict.fromkeys(word_set("they them their theirs themselves themself em"), "they")
    | dict.fromkeys(THIS, "demonstrative")
    | dict.fromkeys(
        word_set("who whom whose which what whatever whoever whichever where"), "question"
    )
    | dict.fromkeys(
        word_set(
            "something someone somebody anything anyone anybody everything everyone everybody "
            "nothing noone nobody none one some all both another each many few several any most "
            "other others enough much more"
        ),
        "indefinite pronoun",
    )
)
WOMEN = word_set(
    "woman girl mother mom mum wife daughter sister aunt grandmother queen princess lady mrs ms "
    "miss madam actress niece goddess nun bride girlfriend"
)
MEN = word_set(
    "man boy father dad husband son brother uncle grandfather king prince mr sir lord gentleman "
    "actor nephew god monk groom boyfriend guy"
)


def words_of(template: Template) -> list[str]:
    """Return the words of an expression in lower case."""
    words = template.context.get("WORDS")
    return [str(word) for word in words] if words else template.text.lower().split()


def surface(template: Template) -> str:
    """Return the one word that an expression consists of, else its head."""
    words = words_of(template)
    return words[0] if len(words) == 1 else template.head.lower()


def kind_of(template: Template) -> int:
    """Return the number of the expression's kind in KINDS."""
    return KINDS.index(_pronoun(template) or _nominal(template))


def _pronoun(template: Template) -> str:
    word, alone = surface(template), len(words_of(template)) == 1
    if template.form == "pronoun":
        return PRONOUNS.get(word) or PRONOUNS.get(template.head.lower(), "other pronoun")
    return PRONOUNS.get(word, "") if alone and template.form == "indefinite" else ""


def _nominal(template: Template) -> str:
    plural = "plural " if is_plural(template) else ""
    if surface(template) in DEICTICS:
        return "deictic"
    if template.form == "name":
        return f"{plural}name"
    if template.form == "definite":
        return _definite(str(template.context.get("DETERMINER", "")), plural)
    if template.form == "indefinite":
        determiner = template.context.get("DETERMINER")
        return "a" if determiner in ("a", "an") else "other determiner"
    return "numeral" if template.head[:1].isdigit() else f"{plural}bare"


def _definite(determiner: str, plural: str) -> str:
    if determiner == "the":
        return f"{plural}the"
    return "this" if determiner in THIS else "possessed"


def is_plural(template: Template) -> bool:
    number = template.number
    return number == "plural" or (isinstance(number, int) and number != 1)


def gender_of(template: Template, kind: int) -> int:
    """Return a bit by the pronoun, the slot, or a noun or title for men or women; else 0."""
    by_pronoun = {HE: MASCULINE, SHE: FEMININE, IT: NEUTER}.get(kind)
    by_slot = {"masc": MASCULINE, "fem": FEMININE, "neut": NEUTER}.get(
        str(template.context.get("GENDER"))
    )
    gender = by_pronoun or by_slot
    if gender or kind <= LAST_PRONOUN or template.sort not in ("person", "animal", ""):
        return gender or 0
    words = words_of(template)
    named = {template.head.lower(), words[0].rstrip(".") if words else ""}
    return FEMININE if named & WOMEN else MASCULINE if named & MEN else 0


STOP = word_set(
    "the a an this that these those 's ’s my our your his her its their of in on at to for and or "
    "with by from as some any all each every no another"
)
REFLEXIVE = re.compile(r".+sel(f|ves)")
RELATIVE = word_set("that which who whose where")
PREPOSITIONS = word_set("in on at to for from with by about between")
STEM, HEAD_LETTERS = 5, 3  # letters that make a stem, and that find the head among the words
LONGEST, MOST_MODIFIERS, TENTHS = 8, 3, 10


@dataclass(frozen=True, slots=True, eq=False)
class JointColumns:
    """`order` is the order of decisions; attributes and relations[later, earlier] are in it."""

    order: IntArray
    attributes: NDArray[np.int32]
    relations: NDArray[np.int32]


def joint_columns(templates: Sequence[Template], lexicon: Mapping[str, int]) -> JointColumns:
    """Return the arrays that the joint model reads of a document, lexemes as numbers."""
    from partita.configurations.joint.features_kernels import relations

    order = sorted(range(len(templates)), key=lambda n: (templates[n].start, templates[n].end))
    ordered = [templates[n] for n in order]
    numbers: dict[str, int] = {}
    attributes = _attributes(ordered, lexicon, numbers)
    texts = [_Text.of(template) for template in ordered]
    pair_relations = relations(
        attributes,
        np.array([_strings(text, numbers) for text in texts], dtype=np.int64).reshape(-1, 4),
        _sets([[*text.content, text.head] if text.content else [] for text in texts], numbers),
        _sets([text.name for text in texts], numbers),
        _sets([[w for w in text.content if w[0].isdigit()] for text in texts], numbers),
        _sets([_modifiers(template) for template in ordered], numbers),
        _linked_templates(ordered),
    )
    return JointColumns(np.array(order, dtype=np.int64), attributes, pair_relations)


def lexeme(template: Template) -> str:
    """Return the lexicon's word for an expression: its head, pronouns marked."""
    mark = "*" if kind_of(template) <= LAST_PRONOUN else ""
    return mark + (surface(template) if mark else template.head.lower())


@dataclass(frozen=True, slots=True)
class _Text:
    """The informative words of an expression; none for a pronoun."""

    head: str
    content: list[str]
    name: list[str]

    @classmethod
    def of(cls, template: Template) -> _Text:
        head = template.head.lower()
        if kind_of(template) <= LAST_PRONOUN:
            return cls(head, [], [])
        telling = [word for word in words_of(template) if _tells(word)]
        name = [w for w in str(template.slots.get("NAME", "")).lower().split() if _tells(w)]
        return cls(head, telling or [head or "?"], name)


def _tells(word: str) -> bool:
    return word not in STOP and any(letter.isalnum() for letter in word)


def _number(word: str, numbers: dict[str, int]) -> int:
    return numbers.setdefault(word, len(numbers) + 1)


def _strings(text: _Text, numbers: dict[str, int]) -> tuple[int, int, int, int]:
    """Return text, stem of the head, initials and the text without spaces, each as a number."""
    if not text.content:
        return 0, 0, 0, 0
    initials = "".join(word[0] for word in text.content) if len(text.content) > 1 else ""
    return (
        _number("text " + " ".join(text.content), numbers),
        _number("stem " + text.head[:STEM], numbers) if len(text.head) >= STEM else 0,
        _number("compact " + initials, numbers) if initials else 0,
        _number("compact " + "".join(text.content), numbers),
    )


def _sets(texts: Sequence[Sequence[str]], numbers: dict[str, int]) -> tuple[IntArray, IntArray]:
    """Return ascending numbers of distinct words, one after another, and where each begins."""
    word_sets = [sorted({_number(word, numbers) for word in words}) for words in texts]
    begin = np.cumsum([0] + [len(words) for words in word_sets]).astype(np.int64)
    return begin, np.array([word for words in word_sets for word in words], dtype=np.int64)


def _attributes(
    templates: Sequence[Template], lexicon: Mapping[str, int], numbers: dict[str, int]
) -> NDArray[np.int32]:
    attributes = np.zeros((len(templates), ATTRIBUTES), dtype=np.int32)
    length = max((template.end for template in templates), default=0)
    heads = Counter(template.head.lower() for template in templates)
    for row, template in zip(attributes, templates, strict=True):
        _refers(row, template)
        _stands(row, template, length)
        row[HEAD] = _number(template.head.lower(), numbers)
        row[HEAD_COUNT] = heads[template.head.lower()]
        row[LEXEME_ID] = lexicon.get(lexeme(template), 0)
        row[LENGTH] = min(len(words_of(template)), LONGEST)
        row[MODIFIERS] = min(len(_modifiers(template)), MOST_MODIFIERS)
        row[COMPLEMENT] = _complement(template)
    _parents(attributes, templates)
    return attributes


def _refers(row: NDArray[np.int32], template: Template) -> None:
    """Return how the expression refers."""
    kind, word = kind_of(template), surface(template)
    pronoun = kind <= LAST_PRONOUN
    determiner = str(template.context.get("DETERMINER", ""))
    determiner = "possessor" if determiner in POSSESSIVES else determiner
    row[KIND], row[GENDER] = kind, gender_of(template, kind)
    row[SORT] = _place(template.sort, SORTS)
    if template.number is not None and kind != YOU:
        row[NUMBER] = PLURAL if is_plural(template) else SINGULAR
    row[DETERMINER] = _place(determiner, DETERMINERS)
    row[POINTER] = _place(word, POINTING) if pronoun else 0
    reflexive = pronoun and REFLEXIVE.fullmatch(word) is not None
    row[FLAGS] = (word in POSSESSIVES or word in ABSOLUTE) + 2 * reflexive


def _stands(row: NDArray[np.int32], template: Template, length: int) -> None:
    """Return where the expression stands."""
    row[ROLE] = _place(str(template.context.get("ROLE", "")), ROLES)
    row[SENTENCE], row[PARAGRAPH] = template.sentence, template.context.get("PARAGRAPH", 0)
    row[START], row[END] = template.start, template.end
    row[REGION] = {"text": 0, "heading": 1}.get(template.region, 2)
    row[POSITION] = min(TENTHS - 1, TENTHS * template.start // max(1, length))


def _modifiers(template: Template) -> list[str]:
    return [str(word).lower() for word in template.context.get("MODIFIERS", ())]


def _complement(template: Template) -> int:
    """Return what follows the head: nothing, "of", a clause, another preposition, other words."""
    words, begin = words_of(template), template.head.lower()[:HEAD_LETTERS]
    heads = [n for n, word in enumerate(words) if word[:HEAD_LETTERS] == begin]
    after = words[heads[-1] + 1 :] if heads else []
    first = next((word for word in after if word[:1].isalnum()), "")
    classes = ({""}, {"of"}, RELATIVE, PREPOSITIONS)
    return next((n for n, openers in enumerate(classes) if first in openers), len(classes))


def _place(value: str, among: Sequence[str]) -> int:
    return among.index(value) if value in among else 0


def _parents(attributes: NDArray[np.int32], templates: Sequence[Template]) -> None:
    """Return what contains an expression, and who possesses it; only longer ones contain."""
    places = {template.id: n for n, template in enumerate(templates)}
    attributes[:, PARENT] = attributes[:, OWNER] = -1
    for n, template in enumerate(templates):
        around = places.get(str(template.context.get("PARENT", "")), -1)
        if around < 0 or not _contains(templates[around], template):
            continue
        attributes[n, PARENT] = around
        possessive = template.context.get("ROLE") == "possessive"
        if possessive and around > n and templates[around].start == template.start:
            attributes[around, OWNER] = n


def _contains(outer: Template, inner: Template) -> bool:
    longer = outer.end - outer.start > inner.end - inner.start
    return longer and outer.start <= inner.start and inner.end <= outer.end


def _linked_templates(templates: Sequence[Template]) -> IntArray:
    """Return what each template is in apposition to, and is the predicate of; -1 for none."""
    places = {template.id: n for n, template in enumerate(templates)}
    ties = ("APPOSITION_OF", "COPULA_OF")
    tied = [[places.get(str(t.context.get(tie, "")), -1) for tie in ties] for t in templates]
    return np.array(tied, dtype=np.int64).reshape(-1, 2)

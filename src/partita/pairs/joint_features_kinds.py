"""The kind of an expression, and what its words say of gender: small closed lists of English."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from partita.parameters.joint_columns import (
    FEMININE,
    HE,
    IT,
    KINDS,
    LAST_PRONOUN,
    MASCULINE,
    NEUTER,
    SHE,
)
from partita.records import Template


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


POSSESSIVES = listed("my our your his her its their whose thy 's ’s")
ABSOLUTE = listed("mine ours yours hers theirs")
DEICTICS = listed("here there now then today yesterday tomorrow tonight where when ago once")
THIS = ("this", "that", "these", "those")
PRONOUNS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(listed("i me my mine myself"), "i")
    | dict.fromkeys(listed("we us our ours ourselves"), "we")
    | dict.fromkeys(listed("you your yours yourself yourselves ye thou thee thy thine"), "you")
    | dict.fromkeys(listed("he him his himself"), "he")
    | dict.fromkeys(listed("she her hers herself"), "she")
    | dict.fromkeys(listed("it its itself"), "it")
    | dict.fromkeys(listed("they them their theirs themselves themself em"), "they")
    | dict.fromkeys(THIS, "demonstrative")
    | dict.fromkeys(
        listed("who whom whose which what whatever whoever whichever where"), "question"
    )
    | dict.fromkeys(
        listed(
            "something someone somebody anything anyone anybody everything everyone everybody "
            "nothing noone nobody none one some all both another each many few several any most "
            "other others enough much more"
        ),
        "indefinite pronoun",
    )
)
WOMEN = listed(
    "woman girl mother mom mum wife daughter sister aunt grandmother queen princess lady mrs ms "
    "miss madam actress niece goddess nun bride girlfriend"
)
MEN = listed(
    "man boy father dad husband son brother uncle grandfather king prince mr sir lord gentleman "
    "actor nephew god monk groom boyfriend guy"
)


def words_of(template: Template) -> list[str]:
    """The words of an expression in lower case."""
    given = template.context.get("WORDS")
    return [str(word) for word in given] if given else template.text.lower().split()


def surface(template: Template) -> str:
    """The one word that an expression consists of, else its head."""
    words = words_of(template)
    return words[0] if len(words) == 1 else template.head.lower()


def kind_of(template: Template) -> int:
    """The number of the expression's kind in KINDS."""
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
    """A bit by the pronoun, by the slot, or by a noun or title that names men or women; else 0."""
    by_pronoun = {HE: MASCULINE, SHE: FEMININE, IT: NEUTER}.get(kind)
    by_slot = {"masc": MASCULINE, "fem": FEMININE, "neut": NEUTER}.get(
        str(template.context.get("GENDER"))
    )
    known = by_pronoun or by_slot
    if known or kind <= LAST_PRONOUN or template.sort not in ("person", "animal", ""):
        return known or 0
    words = words_of(template)
    named = {template.head.lower(), words[0].rstrip(".") if words else ""}
    return FEMININE if named & WOMEN else MASCULINE if named & MEN else 0

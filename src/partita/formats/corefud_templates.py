"""Mentions of a document to templates: slots from span, entity type, minimal span and tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from partita.formats.corefud_mentions import Mention
from partita.formats.corefud_text import Span
from partita.formats.corefud_trees import (
    Tree,
    determiner_of,
    feature,
    form_of,
    head_of,
    modifiers_of,
    name_of,
    number_of,
    role_of,
)
from partita.records import Template

GENDERS = {"Masc": "masc", "Fem": "fem", "Neut": "neut"}


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A sentence's tree, its mentions, and where it stands in its document."""

    tree: Tree
    mentions: tuple[Mention, ...]
    spans: list[Span]
    index: int
    paragraph: int
    region: str


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A mention in its sentence, with its head and its span in the text."""

    mention: Mention
    at: Placed
    head: int
    inside: frozenset[int]
    start: int
    end: int


def expressions(placed: Placed) -> list[Expression]:
    """The mentions of a sentence in text order, the longer first where two begin together."""
    found = [_expression(mention, placed) for mention in placed.mentions]
    return sorted(found, key=lambda e: (e.start, -e.end, min(e.inside), -len(e.inside)))


def _expression(mention: Mention, placed: Placed) -> Expression:
    inside = mention.words
    start, end = placed.spans[inside[0]][0], placed.spans[inside[-1]][1]
    head = head_of(mention, placed.tree.words)
    return Expression(mention, placed, head, frozenset(inside), start, end)


def templates(
    found: Sequence[Expression], first: int, text: str, offset: int
) -> Iterator[Template]:
    """The templates of one sentence's expressions, called m1, m2, … from `first` on.

    `text` is the sentence's, and begins at `offset` of the document's.
    """
    names = [f"m{first + n}" for n in range(len(found))]
    for place, one in enumerate(found):
        yield _template(one, _tied(place, found, names), names[place], _written(one, text, offset))


def _template(one: Expression, tied: dict[str, str], name: str, text: str) -> Template:
    tree, word = one.at.tree, one.at.tree.words[one.head]
    inside = set(one.inside)
    determiner = determiner_of(tree, one.head, inside)
    number = number_of(tree, one.head, inside)
    form = form_of(word, determiner, isinstance(number, int))
    context = _described(one, determiner) | tied
    called = name_of(tree, one.head, inside) if word.upos == "PROPN" else ""
    return Template(
        id=name,
        text=text,
        start=one.start,
        end=one.end,
        region=one.at.region,
        sentence=one.at.index,
        sort=one.mention.sort,
        head=word.lemma.lower() if word.lemma != "_" else word.form.lower(),
        number=number,
        form=form,
        slots={"NAME": called} if called else {},
        rule="corefud",
        context={name: value for name, value in context.items() if value not in ("", [], None)},
    )


def _written(one: Expression, text: str, offset: int) -> str:
    """What stands in the text: the parts of a discontinuous mention one after another."""
    spans = one.at.spans
    parts = ((spans[a][0] - offset, spans[b][1] - offset) for a, b in one.mention.spans)
    return " ".join(text[start:end] for start, end in parts)


def _described(one: Expression, determiner: str) -> dict[str, Any]:
    """What is said of a mention by its own words."""
    tree, word, inside = one.at.tree, one.at.tree.words[one.head], set(one.inside)
    pronoun = word.upos in ("PRON", "DET")
    return {
        "MODIFIERS": modifiers_of(tree, one.head, inside),
        "PERSON": feature(word, "Person") if pronoun else "",
        "GENDER": GENDERS.get(feature(word, "Gender"), "") if pronoun else "",
        "REFLEXIVE": feature(word, "Reflex").lower() if pronoun else "",
        "ROLE": role_of(tree, one.head),
        "DETERMINER": determiner,
        "PARAGRAPH": one.at.paragraph,
        "WORDS": [tree.words[n].form.lower() for n in sorted(inside)],
    }


def _tied(place: int, found: Sequence[Expression], names: Sequence[str]) -> dict[str, str]:
    """The other mentions of the sentence that the brackets or the tree tie this one to."""
    one, tree = found[place], found[place].at.tree
    word = tree.words[one.head]
    predicate = tree.related(one.head, "cop")
    subjects = tree.related(one.head, "nsubj") if predicate else []
    return {
        "PARENT": _parent(place, found, names),
        "APPOSITION_OF": _headed([word.head], place, found, names)
        if word.relation.partition(":")[0] == "appos"
        else "",
        "COPULA_OF": _headed(subjects, place, found, names),
    }


def _parent(place: int, found: Sequence[Expression], names: Sequence[str]) -> str:
    """The smallest mention that contains this one and more."""
    around = [n for n, other in enumerate(found) if other.inside > found[place].inside]
    return names[min(around, key=lambda n: len(found[n].inside))] if around else ""


def _headed(
    heads: Sequence[int], place: int, found: Sequence[Expression], names: Sequence[str]
) -> str:
    """The longest mention with one of these heads that does not contain this one."""
    mine = found[place].inside
    fit = [
        n for n, o in enumerate(found) if o.head in heads and n != place and not o.inside >= mine
    ]
    return names[max(fit, key=lambda n: len(found[n].inside))] if fit else ""

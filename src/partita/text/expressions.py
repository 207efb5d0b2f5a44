"""Mentions in their trees, and the templates that they give."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from partita.core import Template
from partita.text.trees import (
    Tree,
    Word,
    conjuncts_of,
    determiner_of,
    feature,
    form_of,
    governor_of,
    head_lemma,
    modifiers_of,
    name_of,
    role_of,
    tree_number,
)

Span = tuple[int, int]
BECOMING = frozenset({"become", "remain"})
APPOSABLE = 0.1  # least probability of equal types for an apposition, else the tree is wrong
GENDERS = {"Masc": "masc", "Fem": "fem", "Neut": "neut"}


@dataclass(slots=True)
class Mention:
    """An entity's expression: positions of its words in its sentence, and of the minimal ones.

    A mention that a model found has its `head` (a position, else -1), the probabilities of its
    types, and the probability that it is a mention at all. One that was given as characters has
    its `extent`, which may begin or end inside a word, and possibly an `id`.
    """

    entity: str
    type: str
    minimal: str = ""
    line: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    head: int = -1
    types: Mapping[str, float] | None = None
    probability: float | None = None
    id: str = ""
    extent: tuple[Span, ...] = ()

    @property
    def words(self) -> list[int]:
        return [n for first, last in self.spans for n in range(first, last + 1)]


@dataclass(frozen=True, slots=True, eq=False)
class PlacedSentence:
    """A sentence's tree, its mentions, and its position in its document."""

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
    at: PlacedSentence
    head: int
    inside: frozenset[int]
    start: int
    end: int


def expressions(placed: PlacedSentence) -> list[Expression]:
    """Return the mentions of a sentence in text order, the longer first at the same start."""
    unsorted = [_expression(mention, placed) for mention in placed.mentions]
    return sorted(unsorted, key=lambda e: (e.start, -e.end, min(e.inside), -len(e.inside)))


def _expression(mention: Mention, placed: PlacedSentence) -> Expression:
    inside = mention.words
    extent = _extent(mention, placed)
    start, end = extent[0][0], extent[-1][1]
    head = head_of(mention, placed.tree.words)
    return Expression(mention, placed, head, frozenset(inside), start, end)


def _extent(mention: Mention, placed: PlacedSentence) -> Sequence[Span]:
    """Return the characters of a mention: several spans if it is discontinuous."""
    spans = placed.spans
    return mention.extent or [(spans[a][0], spans[b][1]) for a, b in mention.spans]


def templates(
    expressions: Sequence[Expression], first: int, text: str, offset: int, rule: str
) -> Iterator[Template]:
    """Return the templates of one sentence's expressions, named m1, m2, … from `first` on.

    `text` is the sentence's, and begins at `offset` of the document's; `rule` says where the
    mentions come from.
    """
    names = [one.mention.id or f"m{first + n}" for n, one in enumerate(expressions)]
    quotes = quotations(text)
    for place, expression in enumerate(expressions):
        yield _template(
            expression,
            _links(place, expressions, names) | _quoted(expression, quotes),
            names[place],
            _mention_text(expression, text, offset),
            rule,
        )


QUOTATION = re.compile(r"“(?:(?!\n\n)[^”]){1,2000}”|\"(?:(?!\n\n)[^\"]){1,2000}\"")


@lru_cache(maxsize=2)
def quotations(text: str) -> list[Span]:
    """Return where the quotations of a text begin and end; none goes beyond its paragraph."""
    return [match.span() for match in QUOTATION.finditer(text)]


def _quoted(expression: Expression, quotes: Sequence[Span]) -> dict[str, Any]:
    """Return the number of the quotation around a mention, and whether its sentence asks."""
    place = bisect_right(quotes, (expression.start, sys.maxsize))
    inside = place > 0 and expression.end <= quotes[place - 1][1]
    asked = any(word.form == "?" for word in expression.at.tree.words[-3:])
    return {"QUOTE": place if inside else None, "QUESTION": True if asked else None}


def _template(
    expression: Expression, tied: dict[str, Any], name: str, text: str, rule: str
) -> Template:
    tree, word = expression.at.tree, expression.at.tree.words[expression.head]
    inside = set(expression.inside)
    determiner = determiner_of(tree, expression.head, inside)
    number = tree_number(tree, expression.head, inside)
    form = form_of(word, determiner, isinstance(number, int))
    context = _own_slots(expression, determiner) | tied
    called = name_of(tree, expression.head, inside) if word.upos == "PROPN" else ""
    return Template(
        id=name,
        text=text,
        start=expression.start,
        end=expression.end,
        region=expression.at.region,
        sentence=expression.at.index,
        type=expression.mention.type,
        head=head_lemma(tree, expression.head, inside),
        number=number,
        form=form,
        slots={"NAME": called} if called else {},
        rule=rule,
        context={name: value for name, value in context.items() if value not in ("", [], None)},
    )


def _mention_text(expression: Expression, text: str, offset: int) -> str:
    """Return the text of a mention: the parts of a discontinuous one joined."""
    parts = _extent(expression.mention, expression.at)
    return " ".join(text[start - offset : end - offset] for start, end in parts)


def _own_slots(expression: Expression, determiner: str) -> dict[str, Any]:
    """Return the slots that a mention's own words fill."""
    tree, word, inside = (
        expression.at.tree,
        expression.at.tree.words[expression.head],
        set(expression.inside),
    )
    pronoun = word.upos in ("PRON", "DET")
    return {
        "MODIFIERS": modifiers_of(tree, expression.head, inside),
        "PERSON": feature(word, "Person") if pronoun else "",
        "GENDER": GENDERS.get(feature(word, "Gender"), "") if pronoun else "",
        "REFLEXIVE": feature(word, "Reflex").lower() if pronoun else "",
        "ROLE": role_of(tree, expression.head),
        "DETERMINER": determiner,
        "PARAGRAPH": expression.at.paragraph,
        "SPANS": _parts(expression),
        "WORDS": [tree.words[n].form.lower() for n in sorted(inside)],
        "HEAD_SPAN": list(expression.at.spans[expression.head]),
        "GOVERNOR": governor_of(tree, expression.head),
        "CONJUNCTS": conjuncts_of(tree, expression.head, inside),
        "SORT_PROBABILITIES": expression.mention.types,
        "MENTION_PROBABILITY": expression.mention.probability,
    }


def _parts(expression: Expression) -> list[list[int]]:
    """Return the spans of a discontinuous mention, and nothing for others."""
    extent = _extent(expression.mention, expression.at)
    return [list(span) for span in extent] if len(extent) > 1 else []


def _links(place: int, expressions: Sequence[Expression], names: Sequence[str]) -> dict[str, Any]:
    """Return the other mentions of the sentence that brackets or the tree link to this one."""
    expression, tree = expressions[place], expressions[place].at.tree
    predicate = tree.related(expression.head, "cop")
    subjects = tree.related(expression.head, "nsubj") if predicate else []
    return {
        "PARENT": _parent(place, expressions, names),
        "APPOSITION_OF": _apposed(place, expressions, names),
        "COPULA_OF": _mention_with_head(subjects, place, expressions, names),
        "PREDICATE_OF": _mention_with_head(
            () if subjects else _controllers(tree, expression.head), place, expressions, names
        ),
    }


def _controllers(tree: Tree, head: int) -> Sequence[int]:
    """Return the subjects that a predicate is said of: "she used to be a doctor", "became one"."""
    words = tree.words
    governor, relation = words[head].head, words[head].relation.partition(":")[0]
    if relation in ("obj", "xcomp") and governor >= 0 and words[governor].lemma in BECOMING:
        if subjects := tree.related(governor, "nsubj"):
            return subjects
        relation, governor = words[governor].relation.partition(":")[0], words[governor].head
    elif not tree.related(head, "cop"):
        return ()
    controlled = relation == "xcomp" and governor >= 0 and not tree.related(governor, "obj")
    return tree.related(governor, "nsubj") if controlled else ()


def _apposed(place: int, expressions: Sequence[Expression], names: Sequence[str]) -> str:
    """Return the mention beside which this one stands, unless their types contradict it."""
    expression = expressions[place]
    word = expression.at.tree.words[expression.head]
    if word.relation.partition(":")[0] != "appos":
        return ""
    name = _mention_with_head([word.head], place, expressions, names)
    own = expression.mention.types
    other = expressions[names.index(name)].mention.types if name else None
    if (
        own
        and other
        and sum(p * other.get(entity_type, 0.0) for entity_type, p in own.items()) < APPOSABLE
    ):
        return ""
    return name


def _parent(place: int, expressions: Sequence[Expression], names: Sequence[str]) -> str:
    """Return the smallest mention that contains this one and more."""
    around = [n for n, other in enumerate(expressions) if other.inside > expressions[place].inside]
    return names[min(around, key=lambda n: len(expressions[n].inside))] if around else ""


def _mention_with_head(
    heads: Sequence[int], place: int, expressions: Sequence[Expression], names: Sequence[str]
) -> str:
    """Return the longest mention with one of these heads that does not contain this one."""
    mine = expressions[place].inside
    fit = [
        n
        for n, o in enumerate(expressions)
        if o.head in heads and n != place and not o.inside >= mine
    ]
    return names[max(fit, key=lambda n: len(expressions[n].inside))] if fit else ""


def head_of(mention: Mention, words: Sequence[Word]) -> int:
    """Return the word of the minimal span (else of the span) whose own head lies outside of it."""
    if mention.head >= 0:
        return mention.head
    inside = mention.words
    chosen = [inside[int(n) - 1] for n in mention.minimal.split(",") if _within(n, len(inside))]
    among = chosen or inside
    positions = set(among)
    outside = [n for n in among if words[n].head not in positions and words[n].upos != "PUNCT"]
    return (outside or among)[0]


def _within(number: str, count: int) -> bool:
    return number.isdecimal() and 1 <= int(number) <= count

"""Words and mentions in dependency trees, and the templates that mentions give."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from partita.core import Form, Template


class Word(NamedTuple):
    """One word of a sentence; `head` is a position among the words, -1 above the root.

    `entity` and `line` are the annotation and the line of a corpus file; `xpos` is a tag of the
    Penn Treebank.
    """

    form: str
    lemma: str
    upos: str
    feats: str
    head: int
    relation: str
    entity: str = ""
    line: int = 0
    empty: bool = False
    xpos: str = ""


INDEFINITE = {
    "a", "an", "some", "any", "no", "another", "each", "every", "either", "neither",
    "many", "several", "few", "much", "more", "most", "one", "what", "which",
}  # fmt: skip
ROLES = {"nsubj": "subject", "csubj": "subject", "obj": "object", "iobj": "object",
         "obl": "oblique", "appos": "apposition"}  # fmt: skip
RELATIVE = ("who", "which", "that")
CLAUSAL = frozenset({"root", "ccomp", "xcomp", "advcl", "acl", "csubj", "parataxis"})
MODIFIERS = ("amod", "compound", "nummod")
NAMELIKE = ("flat", "compound", "nummod")
JOINING = frozenset({"-", "&"})
GOING_ON = JOINING | {"of", "the", "for", "de"}  # words inside names
WORDED = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip

LEGAL_FORMS = {
    "corp", "corporation", "inc", "incorporated", "ltd", "limited", "llc", "llp", "plc", "co",
    "gmbh", "ag", "sa", "nv", "bv", "spa", "ab", "oyj", "kk",
}  # fmt: skip
BUSINESSES = {
    "aerospace", "airlines", "airways", "analytics", "associates", "automotive", "aviation",
    "bancorp", "biosciences", "biotech", "bros", "capital", "chemicals", "consulting",
    "diagnostics", "dynamics", "electric", "electronics", "energy", "entertainment", "foods",
    "freight", "genetics", "group", "healthcare", "holdings", "hotels", "industries", "insurance",
    "investments", "laboratories", "labs", "logistics", "media", "metals", "minerals", "mining",
    "motors", "networks", "partners", "petroleum", "pharma", "pharmaceuticals", "pictures",
    "properties", "publishing", "railways", "realty", "resorts", "retail", "robotics",
    "securities", "semiconductor", "semiconductors", "shipping", "software", "solutions", "steel",
    "studios", "systems", "technologies", "telecom", "telecommunications", "therapeutics",
    "ventures", "wireless",
}  # fmt: skip


class Tree:
    """The words of a sentence with the dependents of each."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.kinds = [word.relation.partition(":")[0] for word in words]
        self.below: list[list[int]] = [[] for _ in self.words]
        for place, word in enumerate(self.words):
            if word.head >= 0:
                self.below[word.head].append(place)

    def clause_of(self, place: int) -> int:
        """Return the predicate of the clause of a word: itself, or the next one above; else -1."""
        while place >= 0 and not self._is_predicate(place):
            place = self.words[place].head
        return place

    def _is_predicate(self, place: int) -> bool:
        """Return whether a word heads a clause; conjuncts do if verbs or with a subject."""
        kind = self.kinds[place]
        if kind in CLAUSAL or self.words[place].head < 0:
            return True
        verbal = self.words[place].upos in ("VERB", "AUX")
        return kind == "conj" and (verbal or bool(self.related(place, "nsubj", "cop")))

    def subject_of(self, clause: int, depth: int = 8) -> int:
        """Return the subject of a predicate, also one that it has from another clause; else -1."""
        if clause < 0 or not depth:
            return -1
        kind, above = self.kinds[clause], self.words[clause].head
        own = self.related(clause, "nsubj", "csubj")
        if own and not (kind == "acl" and self.words[own[0]].lemma in RELATIVE):
            return own[0]
        if kind == "acl":
            return above
        if kind == "xcomp" and above >= 0 and (controllers := self.related(above, "obj", "iobj")):
            return controllers[0]
        if kind in ("conj", "xcomp", "advcl"):
            return self.subject_of(self.clause_of(above), depth - 1)
        return -1

    def related(self, place: int, *relations: str) -> list[int]:
        """Return the dependents of a word by these relations or by subtypes of them."""
        return [n for n in self.below[place] if self.kinds[n] in relations]


def feature(word: Word, name: str) -> str:
    """Return the value of a morphological feature, or nothing."""
    if f"{name}=" not in word.feats:
        return ""
    features = (f.partition("=") for f in word.feats.split("|"))
    return next((value for key, _, value in features if key == name), "")


def is_company_word(word: str) -> bool:
    """Return whether a word at the end of a name says what kind of company has it.

    Besides legal forms these are lines of business, as in "Acme Airlines", if they are capitalised.
    """
    listed = word.rstrip(".").lower()
    return listed in LEGAL_FORMS or (word.istitle() and listed in BUSINESSES)


def head_lemma(tree: Tree, head: int, inside: Container[int]) -> str:
    """Return the lemma of the head in lower case; of a name that ends in a legal form, which is
    its head, that of the first word."""
    word = tree.words[head]
    if word.upos == "PROPN" and is_company_word(word.form):
        while head - 1 in inside and tree.words[head - 1].form[:1].isupper():
            head -= 1
        word = tree.words[head]
    return (word.lemma if word.lemma != "_" else word.form).lower()


def tree_number(tree: Tree, head: int, inside: set[int]) -> int | str | None:
    """Return a numeral's count, else plural (coordinations too), singular or nothing."""
    for place in tree.related(head, "nummod"):
        if place in inside and (counted := _count(tree.words[place])) is not None:
            return counted
    if _is_coordinated(tree, head, inside):
        return "plural"
    number = feature(tree.words[head], "Number")
    if feature(tree.words[head], "Person") == "2":
        return None
    return {"Sing": "singular", "Plur": "plural", "Ptan": "plural"}.get(number)


def _count(word: Word) -> int | None:
    digits = word.form.replace(",", "")
    if digits.isdecimal() and digits.isascii() and len(digits) < 10:
        return int(digits)
    return WORDED.get(word.form.lower())


def _is_coordinated(tree: Tree, head: int, inside: set[int]) -> bool:
    """Return whether the mention joins several by "and"."""
    joined = [n for n in tree.related(head, "conj") if n in inside]
    links = (tree.words[n].lemma for c in joined for n in tree.related(c, "cc"))
    return bool(joined) and "or" not in links


def determiner_of(tree: Tree, head: int, inside: set[int]) -> str:
    """Return the lemma of the determiner or possessive pronoun, 's for another possessor."""
    for place in tree.related(head, "det"):
        if place in inside:
            return tree.words[place].lemma.lower()
    owners = [n for n in tree.below[head] if tree.words[n].relation == "nmod:poss" and n in inside]
    for place in owners:
        return tree.words[place].form.lower() if tree.words[place].upos == "PRON" else "'s"
    return ""


def form_of(head: Word, determiner: str, counted: bool) -> Form:
    """Return how the mention refers."""
    kind = feature(head, "PronType")
    if head.upos == "PRON" or (head.empty and not head.lemma.strip("_")):
        return "indefinite" if kind in ("Ind", "Tot", "Neg", "Int") else "pronoun"
    if head.upos == "DET" and kind == "Dem":
        return "pronoun"
    if head.upos == "PROPN":
        return "name"
    if determiner in INDEFINITE:
        return "indefinite"
    if determiner:
        return "definite"
    return "indefinite" if counted else "bare"


def name_of(tree: Tree, head: int, inside: Iterable[int]) -> str:
    """Return the run of name words around the head, through "of" and "the" to further ones."""
    positions = set(inside)
    first = last = head
    while (step := _step_back(tree.words, first, positions)) > 0:
        first -= step
    while (step := _step(tree.words, last, positions)) > 0:
        last += step
    name = " ".join(tree.words[n].form for n in range(first, last + 1))
    return name.replace(" - ", "-")


def _of_name(word: Word) -> bool:
    namelike = word.relation.partition(":")[0] in NAMELIKE and word.form[:1].isupper()
    return word.upos == "PROPN" or namelike


def _step_back(words: Sequence[Word], first: int, positions: set[int]) -> int:
    """Return how far before a word its name goes: to the one before, or over a hyphen or "&"."""
    if first - 1 not in positions:
        return 0
    if _of_name(words[first - 1]):
        return 1
    joined = words[first - 1].form in JOINING and first - 2 in positions
    return 2 if joined and _of_name(words[first - 2]) else 0


def _step(words: Sequence[Word], last: int, positions: set[int]) -> int:
    """Return how far the name goes on after a word: to the next, or over "of", "of the", "and"."""
    for step in (1, 2, 3):
        if last + step not in positions:
            return 0
        word = words[last + step]
        if _of_name(word) or (step == 1 and word.relation == "flat"):
            return step
        if word.form.lower() not in GOING_ON:
            return 0
    return 0


def modifiers_of(tree: Tree, head: int, inside: set[int]) -> list[str]:
    """Return lemmas of adjectives, compounds and numerals that modify the head."""
    return [tree.words[n].lemma.lower() for n in tree.related(head, *MODIFIERS) if n in inside]


def conjuncts_of(tree: Tree, head: int, inside: set[int]) -> list[str]:
    """Return the lemmas of the words that the mention joins to its head."""
    return [tree.words[n].lemma.lower() for n in tree.related(head, "conj") if n in inside]


def governor_of(tree: Tree, head: int) -> str:
    """Return the lemma of the word that governs the head; a conjunct has that of the first one."""
    word = _first_conjunct(tree, head)
    return tree.words[word.head].lemma.lower() if word.head >= 0 else ""


def _first_conjunct(tree: Tree, head: int) -> Word:
    word = tree.words[head]
    for _ in tree.words:
        if word.relation != "conj" or word.head < 0:
            break
        word = tree.words[word.head]
    return word


def syntax_of(tree: Tree, head: int) -> list[int]:
    """Return places of words: the head, its governor, its clause's subject, then up to three
    predicates from the innermost clause on; -1 for none. Between: 1 if the clause precedes the one
    that it belongs to, 2 if the head precedes the subject, else 0."""
    governor = _first_conjunct(tree, head).head
    clauses = [tree.clause_of(governor if governor >= 0 else head)]
    while len(clauses) < 3 and clauses[-1] >= 0 and tree.words[clauses[-1]].head >= 0:
        clauses.append(tree.clause_of(tree.words[clauses[-1]].head))
    clauses = [*clauses, -1, -1][:3]
    subject = tree.subject_of(clauses[0])
    before = tree.kinds[clauses[0]] == "advcl" and clauses[0] < tree.words[clauses[0]].head
    fronted = 1 if before else 2 if head < subject else 0
    return [head, governor, subject, fronted, *clauses]


def role_of(tree: Tree, head: int) -> str:
    """Return the role of the head in its clause; a conjunct has the role of the first one."""
    word = _first_conjunct(tree, head)
    if word.relation == "nmod:poss":
        return "possessive"
    return ROLES.get(word.relation.partition(":")[0], "other")


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
        "SYNTAX": syntax_of(tree, expression.head),
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
    if word.relation.partition(":")[0] != "appos" and word.relation != "nmod:desc":
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

"""Read CorefUD mentions and the attributes that the tree gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from partita.corpora.conllu import Sentence, Word
from partita.errors import InputError
from partita.records import Form

GROUP = ("eid", "GRP")
SORT = ("etype", "entity")
MINIMAL = ("minspan", "MIN", "head")
# What the annotation also holds gives the answer away: known by name, never read.
UNREAD = (
    "infstat",
    "salience",
    "centering",
    "link",
    "coref_type",
    "identity",
    "wiki",
    "other",
)
BRACKET = re.compile(r"\([^()]+\)?|[^()]+\)")
PART = re.compile(r"(.+)\[([0-9]+)/([0-9]+)\]$")


class Layout(NamedTuple):
    """The order of the fields in the annotation of a mention, from `# global.Entity`."""

    fields: int
    group: int
    sort: int
    minimal: int


@dataclass(slots=True)
class Mention:
    """An entity's expression: positions of its words in its sentence, and of the minimal ones."""

    entity: str
    sort: str
    minimal: str
    line: int
    spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def words(self) -> list[int]:
        return [n for first, last in self.spans for n in range(first, last + 1)]


def layout(header: str, file: str, line: int | None) -> Layout:
    """Return the order of fields from the header of a file."""
    names = header.split("-")
    for name in names:
        if name not in (*GROUP, *SORT, *MINIMAL, *UNREAD):
            raise InputError(f"global.Entity has an unknown field {name!r}", file=file, line=line)
    group = _first(names, GROUP)
    if group < 0:
        problem = f"global.Entity is {header!r}, without the entity's id ({' or '.join(GROUP)})"
        raise InputError(problem, file=file, line=line)
    return Layout(len(names), group, _first(names, SORT), _first(names, MINIMAL))


def _first(names: Sequence[str], candidates: Sequence[str]) -> int:
    return next((names.index(name) for name in candidates if name in names), -1)


class Brackets:
    """The open brackets of one sentence, and the mentions closed so far."""

    def __init__(self, layout: Layout, file: str) -> None:
        self.layout, self.file = layout, file
        self.closed: list[Mention] = []
        self._open: dict[str, list[tuple[int, Mention]]] = {}
        self._parts: dict[str, list[tuple[int, Mention]]] = {}

    def word(self, place: int, word: Word) -> None:
        """Process the brackets that one word's annotation opens and closes."""
        rest = 0
        for match in BRACKET.finditer(word.entity):
            if match.start() != rest:
                self._refuse(word.line, f"Entity={word.entity} is not a run of brackets")
            rest = match.end()
            self._bracket(match.group(), place, word.line)
        if rest != len(word.entity):
            self._refuse(word.line, f"Entity={word.entity} is not a run of brackets")

    def _bracket(self, text: str, place: int, line: int) -> None:
        opens, closes = text[0] == "(", text[-1] == ")"
        inner = text.strip("()")
        if opens:
            name, mention = self._opened(inner, line)
            self._open.setdefault(name, []).append((place, mention))
        if closes:
            self._close(inner if not opens else name, place, line)

    def _opened(self, inner: str, line: int) -> tuple[str, Mention]:
        """Return the name that closes a bracket, and its mention (or that of an earlier part)."""
        values = inner.split("-", self.layout.fields - 1)
        name = self._value(values, self.layout.group)
        if not name:
            self._refuse(line, f"the entity bracket ({inner} has no id")
        match = PART.match(name)
        if match is None or match[2] == "1":
            entity = name if match is None else match[1]
            sort = self._value(values, self.layout.sort)
            mention = Mention(entity, sort, self._value(values, self.layout.minimal), line)
            self._note(mention, match)
            return name, mention
        return name, self._next_part(match, line)

    def _note(self, mention: Mention, match: re.Match[str] | None) -> None:
        if match is None or match[3] == "1":
            self.closed.append(mention)
        else:
            self._parts.setdefault(f"{match[1]}/{match[3]}", []).append((1, mention))

    def _next_part(self, match: re.Match[str], line: int) -> Mention:
        """Return the mention that waits for this part."""
        waiting = self._parts.get(f"{match[1]}/{match[3]}", [])
        part, of = int(match[2]), int(match[3])
        place = next((n for n, (have, _) in enumerate(waiting) if have == part - 1), None)
        if place is None:
            self._refuse(line, f"part {part} of {of} of {match[1]} follows no part {part - 1}")
        _, mention = waiting.pop(place)
        if part == of:
            self.closed.append(mention)
        else:
            waiting.append((part, mention))
        return mention

    def _value(self, values: Sequence[str], place: int) -> str:
        return values[place] if 0 <= place < len(values) else ""

    def _close(self, inner: str, place: int, line: int) -> None:
        """Close the bracket opened last under this name (some files repeat the prefix)."""
        fields = inner.split("-")
        waiting = self._open.get(inner) or self._open.get(self._value(fields, self.layout.group))
        if not waiting:
            self._refuse(line, f"entity bracket {inner}) closes what is not open")
        start, mention = waiting.pop()
        mention.spans.append((start, place))

    def finished(self) -> list[Mention]:
        """Return all mentions of the sentence; raise if a bracket is still open."""
        for name, waiting in self._open.items():
            for _, mention in waiting:
                self._refuse(
                    mention.line, f"entity bracket ({name} is never closed in its sentence"
                )
        for name, parts in self._parts.items():
            for have, mention in parts:
                entity, _, of = name.rpartition("/")
                self._refuse(mention.line, f"entity {entity} has {have} of its {of} parts")
        return self.closed

    def _refuse(self, line: int, problem: str) -> NoReturn:
        raise InputError(problem, file=self.file, line=line)


def mentions(words: Sequence[Word], layout: Layout, file: str) -> list[Mention]:
    """Return the mentions of one sentence, in no particular order."""
    brackets = Brackets(layout, file)
    for place, word in enumerate(words):
        if word.entity:
            brackets.word(place, word)
    return brackets.finished()


INDEFINITE = {
    "a", "an", "some", "any", "no", "another", "each", "every", "either", "neither",
    "many", "several", "few", "much", "more", "most", "one", "what", "which",
}  # fmt: skip
ROLES = {"nsubj": "subject", "csubj": "subject", "obj": "object", "iobj": "object",
         "obl": "oblique", "appos": "apposition"}  # fmt: skip
MODIFIERS = ("amod", "compound", "nummod")
NAMELIKE = ("flat", "compound", "nummod")
WORDED = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip


class Tree:
    """The words of a sentence with the dependents of each."""

    def __init__(self, sentence: Sentence) -> None:
        self.words = sentence.words
        self.below: list[list[int]] = [[] for _ in self.words]
        for place, word in enumerate(self.words):
            if word.head >= 0:
                self.below[word.head].append(place)

    def related(self, place: int, *relations: str) -> list[int]:
        """Return the dependents of a word by these relations or by subtypes of them."""
        kind = (self.words[n].relation.partition(":")[0] for n in self.below[place])
        return [n for n, k in zip(self.below[place], kind, strict=True) if k in relations]


def feature(word: Word, name: str) -> str:
    """Return the value of a morphological feature, or nothing."""
    if f"{name}=" not in word.feats:
        return ""
    features = (f.partition("=") for f in word.feats.split("|"))
    return next((value for key, _, value in features if key == name), "")


def head_of(mention: Mention, words: Sequence[Word]) -> int:
    """Return the word of the minimal span (else of the span) whose own head lies outside of it."""
    inside = mention.words
    chosen = [inside[int(n) - 1] for n in mention.minimal.split(",") if _within(n, len(inside))]
    among = chosen or inside
    positions = set(among)
    outside = [n for n in among if words[n].head not in positions and words[n].upos != "PUNCT"]
    return (outside or among)[0]


def _within(number: str, count: int) -> bool:
    return number.isdecimal() and 1 <= int(number) <= count


def number_of(tree: Tree, head: int, inside: set[int]) -> int | str | None:
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
    while first - 1 in positions and _of_name(tree.words[first - 1]):
        first -= 1
    while (step := _step(tree.words, last, positions)) > 0:
        last += step
    return " ".join(tree.words[n].form for n in range(first, last + 1))


def _of_name(word: Word) -> bool:
    namelike = word.relation.partition(":")[0] in NAMELIKE and word.form[:1].isupper()
    return word.upos == "PROPN" or namelike


def _step(words: Sequence[Word], last: int, positions: set[int]) -> int:
    """Return how far the name goes on after a word: to the next, or over "of", "of the", "and"."""
    for step in (1, 2, 3):
        if last + step not in positions:
            return 0
        word = words[last + step]
        if _of_name(word) or (step == 1 and word.relation == "flat"):
            return step
        if word.form.lower() not in ("of", "the", "for", "de", "&"):
            return 0
    return 0


def modifiers_of(tree: Tree, head: int, inside: set[int]) -> list[str]:
    """Return lemmas of adjectives, compounds and numerals that modify the head."""
    return [tree.words[n].lemma.lower() for n in tree.related(head, *MODIFIERS) if n in inside]


def role_of(tree: Tree, head: int) -> str:
    """Return the role of the head in its clause; a conjunct has the role of the first one."""
    word = tree.words[head]
    for _ in tree.words:
        if word.relation != "conj" or word.head < 0:
            break
        word = tree.words[word.head]
    if word.relation == "nmod:poss":
        return "possessive"
    return ROLES.get(word.relation.partition(":")[0], "other")

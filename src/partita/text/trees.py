"""Words of a sentence in a dependency tree, and what the tree says of a noun phrase."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from partita.core import Form


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
MODIFIERS = ("amod", "compound", "nummod")
NAMELIKE = ("flat", "compound", "nummod")
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
    "diagnostics", "dynamics", "electronics", "energy", "entertainment", "foods", "freight",
    "genetics", "group", "healthcare", "holdings", "hotels", "industries", "insurance",
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


def role_of(tree: Tree, head: int) -> str:
    """Return the role of the head in its clause; a conjunct has the role of the first one."""
    word = _first_conjunct(tree, head)
    if word.relation == "nmod:poss":
        return "possessive"
    return ROLES.get(word.relation.partition(":")[0], "other")

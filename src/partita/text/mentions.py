"""Find mentions in parsed sentences, and the names of a text: which words belong to one.

The models of tags, trees and mentions learn from few names. The rules for names add what capital
letters, the last word of a name and the other mentions of the same text say. They are not used in
training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray
from partita.text.expressions import is_company_word
from partita.text.parser import check_model
from partita.text.parser_kernels import HashedModel
from partita.text.tagger_models import Rows
from partita.text.tokens import POSSESSIVE
from partita.text.words import shipped_words

# h: the head, g: its governor, k: its governor's; c: case word, d: determiner or possessor; l, m:
# nearest dependents on the left, r, q: on the right; p, f: words before and after, o, n: beyond
# them; rc: case word of r; s: subject, v: copula, j: conjunct, a: its "and"; gv: the governor's
# copula; e: outermost dependent on the left; b, t: words around the subtree; gc: case word of g.
POSITIONS = (
    "h", "g", "k", "c", "d", "l", "m", "r", "q", "p", "f", "o", "n", "rc", "s", "v", "j", "a", "gv",
    "e", "b", "t", "gc", "state",
)  # fmt: skip
# w: the dependent, i, o: its inner and outer sibling, l, r: its outermost dependents; a, z: first
# and last word of its subtree, b, t: the words around it; v, c, d: copula, case word and determiner
# of the head, wc: case word of the dependent.
CHILD_POSITIONS = (
    "w", "h", "g", "i", "o", "l", "r", "a", "z", "b", "t", "v", "c", "wc", "d", "state",
)  # fmt: skip
STATES = ("side", "size", "comma", "depth", "own")

ROLES = {
    "case": 1, "det": 2, "nmod:poss": 2, "nsubj": 3, "nsubj:pass": 3, "expl": 3, "cop": 4,
    "conj": 5, "cc": 6, "acl:relcl": 7, "acl": 7,
}  # fmt: skip


class Found(NamedTuple):
    """Mentions as arrays: head, first and last word among all words, 2 for a coordination beside
    its first conjunct; the probabilities of none and of each type."""

    places: IntArray
    chances: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class MentionModel:
    """Learned weights: types of heads (none first), dependents in spans, coordinations."""

    types: tuple[str, ...]
    possible: NDArray[np.bool_]  # of each tag, whether it may be a head
    roles: NDArray[np.uint8]  # of each label
    models: dict[str, HashedModel]
    scales: NDArray[np.float64]  # the weight of 1 in each model

    def __post_init__(self) -> None:
        for model in self.models.values():
            check_model(model)

    def find(
        self,
        words: IntArray,
        rows: Rows,
        tags: NDArray[np.uint8],
        coarse: NDArray[np.uint8],
        ends: IntArray,
        heads: IntArray,
        relations: NDArray[np.uint8],
        threshold: float,
    ) -> Found:
        """Return the mentions whose probability is at least the threshold."""
        from partita.text.mention_kernels import find_all

        count, places, chances = find_all(
            words, rows, tags, coarse, ends, heads, relations, self.roles, self.possible,
            self.models["sorts"], self.models["spans"], self.models["both"], len(self.types),
            self.scales, threshold,
        )  # fmt: skip
        return Found(places[:count], chances[:count])


def roles_of(labels: Sequence[str]) -> NDArray[np.uint8]:
    """Return the role of each label."""
    return np.array([ROLES.get(label, 0) for label in labels], dtype=np.uint8)


BoolArray = NDArray[np.bool_]
Place = tuple[int, int, int]  # head, first and last word of a mention

ORGANIZATION, PERSON = "organization", "person"
# The last word of a name that says what it names, and heads the name: Ranmore Council.
INSTITUTIONS = {
    "academy", "agency", "army", "association", "authority", "bank", "bureau", "church", "club",
    "college", "commission", "committee", "council", "court", "department", "federation",
    "foundation", "institute", "league", "magazine", "ministry", "navy", "office", "orchestra",
    "parliament", "party", "police", "school", "senate", "service", "society", "university",
}  # fmt: skip
SITES = {"west", "east", "north", "south", "left", "right", "outer"}  # West Bank
# Nouns before the name of an organization: the retailer Corvix.
KINDS = {
    "agency", "airline", "airlines", "bank", "brewer", "broadcaster", "builder", "carmaker",
    "chain", "charity", "chipmaker", "club", "company", "conglomerate", "consultancy",
    "corporation", "developer", "drugmaker", "firm", "giant", "group", "insurer", "maker",
    "manufacturer", "newspaper", "operator", "producer", "publisher", "regulator", "retailer",
    "start-up", "startup", "subsidiary", "supermarket", "supplier", "university", "utility",
}  # fmt: skip
TITLES = {
    "capt", "cllr", "col", "dame", "dr", "gen", "lady", "lord", "lt", "miss", "mr", "mrs", "ms",
    "prof", "rev", "sgt", "sir",
}  # fmt: skip
# How much more often than other names an acronym in mixed case names a thing of each type: in the
# training part of GUM, 143 of 348 name organizations, 100 places, 75 abstract things, 10 persons.
ACRONYMS = {
    "organization": 4.0, "place": 1.0, "abstract": 2.0, "person": 0.05, "animal": 0.2,
    "substance": 0.2, "object": 0.4, "event": 0.4, "plant": 0.2, "time": 0.2,
}  # fmt: skip
LONGEST_ACRONYM = 6
NOUNS = {
    "AC", "AD", "AI", "AM", "ATM", "BC", "CCTV", "CD", "CEO", "CFO", "COO", "CTO", "CV", "DIY",
    "DJ",
    "DNA", "DVD", "GDP", "GP", "GPS", "HIV", "HR", "ID", "IPO", "IQ", "IT", "LED", "MC", "MP", "PC",
    "PDF", "PE", "PIN", "PM", "PR", "RNA", "SIM", "SMS", "SUV", "TV", "UFO", "URL", "USB", "VAT",
    "VIP", "VP", "WC",
}  # acronyms of common nouns  # fmt: skip
PARTS = {"all", "any", "both", "each", "few", "half", "many", "most", "none", "one", "several",
         "some", "three", "two"}  # fmt: skip
SMALL = 0.4  # share of words in small letters, from which capital letters mark names
MIN_NAME_PROBABILITY = 0.15  # least probability of a mention that is the name of an organization
MENTIONED = 0.8  # and the probability that it then has
SAID = 0.9  # weight of the type that the words of a name decide
COUNTS = 4.0  # how many mentions one with a decided type counts for
AGREEMENT = 0.7  # weight of the types of mentions with the same head in a text


def telling_capitals(words: Sequence[str], ends: IntArray) -> BoolArray:
    """Return for each word whether capital letters mark names in its sentence.

    They tell nothing in sentences that have few small letters, such as titles.
    """
    telling = np.zeros(len(words), dtype=np.bool_)
    for first, last in pairwise([0, *ends.tolist()]):
        small = sum(word[0].islower() for word in words[first:last])
        if small >= SMALL * sum(word[0].isalpha() for word in words[first:last]):
            telling[first:last] = True
    return telling


def tags_of_whole_names(
    words: Sequence[str],
    tags: NDArray[np.uint8],
    telling: BoolArray,
    proper: BoolArray,
    as_name: Mapping[int, int],
) -> NDArray[np.uint8]:
    """Return tags in which nouns are names where capital letters say so.

    A capitalised noun after a name belongs to it: Bayline Shipping. A capitalised noun that the
    table of words does not contain is a name, and so is an acronym. `telling` says of which words
    the capital letters count, `proper` which tags are of names, `as_name` which one a noun gets.
    """
    changed = tags.copy()
    find = shipped_words().find
    for n in np.flatnonzero(np.isin(tags, list(as_name)) & telling).tolist():
        word, follows = words[n], n > 0 and telling[n - 1]
        if word[0].islower() or not follows:
            continue
        after_name = proper[changed[n - 1]] and word.istitle()
        if after_name or _is_acronym(word) or (word.istitle() and find(word) < 0):
            changed[n] = as_name[int(tags[n])]
    return changed


def headed_by_institution(
    words: Sequence[str], named: BoolArray, ends: IntArray, heads: IntArray,
    relations: NDArray[np.uint8], flat: int, compound: int,
) -> None:  # fmt: skip
    """Make the last word of "Ranmore Council" its head where the parser took it for a surname.

    Changes heads (positions in their sentence) and labels; `flat` and `compound` are labels.
    """
    bounds = [0, *ends.tolist()]
    for last in np.flatnonzero((relations == flat) & named).tolist():
        sentence = int(np.searchsorted(ends, last, side="right"))
        start, end = bounds[sentence], bounds[sentence + 1]
        first = start + int(heads[last])
        goes_on = last + 1 < end and relations[last + 1] == flat
        if goes_on or not start <= first < last or not named[first:last].all():
            continue
        if _is_institution(words, last):
            _swap(heads[start:end], first - start, last - start)
            relations[last] = relations[first]
            relations[first:last] = compound


def _swap(heads: IntArray, first: int, last: int) -> None:
    """Make the last word of a name the head of the first and of what depends on the first."""
    above = heads[first]
    heads[heads == first] = last
    heads[last], heads[first] = above, last


def decided_types(
    found: Found, texts: Sequence[str], named: BoolArray, types: Sequence[str], threshold: float
) -> tuple[Found, BoolArray]:
    """Return mentions with the types that their own words decide, and which ones are decided.

    A name that begins with a title such as "Ms" is that of a person. A name is that of an
    organization if it ends in a legal form, a line of business or a kind of institution, if "&"
    joins its words, or if a noun such as "retailer" precedes it. Parts of names are no mentions of
    their own: neither word of "Acme Corp.", and not the last word of "Ranmore Council" or "Ruth
    Okafor". `named` says of each word whether it is one of a name. Other mentions need at least
    the threshold as their probability.
    """
    if not {ORGANIZATION, PERSON} <= set(types):
        likely = np.flatnonzero(found.chances[:, 0] <= 1 - threshold)
        return Found(found.places[likely], found.chances[likely]), likely < 0
    places = without_possessive(found.places, texts)
    company = [_is_company(texts, *place) for place in places]
    decided = np.zeros(len(places), dtype=np.int64)
    for n, place in enumerate(places):
        if company[n] or _is_organization(texts, named, *place):
            decided[n] = types.index(ORGANIZATION)
        elif _is_titled(texts, named, *place):
            decided[n] = types.index(PERSON)
    chances = found.chances.copy()
    _weigh_acronyms(chances, places, texts, named, types)
    _decide(chances, decided)
    kept = _whole(places, company, texts, named)
    kept = kept[chances[kept, 0] <= 1 - threshold]
    return Found(found.places[kept], chances[kept]), decided[kept] > 0


def _decide(chances: NDArray[np.float64], decided: IntArray) -> None:
    """Give mentions the types that were decided for them, where there is one."""
    rows = np.flatnonzero(decided)
    own = 1 - chances[rows, :1]
    sure = np.maximum(own, MENTIONED)
    chances[rows, 1:] *= (1 - SAID) * sure / own
    chances[rows, decided[rows]] += SAID * sure[:, 0]
    chances[rows, :1] = 1 - sure


def _whole(
    places: Sequence[Place], company: Sequence[bool], texts: Sequence[str], named: BoolArray
) -> IntArray:
    """Return the mentions that are no parts of names."""
    inside = {
        n
        for place, of in zip(places, company, strict=True)
        if of
        for n in _name_words(texts, place[1], place[2])
    }
    first_of: dict[int, int] = {}
    for _, first, last in places:
        first_of[last] = min(first, first_of.get(last, first))

    def is_part(first: int, last: int) -> bool:
        if last in inside or first - 1 in inside:
            return True
        in_name = all(texts[n].istitle() for n in (first - 1, first, last))
        return bool(first_of[last] < first and in_name and named[last])

    return np.flatnonzero([not is_part(first, last) for _, first, last in places])


def partitives(found: Found, texts: Sequence[str]) -> Found:
    """Give "one of the analysts" the types of the analysts."""
    whole = {place[1]: n for n, place in enumerate(found.places.tolist())}
    chances = found.chances.copy()
    for n, head in enumerate(found.places[:, 0].tolist()):
        if texts[head].lower() in PARTS and texts[head + 1 : head + 2] == ["of"]:
            of = whole.get(head + 2, n)
            shares = found.chances[of, 1:] / max(1 - found.chances[of, 0], 1e-12)
            chances[n, 1:] = (1 - SAID) * chances[n, 1:] + SAID * (1 - chances[n, 0]) * shares
    return Found(found.places, chances)


def agreed(found: Found, texts: Sequence[str], decided: BoolArray) -> Found:
    """Move the types of mentions towards the mean of those with the same head in the text.

    The first word of a company's name counts as its head, and a name also counts for mentions of
    its last word alone. A decided type counts as much as those of several others.
    """
    places = without_possessive(found.places, texts)
    heads = [_key(texts, *place) for place in places]
    numbers = {head: n for n, head in enumerate(dict.fromkeys(heads))}
    of = np.array([numbers[head] for head in heads], dtype=np.int64)
    counted = np.where(decided, COUNTS, 1.0)[:, None] * found.chances[:, 1:]
    sums = np.zeros((len(numbers), counted.shape[1]))
    np.add.at(sums, of, counted)
    for n, (_, first, last) in enumerate(places):
        surname = numbers.get(texts[last].lower(), of[n])
        if surname != of[n] and not decided[n] and _is_name(texts, first, last):
            sums[surname] += counted[n]
    means = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-12)
    own = 1 - found.chances[:, :1]
    shares = (1 - AGREEMENT) * found.chances[:, 1:] + AGREEMENT * own * means[of]
    return Found(found.places, np.hstack([found.chances[:, :1], shares]))


def _key(texts: Sequence[str], head: int, first: int, last: int) -> str:
    if head == last and _is_company(texts, head, first, last):
        head = _name_words(texts, first, last)[0]
    return texts[head].lower()


def _weigh_acronyms(
    chances: NDArray[np.float64], places: Sequence[Place], texts: Sequence[str],
    named: BoolArray, types: Sequence[str],
) -> None:  # fmt: skip
    """Change the probabilities of the types of acronyms by what acronyms name."""
    factors = np.array([ACRONYMS.get(entity_type, 1.0) for entity_type in types[1:]])
    for n, (head, _, last) in enumerate(places):
        if head == last and named[head] and _is_acronym(texts[head]):
            weighed = factors * chances[n, 1:]
            chances[n, 1:] = (1 - chances[n, 0]) * weighed / max(weighed.sum(), 1e-300)


def _is_acronym(word: str) -> bool:
    capitals = word.isupper() and word.isalnum() and word[0].isalpha()
    return capitals and 1 < len(word) <= LONGEST_ACRONYM and word not in NOUNS


def without_possessive(places: IntArray, texts: Sequence[str]) -> list[Place]:
    """Return head, first and last word of each mention, the ending of a possessive left out."""
    return [
        (head, first, last - (last > max(first, head) and texts[last].lower() in POSSESSIVE))
        for head, first, last in places[:, :3].tolist()
    ]


def _is_company(texts: Sequence[str], head: int, first: int, last: int) -> bool:
    """Return whether capitalised words from the head on end in a legal form or a line of business,
    or are joined by "&"."""
    if last == first or not all(map(_in_name, texts[min(head, last - 1) : last])):
        return False
    if is_company_word(texts[last]):
        return True
    joined = "&" in texts[head + 1 : last] and texts[head][0].isupper()
    return joined and texts[last][0].isupper()


def _is_organization(
    texts: Sequence[str], named: BoolArray, head: int, first: int, last: int
) -> bool:
    """Return whether a name ends in a kind of institution, or is one word after such a noun."""
    if not named[head] or (head < last and named[head + 1]):
        return False
    if first < head and named[head - 1]:
        return _is_institution(texts, head)
    return head > 0 and _kind_before(texts, head) in KINDS


def _is_titled(texts: Sequence[str], named: BoolArray, head: int, first: int, last: int) -> bool:
    """Return whether a name begins with a title of a person: Ms Fox."""
    inside = head == first and first < last and named[last]
    return inside and texts[first].rstrip(".").lower() in TITLES


def _kind_before(texts: Sequence[str], place: int) -> str:
    before = list(texts[max(0, place - 3) : place])
    return "".join(before) if before[-2:-1] == ["-"] else before[-1]


def _is_institution(texts: Sequence[str], last: int) -> bool:
    """Return whether a capitalised kind of institution follows a capitalised word."""
    if last < 1 or not (texts[last].istitle() and texts[last - 1].istitle()):
        return False
    return texts[last].lower() in INSTITUTIONS and texts[last - 1].lower() not in SITES


def _is_name(texts: Sequence[str], first: int, last: int) -> bool:
    return first < last and all(texts[n].istitle() for n in range(first, last + 1))


def _in_name(word: str) -> bool:
    return word[0].isupper() or not word[0].isalpha()


def _name_words(texts: Sequence[str], first: int, last: int) -> range:
    """Return the capitalised words, numbers and signs before the last word of a name."""
    start = last
    while start > first and _in_name(texts[start - 1]):
        start -= 1
    return range(start, last)

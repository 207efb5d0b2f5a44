"""Find mentions in parsed sentences, and the names of a text: which words belong to one.

The models of tags, trees and mentions learn from few names. The rules for names add what capital
letters, the last word of a name and the other mentions of the same text say. They are not used in
training.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray
from partita.text.expressions import WORDED, is_company_word
from partita.text.given_names import place_size, share_of_women
from partita.text.names import GREETINGS, INITIAL, OFFICES, NameSpan
from partita.text.parser import check_model
from partita.text.parser_kernels import HashedModel
from partita.text.tagger_models import Rows
from partita.text.tokens import POSSESSIVE, STOPS
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


COORDINATION = 2


class Found(NamedTuple):
    """Mentions as arrays: head, first and last word among all words, 2 for a coordination beside
    its first conjunct; the probabilities of none and of each type. Those that the linear models
    have just found also have the words around them."""

    places: IntArray
    chances: NDArray[np.float64]
    around: IntArray | None = None

    def at(self, rows: IntArray) -> Found:
        """Return some of the mentions."""
        around = None if self.around is None else self.around[rows]
        return Found(self.places[rows], self.chances[rows], around)


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

        count, places, chances, around = find_all(
            words, rows, tags, coarse, ends, heads, relations, self.roles, self.possible,
            self.models["sorts"], self.models["spans"], self.models["both"], len(self.types),
            self.scales, threshold,
        )  # fmt: skip
        return Found(places[:count], chances[:count], around[:count])


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
UNATTACHED = {
    "after", "against", "as", "at", "before", "by", "during", "for", "into", "on", "since", "to",
    "until", "with", "without",
}  # fmt: skip
DIVISIONS = {"act", "appendix", "book", "canto", "chapter", "part", "scene", "section", "volume"}
AGENCIES = {"AFP", "AP", "Bloomberg", "Reuters", "TASS", "UPI", "Xinhua"}
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
# The same for two words with a hyphen of which the first is no given name: Coca-Cola.
HYPHENATED = {"organization": 6.0, "place": 2.0, "person": 0.1}
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
SMALL_ENDED = 0.15  # the same in a sentence that ends in a full stop: titles seldom do
MIN_NAME_PROBABILITY = 0.05  # least probability of a mention that is the name of an organization
NO_NAME = 0.4  # most probability that a name of several words is no mention
MENTIONED = 0.8  # and the probability that it then has
SAID = 0.9  # weight of the type that the words of a name decide
COUNTS = 4.0  # how many mentions one with a decided type counts for
LISTED = 0.6  # weight of the types of the other names in a list
AGREEMENT = 0.7  # weight of the types of mentions with the same head in a text


def telling_capitals(words: Sequence[str], ends: IntArray) -> BoolArray:
    """Return for each word whether capital letters mark names in its sentence.

    They tell nothing in sentences that have few small letters, such as titles, but for an initial
    and the word after it (J. Barlow).
    """
    telling = np.zeros(len(words), dtype=np.bool_)
    for first, last in pairwise([0, *ends.tolist()]):
        small = sum(word[0].islower() for word in words[first:last])
        least = SMALL_ENDED if words[last - 1] in STOPS else SMALL
        if small >= least * sum(word[0].isalpha() for word in words[first:last]):
            telling[first:last] = True
        for n in range(last - 2, first - 1, -1):
            if INITIAL.fullmatch(words[n]) and words[n + 1].istitle():
                telling[n : n + 2] = True
    return telling


def tags_of_whole_names(
    words: Sequence[str],
    tags: NDArray[np.uint8],
    telling: BoolArray,
    proper: BoolArray,
    as_name: Mapping[int, int],
    only_after: Collection[int],
) -> NDArray[np.uint8]:
    """Return tags in which nouns are names where capital letters say so.

    A capitalised noun after a name belongs to it: Bayline Shipping. A capitalised noun that the
    table of words does not contain is a name, and so are an acronym and an initial before a name.
    `telling` says of which words
    the capital letters count, `proper` which tags are of names, `as_name` which one a noun gets;
    those in `only_after` get it only after a name: General Electric.
    """
    changed = tags.copy()
    find = shipped_words().find
    for n in np.flatnonzero(np.isin(tags, list(as_name)) & telling).tolist():
        word, follows = words[n], n == 0 or telling[n - 1]
        if INITIAL.fullmatch(word) and words[n + 1 :] and proper[tags[n + 1]] and telling[n + 1]:
            changed[n] = as_name[int(tags[n])]
        if word[0].islower() or not follows:
            continue
        after_name = n > 0 and proper[changed[n - 1]] and word.istitle()
        alone = tags[n] not in only_after and (
            _is_acronym(word) or (word.istitle() and find(word) < 0)
        )
        if after_name or alone:
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


def titles_below_names(
    words: Sequence[str], named: BoolArray, ends: IntArray, heads: IntArray,
    relations: NDArray[np.uint8], modifier: int, subject: int,
) -> None:  # fmt: skip
    """Make a name the head of what stands before it, as the treebanks do.

    That is a title (Mr Quinn, Mrs. Lowe), or a noun that the parser took for a second subject of
    the same verb (the brewery Carlsberg said). Changes heads (positions in their sentence) and
    labels; the word before gets the label `modifier`.
    """
    bounds = [0, *ends.tolist()]
    titles = np.array([is_personal_title(word) for word in words[:-1]], dtype=np.bool_)
    for title in np.flatnonzero(titles & named[1:]).tolist():
        sentence = int(np.searchsorted(ends, title, side="right"))
        start, end = bounds[sentence], bounds[sentence + 1]
        if title + 1 < end and heads[title + 1] == title - start:
            _swap(heads[start:end], title - start, title + 1 - start)
            relations[title + 1], relations[title] = relations[title], modifier
    subjects = relations == subject
    twice = subjects[:-1] & subjects[1:] & (heads[:-1] == heads[1:]) & named[1:] & ~named[:-1]
    for noun in np.flatnonzero(twice).tolist():
        sentence = int(np.searchsorted(ends, noun, side="right"))
        within = noun + 1 < bounds[sentence + 1]  # heads of the next sentence count from its start
        if within and words[noun][0].islower() and words[noun] not in PARTS:
            heads[noun], relations[noun] = noun + 1 - bounds[sentence], modifier


def _swap(heads: IntArray, first: int, last: int) -> None:
    """Make the last word of a name the head of the first and of what depends on the first."""
    above = heads[first]
    heads[heads == first] = last
    heads[last], heads[first] = above, last


def decided_types(
    found: Found,
    texts: Sequence[str],
    named: BoolArray,
    types: Sequence[str],
    threshold: float,
    names: Mapping[int, NameSpan],
) -> tuple[Found, BoolArray]:
    """Return mentions with the types that their own words decide, and which ones are decided.

    A name that begins with a title such as "Ms" is that of a person. A name is that of an
    organization if it ends in a legal form, a line of business or a kind of institution, if "&"
    joins its words, or if a noun such as "retailer" precedes it. `names` are those of several
    words, by their heads: a mention has all of them, and parts of names are no mentions of their
    own. `named` says of each word whether it is one of a name. Other mentions need at least the
    threshold as their probability.
    """
    if not {ORGANIZATION, PERSON} <= set(types):
        likely = np.flatnonzero(found.chances[:, 0] <= 1 - threshold)
        return found.at(likely), likely < 0
    found = _with_whole_names(found, texts, named, names)
    places = without_possessive(found.places, texts)
    company = [_is_company(texts, *place) for place in places]
    decided = np.zeros(len(places), dtype=np.int64)
    for n, place in enumerate(places):
        name = names.get(place[0])
        if company[n] or _is_organization(texts, named, *place):
            decided[n] = types.index(ORGANIZATION)
        elif _is_titled(texts, named, *place[1:]):
            decided[n] = types.index(PERSON)
        elif name is not None and name.type in types:
            decided[n] = types.index(name.type)
        elif name is None and _is_employer(texts, named, place):
            decided[n] = types.index(ORGANIZATION)
    chances = found.chances.copy()
    _weigh_acronyms(chances, places, texts, named, types)
    _decide(chances, decided)
    kept = _whole(places, company, texts, named)
    kept = kept[chances[kept, 0] <= 1 - threshold]
    return Found(found.places[kept], chances[kept]), decided[kept] > 0


def _with_whole_names(
    found: Found, texts: Sequence[str], named: BoolArray, names: Mapping[int, NameSpan]
) -> Found:
    """Return the mentions without those that are parts of names; names lie in them whole.

    A name is a mention at least as probably as any of its parts.
    """
    inside = {n: head for head, name in names.items() for n in range(name.first, name.last + 1)}
    places, chances = found.places.copy(), found.chances.copy()
    kept = np.ones(len(places), dtype=np.bool_)
    least: dict[int, float] = {}
    for n, (head, _, _, _) in enumerate(places.tolist()):
        top = inside.get(head, -1)
        kept[n] = top in (-1, head)
        least[top] = min(least.get(top, NO_NAME), float(chances[n, 0]))
    for n, (head, first, last, joined) in enumerate(places.tolist()):
        if first < head and texts[first] in GREETINGS:
            first += 1
            places[n, 1] = first
        if not kept[n] or not (named[head] or head in names) or joined == COORDINATION:
            continue
        name = names.get(head, NameSpan(head, head, ""))
        places[n, 1:3] = min(first, name.first), max(last, name.last)
        if last > name.last and _goes_too_far(texts, name, last):
            places[n, 2] = name.last
        if name.type == PERSON and name.first and texts[name.first - 1] in OFFICES | NOUNS:
            places[n, 1] = name.first
        if head in names and least[head] < chances[n, 0]:
            chances[n, 1:] *= (1 - least[head]) / max(1 - chances[n, 0], 1e-12)
            chances[n, 0] = least[head]
    return Found(places[kept], chances[kept])


def _goes_too_far(texts: Sequence[str], name: NameSpan, last: int) -> bool:
    """Return whether a mention takes words that no name has: Margaret Hale | disagreed.

    In GUM's training part "with", "on" and the like never belong to the name before them.
    """
    following = texts[name.last + 1]
    alone = last == name.last + 1 and following[0].islower()
    return alone or following in UNATTACHED


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
    last_of: dict[int, int] = {}
    for _, first, last in places:
        first_of[last] = min(first, first_of.get(last, first))
        last_of[first] = max(last, last_of.get(first, last))

    def is_part(first: int, last: int) -> bool:
        if last in inside or first - 1 in inside:
            return True
        titled = last < last_of[first] and texts[last].istitle() and texts[last + 1].istitle()
        if titled and (texts[last].lower() in OFFICES or is_personal_title(texts[last])):
            return True  # Mayor Ruth Okafor
        in_name = all(texts[n].istitle() for n in (first - 1, first, last))
        return bool(first_of[last] < first and in_name and named[last])

    return np.flatnonzero([not is_part(first, last) for _, first, last in places])


def without_headings(
    found: Found, texts: Sequence[str], ends: IntArray, proper: BoolArray
) -> Found:
    """Return the mentions without "Chapter 1", and in headings in capitals only names.

    A word is a name in such a heading if it is tagged so, or capitalised elsewhere in the text.
    """
    bounds = list(pairwise([0, *ends.tolist()]))
    upper = [_is_upper(texts[first:last]) for first, last in bounds]
    loud = sum(
        last - first for (first, last), is_upper in zip(bounds, upper, strict=True) if is_upper
    )
    if 2 * loud >= len(texts):
        upper = [False] * len(bounds)
    division = [_is_division(texts[first:last]) for first, last in bounds]
    if not any(upper) and not any(division):
        return found
    known = {texts[n].upper() for n in np.flatnonzero(proper).tolist() if texts[n].istitle()}
    sentences = np.searchsorted(ends, found.places[:, 0], side="right").tolist()
    kept = [
        not division[sentence]
        and (not upper[sentence] or bool(proper[head]) or texts[head] in known)
        for sentence, head in zip(sentences, found.places[:, 0].tolist(), strict=True)
    ]
    return found.at(np.flatnonzero(kept))


def _is_upper(words: Sequence[str]) -> bool:
    letters = [word for word in words if word[0].isalpha()]
    return len(letters) > 1 and all(map(str.isupper, letters))


def _is_division(words: Sequence[str]) -> bool:
    """Return whether a line is a heading such as "Chapter 1" or "PART TWO"."""
    if not 2 <= len(words) <= 3 or words[0].lower() not in DIVISIONS:
        return False
    number = words[1].rstrip(".").lower()
    return number.isdigit() or number in WORDED or not set(number) - set("ivxlc")


def alike_in_lists(
    found: Found, texts: Sequence[str], named: BoolArray, heads: IntArray, joined: BoolArray,
    ends: IntArray,
) -> Found:  # fmt: skip
    """Move the types of names that a list joins towards each other: Siemens, Bosch and ABB.

    `heads` are positions in their sentence, `joined` says which words are conjuncts of their heads.
    """
    starts = np.concatenate([[0], ends])[np.searchsorted(ends, found.places[:, 0], side="right")]
    above = np.where(joined[found.places[:, 0]], heads[found.places[:, 0]] + starts, -1)
    groups: dict[int, list[int]] = {}
    for n, head in enumerate(found.places[:, 0].tolist()):
        if texts[head][0].isupper() and found.places[n, 3] != COORDINATION:
            in_list = above[n] >= 0 and named[head] and texts[above[n]][0].isupper()
            groups.setdefault(int(above[n]) if in_list else head, []).append(n)
    chances = found.chances.copy()
    for members in groups.values():
        if len(members) > 1:
            own = 1 - chances[members, :1]
            shares = found.chances[members, 1:] / own
            others = (shares.sum(axis=0) - shares) / (len(members) - 1)
            chances[members, 1:] = own * ((1 - LISTED) * shares + LISTED * others)
    return Found(found.places, chances)


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


def agreed(
    found: Found, texts: Sequence[str], decided: BoolArray, names: Mapping[int, NameSpan]
) -> Found:
    """Move the types of mentions towards the mean of those with the same head in the text.

    The first word of a company's name counts as its head, and a name also counts for mentions of
    its last word alone. A decided type counts as much as those of several others.
    """
    places = without_possessive(found.places, texts)
    heads = [_key(texts, names, *place) for place in places]
    numbers = {head: n for n, head in enumerate(dict.fromkeys(heads))}
    of = np.array([numbers[head] for head in heads], dtype=np.int64)
    counted = np.where(decided, COUNTS, 1.0)[:, None] * found.chances[:, 1:]
    sums = np.zeros((len(numbers), counted.shape[1]))
    np.add.at(sums, of, counted)
    for n, (head, first, last) in enumerate(places):
        surname = numbers.get(texts[last].lower(), of[n])
        if (
            surname != of[n]
            and _is_name(texts, first, last)
            and not _is_company(texts, head, first, last)
        ):
            sums[surname] += counted[n]
    means = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-12)
    own = 1 - found.chances[:, :1]
    shares = (1 - AGREEMENT) * found.chances[:, 1:] + AGREEMENT * own * means[of]
    return Found(found.places, np.hstack([found.chances[:, :1], shares]))


def _key(
    texts: Sequence[str], names: Mapping[int, NameSpan], head: int, first: int, last: int
) -> str:
    if (name := names.get(head)) is not None and name.type in (PERSON, "place"):
        return " ".join(texts[name.first : name.last + 1]).lower()
    if head == last and _is_company(texts, head, first, last):
        head = _name_words(texts, first, last)[0]
    return texts[head].lower()


def _weigh_acronyms(
    chances: NDArray[np.float64], places: Sequence[Place], texts: Sequence[str],
    named: BoolArray, types: Sequence[str],
) -> None:  # fmt: skip
    """Change the probabilities of the types of acronyms and of X-Y by what these name."""
    acronyms = np.array([ACRONYMS.get(entity_type, 1.0) for entity_type in types[1:]])
    hyphenated = np.array([HYPHENATED.get(entity_type, 1.0) for entity_type in types[1:]])
    for n, (head, first, last) in enumerate(places):
        if not named[head]:
            continue
        if head == last and _is_acronym(texts[head]):
            factors = acronyms
        elif last - first == 2 and texts[first + 1] == "-" and share_of_women(texts[first]) is None:
            factors = hyphenated
        else:
            continue
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
    of = last > head + 1 and texts[head].istitle() and texts[head + 1] == "of"
    if of and texts[head].lower() in INSTITUTIONS:  # the Bank of Finland
        return texts[head + 2][0].isupper()
    if not named[head] or (head < last and named[head + 1]):
        return False
    if first < head and (named[head - 1] or texts[head - 1] == "Red"):
        return _is_institution(texts, head)
    return head > 0 and _kind_before(texts, head) in KINDS


def _is_employer(texts: Sequence[str], named: BoolArray, place: Place) -> bool:
    """Return whether a word names an organization: an agency, AT&T, "Volvo chairwoman", "at
    Sainsbury's"."""
    head, first, _ = place
    word, following = texts[head], [*texts[head + 1 : head + 3], "", ""]
    if word in AGENCIES or "&" in word:
        return True
    if not named[head] or place_size(word) or first < head:
        return False
    if following[0] in POSSESSIVE:
        return not following[1][:1].isalnum()
    return following[0] in OFFICES and following[0] != "head"


def _is_titled(texts: Sequence[str], named: BoolArray, first: int, last: int) -> bool:
    """Return whether a name begins with a title of a person: Ms Fox."""
    return first < last and bool(named[last]) and is_personal_title(texts[first])


def is_personal_title(word: str) -> bool:
    """Return whether a word is a title of a person, such as Mr or Prof."""
    return word.rstrip(".").lower() in TITLES


def _kind_before(texts: Sequence[str], place: int) -> str:
    before = list(texts[max(0, place - 3) : place])
    return "".join(before) if before[-2:-1] == ["-"] else before[-1]


def _is_institution(texts: Sequence[str], last: int) -> bool:
    """Return whether a capitalised kind of institution follows a capitalised word."""
    if last < 1 or not (texts[last].istitle() and texts[last - 1].istitle()):
        return False
    if texts[last - 1] == "Red" and texts[last] in ("Cross", "Crescent"):
        return True
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

"""Pairs of records of a collection: which are compared, and what is compared of them.

How rare a word is comes from the frequencies of English words that the package ships, never from
the collection itself: a pair has the same features however many other documents there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from partita.collection.documents import MONTHS, EntityRecord, SourceDocument, words_of_name
from partita.core import BoolArray, FloatArray, IntArray
from partita.linkage.neighbours import TextVectors, nearest_rows
from partita.text.given_names import shipped_names
from partita.text.words import shipped_words

ACROSS, WITHIN = 60, 4  # candidates of a record in other documents and in its own
SAME_TYPE, SIMILAR_DOCUMENTS = 3, 16  # salient records of its type in the most similar documents
UNKNOWN_WORD = 16.0  # rarity of a word without a frequency: e to the -16
UNCOMMON_WORD = 12.0  # rarity from which a word that is no noun is taken as a given name
COMMON_WORD = 6.0  # rarity up to which a word says nothing about a document
LEAST_RARITY = 0.5
NUMBERS = frozenset(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
     "twelve", "dozen", "hundred")
)  # fmt: skip

FEATURES = (
    "equal_name", "name_shared", "name_share_low", "name_share_high", "name_rarest", "acronym",
    "family_equal", "given_differ", "letters", "named", "name_length_low", "name_length_high",
    "head_shared", "head_rarest", "head_in_words", "word_shared", "word_share_low",
    "word_share_high", "unshared_low", "unshared_high", "types", "type_equal", "type_known",
    "person", "place", "time", "gender_equal", "gender_differ", "number_equal", "number_differ",
    "figures_shared", "figures_differ", "months_shared", "months_differ", "pronouns", "indefinite",
    "documents", "co_mentions", "co_mention_share", "nearby", "nearby_rarest", "governors",
    "mentions_low", "mentions_high", "first_low", "first_high", "same_document",
)  # fmt: skip
SECOND_FEATURES = (
    "log_odds", "rival_low", "rival_high", "rank_low", "rank_high", "support", "support_share",
    "document_pairs", "degree_low", "degree_high",
)  # fmt: skip


@cache
def rarity(word: str) -> float:
    """Return how rare a word is in English: minus the logarithm of its frequency."""
    table = shipped_words()
    place = table.find(word)
    return -float(table.frequencies[place]) if place >= 0 else UNKNOWN_WORD


def bags(
    rows: Sequence[Iterable[str]], weight: Callable[[str], float] = rarity, power: float = 1.0
) -> TextVectors:
    """Return bags of words as vectors of unit length, whose words weigh as they are rare.

    Words are numbered in their order in the alphabet: sets have an order that changes.
    """
    number: dict[str, int] = {}
    places = [[number.setdefault(word, len(number)) for word in sorted(row)] for row in rows]
    found = np.array([max(weight(word), LEAST_RARITY) for word in number] or [1.0])
    order = np.argsort(-found, kind="stable")
    renumbered = np.empty(len(found), dtype=np.int64)
    renumbered[order] = np.arange(len(found))
    heights, weights = found[order], found[order] ** power
    starts, terms, values = [0], [], []
    totals = np.zeros(len(rows))
    for n, row in enumerate(places):
        own, often = np.unique(renumbered[np.array(row, dtype=np.int64)], return_counts=True)
        value = (1.0 + np.log(often)) * weights[own]
        norm = float(np.sqrt((value**2).sum()))
        terms.append(own)
        values.append(value / norm if norm else value)
        totals[n] = heights[own].sum()
        starts.append(starts[-1] + len(own))
    flat = np.concatenate([np.zeros(0, np.int64), *terms])
    return TextVectors(np.array(starts, np.int64), flat, np.concatenate([np.zeros(0), *values]),
                       heights, totals)  # fmt: skip


def _topical(word: str) -> float:
    return max(rarity(word) - COMMON_WORD, 0.01)


def _constant(word: str) -> float:
    return 1.0


@dataclass(frozen=True, slots=True, eq=False)
class RecordComparison:
    """Records of documents, made ready to be compared."""

    records: tuple[EntityRecord, ...]
    home: IntArray  # the document of each record
    documents: TextVectors
    own: TextVectors  # the part of a document's vector that is the words of the record
    document_names: TextVectors
    names: TextVectors
    full_names: TextVectors
    letters: TextVectors
    acronyms: TextVectors
    heads: TextVectors
    words: TextVectors
    near: TextVectors
    governors: TextVectors
    figures: TextVectors
    months: TextVectors
    combined: TextVectors

    @classmethod
    def of(cls, documents: Sequence[SourceDocument]) -> RecordComparison:
        """Make the records of documents ready."""
        records = tuple(one for document in documents for one in document.records)
        home = np.repeat(np.arange(len(documents)), [len(one.records) for one in documents])
        names = [[w for name in one.names for w in words_of_name(name)] for one in records]
        topics = [[w for w in one.words if _topical(w) > 0.02] for one in documents]
        return cls(
            records,
            home.astype(np.int64),
            bags(topics, _topical),
            _own_parts(records, home, topics),
            bags([{w for r in one.records for name in r.names for w in words_of_name(name)}
                  for one in documents]),
            bags([set(one) for one in names]),
            bags([{" ".join(words_of_name(name)) for name in one.names} - {""} for one in records]),
            bags([_grams(one) for one in records], _constant),
            bags([_acronyms(one) for one in records], _constant),
            bags([set(one.heads) for one in records]),
            bags([set(one.words) for one in records]),
            bags([set(one.nearby) for one in records], _topical),
            bags([set(one.governors) for one in records]),
            bags([[w for w in one.words if w[0].isdigit() or w in NUMBERS] for one in records],
                 _constant),
            bags([[w for w in one.words if w in MONTHS] for one in records], _constant),
            _combined(records, [topics[n] for n in home.tolist()]),
        )  # fmt: skip

    def candidates(self, across: int = ACROSS, within: int = WITHIN) -> tuple[IntArray, IntArray]:
        """Return the pairs of records to compare, the lower first, each once."""
        left, right = nearest_rows(self.combined, self.home, across, within)
        more = self._of_similar_documents()
        left, right = np.concatenate([left, more[0]]), np.concatenate([right, more[1]])
        low, high = np.minimum(left, right), np.maximum(left, right)
        code = np.unique(low * len(self.records) + high)
        low, high = code // max(len(self.records), 1), code % max(len(self.records), 1)
        return low[low != high], high[low != high]

    def _of_similar_documents(self) -> tuple[IntArray, IntArray]:
        """Return pairs with the first records of the same type in the most similar documents."""
        count = len(self.documents)
        first, other = nearest_rows(self.documents, np.arange(count), SIMILAR_DOCUMENTS, 0)
        salient: list[dict[str, list[int]]] = [{} for _ in range(count)]
        members: list[list[int]] = [[] for _ in range(count)]
        for n, record in enumerate(self.records):
            members[self.home[n]].append(n)
            chosen = salient[self.home[n]].setdefault(record.type, [])
            if record.names and len(chosen) < SAME_TYPE:
                chosen.append(n)
        pairs = [
            (n, m)
            for a, b in zip(first.tolist(), other.tolist(), strict=True)
            for n in members[a]
            for m in salient[b].get(self.records[n].type, ())
        ]
        found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def conflicts(self, left: IntArray, right: IntArray) -> BoolArray:
        """Return which pairs have one family name and given names that differ from the start."""
        known = shipped_names().given
        family, others, given = [], [], []
        for one in self.records:
            parts = words_of_name(one.names[0]) if one.names else ()
            family.append(parts[-1] if len(parts) > 1 else "")
            others.append(frozenset(parts[:-1]))
            given.append([part for part in parts[:-1] if len(part) > 1 and
                          (part in known or _may_be_given(part))])  # fmt: skip
        code = _codes(family)
        same = (code[left] == code[right]) & (code[left] > 0)
        found = np.zeros(len(left), dtype=np.bool_)
        for n in np.flatnonzero(same).tolist():
            a, b = int(left[n]), int(right[n])
            apart = others[a].isdisjoint(others[b]) and bool(given[a]) and bool(given[b])
            found[n] = apart and {x[0] for x in given[a]}.isdisjoint(x[0] for x in given[b])
        return found

    def features(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the features of pairs, in the order of FEATURES."""
        found: dict[str, FloatArray] = {}
        self._add_names(found, left, right)
        self._add_words(found, left, right)
        self._add_kinds(found, left, right)
        self._add_context(found, left, right)
        return np.column_stack([found[name] for name in FEATURES])

    def _add_names(self, found: dict[str, FloatArray], left: IntArray, right: IntArray) -> None:
        bag, records = self.names, self.records
        found["equal_name"], _ = self.full_names.shared(left, right)
        found["name_shared"], found["name_rarest"] = bag.shared(left, right)
        _add_shares(found, "name_share", found["name_shared"], bag.total[left], bag.total[right])
        found["acronym"], _ = self.acronyms.shared(left, right)
        found["letters"] = self.letters.cosines(left, right)
        parts = [words_of_name(one.names[0]) if one.names else () for one in records]
        family = _codes([one[-1] if one else "" for one in parts])
        given = _codes([one[0] if len(one) > 1 else "" for one in parts])
        length = np.array([len(one) for one in parts], dtype=np.float64)
        same = (family[left] == family[right]) & (family[left] > 0)
        found["family_equal"] = same.astype(np.float64)
        known = (given[left] > 0) & (given[right] > 0)
        found["given_differ"] = np.where(known, given[left] != given[right], np.nan)
        named = (length > 0).astype(np.float64)
        found["named"] = named[left] + named[right]
        _add_ends(found, "name_length", length, left, right)

    def _add_words(self, found: dict[str, FloatArray], left: IntArray, right: IntArray) -> None:
        found["head_shared"], found["head_rarest"] = self.heads.shared(left, right)
        both = zip(left.tolist(), right.tolist(), strict=True)
        heads = [frozenset(one.heads) for one in self.records]
        words = [frozenset(one.words) for one in self.records]
        found["head_in_words"] = np.array(
            [(not heads[a].isdisjoint(words[b])) + (not heads[b].isdisjoint(words[a]))
             for a, b in both], dtype=np.float64)  # fmt: skip
        total = self.words.total
        found["word_shared"], _ = self.words.shared(left, right)
        _add_shares(found, "word_share", found["word_shared"], total[left], total[right])
        rest = total[left] - found["word_shared"], total[right] - found["word_shared"]
        found["unshared_low"], found["unshared_high"] = np.minimum(*rest), np.maximum(*rest)

    def _add_kinds(self, found: dict[str, FloatArray], left: IntArray, right: IntArray) -> None:
        records = self.records
        names = sorted({name for one in records for name in one.types})
        shares = np.array([[one.types.get(name, 0.0) for name in names] for one in records])
        shares = shares.reshape(len(records), -1)
        known = np.array([bool(one.types) for one in records])
        product = np.einsum("ij,ij->i", shares[left], shares[right])
        found["types"] = np.where(known[left] & known[right], product, np.nan)
        kind = _codes([one.type for one in records])
        found["type_known"] = (kind[left] > 0).astype(np.float64) + (kind[right] > 0)
        found["type_equal"] = np.where(
            (kind[left] > 0) & (kind[right] > 0), kind[left] == kind[right], np.nan
        )
        for name in ("person", "place", "time"):
            is_kind = np.array([one.type == name for one in records], dtype=np.float64)
            found[name] = is_kind[left] + is_kind[right]
        for name in ("gender", "number"):
            code = _codes([getattr(one, name) for one in records])
            both = (code[left] > 0) & (code[right] > 0)
            found[f"{name}_equal"] = (both & (code[left] == code[right])).astype(np.float64)
            found[f"{name}_differ"] = (both & (code[left] != code[right])).astype(np.float64)
        for name, bag in (("figures", self.figures), ("months", self.months)):
            found[f"{name}_shared"], _ = bag.shared(left, right)
            both = (bag.total[left] > 0) & (bag.total[right] > 0)
            found[f"{name}_differ"] = (both & (found[f"{name}_shared"] == 0)).astype(np.float64)
        only = np.array([bool(one.mentions) and all(m.form == "pronoun" for m in one.mentions)
                         for one in records], float)  # fmt: skip
        found["pronouns"] = only[left] + only[right]
        vague = np.array([any(m.form == "indefinite" for m in one.mentions) for one in records],
                         float)  # fmt: skip
        found["indefinite"] = vague[left] + vague[right]

    def _add_context(self, found: dict[str, FloatArray], left: IntArray, right: IntArray) -> None:
        a, b = self.home[left], self.home[right]
        # The words that two records share speak for their pair already, not for their documents.
        apart = self.documents.cosines(a, b) - self.own.cosines(left, right)
        found["documents"] = np.maximum(apart, 0.0)
        shared, _ = self.document_names.shared(a, b)
        others = np.maximum(shared - found["name_shared"], 0.0)
        found["co_mentions"] = others
        least = np.minimum(self.document_names.total[a], self.document_names.total[b])
        found["co_mention_share"] = others / np.maximum(least, 1.0)
        found["nearby"] = self.near.cosines(left, right)
        _, found["nearby_rarest"] = self.near.shared(left, right)
        found["governors"], _ = self.governors.shared(left, right)
        size = np.array([max(len(one.mentions), 1) for one in self.records], dtype=np.float64)
        _add_ends(found, "mentions", size, left, right)
        first = np.array([min((m.sentence for m in one.mentions), default=0)
                          for one in self.records], dtype=np.float64)  # fmt: skip
        _add_ends(found, "first", first, left, right)
        found["same_document"] = (a == b).astype(np.float64)


def _may_be_given(word: str) -> bool:
    return rarity(word) >= UNCOMMON_WORD and not shipped_words().noun_classes(word)


def _own_parts(
    records: Sequence[EntityRecord], home: IntArray, topics: Sequence[Sequence[str]]
) -> TextVectors:
    """Return for each record the words of its document's vector that are its own words."""
    number: dict[str, int] = {}
    values = []
    for topic in topics:
        value = {word: (1.0 + np.log(n)) * _topical(word) for word, n in Counter(topic).items()}
        norm = float(np.sqrt(sum(one**2 for one in value.values()))) or 1.0
        values.append({word: one / norm for word, one in value.items()})
    rows = [sorted((number.setdefault(word, len(number)), values[n][word])
                   for word in {*one.words} if word in values[n])
            for one, n in zip(records, home.tolist(), strict=True)]  # fmt: skip
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    flat = [pair for row in rows for pair in row]
    terms, weights = np.array([n for n, _ in flat], np.int64), np.array([x for _, x in flat])
    return TextVectors(starts, terms, weights.astype(float), np.zeros(len(number)), np.zeros(0))


def _combined(records: Sequence[EntityRecord], topics: Sequence[Sequence[str]]) -> TextVectors:
    """Return the vectors by which candidates are found: own words first, then the document's."""
    rows = [
        [*(f"w {w}" for w in {*one.words, *one.heads}), *_acronyms(one),
         *(f"d {w}" for w in {*topic})]
        for one, topic in zip(records, topics, strict=True)
    ]  # fmt: skip

    def weight(term: str) -> float:
        if term[0] == "d":
            return 0.25 * _topical(term[2:])
        return 100.0 if term[0] == "@" else 20.0 + rarity(term[2:])

    return bags(rows, weight)


def _grams(record: EntityRecord) -> list[str]:
    name = f" {' '.join(words_of_name(record.names[0]))} " if record.names else ""
    return [name[n : n + 3] for n in range(len(name) - 2)]


def _acronyms(record: EntityRecord) -> set[str]:
    found = set()
    for name in record.names:
        parts = words_of_name(name)
        if len(parts) > 1:
            found.add("@" + "".join(part[0] for part in parts))
        elif (plain := name.replace(".", "")).isupper() and 1 < len(plain) < 7:
            found.add("@" + plain.lower())
    return {one for one in found if len(one) > 2}


def _codes(values: Sequence[str]) -> IntArray:
    """Return numbers of values; the empty one is 0."""
    number = {"": 0}
    return np.array([number.setdefault(value, len(number)) for value in values], dtype=np.int64)


def _add_ends(
    found: dict[str, FloatArray], name: str, values: FloatArray, left: IntArray, right: IntArray
) -> None:
    found[f"{name}_low"] = np.minimum(values[left], values[right])
    found[f"{name}_high"] = np.maximum(values[left], values[right])


def _add_shares(
    found: dict[str, FloatArray], name: str, shared: FloatArray, one: FloatArray, two: FloatArray
) -> None:
    found[f"{name}_low"] = shared / np.maximum(np.maximum(one, two), 1e-9)
    found[f"{name}_high"] = shared / np.maximum(np.minimum(one, two), 1e-9)


def second_features(
    home: IntArray, left: IntArray, right: IntArray, log_odds: FloatArray
) -> FloatArray:
    """Return features of pairs that come from the first scores of all: rivals and support.

    A rival is another record of the same document that the record is compared with: two records
    of one document are hardly ever the same, so that at most one of them can be it.
    """
    if not len(left):
        return np.zeros((0, len(SECOND_FEATURES)))
    p = 1.0 / (1.0 + np.exp(-log_odds))
    count = int(home.max(initial=-1)) + 1
    size = len(home)
    ends = [
        _rivals(left, home[right], log_odds, count),
        _rivals(right, home[left], log_odds, count),
    ]
    rival = [one[0] for one in ends]
    rank = [one[1] for one in ends]
    rows, columns = np.concatenate([left, right]), np.concatenate([right, left])
    order = np.lexsort((columns, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))]).astype(np.int64)
    values = np.concatenate([p, p])[order]
    graph = TextVectors(starts, columns[order], values, np.zeros(size), np.zeros(size))
    support = graph.cosines(left, right)
    squares = np.bincount(rows, np.concatenate([p, p]) ** 2, size)
    least = np.sqrt(np.maximum((squares[left] - p**2) * (squares[right] - p**2), 1e-9))
    degree = np.bincount(rows, np.concatenate([p, p]), size)
    pair = np.minimum(home[left], home[right]) * count + np.maximum(home[left], home[right])
    _, code = np.unique(pair, return_inverse=True)
    together = np.bincount(code, p)[code] - p
    return np.column_stack([
        log_odds, np.minimum(*rival), np.maximum(*rival), np.minimum(*rank), np.maximum(*rank),
        support, support / np.maximum(least, 1e-3), together,
        np.minimum(degree[left], degree[right]) - p, np.maximum(degree[left], degree[right]) - p,
    ])  # fmt: skip


def _rivals(
    record: IntArray, document: IntArray, log_odds: FloatArray, count: int
) -> tuple[FloatArray, FloatArray]:
    """Return the log-odds of the best other record of a document, and the rank among them."""
    code = record * count + document
    order = np.lexsort((-log_odds, code))
    sorted_codes, sorted_odds = code[order], log_odds[order]
    heads = np.flatnonzero(np.concatenate([[True], sorted_codes[1:] != sorted_codes[:-1]]))
    group = np.cumsum(np.concatenate([[True], sorted_codes[1:] != sorted_codes[:-1]])) - 1
    place = np.arange(len(order)) - heads[group]
    sizes = np.diff(np.concatenate([heads, [len(order)]]))
    second = np.where(sizes > 1, sorted_odds[np.minimum(heads + 1, len(order) - 1)], -12.0)
    best = np.where(place == 0, second[group], sorted_odds[heads][group])
    rival, rank = np.empty(len(order)), np.empty(len(order))
    rival[order], rank[order] = best, place
    return rival, rank

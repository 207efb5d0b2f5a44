"""Pairs of records of a collection: which are compared, and what is compared of them.

How rare a word is comes from the frequencies of English words that the package ships, never from
the collection itself: a pair has the same features however many other documents there are.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.collection.documents import MONTHS, EntityRecord, SourceDocument, rarity, words_of_name
from partita.configurations.forest.model import logistic
from partita.core import BoolArray, FloatArray, IntArray
from partita.linkage.neighbours import TextVectors, nearest_rows
from partita.text.given_names import shipped_names
from partita.text.words import shipped_words

ACROSS, WITHIN = 60, 4  # candidates of a record in other documents and in its own
SAME_TYPE, SIMILAR_DOCUMENTS = 3, 16  # salient records of its type in the most similar documents
UNCOMMON_WORD = 12.0  # rarity from which a word that is no noun is taken as a given name
COMMON_WORD = 6.0  # rarity up to which a word says nothing about a document
LEAST_RARITY = 0.5
HOPELESS = -6.5  # log-odds up to which a pair counts as one that was not compared
# Added to the log-odds of pairs with one family name and different given names, of an acronym with
# a name that has its initials, and of records of which one is mentioned within the other (a yard
# in Norway). Trees learn little of them: of 247 such pairs of people in topics of ECB+ that they
# had not seen, they expected 63 to be the same where 2 were; of 115 acronyms in texts of GUM that
# they had not seen, 35 where 86 were; of 1,499 nested ones in such texts, 132 where 32 were.
GIVEN_NAMES_DIFFER, ACRONYM, NESTED = -4.0, 1.0, -2.0
APART, PART = 2, 1  # kinds of conflicts
NUMBERS = frozenset(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
     "twelve", "dozen", "hundred")
)  # fmt: skip

FEATURES = (
    "equal_name", "name_shared", "name_share_low", "name_share_high", "name_rarest", "acronym",
    "family_equal", "given_differ", "letters", "named", "name_modifies",
    "name_length_low", "name_length_high",
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


def bags(
    rows: Iterable[Iterable[str]], weight: Callable[[str], float] = rarity, power: float = 1.0
) -> TextVectors:
    """Return bags of words as vectors of unit length, whose words weigh as they are rare.

    Words are numbered by how rare they are, then by the alphabet, so that sums over the words of a
    row are the same to the last bit whatever other rows there are.
    """
    number: dict[str, int] = {}
    flat, ends = array("q"), array("q", [0])
    for row in rows:
        flat.extend(number.setdefault(word, len(number)) for word in row)
        ends.append(len(flat))
    found = np.array([max(weight(word), LEAST_RARITY) for word in number] or [1.0])
    words = [*number] or [""]
    order = np.array(sorted(range(len(words)), key=lambda n: (-found[n], words[n])))
    renumbered = np.empty(len(found), dtype=np.int64)
    renumbered[order] = np.arange(len(found))
    count, size = len(ends) - 1, len(found)
    code = renumbered[np.array(flat, dtype=np.int64)]
    code += np.repeat(np.arange(count), np.diff(np.array(ends))) * size
    code, often = np.unique(code, return_counts=True)
    home, terms = code // size, code % size
    heights = found[order]
    values = (1.0 + np.log(often)) * heights[terms] ** power
    norm = np.sqrt(np.bincount(home, values**2, count))
    values /= np.where(norm > 0.0, norm, 1.0)[home]
    starts = np.concatenate([[0], np.cumsum(np.bincount(home, minlength=count))]).astype(np.int64)
    totals = np.bincount(home, heights[terms], count).astype(np.float64)
    return TextVectors(starts, terms, values, heights, totals)


def _topical(word: str) -> float:
    return max(rarity(word) - COMMON_WORD, 0.01)


def _constant(word: str) -> float:
    return 1.0


def rounded_weight(values: Any, bits: int = 10) -> Any:
    """Return numbers with so many binary places, whose products have exact sums in any order."""
    return np.round(np.ldexp(values, bits)) / 2**bits


def search_words(one: EntityRecord) -> set[str]:
    """Return the words by which records that are like this one are found."""
    return {*one.words, *one.heads, *_initials(one), *_acronyms(one)}


def search_weight(word: str) -> float:
    """Return what a word of a record weighs where candidates are looked up."""
    return 100.0 if word[0] == "@" else float(rounded_weight(20.0 + rarity(word)))


def topic_weight(word: str) -> float:
    """Return what a word of a document weighs where candidates are looked up."""
    return max(float(rounded_weight(0.25 * _topical(word))), LEAST_RARITY)


def topic_words(document: SourceDocument) -> list[str]:
    """Return the words of a document that say something about it."""
    return [word for word in document.words if _topical(word) > 0.02]


def topic_order(document: SourceDocument) -> list[str]:
    """Return these words, each once, in the order of the vector of the document."""
    words = {*topic_words(document)}
    return sorted(words, key=lambda word: (-max(_topical(word), LEAST_RARITY), word))


def salient_records(records: Sequence[EntityRecord]) -> list[bool]:
    """Return which records are among the first named ones of their type in their document."""
    often: Counter[tuple[str, str]] = Counter()
    found = []
    for one in records:
        often[one.document, one.type] += bool(one.names)
        found.append(bool(one.names) and often[one.document, one.type] <= SAME_TYPE)
    return found


@dataclass(frozen=True, eq=False)
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
    acronyms: TextVectors  # first the initials of the names of each record, then its acronyms
    words: TextVectors  # first the heads of each record, then its words
    near: TextVectors
    governors: TextVectors
    figures: TextVectors
    months: TextVectors
    topics: list[list[str]]  # words of each document that say something about it

    @classmethod
    def of(cls, documents: Sequence[SourceDocument]) -> RecordComparison:
        """Make the records of documents ready."""
        records = tuple(one for document in documents for one in document.records)
        home = np.repeat(np.arange(len(documents)), [len(one.records) for one in documents])
        topics = [topic_words(one) for one in documents]
        return cls(
            records,
            home.astype(np.int64),
            bags(topics, _topical),
            _own_parts(records, home, topics),
            bags({w for r in one.records for name in r.names for w in words_of_name(name)}
                 for one in documents),
            bags({w for name in one.names for w in words_of_name(name)} for one in records),
            bags({" ".join(words_of_name(name)) for name in one.names} - {""} for one in records),
            bags((_grams(one) for one in records), _constant),
            bags(chain((_initials(one) for one in records), (_acronyms(one) for one in records)),
                 _constant),
            bags(chain(({*one.heads} for one in records), ({*one.words} for one in records))),
            bags(({*one.nearby} for one in records), _topical),
            bags({*one.governors} for one in records),
            bags(([w for w in one.words if w[0].isdigit() or w in NUMBERS] for one in records),
                 _constant),
            bags(([w for w in one.words if w in MONTHS] for one in records), _constant),
            topics,
        )  # fmt: skip

    def candidates(self, across: int = ACROSS, within: int = WITHIN) -> tuple[IntArray, IntArray]:
        """Return the pairs of records to compare, the lower first, each once."""
        count = max(len(self.records), 1)
        own = bags(map(search_words, self.records), search_weight)
        topics = bags(map(set, self.topics), topic_weight)
        own, topics = (replace(one, values=one.rarity[one.terms]) for one in (own, topics))
        near = nearest_rows(own, self.home, across, within, of_sources=topics)
        code = np.concatenate([_coded(*near, count), self._of_similar_documents(count)])
        del near
        code.sort()  # in place: there are very many
        code = code[np.concatenate([[True], code[1:] != code[:-1]])[: len(code)]]
        return code // count, code % count

    def _of_similar_documents(self, count: int) -> IntArray:
        """Return coded pairs with the first records of the same type in the nearest documents."""
        documents = np.arange(len(self.documents))
        values = rounded_weight(self.documents.values, 20)
        first, other = nearest_rows(
            replace(self.documents, values=values), documents, SIMILAR_DOCUMENTS, 0
        )
        salient: list[dict[str, list[int]]] = [{} for _ in documents]
        members: list[list[int]] = [[] for _ in documents]
        is_salient = salient_records(self.records)
        for n, (record, home) in enumerate(zip(self.records, self.home.tolist(), strict=True)):
            members[home].append(n)
            if is_salient[n]:
                salient[home].setdefault(record.type, []).append(n)
        codes = array("q")
        for a, b in zip(first.tolist(), other.tolist(), strict=True):
            for n in members[a]:
                for m in salient[b].get(self.records[n].type, ()):
                    codes.append(n * count + m if n < m else m * count + n)
        return np.frombuffer(codes, dtype=np.int64)

    def corrections(self, left: IntArray, right: IntArray, rows: FloatArray) -> FloatArray:
        """Return what is added to the log-odds of pairs with these features."""
        acronym, equal = (rows[:, FEATURES.index(name)] > 0 for name in ("acronym", "equal_name"))
        apart, part = self._names_apart(left, right), self._within(left, right)
        found = GIVEN_NAMES_DIFFER * apart.astype(np.float64) + ACRONYM * (acronym & ~equal)
        return found + NESTED * part.astype(np.float64)

    def conflicts(self, left: IntArray, right: IntArray) -> NDArray[np.int8]:
        """Return what holds against all other pairs of two clusters, 0 for nothing.

        It is APART for people with given names that differ, and PART where one is mentioned within
        the other.
        """
        apart = self._names_apart(left, right)
        return np.where(apart, APART, PART * self._within(left, right)).astype(np.int8)

    def _within(self, left: IntArray, right: IntArray) -> BoolArray:
        """Return of which pairs one is mentioned within a mention of the other."""
        count, (outer, inner) = len(self.records), self._nested.T
        return np.isin(_coded(left, right, count), _coded(inner, outer, count))

    @cached_property
    def _nested(self) -> IntArray:
        """Pairs of records of a document: one, and one that is mentioned within a mention of it."""
        found: set[tuple[int, int]] = set()
        homes = self.home.tolist()
        for _, records in groupby(range(len(homes)), key=homes.__getitem__):
            around: list[tuple[int, int]] = []  # ends of mentions that hold the present place
            for start, end, inner in sorted(
                (one.start, -one.end, n) for n in records for one in self.records[n].mentions
            ):
                around = [(last, n) for last, n in around if last > start]
                found.update((n, inner) for last, n in around if n != inner and last >= -end)
                around.append((-end, inner))
        return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)

    def _names_apart(self, left: IntArray, right: IntArray) -> BoolArray:
        """Return which pairs have one family name and given names that differ from the start."""
        family, several = self._of_records["family"], self._of_records["name_length"] > 1
        same = (family[left] == family[right]) & several[left] & several[right]
        found = np.zeros(len(left), dtype=np.bool_)
        for n in np.flatnonzero(same).tolist():
            a, b = (words_of_name(self.records[end[n]].names[0])[:-1] for end in (left, right))
            one, two = ({part[0] for part in parts if _is_given(part)} for parts in (a, b))
            found[n] = {*a}.isdisjoint(b) and bool(one) and bool(two) and one.isdisjoint(two)
        return found

    @cached_property
    def _of_records(self) -> dict[str, Any]:
        """Arrays with a figure or the number of a value for each record."""
        records = self.records
        parts = [words_of_name(one.names[0]) if one.names else () for one in records]
        types = sorted({name for one in records for name in one.types})
        shares = np.array([[one.types.get(name, 0.0) for name in types] for one in records])
        forms = [[m.form for m in one.mentions] for one in records]

        def flags(values: Iterable[bool]) -> FloatArray:
            return np.array([*values], dtype=np.float64)

        return {
            "family": _codes([one[-1] if one else "" for one in parts]),
            "given": _codes([one[0] if len(one) > 1 else "" for one in parts]),
            "name_length": np.array([len(one) for one in parts], dtype=np.float64),
            "named": flags(bool(one) for one in parts),
            "shares": shares.reshape(len(records), -1),
            "known": np.array([bool(one.types) for one in records], dtype=np.bool_),
            **{name: _codes([getattr(one, name) for one in records])
               for name in ("type", "gender", "number")},
            **{name: flags(one.type == name for one in records)
               for name in ("person", "place", "time")},
            "pronouns": flags(bool(one) and {*one} == {"pronoun"} for one in forms),
            "indefinite": flags("indefinite" in one for one in forms),
            "mentions": np.array([max(len(one), 1) for one in forms], dtype=np.float64),
            "first": np.array([min((m.sentence for m in one.mentions), default=0)
                               for one in records], dtype=np.float64),
        }  # fmt: skip

    def features(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the features of pairs, in the order of FEATURES."""
        found: dict[str, FloatArray] = {}
        self._add_names(found, left, right)
        self._add_words(found, left, right)
        modifies = (
            (found["named"] == 1) & (found["head_shared"] == 0) & (found["head_in_words"] > 0)
        )
        found["name_modifies"] = modifies.astype(np.float64)  # Dublin, the Dublin site
        self._add_kinds(found, left, right)
        self._add_context(found, left, right)
        return np.column_stack([found[name] for name in FEATURES])

    def _add_names(self, found: dict[str, FloatArray], left: IntArray, right: IntArray) -> None:
        bag, of = self.names, self._of_records
        found["equal_name"], _ = self.full_names.shared(left, right)
        found["name_shared"], found["name_rarest"] = bag.shared(left, right)
        _add_shares(found, "name_share", found["name_shared"], bag.total[left], bag.total[right])
        one, two = left + len(self.records), right + len(self.records)
        acronyms = [self.acronyms.shared(*ends)[0] for ends in ((left, two), (right, one))]
        found["acronym"] = acronyms[0] + acronyms[1]
        found["letters"] = self.letters.cosines(left, right)
        family, given = of["family"], of["given"]
        same = (family[left] == family[right]) & (family[left] > 0)
        found["family_equal"] = same.astype(np.float64)
        known = (given[left] > 0) & (given[right] > 0)
        found["given_differ"] = np.where(known, given[left] != given[right], np.nan)
        found["named"] = of["named"][left] + of["named"][right]
        _add_ends(found, "name_length", of["name_length"], left, right)

    def _add_words(self, found: dict[str, FloatArray], left: IntArray, right: IntArray) -> None:
        found["head_shared"], found["head_rarest"] = self.words.shared(left, right)
        one, two = left + len(self.records), right + len(self.records)
        inside = [self.words.shared(*ends)[0] > 0.0 for ends in ((left, two), (right, one))]
        found["head_in_words"] = inside[0].astype(np.float64) + inside[1]
        total = self.words.total[len(self.records) :]
        found["word_shared"], _ = self.words.shared(one, two)
        _add_shares(found, "word_share", found["word_shared"], total[left], total[right])
        rest = total[left] - found["word_shared"], total[right] - found["word_shared"]
        found["unshared_low"], found["unshared_high"] = np.minimum(*rest), np.maximum(*rest)

    def _add_kinds(self, found: dict[str, FloatArray], left: IntArray, right: IntArray) -> None:
        of = self._of_records
        shares, known, kind = of["shares"], of["known"], of["type"]
        product = np.zeros(len(left))
        for column in shares.T:  # one after the other: types that no record has change nothing
            product += column[left] * column[right]
        found["types"] = np.where(known[left] & known[right], product, np.nan)
        found["type_known"] = (kind[left] > 0).astype(np.float64) + (kind[right] > 0)
        found["type_equal"] = np.where(
            (kind[left] > 0) & (kind[right] > 0), kind[left] == kind[right], np.nan
        )
        for name in ("person", "place", "time", "pronouns", "indefinite"):
            found[name] = of[name][left] + of[name][right]
        for name in ("gender", "number"):
            code = of[name]
            both = (code[left] > 0) & (code[right] > 0)
            found[f"{name}_equal"] = (both & (code[left] == code[right])).astype(np.float64)
            found[f"{name}_differ"] = (both & (code[left] != code[right])).astype(np.float64)
        for name, bag in (("figures", self.figures), ("months", self.months)):
            found[f"{name}_shared"], _ = bag.shared(left, right)
            both = (bag.total[left] > 0) & (bag.total[right] > 0)
            found[f"{name}_differ"] = (both & (found[f"{name}_shared"] == 0)).astype(np.float64)

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
        for name in ("mentions", "first"):
            _add_ends(found, name, self._of_records[name], left, right)
        found["same_document"] = (a == b).astype(np.float64)


def _coded(left: IntArray, right: IntArray, count: int) -> IntArray:
    return np.minimum(left, right) * count + np.maximum(left, right)


def _is_given(word: str) -> bool:
    """Return whether a word of a name is a given name, or one that may be."""
    if len(word) < 2:
        return False
    uncommon = rarity(word) >= UNCOMMON_WORD and not shipped_words().noun_classes(word)
    return uncommon or word in shipped_names().given


def _own_parts(
    records: Sequence[EntityRecord], home: IntArray, topics: Sequence[Sequence[str]]
) -> TextVectors:
    """Return for each record the words of its document's vector that are its own words."""
    values = []
    for topic in topics:
        value = {word: (1.0 + np.log(n)) * _topical(word) for word, n in Counter(topic).items()}
        norm = float(np.sqrt(sum(one**2 for one in value.values()))) or 1.0
        values.append({word: one / norm for word, one in value.items()})
    number = {word: n for n, word in enumerate(sorted({word for one in values for word in one}))}
    starts, terms, weights = array("q", [0]), array("q"), array("d")
    for one, n in zip(records, home.tolist(), strict=True):
        row = sorted({*one.words} & values[n].keys())
        terms.extend(number[word] for word in row)
        weights.extend(values[n][word] for word in row)
        starts.append(len(terms))
    places = np.array(starts, np.int64), np.array(terms, np.int64)
    return TextVectors(*places, np.array(weights), np.zeros(len(number)), np.zeros(0))


def _grams(record: EntityRecord) -> list[str]:
    name = f" {' '.join(words_of_name(record.names[0]))} " if record.names else ""
    return [name[n : n + 3] for n in range(len(name) - 2)]


def _initials(record: EntityRecord) -> set[str]:
    parts = [words_of_name(name) for name in record.names]
    return {"@" + "".join(part[0] for part in one) for one in parts if len(one) > 1}


def _acronyms(record: EntityRecord) -> set[str]:
    plain = [name.replace(".", "") for name in record.names]
    return {f"@{name.lower()}" for name in plain if name.isupper() and 1 < len(name) < 7}


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
) -> NDArray[np.float32]:
    """Return features of pairs that come from the first scores of all: rivals and support.

    A rival is another record of the same document that the record is compared with: two records
    of one document are hardly ever the same, so that at most one of them can be it. Hopeless pairs
    count for nothing.
    """
    from scipy.sparse import coo_array

    if not len(left):
        return np.zeros((0, len(SECOND_FEATURES)), dtype=np.float32)
    p = np.where(log_odds > HOPELESS, logistic(log_odds), 0.0)
    count, size = int(home.max(initial=-1)) + 1, len(home)
    found = np.empty((len(left), len(SECOND_FEATURES)), dtype=np.float32)  # there are very many
    found[:, 0] = log_odds
    rivals = [_rivals(a, home[b], log_odds, count) for a, b in ((left, right), (right, left))]
    for n, (one, two) in enumerate(zip(*rivals, strict=True)):
        found[:, 1 + 2 * n], found[:, 2 + 2 * n] = np.minimum(one, two), np.maximum(one, two)
    del rivals
    graph = coo_array((p, (left, right)), (size, size)).tocsr()
    graph = (graph + graph.T).tocsr()
    graph.sort_indices()
    near = TextVectors(graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data,
                       np.zeros(size), np.zeros(size))  # fmt: skip
    support = near.cosines(left, right)
    squares, degree = (np.asarray(one.sum(axis=1)).ravel() for one in (graph.power(2), graph))
    del graph, near
    least = np.sqrt(np.maximum((squares[left] - p**2) * (squares[right] - p**2), 1e-9))
    found[:, 5], found[:, 6] = support, support / np.maximum(least, 1e-3)
    pair = np.minimum(home[left], home[right]) * count + np.maximum(home[left], home[right])
    code = np.unique(pair, return_inverse=True)[1]
    found[:, 7] = np.bincount(code, p)[code] - p
    found[:, 8] = np.minimum(degree[left], degree[right]) - p
    found[:, 9] = np.maximum(degree[left], degree[right]) - p
    return found


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
    second = np.where(sizes > 1, sorted_odds[np.minimum(heads + 1, len(order) - 1)], HOPELESS)
    best = np.maximum(np.where(place == 0, second[group], sorted_odds[heads][group]), HOPELESS)
    rival, rank = np.empty(len(order)), np.empty(len(order))
    rival[order], rank[order] = best, place
    return rival, rank

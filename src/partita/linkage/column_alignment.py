"""Which columns of several tables hold the same thing, by their names and their values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt

from partita.linkage.record_columns import Texts, guess_kind, iso, plain_words

SAMPLE = 2_000  # values of a column that are looked at
NAME, GRAMS, VALUES = 0.4, 0.35, 0.25  # weights of equal words of names, n-grams, equal values
# Two columns are the same from a mean of .5 on, or of .3 if it is a quarter above that with any
# other column. With foreign headers this finds 16 of the 17 columns of dblp-acm, febrl4 and
# restaurants-two and no wrong one; the others are still in the text of the whole record.
SURE, LEAST, AHEAD = 0.5, 0.3, 1.25
SHORTEST = 3  # letters of a word that is short for another: tel, lat, org
NUMERIC = frozenset({"number", "year", "category", "identifier", "phone", "postcode"})
TEXTUAL = frozenset({"text", "phrase", "word", "given name", "surname", "category", "email"})


def local_name(name: str) -> str:
    """Return the last part of a name that is an address (of an ontology), else the name."""
    return re.split(r"[/#]", name.rstrip("/#"))[-1] if "://" in name else name


def name_words(name: str) -> frozenset[str]:
    """Return the words of a column's name, also those that capital letters separate."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", local_name(name))
    return frozenset(re.findall(r"[a-z]+|\d+", plain_words(spaced)))


def shared_words(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two names have in common, also shortened ones."""
    both = len(one & other)
    short = sum(any(_shortened(a, b) for b in other - one) for a in one - other)
    return (both + short) / max(len(one) + len(other) - both - short, 1)


def _shortened(one: str, other: str) -> bool:
    """Return whether one word is the beginning of the other: lat, latitude."""
    least = min(len(one), len(other))
    return least >= SHORTEST and one[:least] == other[:least]


def aligned_names(tables: Sequence[Mapping[str, Texts]]) -> list[dict[str, str]]:
    """Return for every table the shared names of its columns.

    Columns of the same name are the same, and columns of the same local name. Others are, if their
    names, the n-grams of their values and their values are alike enough together.
    """
    shared: dict[str, Texts] = {}
    renamed: list[dict[str, str]] = []
    for table in tables:
        names = _same_names(table, shared)
        free = [name for name in table if name not in names]
        others = {name: values for name, values in shared.items() if name not in names.values()}
        names |= _alike(table, free, others)
        for name in table:
            given = names.setdefault(name, _new_name(name, {*shared, *names.values()}))
            shared.setdefault(given, table[name])
        renamed.append({name: names[name] for name in table})
    return renamed


def _new_name(name: str, taken: set[str]) -> str:
    local = local_name(name)
    return name if local in taken else local


def _same_names(table: Mapping[str, Texts], shared: Mapping[str, Texts]) -> dict[str, str]:
    names = {name: name for name in table if name in shared}
    plain = {name_words(name): name for name in shared if name not in names}
    for name in table:
        if name not in names and name_words(name) in plain:
            names[name] = plain.pop(name_words(name))
    return names


def _alike(
    table: Mapping[str, Texts], unnamed: Sequence[str], shared: Mapping[str, Texts]
) -> dict[str, str]:
    """Return the columns that are alike, the most alike first."""
    mine = {name: _Profile(name, table[name]) for name in unnamed}
    theirs = {name: _Profile(name, values) for name, values in shared.items()}
    scores = [
        (a.similarity(b), first, second)
        for first, a in mine.items() for second, b in theirs.items()
    ]  # fmt: skip
    names: dict[str, str] = {}
    for score, first, second in sorted(scores, key=lambda one: (-one[0], one[1], one[2])):
        if first in names or second in names.values():
            continue
        free = [one for one in scores if one[1] not in names and one[2] not in names.values()]
        rival = max((one for one, a, b in free if (a == first) != (b == second)), default=0.0)
        if score >= SURE or score >= max(LEAST, AHEAD * rival):
            names[first] = second
    return names


class _Profile:
    """What the values of a column look like."""

    def __init__(self, name: str, values: Texts) -> None:
        present = [value for value in values if value is not None]
        step = max(1, len(present) // SAMPLE)
        plain = [iso(value) or plain_words(value) for value in present[::step][:SAMPLE]]
        self.words, self.kind = name_words(name), guess_kind(name, values)
        self.values = {*plain}
        grams = Counter(
            text[n : n + 3] for value in self.values for text in [f" {value} "]
            for n in range(len(text) - 2)
        )  # fmt: skip
        norm = sqrt(sum(grams.values())) or 1.0
        self.grams = {gram: sqrt(count) / norm for gram, count in grams.items()}

    def similarity(self, other: _Profile) -> float:
        """Return how alike two columns are, from 0 to 1."""
        kinds = {self.kind, other.kind}
        if "" in kinds or not (len(kinds) == 1 or kinds <= NUMERIC or kinds <= TEXTUAL):
            return 0.0
        words = shared_words(self.words, other.words)
        grams = sum(share * other.grams.get(gram, 0.0) for gram, share in self.grams.items())
        few = min(len(self.values), len(other.values))
        both = len(self.values & other.values) / max(few, 1)
        return NAME * words + GRAMS * grams + VALUES * both

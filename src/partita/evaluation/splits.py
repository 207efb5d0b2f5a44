"""Cut documents into coreference sets, price excluded keys, and split corpora by document.

Bits are −log₂ P(key). All excluded configurations together have one learned mass ε, spread evenly
over them: P(key) = (1 − ε)·P_model(key) if allowed, else ε / (Bell(n) − allowed).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.antecedents.antecedents import with_antecedents
from partita.antecedents.sets import possible_pairs, unifiable
from partita.configurations.count import log2_bell
from partita.core import (
    BoolArray,
    Document,
    FloatArray,
    IntArray,
    components,
    restricted_growth,
)
from partita.errors import InputError
from partita.templates.schema import Schema


@dataclass(frozen=True, slots=True)
class Excluded:
    """How often knowledge excludes the key: a share of sets, and a share of documents."""

    sets: float
    documents: float

    def __post_init__(self) -> None:
        for name, value in (("sets", self.sets), ("documents", self.documents)):
            if not 0 < value < 1:
                raise InputError(f"excluded mass of {name} is {value}, not between 0 and 1")


def estimated_share(broken: int, total: int) -> float:
    """Return the estimate of Krichevsky and Trofimov: never 0, never 1."""
    return (broken + 0.5) / (total + 1)


def allowed_bits(log_probability: float, excluded: float) -> float:
    """Return the bits of an allowed key, from its natural log-probability among the allowed."""
    return max(0.0, -log_probability / math.log(2)) - math.log2(1 - excluded)


def excluded_bits(n: int, log2_allowed: float, excluded: float) -> float:
    """Return the bits of an excluded key: ε over the number of excluded configurations."""
    return log2_rest(log2_bell(n), log2_allowed) - math.log2(excluded)


def log2_rest(log2_all: float, log2_some: float) -> float:
    """Return log₂(2^all − 2^some), at least 0: something remains."""
    gap = log2_all - log2_some
    if gap <= 0:
        return 0.0
    return max(0.0, log2_all + math.log2(-math.expm1(-gap * math.log(2))))


def document_bits(
    n: int, sizes: Sequence[int], spent: float, crosses: bool, excluded: float
) -> float:
    """Return the bits of a key of n templates: `spent` on its sets, and on links between them.

    `sizes` are those of the sets; `crosses` says that the key links templates of different ones.
    """
    if crosses:
        return excluded_bits(n, sum(map(log2_bell, sizes)), excluded)
    return spent - (0.0 if n < 2 or n in sizes else math.log2(1 - excluded))


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A document, its compatibility matrix, and the members of every set.

    Whoever is in no set is alone; `sets` have two members or more, in text order.
    """

    document: Document
    compatible: BoolArray
    labels: IntArray
    sets: tuple[IntArray, ...]
    crosses: bool
    schema: Schema | None = None

    @property
    def joined(self) -> BoolArray:
        """Whether the key has two templates in one cell, for every two."""
        joined: BoolArray = self.labels[:, None] == self.labels[None, :]
        return joined

    def broken(self, members: IntArray) -> bool:
        """Return whether the key joins two members of a set that are incompatible."""
        inside = np.ix_(members, members)
        return bool((self.joined[inside] & ~self.compatible[inside]).any())

    def open(self, members: IntArray) -> bool:
        """Return whether any two members of a set are incompatible: else nothing is excluded."""
        return not self.compatible[np.ix_(members, members)].all()


def cut_document(document: Document, schema: Schema | None = None) -> Cut:
    """Return the document with antecedents, and its sets by what is known a priori.

    Known is what the schema of its domain says of slots or, without one, that sorts, genders and
    counts differ.

    Antecedents that come with the templates are kept; where none does, they are looked for.
    """
    templates = document.templates
    allowed = possible_pairs(templates) if schema is None else unifiable(templates, schema)
    home = components(allowed)
    groups = (np.flatnonzero(home == n) for n in range(int(home.max(initial=-1)) + 1))
    labels = document.labels
    joined = labels[:, None] == labels[None, :]
    if not any(template.antecedents for template in templates):
        types, known = (None, None) if schema is None else (schema.types, allowed)
        referring = with_antecedents(templates, types=types, compatible=known)
        document = replace(document, templates=referring)
    return Cut(
        document,
        allowed,
        labels,
        tuple(members for members in groups if len(members) > 1),
        bool((joined & (home[:, None] != home[None, :])).any()),
        schema,
    )


def weighted_rows(cut: Cut, members: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the configurations of a set that its key holds possible and knowledge allows.

    Their weights sum to 1; the key itself comes first.
    """
    ids, closed = cut.document.ids, ~cut.compatible[np.ix_(members, members)]
    weighted = [(cut.labels, 1.0)]
    weighted += [(cells.labels(ids), weight) for cells, weight in cut.document.alternatives]
    shares: dict[tuple[int, ...], float] = {}
    for labels, weight in weighted:
        row = restricted_growth(labels[members].tolist())
        if not (closed & (row[:, None] == row[None, :])).any():
            shares[tuple(row.tolist())] = shares.get(tuple(row.tolist()), 0.0) + weight
    weights = np.array(list(shares.values()), dtype=np.float64)
    rows = np.array(list(shares), dtype=np.int64).reshape(len(shares), len(members))
    return rows, weights / weights.sum() if len(weights) else weights


def learn_excluded(cuts: Iterable[Cut]) -> Excluded:
    """Count how often a key joins incompatible pairs of a set, or two sets of a document."""
    broken = total = crossing = documents = 0
    for document in cuts:
        documents += 1
        crossing += document.crosses
        for members in document.sets:
            if document.open(members):
                total += 1
                broken += document.broken(members)
    return Excluded(estimated_share(broken, total), estimated_share(crossing, documents))


MESSAGES, FIRST, SECOND, SHARED = 72, 12, 15, 2


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Positions of documents."""

    name: str
    train: tuple[int, ...]
    test: tuple[int, ...]


def paper_splits(count: int, rng: np.random.Generator) -> tuple[Split, ...]:
    """Return the paper's three shapes, in proportion to the number of documents."""
    if count < 2:
        raise InputError("a split needs two documents or more")
    order: list[int] = rng.permutation(count).tolist()
    first, second, shared = (max(1, round(n * count / MESSAGES)) for n in (FIRST, SECOND, SHARED))
    first_test, second_test = order[:first], order[first - shared : first - shared + second]
    both = order[: first - shared + second]
    named = (("test 1", first_test), ("test 2", second_test), ("tests 1 and 2", both))
    return tuple(
        Split(name, tuple(sorted({*order} - {*test})), tuple(sorted(test))) for name, test in named
    )

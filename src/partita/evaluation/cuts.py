"""A document cut into coreference sets: connected components of a priori compatibility.

coverage = true links that stay possible / true links.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from partita.configurations.graphs import BoolArray, components
from partita.evaluation.bits import Excluded, share
from partita.records import Document, IntArray
from partita.reference.antecedents import with_antecedents
from partita.reference.exclusion import compatible
from partita.reference.sets import compatible_by
from partita.templates.schema import Schema


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A document, which two of its templates are compatible, and the members of every set.

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
        """For every two templates whether the key has them in one cell."""
        joined: BoolArray = self.labels[:, None] == self.labels[None, :]
        return joined

    def broken(self, members: IntArray) -> bool:
        """Whether the key joins two members of a set that are incompatible."""
        inside = np.ix_(members, members)
        return bool((self.joined[inside] & ~self.compatible[inside]).any())

    def open(self, members: IntArray) -> bool:
        """Whether any two members of a set are incompatible: only then is anything excluded."""
        return not self.compatible[np.ix_(members, members)].all()


def cut(document: Document, schema: Schema | None = None) -> Cut:
    """The document with antecedents, and its sets by what is known a priori: what the schema of
    its domain says of slots or, without one, that sorts, genders and counts differ.

    Antecedents that come with the templates are kept; where none does, they are looked for.
    """
    given = document.templates
    allowed = compatible(given) if schema is None else compatible_by(given, schema)
    home = components(allowed)
    groups = (np.flatnonzero(home == n) for n in range(int(home.max(initial=-1)) + 1))
    labels = document.labels
    joined = labels[:, None] == labels[None, :]
    return Cut(
        document if _referred(document) else _referring(document, allowed, schema),
        allowed,
        labels,
        tuple(members for members in groups if len(members) > 1),
        bool((joined & (home[:, None] != home[None, :])).any()),
        schema,
    )


def _referred(document: Document) -> bool:
    return any(template.antecedents for template in document.templates)


def _referring(document: Document, allowed: BoolArray, schema: Schema | None) -> Document:
    given = document.templates
    if schema is None:
        return replace(document, templates=with_antecedents(given))
    found = with_antecedents(given, sorts=schema.sorts, compatible=allowed)
    return replace(document, templates=found)


def coverage(cuts: Iterable[Cut]) -> float:
    """The share of true links that knowledge leaves possible; 1 where there is none."""
    links = possible = 0
    for one in cuts:
        true = np.triu(one.joined, 1)
        links += int(true.sum())
        possible += int((true & one.compatible).sum())
    return possible / links if links else 1.0


def learn_excluded(cuts: Iterable[Cut]) -> Excluded:
    """How often the key of a set joins what is incompatible, and that of a document two sets."""
    broken = seen = crossing = documents = 0
    for one in cuts:
        documents += 1
        crossing += one.crosses
        for members in one.sets:
            if one.open(members):
                seen += 1
                broken += one.broken(members)
    return Excluded(share(broken, seen), share(crossing, documents))

"""Coreference scores: MUC, B³, CEAFe, CoNLL and LEA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from partita.core import FloatArray, IntArray


class Summable:
    """A dataclass with slots whose objects are added field by field."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def __add__(self, other: Self) -> Self:
        both = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return type(self)(*(left + right for left, right in both))


@dataclass(frozen=True, slots=True)
class ScoreTally(Summable):
    """Found and total for recall, right and total for precision."""

    found: float = 0.0
    wanted: float = 0.0
    right: float = 0.0
    said: float = 0.0

    @property
    def recall(self) -> float:
        return self.found / self.wanted if self.wanted else 0.0

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else 0.0

    @property
    def f(self) -> float:
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """The sizes of key cells and response cells, and of every overlap that is not empty."""

    key: IntArray
    response: IntArray
    left: IntArray
    right: IntArray
    size: FloatArray


def overlaps(key: IntArray, response: IntArray) -> Overlaps:
    """Return the overlaps of two rows of labels; -1 where one side lacks the template."""
    k, sizes = _numbered(key)
    r, others = _numbered(response)
    shared = (key >= 0) & (response >= 0)
    met, size = np.unique(k[shared] * max(len(others), 1) + r[shared], return_counts=True)
    left, right = np.divmod(met, max(len(others), 1))
    return Overlaps(sizes, others, left, right, size.astype(np.float64))


def _numbered(labels: IntArray) -> tuple[IntArray, IntArray]:
    """Return the number of each template's cell, -1 for none, and the sizes of the cells."""
    present, numbers = labels >= 0, np.full(len(labels), -1)
    _, numbers[present], sizes = np.unique(labels[present], return_inverse=True, return_counts=True)
    return numbers, sizes


def b_cubed(key: IntArray, response: IntArray) -> ScoreTally:
    """Score every template, singletons too."""
    met = overlaps(key, response)
    recalled = float((met.size**2 / met.key[met.left]).sum())
    right = float((met.size**2 / met.response[met.right]).sum())
    return ScoreTally(recalled, float(met.key.sum()), right, float(met.response.sum()))


def ceaf_entity(key: IntArray, response: IntArray) -> ScoreTally:
    """Return the similarity of aligned cells over the number of cells on either side."""
    met = overlaps(key, response)
    score = _aligned_similarity(met)
    return ScoreTally(score, float(len(met.key)), score, float(len(met.response)))


def _aligned_similarity(met: Overlaps) -> float:
    """Align equal cells with each other, the others by the assignment problem."""
    likeness = 2 * met.size / (met.key[met.left] + met.response[met.right])
    equal = likeness == 1
    return float(equal.sum()) + _best_assignment(
        met.left[~equal], met.right[~equal], likeness[~equal]
    )


def _best_assignment(left: IntArray, right: IntArray, likeness: FloatArray) -> float:
    if not len(left):
        return 0.0
    from scipy.optimize import linear_sum_assignment

    rows, i = np.unique(left, return_inverse=True)
    columns, j = np.unique(right, return_inverse=True)
    table = np.zeros((len(rows), len(columns)))
    table[i, j] = likeness
    return float(table[linear_sum_assignment(table, maximize=True)].sum())


def lea(key: IntArray, response: IntArray) -> ScoreTally:
    """Score cells weighted by their size."""
    met = overlaps(key, response)
    links = _shared_links(met)
    recalled = _resolved(met.key, links, met.left)
    right = _resolved(met.response, links, met.right)
    return ScoreTally(recalled, float(met.key.sum()), right, float(met.response.sum()))


def _shared_links(met: Overlaps) -> FloatArray:
    """Return the links of every overlap; equal single cells share a link to themselves."""
    alone = (met.key[met.left] == 1) & (met.response[met.right] == 1)
    return np.where(alone, 1.0, met.size * (met.size - 1) / 2)


def _resolved(sizes: IntArray, links: FloatArray, cell: IntArray) -> float:
    own = np.where(sizes == 1, 1.0, sizes * (sizes - 1) / 2)
    return float((sizes[cell] * links / np.maximum(own[cell], 1.0)).sum())


def muc(key: IntArray, response: IntArray) -> ScoreTally:
    """Score the links that would have to be added; singletons have none."""
    met = overlaps(key, response)
    shared = float((met.size - 1).sum())
    key_links, response_links = (
        float(np.maximum(sizes - 1, 0).sum()) for sizes in (met.key, met.response)
    )
    return ScoreTally(shared, key_links, shared, response_links)


NOTHING = ScoreTally()


@dataclass(frozen=True, slots=True)
class CoreferenceScores(Summable):
    """All scores of some documents."""

    muc: ScoreTally = NOTHING
    b_cubed: ScoreTally = NOTHING
    ceaf: ScoreTally = NOTHING
    lea: ScoreTally = NOTHING

    @property
    def conll(self) -> float:
        return (self.muc.f + self.b_cubed.f + self.ceaf.f) / 3


def scores(key: IntArray, response: IntArray) -> CoreferenceScores:
    """Return all scores of one document from two rows of labels, -1 where one side has none."""
    if not len(key):
        return CoreferenceScores()
    return CoreferenceScores(
        muc(key, response), b_cubed(key, response), ceaf_entity(key, response), lea(key, response)
    )

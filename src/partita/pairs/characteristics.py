"""Characteristics of context: observations of a pair S, T, where T is later in the text.

Each is a named function from pairs to one of a few values, and its docstring is its documentation.
Those here are from the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.pairs.columns import FORMS, TemplateColumns
from partita.pairs.readings import NIL, Bools, Codes, Column, Places

BATCH = 1 << 14  # pairs whose columns fit in the cache

Cutoffs = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TemplatePairs:
    """Pairs of one document's templates, as positions; S is before T."""

    columns: TemplateColumns
    s: Places
    t: Places
    cutoffs: Cutoffs

    def both(self, column: Column) -> tuple[Column, Column]:
        return column[self.s], column[self.t]

    def equal(self, column: Column) -> Bools:
        """Return whether both hold the same value other than nil."""
        s, t = self.both(column)
        same: Bools = (s == t) & (s != NIL)
        return same


@dataclass(frozen=True, slots=True)
class Characteristic:
    """A function over pairs, and the names of its values."""

    of: Callable[[TemplatePairs], NDArray[np.generic]]
    values: tuple[str, ...]
    # Parameter files and the tables of the documentation name a characteristic by its function as
    # it was called when they were written; a function with a new name keeps its old one here.
    saved_name: str = ""

    @property
    def name(self) -> str:
        return self.saved_name or self.of.__name__

    @property
    def documentation(self) -> str:
        return " ".join((self.of.__doc__ or "").split())

    @property
    def features(self) -> tuple[str, ...]:
        """Return the features: each pairs a value with the outcome that S and T corefer."""
        return tuple(f"{self.name}: {value}" for value in self.values)


def any_pair(pairs: TemplatePairs) -> Codes:
    """Any two templates at all: its weight is the log-odds before anything is observed."""
    return np.zeros(len(pairs.s), dtype=np.uint8)


def slot_relation(pairs: TemplatePairs) -> NDArray[np.generic]:
    """What S is to T: their slot values are identical, S is properly subsumed by T (T is the more
    general one), S properly subsumes T, or they are otherwise consistent."""
    below, above = np.ones((2, len(pairs.s)), dtype=np.bool_)
    for slot in pairs.columns.slots:
        below &= slot.below(pairs.s, pairs.t)
        above &= slot.below(pairs.t, pairs.s)
    return 3 - 2 * below - above


def values_in_common(pairs: TemplatePairs) -> NDArray[np.generic]:
    """Whether S and T have two or more slot values in common that are not nil."""
    common = np.zeros(len(pairs.s), dtype=np.uint8)
    for slot in pairs.columns.slots:
        common += slot.equal(pairs.s, pairs.t)
    return common >= 2


def same_long_name(pairs: TemplatePairs) -> NDArray[np.generic]:
    """Whether the names of S and T are identical and of more than one word."""
    return pairs.equal(pairs.columns.name) & (pairs.columns.name_words.size[pairs.t] > 1)


def reference_of_t(pairs: TemplatePairs) -> NDArray[np.generic]:
    """How T refers: by an indefinite expression, a definite one (pronouns among them), neither."""
    return _REFERENCE[pairs.columns.form[pairs.t]]


def antecedent(pairs: TemplatePairs) -> NDArray[np.generic]:
    """For a definite T what the reference module says of S: preferred (directly or by a chain of
    preferred antecedents), possible, or not listed."""
    definite = _REFERENCE[pairs.columns.form[pairs.t]] == 1
    return np.where(definite, 1 + pairs.columns.antecedents.of(pairs.s, pairs.t), 0)


def distance(pairs: TemplatePairs) -> NDArray[np.generic]:
    """How far T is from S in characters, in five classes that had equal shares of the training
    pairs."""
    return np.searchsorted(np.array(pairs.cutoffs), characters(pairs), side="left")


_REFERENCE = np.array(
    [{"indefinite": 0, "definite": 1, "pronoun": 1}.get(f, 2) for f in FORMS] + [2]
)
NO_YES = ("no", "yes")
RELATIONS = ("identical", "properly subsumed by", "properly subsumes", "otherwise consistent")

PAPER: tuple[Characteristic, ...] = (
    Characteristic(any_pair, ("any",)),
    Characteristic(slot_relation, RELATIONS),
    Characteristic(values_in_common, NO_YES),
    Characteristic(same_long_name, NO_YES),
    Characteristic(reference_of_t, ("indefinite", "definite", "neither")),
    Characteristic(antecedent, ("not definite", "not listed", "possible", "preferred")),
    Characteristic(distance, ("very close", "close", "mid-distance", "far away", "very far away")),
)


def characters(pairs: TemplatePairs) -> Column:
    """Return the characters between the end of S and the start of T, 0 if they overlap."""
    between: Column = np.maximum(pairs.columns.start[pairs.t] - pairs.columns.end[pairs.s], 0)
    return between


def quintiles(distances: Iterable[Column]) -> Cutoffs:
    """Return the distances that split the training pairs into five classes of equal size."""
    pooled = np.concatenate([*distances, np.zeros(0, dtype=np.int32)])
    if not len(pooled):
        return (0.0, 0.0, 0.0, 0.0)
    return tuple(np.quantile(pooled, (0.2, 0.4, 0.6, 0.8), method="lower").astype(float).tolist())


def pairs_of(
    columns: TemplateColumns, left: IntArray, right: IntArray, cutoffs: Cutoffs
) -> TemplatePairs:
    """Return the pairs at these positions, each in text order."""
    s, t = np.minimum(left, right).astype(np.intp), np.maximum(left, right).astype(np.intp)
    return TemplatePairs(columns, s, t, cutoffs)


def characteristics_of(
    columns: TemplateColumns,
    left: IntArray,
    right: IntArray,
    chosen: Sequence[Characteristic] = PAPER,
    *,
    cutoffs: Cutoffs,
) -> Codes:
    """Return the codes of the values: one row per pair, one column per characteristic."""
    codes = np.empty((len(left), len(chosen)), dtype=np.uint8, order="F")
    for first in range(0, len(left), BATCH):
        batch = slice(first, first + BATCH)
        pairs = pairs_of(columns, left[batch], right[batch], cutoffs)
        for n, characteristic in enumerate(chosen):
            codes[batch, n] = characteristic.of(pairs)
    return codes


def feature_names(characteristics: Sequence[Characteristic]) -> tuple[str, ...]:
    """Return the features of all characteristics, in order."""
    return tuple(
        feature for characteristic in characteristics for feature in characteristic.features
    )


def feature_offsets(characteristics: Sequence[Characteristic]) -> IntArray:
    """Return where the features of each characteristic begin, and last their number."""
    return np.cumsum([0, *(len(characteristic.values) for characteristic in characteristics)])


def pair_log_odds(
    codes: Codes, characteristics: Sequence[Characteristic], weights: FloatArray
) -> FloatArray:
    """Return the sum of the weights of each pair's features."""
    total = np.zeros(len(codes))
    for n, first in enumerate(feature_offsets(characteristics)[:-1]):
        table = weights[first : first + len(characteristics[n].values)]
        if table.any():
            total += table[codes[:, n]]
    return total

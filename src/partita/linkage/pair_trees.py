"""A shipped model of pairs of records: boosted trees over features that every table has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.core import BoolArray, FloatArray, IntArray

MODEL = "pair_trees.json"
AT_ONCE = 1 << 18  # pairs whose features are held with all digits


@dataclass(frozen=True, slots=True, eq=False)
class PairTrees:
    """Trees whose leaves add up to log-odds.

    A node has the number of a feature (-1: a leaf), a threshold up to which it goes to the left,
    the numbers of both next nodes, whether a missing value goes to the left, and the value of a
    leaf. `roots` are the first nodes of the trees.
    """

    features: tuple[str, ...]
    start: float
    roots: IntArray
    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    missing_left: BoolArray
    value: FloatArray

    @classmethod
    def from_dict(cls, model: Mapping[str, Any]) -> PairTrees:
        """Return the trees of a model as JSON holds it."""

        def integers(name: str) -> IntArray:
            return np.array(model[name], dtype=np.int64)

        return cls(
            tuple(model["features"]),
            float(model["start"]),
            integers("roots"),
            integers("feature"),
            np.array(model["threshold"], dtype=np.float64),
            integers("left"),
            integers("right"),
            np.array(model["missing_left"], dtype=np.bool_),
            np.array(model["value"], dtype=np.float64),
        )

    def log_odds(self, values: NDArray[Any]) -> FloatArray:
        """Return the log-odds of pairs, which are rows of features."""
        found = np.empty(len(values))
        for first in range(0, len(values), AT_ONCE):
            part = np.ascontiguousarray(values[first : first + AT_ONCE], dtype=np.float64)
            found[first : first + AT_ONCE] = self.start + tree_sums(
                part, self.roots, self.feature, self.threshold, self.left, self.right,
                self.missing_left, self.value,
            )  # fmt: skip
        return found


@cache
def shipped_trees(name: str = MODEL) -> PairTrees:
    """Return the trees that come with the package."""
    path = files("partita").joinpath("parameters", name)
    return PairTrees.from_dict(json.loads(path.read_text("utf-8")))


@kernel(entry="f8[:,:], i8[:], i8[:], f8[:], i8[:], i8[:], b1[:], f8[:]")
def tree_sums(
    values: FloatArray, roots: IntArray, feature: IntArray, threshold: FloatArray,
    left: IntArray, right: IntArray, missing_left: BoolArray, value: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return the sums of the leaves that rows of features reach.

    `values` (pairs × features) has NaN for what is missing; `roots` are the first nodes of trees. A
    node tests `feature` (−1: a leaf, with `value`) against `threshold`, and its next node is in
    `left` or `right`; `missing_left` says where what is missing goes.
    """
    found = np.zeros(len(values))
    for row in range(len(values)):
        for tree in range(len(roots)):
            node = roots[tree]
            while feature[node] >= 0:
                x = values[row, feature[node]]
                goes_left = missing_left[node] if np.isnan(x) else x <= threshold[node]
                node = left[node] if goes_left else right[node]
            found[row] += value[node]
    return found

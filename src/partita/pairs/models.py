"""Pair models: whatever gives two templates a probability that they corefer.

Maximum entropy:  p = 1/(1 + e^{−Σ λ_i f_i(S, T)}).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.pairs.characteristics import (
    Characteristic,
    Cutoffs,
    characteristics_of,
    feature_names,
    log_odds,
    offsets,
)
from partita.pairs.columns import Columns, columns
from partita.pairs.readings import Codes
from partita.records import CoreferenceSet, FloatArray, IntArray, PairProbabilities, Template
from partita.templates.schema import Schema

# 0 and 1 are knowledge, and a model knows nothing for certain.
DOUBT = 1e-12


class PairModel(Protocol):
    """Any source of pair probabilities."""

    def pair_probabilities(self, columns: Columns, left: IntArray, right: IntArray) -> FloatArray:
        """For each pair of positions in a document the probability that the two corefer."""


@dataclass(frozen=True, slots=True, eq=False)
class MaximumEntropy:
    """Characteristics, a weight for each of their features, and the cut-offs of distance; what
    they were learned from (in words and as a hash), with which seed, and what was measured."""

    characteristics: tuple[Characteristic, ...]
    weights: FloatArray
    cutoffs: Cutoffs
    training: str = ""
    learned_from: str = ""
    sha256: str = ""
    seed: int = 0
    figures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.weights.shape != (int(offsets(self.characteristics)[-1]),):
            raise InputError("a pair model needs one weight for each of its features")

    @property
    def features(self) -> tuple[str, ...]:
        return feature_names(self.characteristics)

    def codes(self, columns: Columns, left: IntArray, right: IntArray) -> Codes:
        return characteristics_of(columns, left, right, self.characteristics, cutoffs=self.cutoffs)

    def log_odds(self, columns: Columns, left: IntArray, right: IntArray) -> FloatArray:
        """Σ λ_i f_i for each pair."""
        return log_odds(self.codes(columns, left, right), self.characteristics, self.weights)

    def pair_probabilities(self, columns: Columns, left: IntArray, right: IntArray) -> FloatArray:
        return probability(self.log_odds(columns, left, right))


def probability(score: FloatArray) -> FloatArray:
    """1/(1 + e^{−score}), never quite 0 or 1."""
    half: FloatArray = np.tanh(score / 2)
    return np.clip((1 + half) / 2, DOUBT, 1 - DOUBT)


def pair_matrix(
    model: PairModel,
    templates: Sequence[Template],
    compatible: NDArray[np.bool_] | None = None,
    schema: Schema | None = None,
) -> FloatArray:
    """The probabilities of all pairs of a document, 0 where two templates are incompatible."""
    n = len(templates)
    known = columns(templates, schema=schema, compatible=compatible)
    allowed = np.ones((n, n), dtype=np.bool_) if compatible is None else compatible
    left, right = np.nonzero(np.triu(allowed, 1))
    matrix = np.eye(n)
    matrix[left, right] = matrix[right, left] = model.pair_probabilities(known, left, right)
    return matrix


def set_probabilities(
    model: PairModel, given: CoreferenceSet, schema: Schema | None = None
) -> PairProbabilities:
    """The pair probabilities of one coreference set, with what it knows a priori."""
    place = {name: n for n, name in enumerate(given.ids)}
    compatible = np.ones((len(given), len(given)), dtype=np.bool_)
    for left, right in given.incompatible:
        compatible[place[left], place[right]] = compatible[place[right], place[left]] = False
    return PairProbabilities(given, pair_matrix(model, given.templates, compatible, schema))

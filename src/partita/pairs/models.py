"""Pair models, which give two templates a probability that they corefer.

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
from partita.pairs.columns import Columns, template_columns
from partita.pairs.readings import Codes
from partita.records import CoreferenceSet, FloatArray, IntArray, PairProbabilities, Template
from partita.templates.schema import Schema

# Model probabilities stay this far from 0 and 1, which are reserved for certainty.
MARGIN = 1e-12


class PairModel(Protocol):
    """Any source of pair probabilities."""

    def pair_probabilities(self, columns: Columns, left: IntArray, right: IntArray) -> FloatArray:
        """Return the probability of coreference for each pair of positions in a document."""


@dataclass(frozen=True, slots=True, eq=False)
class MaximumEntropy:
    """Characteristics with a weight per feature, the distance cut-offs, and their origin.

    The origin is a description and hash of the training data, the seed and the measured figures.
    """

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
        """Return Σ λ_i f_i for each pair."""
        return log_odds(self.codes(columns, left, right), self.characteristics, self.weights)

    def pair_probabilities(self, columns: Columns, left: IntArray, right: IntArray) -> FloatArray:
        return probability(self.log_odds(columns, left, right))


def probability(score: FloatArray) -> FloatArray:
    """Return 1/(1 + e^{−score}), kept away from 0 and 1."""
    half: FloatArray = np.tanh(score / 2)
    return np.clip((1 + half) / 2, MARGIN, 1 - MARGIN)


def pair_matrix(
    model: PairModel,
    templates: Sequence[Template],
    compatible: NDArray[np.bool_] | None = None,
    schema: Schema | None = None,
) -> FloatArray:
    """Return the probabilities of all pairs of a document, 0 for incompatible pairs."""
    n = len(templates)
    document = template_columns(templates, schema=schema, compatible=compatible)
    allowed = np.ones((n, n), dtype=np.bool_) if compatible is None else compatible
    left, right = np.nonzero(np.triu(allowed, 1))
    matrix = np.eye(n)
    matrix[left, right] = matrix[right, left] = model.pair_probabilities(document, left, right)
    return matrix


def set_probabilities(
    model: PairModel, group: CoreferenceSet, schema: Schema | None = None
) -> PairProbabilities:
    """Return the pair probabilities of one coreference set, 0 for incompatible pairs."""
    place = {name: n for n, name in enumerate(group.ids)}
    compatible = np.ones((len(group), len(group)), dtype=np.bool_)
    for left, right in group.incompatible:
        compatible[place[left], place[right]] = compatible[place[right], place[left]] = False
    return PairProbabilities(group, pair_matrix(model, group.templates, compatible, schema))

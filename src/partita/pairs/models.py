"""Pair models, which give two templates a probability that they corefer.

Maximum entropy:  p = 1/(1 + e^{−Σ λ_i f_i(S, T)}).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from partita.core import (
    CoreferenceSet,
    FloatArray,
    IntArray,
    PairProbabilities,
    Template,
    compatible_pairs,
)
from partita.core.templates import KIND
from partita.errors import InputError
from partita.pairs.characteristics import (
    EXTENDED,
    Characteristic,
    Cutoffs,
    characteristics_of,
    feature_names,
    feature_offsets,
    pair_log_odds,
    ties,
)
from partita.pairs.columns import Bools, Codes, TemplateColumns, template_columns
from partita.templates.schema import Schema

# Model probabilities stay this far from 0 and 1, which are reserved for certainty.
MARGIN = 1e-12
# The log-odds that an apposition or an asserted predicate adds ("the vehicle is a tank") where a
# model has learned nothing of them. All 13 in the messages of depots were coreferent.
IDENTITY = 5.0


class PairModel(Protocol):
    """Any source of pair probabilities."""

    def pair_probabilities(
        self, columns: TemplateColumns, left: IntArray, right: IntArray
    ) -> FloatArray:
        """Return the probability of coreference for each pair of positions in a document."""


@dataclass(frozen=True, eq=False)
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
        if self.weights.shape != (int(feature_offsets(self.characteristics)[-1]),):
            raise InputError("a pair model needs one weight for each of its features")

    @property
    def features(self) -> tuple[str, ...]:
        return feature_names(self.characteristics)

    @cached_property
    def identity(self) -> float:
        """What an apposition or predicate adds: nothing if the weights say it already."""
        first = feature_offsets(self.characteristics)
        for n, characteristic in enumerate(self.characteristics):
            if characteristic.name == ties.__name__ and self.weights[first[n] + 1 :][:2].any():
                return 0.0
        return IDENTITY

    def codes(self, columns: TemplateColumns, left: IntArray, right: IntArray) -> Codes:
        return characteristics_of(columns, left, right, self.characteristics, cutoffs=self.cutoffs)

    def log_odds(self, columns: TemplateColumns, left: IntArray, right: IntArray) -> FloatArray:
        """Return Σ λ_i f_i for each pair, and what is added to those that are said to be one."""
        score = pair_log_odds(self.codes(columns, left, right), self.characteristics, self.weights)
        return score + self.identity * tied(columns, left, right) if self.identity else score

    def pair_probabilities(
        self, columns: TemplateColumns, left: IntArray, right: IntArray
    ) -> FloatArray:
        return probability(self.log_odds(columns, left, right))


# Weights for pairs of events, set by hand: no corpus of events is keyed. "The attack" after
# "attacked" is probably the same event; two verbs are rarely one, unless participants agree.
EVENT_WEIGHTS: Mapping[str, float] = {
    "any_pair: any": -1.0,
    "slot_relation: identical": 1.5,
    "slot_relation: properly subsumed by": 1.0,
    "slot_relation: otherwise consistent": -1.5,
    "reference_of_t: indefinite": -1.5,
    "reference_of_t: definite": 1.0,
    "reference_of_t: neither": -2.0,
    "nearest: nearest": 1.5,
    "nearest: both": 1.5,
}


def event_model() -> MaximumEntropy:
    """Return the pair model for events of domains that have learned none."""
    used = {feature.split(":")[0] for feature in EVENT_WEIGHTS}
    characteristics = tuple(one for one in EXTENDED if one.name in used)
    weights = [EVENT_WEIGHTS.get(name, 0.0) for name in feature_names(characteristics)]
    return MaximumEntropy(characteristics, np.array(weights), (0.0,) * 4, learned_from="no events")


@dataclass(frozen=True, slots=True, eq=False)
class ThingsAndEvents:
    """A pair model for things, and another for events; a set has templates of one kind."""

    things: PairModel
    events: PairModel

    def model_for(self, templates: Sequence[Template]) -> PairModel:
        """Return the model for the templates of one coreference set."""
        return self.events if any(KIND in one.context for one in templates[:1]) else self.things

    def pair_probabilities(
        self, columns: TemplateColumns, left: IntArray, right: IntArray
    ) -> FloatArray:
        return self.model_for(columns.templates).pair_probabilities(columns, left, right)


def tied(columns: TemplateColumns, left: IntArray, right: IntArray) -> Bools:
    """Return which pairs are an apposition, or a predicate and its subject."""
    told: Bools = np.zeros(len(left), dtype=np.bool_)
    for target in (columns.apposition, columns.copula):
        told |= (target[right] == left) | (target[left] == right)
    return told


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
    compatible = compatible_pairs(group)
    return PairProbabilities(group, pair_matrix(model, group.templates, compatible, schema))

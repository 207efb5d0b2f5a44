"""Pair models: maximum entropy, and any classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oracles.depots import SCHEMA, A, B, C, D
from oracles.described import documents
from partita.errors import InputError
from partita.pairs.characteristics import PAPER, characteristics_of, feature_names, offsets
from partita.pairs.columns import columns
from partita.pairs.extended import EXTENDED
from partita.pairs.models import (
    Classifier,
    MaximumEntropy,
    PairModel,
    features,
    pair_matrix,
    set_probabilities,
)
from partita.records import CoreferenceSet, FloatArray

CUTOFFS = (10.0, 50.0, 100.0, 200.0)


def model(scale: float = 1.0) -> MaximumEntropy:
    rng = np.random.default_rng(5)
    return MaximumEntropy(PAPER, rng.normal(size=len(feature_names(PAPER))) * scale, CUTOFFS)


class Constant:
    """A classifier that says yes with one probability, and keeps what it was asked."""

    def __init__(self, p: float, classes: list[object] | None = None) -> None:
        self.p = p
        if classes is not None:
            self.classes_ = classes

    def fit(self, x: Any, y: Any) -> Constant:
        return self

    def predict_proba(self, x: Any) -> FloatArray:
        self.asked = x
        return np.tile([1 - self.p, self.p], (x.shape[0], 1))


def test_the_matrix_is_symmetric_and_zero_where_incompatible() -> None:
    compatible = np.ones((4, 4), dtype=bool)
    compatible[0, 2] = compatible[2, 0] = False
    found = pair_matrix(model(), [A, B, C, D], compatible, SCHEMA)
    assert np.array_equal(found, found.T)
    assert found[0, 2] == 0.0
    assert np.all((found[compatible] > 0) & (found[compatible] <= 1))


def test_a_model_is_never_certain() -> None:
    found = pair_matrix(model(scale=1e6), documents(np.random.default_rng(0), 8))
    inner = found[np.triu_indices(8, 1)]
    assert inner.min() > 0.0
    assert inner.max() < 1.0


def test_one_weight_for_each_feature() -> None:
    with pytest.raises(InputError, match="one weight for each"):
        MaximumEntropy(PAPER, np.zeros(3), CUTOFFS)


def test_features_are_one_hot_for_each_characteristic() -> None:
    known = columns(documents(np.random.default_rng(3), 10))
    left, right = np.triu_indices(10, 1)
    codes = characteristics_of(known, left, right, EXTENDED, cutoffs=CUTOFFS)
    table = features(codes, EXTENDED).toarray()
    starts = offsets(EXTENDED)
    assert table.shape == (45, starts[-1])
    for n in range(len(EXTENDED)):
        part = table[:, starts[n] : starts[n + 1]]
        assert np.array_equal(part.argmax(axis=1), codes[:, n])
        assert np.all(part.sum(axis=1) == 1)


def test_any_classifier_is_a_pair_model() -> None:
    known = columns([A, B, C, D])
    left, right = np.triu_indices(4, 1)
    turned = Constant(0.2, [True, False])
    cases: list[tuple[Constant, float]] = [(Constant(0.2), 0.2), (turned, 0.8)]
    for estimator, expected in cases:
        adapted: PairModel = Classifier(estimator, PAPER, CUTOFFS)
        assert adapted.pair_probabilities(known, left, right) == pytest.approx([expected] * 6)
        assert estimator.asked.shape == (6, len(feature_names(PAPER)))


def test_a_classifier_with_other_answers_is_refused() -> None:
    class Wrong(Constant):
        def predict_proba(self, x: Any) -> FloatArray:
            return np.ones((x.shape[0], 3))

    adapted = Classifier(Wrong(0.5), PAPER, CUTOFFS)
    with pytest.raises(InputError, match="expected"):
        adapted.pair_probabilities(columns([A, B]), np.array([0]), np.array([1]))


def test_a_set_keeps_what_it_knows() -> None:
    known = CoreferenceSet((A, B, C, D), incompatible=frozenset({("A", "C"), ("B", "C")}))
    found = set_probabilities(model(), known, SCHEMA)
    assert found.set is known
    assert found.matrix[0, 2] == found.matrix[1, 2] == 0.0
    assert 0 < found.matrix[0, 1] < 1

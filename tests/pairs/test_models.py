"""Pair models: maximum entropy, and any classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oracles.depots import SCHEMA, A, B, C, D
from oracles.described import documents
from partita.core import CoreferenceSet, FloatArray
from partita.errors import InputError
from partita.pairs.characteristics import PAPER, feature_names
from partita.pairs.models import (
    MaximumEntropy,
    pair_matrix,
    set_probabilities,
)

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


def test_a_set_keeps_what_it_knows() -> None:
    known = CoreferenceSet((A, B, C, D), incompatible=frozenset({("A", "C"), ("B", "C")}))
    found = set_probabilities(model(), known, SCHEMA)
    assert found.set is known
    assert found.matrix[0, 2] == found.matrix[1, 2] == 0.0
    assert 0 < found.matrix[0, 1] < 1

"""The forest model fitted to keys of whole sets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from partita.configurations.forest.model import ForestParameters
from partita.configurations.forest.posterior import forest
from partita.configurations.odds import PairKnowledge
from partita.core import Budget, FloatArray, IntArray
from partita.training.pair_models import _ForestRows, fit_forest

TRUE = ForestParameters(0.5, 0.7)
BUDGET = Budget(seconds=math.inf)


def _keyed(rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """A set with a cannot-link or none, and a key that is drawn from the model."""
    n = int(rng.integers(2, 8))
    p = 1.0 / (1.0 + np.exp(-rng.normal(0.0, 3.0, (n, n))))
    p = np.triu(p, 1) + np.triu(p, 1).T
    if n > 2 and rng.random() < 0.5:
        p[0, 1] = p[1, 0] = 0.0
    np.fill_diagonal(p, 1.0)
    key = forest(_knowledge(p), TRUE, BUDGET, method="exact").draws(1, rng)[0]
    return p, 10 + 3 * key  # labels of a document, not those of the set


def _knowledge(p: FloatArray) -> PairKnowledge:
    return PairKnowledge(p, p > 0, np.eye(len(p), dtype=np.bool_))


def test_scale_and_bias_are_found() -> None:
    rng = np.random.default_rng(0)
    keyed = [_keyed(rng) for _ in range(400)]
    rows = _ForestRows(keyed)
    logs = rows.log_probabilities(TRUE)
    for (p, key), log in zip(keyed[:40], logs.tolist(), strict=False):
        posterior = forest(_knowledge(p), TRUE, BUDGET, method="exact")
        labels = np.unique(key, return_inverse=True)[1]
        expected = posterior.log_weight(labels) - posterior.log_normaliser.value
        assert log == pytest.approx(expected, abs=1e-8)
    learned = fit_forest(keyed)
    assert learned.scale == pytest.approx(TRUE.scale, rel=0.2)
    assert learned.bias == pytest.approx(TRUE.bias, abs=0.3)
    assert rows.log_probabilities(learned).sum() >= logs.sum() - 1.0


def test_without_anything_to_learn_from_the_default_stays() -> None:
    assert fit_forest([]) == ForestParameters()
    impossible = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 0])
    assert fit_forest([impossible]) == ForestParameters()

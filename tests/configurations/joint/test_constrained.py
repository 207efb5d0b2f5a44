"""The joint model given incompatible templates: against all configurations, and by draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.joint_mentions import random_model, random_templates
from oracles.partitions import partitions
from partita.configurations.joint import posterior as module
from partita.configurations.joint.posterior import (
    ConstrainedPosterior,
    JointPosterior,
    constrained,
    joint_posterior,
)
from partita.errors import TooLarge, Unavailable


def instance(n: int, seed: int, holes: float = 0.3) -> tuple[JointPosterior, np.ndarray]:
    rng = np.random.default_rng(seed)
    apart = np.triu(rng.random((n, n)) < holes, 1)
    joint = joint_posterior(random_templates(n, rng), random_model(rng))
    return joint, ~(apart | apart.T)


def listed(joint: JointPosterior, compatible: np.ndarray) -> dict[tuple[int, ...], float]:
    """Every compatible configuration with its probability."""
    n = joint.size
    logs = {
        row: joint.log_weight(np.array(row))
        for row in partitions(n)
        if all(compatible[i, j] or row[i] != row[j] for i in range(n) for j in range(i))
    }
    total = math.fsum(map(math.exp, logs.values()))
    return {row: math.exp(log) / total for row, log in logs.items()}


@given(st.integers(2, 6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=25)
def test_small_sets_are_exact(n, seed):
    joint, compatible = instance(n, seed)
    found, expected = constrained(joint, compatible), listed(joint, compatible)
    assert found.count() == len(expected)
    best = found.best(len(expected))
    assert best.gap == 0.0
    for row, log in zip(best.labels.tolist(), best.log_weights.tolist(), strict=True):
        share = math.exp(log - found.log_normaliser.value)
        assert share == pytest.approx(expected[tuple(row)])
    bits = -math.fsum(p * math.log2(p) for p in expected.values() if p > 0)
    assert found.entropy().value == pytest.approx(bits, abs=1e-9)
    pairs = found.pairs().value
    cells = dict(found.cells())
    for i in range(n):
        assert math.fsum(p for cell, p in cells.items() if i in cell) == pytest.approx(1.0)
        for j in range(i):
            together = math.fsum(p for row, p in expected.items() if row[i] == row[j])
            assert pairs[i, j] == pytest.approx(together, abs=1e-12)


def test_what_is_incompatible_has_no_weight():
    joint, compatible = instance(5, 3, holes=1.0)
    found = constrained(joint, compatible)
    assert found.log_weight(np.zeros(5, dtype=np.int64)) == -math.inf
    assert found.log_weight(np.arange(5)) == pytest.approx(joint.log_weight(np.arange(5)))
    assert found.best(9).labels.tolist() == [[0, 1, 2, 3, 4]]


def by_draws(
    monkeypatch: pytest.MonkeyPatch, n: int, seed: int, holes: float
) -> ConstrainedPosterior:
    monkeypatch.setattr(module, "LARGEST", 2)
    joint, compatible = instance(n, seed, holes)
    return constrained(joint, compatible, seed=1)


def test_draws_agree_with_the_enumeration(monkeypatch):
    joint, compatible = instance(6, 8, 0.1)
    exact = constrained(joint, compatible)
    value, total, bits = exact.pairs().value, exact.log_normaliser.value, exact.entropy().value
    drawn = by_draws(monkeypatch, 6, 8, 0.1)
    assert (drawn.method, drawn.pairs().kind) == ("sampled", "estimate")
    np.testing.assert_allclose(drawn.pairs().value, value, atol=0.08)
    error = drawn.log_normaliser.high - drawn.log_normaliser.value
    assert drawn.log_normaliser.value == pytest.approx(total, abs=5 * error + 0.01)
    assert drawn.entropy().value == pytest.approx(bits, abs=0.5)
    assert compatible_rows(drawn.draws(50, np.random.default_rng(0)), compatible)
    assert compatible_rows(drawn.best(5).labels, compatible)
    assert drawn.best(5).gap == math.inf
    with pytest.raises(Unavailable):
        drawn.cells()


def compatible_rows(rows: np.ndarray, compatible: np.ndarray) -> bool:
    together = rows[:, :, None] == rows[:, None, :]
    return not (together & ~compatible).any()


def test_too_few_compatible_draws_are_said(monkeypatch):
    monkeypatch.setattr(module, "MIN_COMPATIBLE_DRAWS", 10**9)
    with pytest.raises(TooLarge, match="were compatible"):
        by_draws(monkeypatch, 4, 1, 0.9)

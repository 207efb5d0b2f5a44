"""Logistic regression: known weights found again, and separable data kept finite."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from partita.errors import InputError
from partita.training.maxent import logistic_probability
from research.solve_parameters.sets import fit_logistic


def drawn(count, weights, seed):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(count), rng.normal(size=(count, len(weights) - 1))])
    return x, (rng.random(count) < logistic_probability(x @ weights)).astype(float)


def test_known_weights_are_found_again():
    truth = np.array([-1.0, 2.0, -0.5])
    assert fit_logistic(*drawn(5000, truth, 1), ridge=0.01) == pytest.approx(truth, abs=0.2)


def test_a_general_optimiser_finds_the_same():
    x, yes = drawn(200, np.array([0.3, -1.0, 4.0]), 2)

    def loss(w):
        return np.logaddexp(0, x @ w).sum() - yes @ x @ w + 0.5 * 0.7 * w @ w

    other = minimize(loss, np.zeros(3), tol=1e-10).x
    assert fit_logistic(x, yes, ridge=0.7) == pytest.approx(other, abs=1e-4)


def test_separable_data_stays_finite():
    x = np.column_stack([np.ones(6), np.array([-30.0, -20.0, -10.0, 10.0, 20.0, 30.0])])
    weights = fit_logistic(x, np.array([0, 0, 0, 1.0, 1.0, 1.0]), ridge=1e-6)
    assert np.isfinite(weights).all()
    assert logistic_probability(x @ weights) == pytest.approx([0, 0, 0, 1, 1, 1], abs=0.01)


def test_the_logistic_function_has_no_overflow():
    assert logistic_probability(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("yes", [0.0, 1.0])
def test_one_class_only_is_refused(yes):
    with pytest.raises(InputError, match="one class only"):
        fit_logistic(np.ones((4, 1)), np.full(4, yes), ridge=1.0)

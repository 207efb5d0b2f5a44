"""Scaled log-odds: what is known stays, the rest is a line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles.instances import log_odds, symmetric, uniform_pairs
from oracles.posteriors import ListedPosterior
from partita.configurations.odds import ScaledParameters, scale_log_odds
from partita.errors import InputError

INF = math.inf


def test_a_line_on_compatible_pairs_and_nothing_on_what_is_known():
    theta = symmetric(np.array([[0, 2.0, -INF], [0, 0, INF], [0, 0, 0]]))
    scaled = scale_log_odds(theta, ScaledParameters(0.5, -3.0))
    assert np.array_equal(scaled, symmetric(np.array([[0, -2.0, -INF], [0, 0, INF], [0, 0, 0]])))


def test_scale_1_and_bias_0_are_the_evidential_model():
    theta = log_odds(uniform_pairs(5, 0.05, 0.95, np.random.default_rng(1)))
    assert np.array_equal(scale_log_odds(theta, ScaledParameters(1.0, 0.0)), theta)


def test_scale_0_forgets_the_evidence_and_keeps_incompatibility():
    theta = symmetric(np.array([[0, 690.0, -INF], [0, 0, -690.0], [0, 0, 0]]))
    scaled = scale_log_odds(theta, ScaledParameters(0.0, 0.0))
    assert np.array_equal(scaled, symmetric(np.array([[0, 0.0, -INF], [0, 0, 0.0], [0, 0, 0]])))


def test_contracted_groups_scale_as_their_pairs_would():
    """A must-link between the first two templates: contract then scale, or scale then contract."""
    parameters = ScaledParameters(0.6, -0.4)
    theta = log_odds(uniform_pairs(4, 0.05, 0.95, np.random.default_rng(2)))
    home = np.array([0, 0, 1, 2])
    member = (home == np.arange(3)[:, None]).astype(float)

    def contracted(matrix):
        sums = member @ matrix @ member.T
        np.fill_diagonal(sums, 0.0)
        return sums

    sizes = np.bincount(home)
    after = scale_log_odds(contracted(theta), parameters, np.outer(sizes, sizes).astype(float))
    assert after == pytest.approx(contracted(scale_log_odds(theta, parameters)))
    scaled = ListedPosterior(scale_log_odds(theta, parameters))
    given_must = {k: w for k, w in scaled.weights.items() if k[0] == k[1]}
    conditional = {k: math.exp(w - max(given_must.values())) for k, w in given_must.items()}
    total = sum(conditional.values())
    assert ListedPosterior(after).probabilities()[0, 0, 1] == pytest.approx(
        conditional[0, 0, 0, 1] / total
    )


@pytest.mark.parametrize(
    ("scale", "bias", "says"),
    [
        (-1, 0, "scale"),
        (INF, 0, "scale"),
        (math.nan, 0, "scale"),
        (1, INF, "bias"),
        (1, math.nan, "bias"),
    ],
)
def test_parameters_are_finite_and_evidence_is_never_reversed(scale, bias, says):
    with pytest.raises(InputError, match=says):
        ScaledParameters(scale, bias)

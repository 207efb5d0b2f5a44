"""Scale and bias: the likelihood against brute force, and known parameters found again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.instances import log_odds, symmetric, uniform_pairs, with_holes
from oracles.partitions import joined, partitions
from oracles.posteriors import ListedPosterior
from partita.configurations.odds import ScaledParameters, scale_log_odds
from partita.core import Configuration, CoreferenceSet, PairProbabilities
from partita.errors import InputError
from research.solve_parameters.greedy import KeyedSet
from research.train_solve_parameters import (
    DEVIATION,
    EVIDENTIAL,
    key_bits,
    learn_scaled,
)

IDS = "ABCDEFG"


def keyed(matrix, labels):
    ids = IDS[: len(matrix)]
    matrix = matrix.copy()
    np.fill_diagonal(matrix, 1.0)
    pairs = PairProbabilities(CoreferenceSet.of(ids), matrix)
    return KeyedSet(pairs, Configuration.from_labels(ids, labels))


def drawn(count, n, parameters, rng, holes=0.0):
    """Sets whose keys were drawn from the scaled model with these parameters."""
    sets = []
    for _ in range(count):
        matrix = with_holes(uniform_pairs(n, 0.05, 0.95, rng), holes, rng)
        scaled = scale_log_odds(log_odds(matrix), parameters)
        sets.append(keyed(matrix, ListedPosterior(scaled).draws(1, rng)[0]))
    return sets


@st.composite
def instances(draw):
    """A set of up to five templates with incompatible pairs, and a key."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 5))
    matrix = uniform_pairs(n, 0.02, 0.98, rng)
    zeros = symmetric((rng.random((n, n)) < draw(st.sampled_from([0.0, 0.3]))).astype(float)) > 0
    matrix[zeros] = 0.0
    every = list(partitions(n))
    return matrix, every[draw(st.integers(0, len(every) - 1))]


def brute_bits(matrix, key, parameters):
    """Every partition's product of p' or 1 - p', with p' the scaled probability of a pair."""
    n = len(matrix)
    with np.errstate(divide="ignore"):
        odds = np.log(matrix) - np.log1p(-matrix)
    known = (matrix > 0) & (matrix < 1)
    scaled = parameters.scale * np.where(known, odds, 0.0) + parameters.bias
    p = np.where(known, 1 / (1 + np.exp(-scaled)), matrix)
    weights = {}
    for labels in partitions(n):
        together = set(joined(labels))
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
        weights[labels] = math.prod(p[q] if q in together else 1 - p[q] for q in pairs)
    share = weights[key] / math.fsum(weights.values())
    return -math.log2(share) if share else math.inf


@given(instances(), st.floats(0.1, 2.0), st.floats(-1.0, 1.0))
@settings(deadline=None, max_examples=80)
def test_bits_of_a_key_equal_brute_force_with_incompatible_pairs(instance, scale, bias):
    matrix, key = instance
    parameters = ScaledParameters(scale, bias)
    found = key_bits(keyed(matrix, key), parameters)
    assert found == pytest.approx(brute_bits(matrix, key, parameters), abs=1e-9)


def spent(sets, parameters):
    return math.fsum(key_bits(one, parameters) for one in sets)


def test_known_parameters_are_found_again():
    truth = ScaledParameters(0.5, -0.7)
    sets = drawn(500, 4, truth, np.random.default_rng(11), holes=0.2)
    learned = learn_scaled(sets)
    assert learned.scale == pytest.approx(truth.scale, abs=0.12)
    assert learned.bias == pytest.approx(truth.bias, abs=0.2)
    assert spent(sets, learned) < spent(sets, EVIDENTIAL)


def test_no_neighbour_is_more_probable_than_what_was_learned():
    sets = drawn(30, 4, ScaledParameters(0.6, 0.3), np.random.default_rng(4))
    best = learn_scaled(sets)

    def loss(a, b):
        prior = ((a - EVIDENTIAL.scale) ** 2 + (b - EVIDENTIAL.bias) ** 2) / DEVIATION**2 / 2
        return prior + spent(sets, ScaledParameters(a, b)) * math.log(2)

    least = loss(best.scale, best.bias)
    for a, b in ((1e-3, 0), (-1e-3, 0), (0, 1e-3), (0, -1e-3)):
        assert loss(best.scale + a, best.bias + b) > least


def test_separable_data_stays_finite():
    """Every key is what the probabilities say: without a prior the scale would have no bound."""
    matrix = symmetric(np.array([[0, 0.9, 0.1], [0, 0, 0.1], [0, 0, 0]]))
    sets = [keyed(matrix, [0, 0, 1])] * 20
    learned = learn_scaled(sets)
    assert 1 < learned.scale < 100
    assert spent(sets, learned) < spent(sets, EVIDENTIAL) < len(sets)


def test_evidence_that_points_the_wrong_way_is_ignored_rather_than_turned_around():
    matrix = symmetric(np.array([[0, 0.9, 0.1], [0, 0, 0.1], [0, 0, 0]]))
    learned = learn_scaled([keyed(matrix, [0, 1, 0])] * 20)
    assert learned.scale == 0


def test_sets_whose_key_is_impossible_teach_nothing():
    matrix = symmetric(np.array([[0, 0.8, 0.0], [0, 0, 0.3], [0, 0, 0]]))
    possible = keyed(matrix, [0, 0, 1])
    joins_incompatible = keyed(matrix, [0, 1, 0])
    assert learn_scaled([possible, joins_incompatible]) == learn_scaled([possible])
    assert key_bits(joins_incompatible, EVIDENTIAL) == math.inf


def test_extreme_probabilities_give_finite_parameters():
    matrix = symmetric(np.array([[0, 1 - 1e-16, 1e-300], [0, 0, 0.5], [0, 0, 0]]))
    sets = [keyed(matrix, [0, 0, 1]), keyed(matrix, [0, 0, 1]), keyed(matrix, [0, 1, 2])]
    learned = learn_scaled(sets)
    assert math.isfinite(spent(sets, learned))
    assert spent(sets, learned) < spent(sets, EVIDENTIAL)


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(InputError, match="no keyed set"):
        learn_scaled([])
    sure = keyed(np.zeros((2, 2)), [0, 1])
    with pytest.raises(InputError, match="no keyed set"):
        learn_scaled([sure])

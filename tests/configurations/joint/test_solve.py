"""The joint model over coreference sets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles.joint_mentions import random_model, random_templates
from partita.configurations.joint.posterior import joint_posterior, solve_joint
from partita.core import CoreferenceSet, Distribution


def sets(seed: int, *sizes: int) -> list[CoreferenceSet]:
    rng = np.random.default_rng(seed)
    found = []
    for size in sizes:
        templates = random_templates(size, rng)
        apart = frozenset({(templates[0].id, templates[-1].id)})
        found.append(CoreferenceSet(templates, apart, name=str(size)))
    return found


def test_distributions_sum_to_one_and_know_what_is_incompatible():
    model = random_model(np.random.default_rng(0))
    for answer in solve_joint(sets(1, 2, 5, 11), model, top=200):
        assert isinstance(answer, Distribution)
        listed = math.fsum(one.probability for one in answer.configurations)
        assert listed + answer.remainder.probability == pytest.approx(1.0)
        first, last = answer.set.ids[0], answer.set.ids[-1]
        assert answer.marginal(first, last) == 0.0
        assert answer.method == ("exact" if len(answer.set) < 10 else "sampled")
        assert answer.model == "joint"


def test_as_given_is_what_the_joint_model_says_without_that_knowledge():
    model = random_model(np.random.default_rng(0))
    [given] = sets(4, 4)
    [answer] = solve_joint([given], model)
    free = joint_posterior(given.templates, model).pairs().value
    assert answer.probabilities[0, 1] == pytest.approx(free[0, 1])
    assert answer.probabilities[0, 3] == 0.0

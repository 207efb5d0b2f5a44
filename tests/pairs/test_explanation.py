"""Explanations add up."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.described import documents
from partita.configurations.solve import solve_set
from partita.core import CoreferenceSet, FloatArray, PairProbabilities
from partita.errors import InputError
from partita.pairs.characteristics import EXTENDED, feature_names
from partita.pairs.columns import template_columns
from partita.pairs.explanation import explain_pair, explain_set
from partita.pairs.models import MaximumEntropy

# The paper's example: pair probabilities of Table 1, A and B incompatible with C.
TABLE_1 = np.array(
    [
        [1.0, 0.671, 0.0, 0.505],
        [0.671, 1.0, 0.0, 0.752],
        [0.0, 0.0, 1.0, 0.504],
        [0.505, 0.752, 0.504, 1.0],
    ]
)


def marginals(pairs: PairProbabilities) -> FloatArray:
    return solve_set(pairs).marginals.value


def example() -> PairProbabilities:
    return PairProbabilities(CoreferenceSet.of("ABCD"), TABLE_1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.floats(0.1, 3.0))
def test_contributions_reproduce_the_probability(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    templates = documents(rng, 6)
    weights = rng.normal(size=len(feature_names(EXTENDED))) * scale
    model = MaximumEntropy(EXTENDED, weights, (10.0, 50.0, 100.0, 200.0))
    known = template_columns(templates)
    found = explain_pair(model, known, "m4", "m1")
    p = float(model.pair_probabilities(known, np.array([1]), np.array([4]))[0])
    total = math.fsum(one.weight for one in found.contributions)
    assert 1 / (1 + math.exp(-total)) == pytest.approx(p, abs=1e-9)
    assert found.probability == pytest.approx(p, abs=1e-9)
    assert (found.left, found.right) == ("m1", "m4")
    assert len(found.contributions) == len(EXTENDED)
    assert all(one.documentation for one in found.contributions)


def test_an_apposition_is_explained_by_what_it_adds() -> None:
    made = documents(np.random.default_rng(1), 3)
    templates = [dataclasses.replace(t, context={}) for t in made]
    said = dataclasses.replace(templates[1], context={"APPOSITION_OF": templates[0].id})
    weights = np.zeros(len(feature_names(EXTENDED)))
    model = MaximumEntropy(EXTENDED, weights, (10.0, 50.0, 100.0, 200.0))
    known = template_columns([templates[0], said, templates[2]])
    found = explain_pair(model, known, templates[0].id, said.id)
    p = float(model.pair_probabilities(known, np.array([0]), np.array([1]))[0])
    assert found.contributions[0].feature == "identity: said in the sentence"
    assert found.probability == pytest.approx(p, abs=1e-12)
    assert p > 0.5
    other = explain_pair(model, known, templates[0].id, templates[2].id)
    assert not any(one.feature.startswith("identity") for one in other.contributions)


def test_the_rest_of_the_papers_set() -> None:
    """C and D: .504 alone and less in the set, because A and B want D and exclude C."""
    whole = marginals(example())
    found = explain_set(example(), "D", "C", float(whole[2, 3]), marginals)
    assert found.probability == 0.504
    ab, ad, bd, cd = (p / (1 - p) for p in (0.671, 0.505, 0.752, 0.504))
    weights = [ab * ad * bd, ab * cd, ab, ad, bd, cd, 1.0]
    assert found.marginal == pytest.approx((ab * cd + cd) / sum(weights), abs=1e-12)
    assert [step.templates for step in found.influences] == [("B",), ("A",)]
    assert all(step.after < step.before for step in found.influences)


def test_the_steps_telescope_and_each_is_a_smaller_set() -> None:
    whole = marginals(example())
    found = explain_set(example(), "A", "B", float(whole[0, 1]), marginals)
    steps = found.influences
    assert steps[0].before == found.probability
    assert steps[-1].after == found.marginal
    assert all(a.after == b.before for a, b in itertools.pairwise(steps))
    assert steps[0].templates == ("D",)
    triple = PairProbabilities(CoreferenceSet.of("ABD"), TABLE_1[np.ix_([0, 1, 3], [0, 1, 3])])
    assert steps[0].after == pytest.approx(marginals(triple)[0, 1], abs=1e-12)


def test_the_first_step_is_the_largest_that_one_template_makes() -> None:
    rng = np.random.default_rng(3)
    p = np.triu(rng.uniform(0.1, 0.9, (6, 6)), 1)
    pairs = PairProbabilities(CoreferenceSet.of("ABCDEF"), p + p.T + np.eye(6))
    alone = {}
    for other in range(2, 6):
        members = [0, 1, other]
        part = PairProbabilities(CoreferenceSet.of("xyz"), pairs.matrix[np.ix_(members, members)])
        alone["ABCDEF"[other]] = abs(float(marginals(part)[0, 1]) - p[0, 1])
    found = explain_set(pairs, "A", "B", float(marginals(pairs)[0, 1]), marginals)
    assert found.influences[0].templates == (max(alone, key=lambda name: alone[name]),)


def test_of_many_templates_the_rest_makes_one_step() -> None:
    rng = np.random.default_rng(1)
    p = np.triu(rng.uniform(0.1, 0.9, (9, 9)), 1)
    pairs = PairProbabilities(CoreferenceSet.of("ABCDEFGHI"), p + p.T + np.eye(9))
    marginal = float(marginals(pairs)[0, 1])
    found = explain_set(pairs, "A", "B", marginal, marginals, most=3)
    assert [len(step.templates) for step in found.influences] == [1, 1, 1, 4]
    assert found.influences[-1].after == marginal


def test_two_templates_alone_have_no_rest() -> None:
    pairs = PairProbabilities(CoreferenceSet.of("AB"), np.array([[1, 0.3], [0.3, 1]]))
    assert explain_set(pairs, "A", "B", 0.3, marginals).influences == ()


def test_what_is_known_for_certain_does_no_harm() -> None:
    certain = np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.0], [1.0, 0.0, 1.0]])
    pairs = PairProbabilities(CoreferenceSet.of("ABC"), certain)
    found = explain_set(pairs, "A", "B", float(marginals(pairs)[0, 1]), marginals)
    assert found.influences[0].after == 0.0


def test_an_unknown_template_is_named() -> None:
    with pytest.raises(InputError, match="unknown template Z"):
        explain_set(example(), "A", "Z", 0.5, marginals)

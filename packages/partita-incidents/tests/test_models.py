"""Maximum entropy over sparse features, against its definition."""

from __future__ import annotations

import math
from hashlib import blake2b

import numpy as np
import pytest

from partita.errors import InputError
from partita_incidents.models import (
    Examples,
    encode_feature,
    fit_sparse,
    train_classifier,
    train_trees,
)

SEEN = [
    (["bomb", "any"], "BOMBING"),
    (["bomb", "car", "any"], "BOMBING"),
    (["shot", "any"], "ATTACK"),
    (["shot", "car", "any"], "ATTACK"),
    (["car", "any"], "NONE"),
    (["any"], "NONE"),
] * 3


def test_chances_are_a_distribution_and_follow_the_features() -> None:
    model = train_classifier(SEEN, least=1, precision=0.1)
    for features, outcome in SEEN:
        found = model.probabilities(features)
        assert math.isclose(float(found.sum()), 1.0)
        assert model.best(features)[0] == outcome
    assert model.probability("BOMBING", ["bomb"]) > model.probability("BOMBING", ["shot"])


def test_at_the_optimum_expected_counts_are_the_seen_ones_less_the_prior() -> None:
    precision = 0.5
    model = train_classifier(SEEN, least=1, precision=precision)
    for name, place in model.rows.items():
        for c, outcome in enumerate(model.outcomes):
            having = [(f, o) for f, o in SEEN if name in map(encode_feature, f)]
            seen = sum(o == outcome for _, o in having)
            expected = sum(model.probabilities(f)[c] for f, _ in having)
            assert math.isclose(seen - expected, precision * model.weights[place, c], abs_tol=2e-3)


def test_features_that_are_rare_or_unknown_count_for_nothing() -> None:
    model = train_classifier([*SEEN, (["once"], "NONE")], least=2, precision=1.0)
    assert encode_feature("once") not in model.rows
    assert encode_feature("bomb") in model.rows
    assert np.allclose(model.probabilities(["once", "unheard"]), model.probabilities([]))


def test_what_was_always_so_will_be_so() -> None:
    model = train_classifier([(["a"], "x"), (["b"], "x")])
    assert model.best(["a"]) == ("x", 1.0)
    assert model.probability("y", ["a"]) == 0.0
    with pytest.raises(InputError, match="one outcome only"):
        fit_sparse([[0], [1]], np.array([0, 0]), (2, 1), 1.0)


@pytest.mark.parametrize(
    "feature",
    [
        "any",
        "at 0 EVENT",
        "clause killing, victim",
        "sort MACHINE GUN",
        "VICTIM chance 11",
        "near own 2",
    ],
)
def test_features_of_our_own_words_are_readable(feature: str) -> None:
    assert encode_feature(feature) == feature


@pytest.mark.parametrize(
    "feature",
    ["head lee", "word ANN", "description MAYOR ANN LEE", "left2 <say .", "number 1989", ""],
)
def test_other_features_are_hashed_always_alike(feature: str) -> None:
    assert encode_feature(feature) == blake2b(feature.encode(), digest_size=4).hexdigest()
    assert not set(feature.lower().split()) & set(encode_feature(feature).split())


def test_models_name_no_word_of_what_they_were_learned_from() -> None:
    model = train_classifier(SEEN, least=1, precision=1.0)
    assert sorted(model.rows) == sorted(map(encode_feature, ("any", "bomb", "car", "shot")))
    assert not {"bomb", "car", "shot"} & set(model.rows)


def test_stochastic_steps_learn_from_the_chosen_messages_only() -> None:
    examples = Examples()
    for n, (features, outcome) in enumerate(SEEN):
        examples.add([*features, "half" if n % 2 else "other"], outcome, n % 2)
    examples.add(["any", "once"], "NONE", 0)
    model = examples.train([0, 1], least=2, rate=0.2, passes=40)
    for features, outcome in SEEN:
        assert model.best(features)[0] == outcome
    assert encode_feature("once") not in model.rows
    first = examples.train([0], least=1, rate=0.2, passes=1)
    assert encode_feature("once") in first.rows
    assert encode_feature("half") not in first.rows
    again = examples.train([0], least=1, rate=0.2, passes=1)
    assert np.array_equal(first.weights, again.weights)


def test_one_step_follows_the_gradient() -> None:
    """From zero, both outcomes have ½, and the step is the rate times the sign, less the guard."""
    examples = Examples()
    examples.add(["a"], "no", 0)
    examples.add(["b"], "yes", 0)
    model = examples.train([0], least=1, rate=0.1, passes=1)
    step = 0.1 * 0.5 / math.sqrt(0.01 + 0.25)
    rows = [model.rows[encode_feature(name)] for name in "ab"]
    assert np.allclose(model.weights[rows], [[step, -step], [-step, step]], atol=1e-6)


def test_the_first_split_is_the_best_of_all() -> None:
    """A tree of depth 1 against all columns and borders."""
    random = np.random.default_rng(3)
    rows = random.integers(0, 8, (200, 3)).astype(float)
    labels = random.random(200) < np.where(rows[:, 1] > 4, 0.8, 0.3)
    trees = train_trees(rows, list(labels), trees=1, depth=1, rate=1.0, share=1.0)
    share = (labels.sum() + 1) / 202
    gradient, curvature = share - labels, share * (1 - share)

    def gain(left: np.ndarray) -> float:
        return sum(
            gradient[side].sum() ** 2 / (curvature * side.sum() + 1.0) for side in (left, ~left)
        )

    best = max(
        ((gain(rows[:, j] <= cut), j, cut) for j in range(3) for cut in range(7)),
        key=lambda each: each[0],
    )
    column, cut = best[1:]
    probabilities = trees.probabilities(rows)
    left = rows[:, column] <= cut
    assert len(set(probabilities[left])) == len(set(probabilities[~left])) == 1
    assert set(probabilities[left]) != set(probabilities[~left])


def test_trees_learn_what_no_column_says_alone() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 3))
    labels = (rows[:, 0] > 0) != (rows[:, 1] > 0)
    found = train_trees(rows, list(labels)).probabilities(rows) > 0.5
    assert (found == labels).mean() > 0.95

"""Few keys to parameters, and the curve of what they teach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from partita.configurations import PAIR_MODELS as MODELS
from partita.configurations.odds import PairKnowledge, ScaledParameters
from partita.configurations.solve import model_posterior
from partita.core import Budget, Configuration, Document, Template, restricted_growth
from partita.evaluation.splits import Cut, allowed_bits, cut_document, document_bits, excluded_bits
from partita.pairs.models import pair_matrix
from partita.training import few_keys
from partita.training.few_keys import adapt_parameters
from partita.training.key_likelihood import KeyPrior
from partita.training.lessons import Lesson, key_answer, lesson
from partita.training.parameter_files import PairParameters, shipped_pair_parameters, training_of

START = shipped_pair_parameters()
BUDGET = Budget(work=300)


def keyed(message: str, heads: str = "abab", broken: bool = False, cells: str = "") -> Lesson:
    """Persons of one head corefer; a place is beside them, and if broken one of them."""
    templates = [
        Template(f"{message}{n}", f"the {head}", 10 * n, 10 * n + 5, "text", n, "person", head,
                 form="definite")
        for n, head in enumerate(heads)
    ]  # fmt: skip
    templates[1] = replace(templates[1], context={"GENDER": "fem"})
    templates[2] = replace(templates[2], context={"GENDER": "masc"})
    labels = [(cells or heads).index(cell) for cell in cells or heads]
    if broken:
        labels[2] = labels[1]
    key = Configuration.from_labels([one.id for one in templates], np.array(labels))
    return lesson(cut_document(Document(message, "", tuple(templates), key)), START)


LESSONS = [keyed(f"m{n}", heads) for n, heads in enumerate(("abab", "aab", "abcab", "aabb"))]


def posterior_of(model: str, learned: PairParameters, cut: Cut, members: np.ndarray) -> Any:
    """The posterior of a set by the pair model itself, without stored codes."""
    pairs = learned.pair_model(training_of(model))
    matrix = pair_matrix(pairs, cut.document.templates, cut.compatible, cut.schema)
    inside = np.ix_(members, members)
    knowledge = PairKnowledge(matrix[inside], cut.compatible[inside], np.eye(len(members)) > 0)
    return model_posterior(knowledge, model, getattr(learned, model, None), BUDGET, 0, "auto")[0]


def bits_of(cut: Cut, members: np.ndarray, posterior: Any, excluded: float) -> float:
    row = restricted_growth(cut.labels[members].tolist())
    mass = excluded if cut.open(members) else 0.0
    if cut.broken(members):
        allowed = posterior_of("uniform", START, cut, members).log_normaliser.value
        return excluded_bits(len(members), allowed / np.log(2), mass)
    return allowed_bits(posterior.log_weight(row) - posterior.log_normaliser.value, mass)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("broken", [False, True])
def test_a_key_costs_what_is_measured(model: str, broken: bool) -> None:
    learned, one = adapt_parameters(START, LESSONS[:2]), keyed("n", "abcba", broken)
    cut = one.cut
    answers = [(members, posterior_of(model, learned, cut, members)) for members in cut.sets]
    spent = sum(bits_of(cut, *answer, learned.excluded) for answer in answers)
    sizes = [len(members) for members in cut.sets]
    expected = document_bits(5, sizes, spent, cut.crosses, learned.crossing)
    found = key_answer(one, learned, model)
    assert found.bits == pytest.approx(expected, abs=1e-9)
    stated = np.zeros((5, 5))
    for members, posterior in answers:
        stated[np.ix_(members, members)] = posterior.pairs().value
    left, right = one.open.left, one.open.right
    np.testing.assert_allclose(found.stated, stated[left, right], atol=1e-9)
    assert found.observed.tolist() == (cut.labels[left] == cut.labels[right]).tolist()


def test_no_keys_leave_the_parameters_alone() -> None:
    assert adapt_parameters(START, []) is START


def test_keys_pull_every_parameter_towards_them() -> None:
    found = adapt_parameters(START, LESSONS, "Ann")
    for model in MODELS[1:]:
        before, after = (sum(key_answer(o, p, model).bits for o in LESSONS) for p in (START, found))
        assert after < before, model
    assert found.learned_from == found.every_pair.learned_from == "Ann"
    assert found.sha256 != START.sha256
    assert found.excluded == pytest.approx(START.excluded * 10 / 14, abs=1e-6)
    assert adapt_parameters(START, [keyed("x", broken=True)]).excluded > START.excluded


def test_the_same_keys_give_the_same_and_others_give_other_parameters() -> None:
    first, again = (adapt_parameters(START, LESSONS) for _ in range(2))
    assert first.every_pair.weights.tolist() == again.every_pair.weights.tolist()
    assert first.sha256 == again.sha256 != adapt_parameters(START, LESSONS[1:]).sha256


def test_the_scale_is_fitted_to_weights_learned_at_the_same_scale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half the weights at twice the scale are the same start, and keys teach them the same."""
    monkeypatch.setattr(few_keys, "SCALED_PRECISION", 1e-6)
    half = replace(START.every_pair, weights=START.every_pair.weights / 2)
    starts = (
        (replace(START, scaled=ScaledParameters(1.0, 0.0)), KeyPrior(10.0, 2.0, 5.0)),
        (
            replace(START, every_pair=half, scaled=ScaledParameters(2.0, 0.0)),
            KeyPrior(10.0, 8.0, 20.0),
        ),
    )
    noisy = [
        keyed(f"n{n}", "aabb", cells=cells) for n, cells in enumerate(("abbb", "aacd", "abcc"))
    ]
    keys = [*LESSONS, *noisy]
    found = [adapt_parameters(s, keys, model="scaled", prior=prior) for s, prior in starts]
    one, two = (each.scaled.scale * each.every_pair.weights for each in found)
    np.testing.assert_allclose(two, one, rtol=0.02, atol=0.01)

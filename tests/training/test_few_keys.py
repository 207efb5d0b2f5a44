"""Few keys to parameters, and the curve of what they teach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from partita.configurations import PAIR_MODELS as MODELS
from partita.core import Budget, Configuration, Document, Template
from partita.evaluation.models import (
    Fitted,
    FittedPairModel,
    Greedy,
    Uniform,
    UniformPosteriors,
    set_result,
)
from partita.evaluation.splits import Excluded, cut_document, document_bits
from partita.training.few_keys import (
    Lesson,
    adapt_parameters,
    key_answer,
    lesson,
)
from partita.training.parameter_files import PairParameters, shipped_pair_parameters, training_of

START = shipped_pair_parameters()
BUDGET = Budget(work=300)


def keyed(message: str, heads: str = "abab", broken: bool = False) -> Lesson:
    """Persons of one head corefer; a place is beside them, and if broken one of them."""
    templates = [
        Template(f"{message}{n}", f"the {head}", 10 * n, 10 * n + 5, "text", n, "person", head,
                 form="definite")
        for n, head in enumerate(heads)
    ]  # fmt: skip
    templates[1] = replace(templates[1], context={"GENDER": "fem"})
    templates[2] = replace(templates[2], context={"GENDER": "masc"})
    labels = [heads.index(head) for head in heads]
    if broken:
        labels[2] = labels[1]
    key = Configuration.from_labels([one.id for one in templates], np.array(labels))
    return lesson(cut_document(Document(message, "", tuple(templates), key)), START)


LESSONS = [keyed(f"m{n}", heads) for n, heads in enumerate(("abab", "aab", "abcab", "aabb"))]


def fitted(model: str, learned: PairParameters, counts: UniformPosteriors) -> Fitted:
    if model == "uniform":
        return Uniform(counts)
    if model == "greedy":
        return Greedy(counts, learned.greedy)
    parameters = {"scaled": learned.scaled, "forest": learned.forest}.get(model)
    return FittedPairModel(model, learned.pair_model(training_of(model)), parameters, BUDGET, 0)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("broken", [False, True])
def test_a_key_costs_what_is_measured(model: str, broken: bool) -> None:
    learned, one = adapt_parameters(START, LESSONS[:2]), keyed("n", "abcba", broken)
    counts = UniformPosteriors(BUDGET)
    excluded, cut = Excluded(learned.excluded, learned.crossing), one.cut
    by = fitted(model, learned, counts)
    answers = [(members, by.posterior(cut, members)) for members in cut.sets]
    spent = sum(set_result(cut, *answer, excluded, counts).bits for answer in answers)
    sizes = [len(members) for members in cut.sets]
    expected = document_bits(5, sizes, spent, cut.crosses, excluded.documents)
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

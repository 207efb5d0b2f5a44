from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from oracles.partitions import partitions
from partita.configurations.pair_models import GreedyParameters
from partita.core import (
    Budget,
    Configuration,
    Document,
    FloatArray,
    IntArray,
    Template,
)
from partita.evaluation.models import (
    Fitted,
    FittedPairModel,
    Greedy,
    KeyedSetResult,
    Uniform,
    UniformPosteriors,
    set_result,
)
from partita.evaluation.splits import (
    Cut,
    Excluded,
    coverage,
    cut_document,
    document_bits,
    learn_excluded,
)
from partita.pairs.columns import TemplateColumns

BUDGET = Budget(seconds=math.inf)
EXCLUDED = Excluded(0.1, 0.05)
# The first three may corefer but for m1 and m3 (he and she); m4 and m5 are of another type.
TEMPLATES = (
    Template("m1", start=0, end=2, type="person", context={"GENDER": "masc"}, form="pronoun"),
    Template("m2", start=5, end=9, type="person", form="definite"),
    Template("m3", start=10, end=13, type="person", context={"GENDER": "fem"}, form="pronoun"),
    Template("m4", start=20, end=25, type="place"),
    Template("m5", start=30, end=35, type="place"),
)


def document(labels: tuple[int, ...], templates: tuple[Template, ...] = TEMPLATES) -> Document:
    ids = [template.id for template in templates]
    return Document("d", "", templates, Configuration.from_labels(ids, labels))


class Guess:
    """A pair model that says something different of every pair."""

    def pair_probabilities(
        self, columns: TemplateColumns, left: IntArray, right: IntArray
    ) -> FloatArray:
        return 0.1 + 0.8 * ((3 * left + 5 * right) % 7) / 7


def pairs(name: str) -> Callable[[UniformPosteriors], Fitted]:
    return lambda counts: FittedPairModel(name, Guess(), None, BUDGET, 0)


MODELS: dict[str, Callable[[UniformPosteriors], Fitted]] = {
    "uniform": Uniform,
    "greedy": lambda counts: Greedy(counts, GreedyParameters(0.6, 0.5, 0.4)),
    "merging": pairs("merging"),
    "evidential": pairs("evidential"),
}


def measured(model: str, one: Cut) -> list[KeyedSetResult]:
    counts = UniformPosteriors(BUDGET)
    fitted = MODELS[model](counts)
    answers = ((members, fitted.posterior(one, members)) for members in one.sets)
    return [set_result(one, *answer, EXCLUDED, counts) for answer in answers]


def bits(model: str, one: Cut) -> float:
    """The bits of a whole document: of its sets, and of what is between them."""
    spent = math.fsum(found.bits for found in measured(model, one))
    sizes = [len(members) for members in one.sets]
    return document_bits(len(one.labels), sizes, spent, one.crosses, EXCLUDED.documents)


@pytest.mark.parametrize("model", MODELS)
def test_all_keys_of_a_document_together_have_probability_one(model: str) -> None:
    """Also those that knowledge excludes, inside a set and between sets."""
    spent = [bits(model, cut_document(document(labels))) for labels in partitions(5)]
    assert all(0 <= b < math.inf for b in spent)
    assert math.fsum(2**-b for b in spent) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_all_keys_of_a_set_together_have_probability_one(model: str) -> None:
    three = TEMPLATES[:3]
    found = [measured(model, cut_document(document(labels, three)))[0] for labels in partitions(3)]
    assert math.fsum(2**-one.bits for one in found) == pytest.approx(1, abs=1e-12)
    ties = model == "uniform"  # no configuration is more probable than the others
    assert sum(one.right for one in found) == (0 if ties else 1)


def test_sets_coverage_and_excluded_mass() -> None:
    right, broken, crossing = (
        cut_document(document(x)) for x in ((0, 0, 1, 2, 2), (0, 1, 0, 2, 3), (0,) * 5)
    )
    assert [members.tolist() for members in right.sets] == [[0, 1, 2], [3, 4]]
    assert [right.open(members) for members in right.sets] == [True, False]
    assert [one.crosses for one in (right, broken, crossing)] == [False, False, True]
    assert coverage([right]) == 1
    assert coverage([right, broken]) == pytest.approx(2 / 3)
    assert coverage([crossing]) == pytest.approx(3 / 10)
    learned = learn_excluded([right, broken, crossing])
    assert learned.sets == pytest.approx(2.5 / 4)
    assert learned.documents == pytest.approx(1.5 / 4)


def test_a_document_without_templates_costs_nothing() -> None:
    for model in MODELS:
        assert measured(model, cut_document(document((), ()))) == []

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from oracles.partitions import partitions
from partita.core import Configuration, Document, Template
from partita.errors import InputError
from partita.evaluation.splits import Cut, cut_document, learn_excluded, paper_splits
from partita.training.lessons import key_answer, key_posteriors, lesson, set_bits
from partita.training.parameter_files import shipped_pair_parameters

LEARNED = replace(shipped_pair_parameters(), excluded=0.1, crossing=0.05)
MODELS = ("uniform", "greedy", "merging", "evidential", "scaled")
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


def set_costs(model: str, one: Cut) -> list[float]:
    found = key_posteriors(lesson(one, LEARNED), LEARNED, model)
    return [set_bits(one, *answer, LEARNED.excluded) for answer in found]


def bits(model: str, one: Cut) -> float:
    """The bits of a whole document: of its sets, and of what is between them."""
    return key_answer(lesson(one, LEARNED), LEARNED, model).bits


@pytest.mark.parametrize("model", MODELS)
def test_all_keys_of_a_document_together_have_probability_one(model: str) -> None:
    """Also those that knowledge excludes, inside a set and between sets."""
    spent = [bits(model, cut_document(document(labels))) for labels in partitions(5)]
    assert all(0 <= b < math.inf for b in spent)
    assert math.fsum(2**-b for b in spent) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_all_keys_of_a_set_together_have_probability_one(model: str) -> None:
    three = TEMPLATES[:3]
    spent = [set_costs(model, cut_document(document(labels, three)))[0] for labels in partitions(3)]
    assert math.fsum(2**-bits for bits in spent) == pytest.approx(1, abs=1e-12)


def test_sets_and_excluded_mass() -> None:
    right, broken, crossing = (
        cut_document(document(x)) for x in ((0, 0, 1, 2, 2), (0, 1, 0, 2, 3), (0,) * 5)
    )
    assert [members.tolist() for members in right.sets] == [[0, 1, 2], [3, 4]]
    assert [right.open(members) for members in right.sets] == [True, False]
    assert [one.crosses for one in (right, broken, crossing)] == [False, False, True]
    learned = learn_excluded([right, broken, crossing])
    assert learned.sets == pytest.approx(2.5 / 4)
    assert learned.documents == pytest.approx(1.5 / 4)


def test_a_document_without_templates_costs_nothing() -> None:
    for model in MODELS:
        assert set_costs(model, cut_document(document((), ()))) == []


def test_splits_keep_documents_apart_and_have_the_papers_shapes() -> None:
    first, second, both = paper_splits(72, np.random.default_rng(1))
    assert [len(s.test) for s in (first, second, both)] == [12, 15, 25]
    assert len(set(first.test) & set(second.test)) == 2
    assert set(both.test) == set(first.test) | set(second.test)
    for split in (first, second, both):
        assert not set(split.train) & set(split.test)
    with pytest.raises(InputError, match="two documents"):
        paper_splits(1, np.random.default_rng(0))

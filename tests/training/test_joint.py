"""Learning the joint model: the gradient, a document learned by heart, the same bytes twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.joint_mentions import random_model, random_templates
from partita.configurations.joint.codes import K
from partita.configurations.joint.model import STARTED, layout
from partita.configurations.joint.posterior import joint_posterior
from partita.core import Configuration, Document
from partita.errors import InputError
from partita.training.joint import (
    CHOOSABLE,
    JointSettings,
    concatenate_decisions,
    joint_lexicon,
    key_decisions,
    train_joint,
    with_uncertain_types,
    without_types,
)
from partita.training.joint_kernels import gradient

QUICK = JointSettings(
    units=8,
    members=1,
    epochs=40,
    batch=16,
    dropout=0.0,
    characteristic_dropout=0.0,
    word_dropout=0.0,
    min_documents=1,
    decay=0.0,
    untyped_share=0.5,
)


def key_bits(documents, model):
    """−log₂ P(key) of every document."""
    found = [
        -joint_posterior(one.templates, model).log_weight(
            one.key.labels([template.id for template in one.templates])
        )
        for one in documents
    ]
    return np.array(found) / np.log(2.0)


def document(seed: int, n: int = 14) -> Document:
    """Mentions of one head and type corefer."""
    templates = random_templates(n, np.random.default_rng(seed))
    cells: dict[tuple[str, str], list[str]] = {}
    for template in templates:
        cells.setdefault((template.head, template.type), []).append(template.id)
    return Document(f"d{seed}", "news", templates, Configuration(cells.values()), "")


def test_the_gradient_is_that_of_the_loss() -> None:
    lesson = concatenate_decisions([key_decisions(document(1), {}), key_decisions(document(2), {})])
    model = random_model(np.random.default_rng(0))
    arrays = (model.table, model.bias, model.out, model.other, model.gate)
    weights = tuple(array.astype(np.float32) for array in arrays)
    slopes = tuple(np.zeros_like(w) for w in weights)
    chosen = np.arange(len(lesson.answers))
    masks = np.ones((len(chosen), model.units), np.float32)
    kept = np.random.default_rng(3).random((len(chosen), CHOOSABLE)) < 0.8

    def loss(which: int, at: tuple[int, ...], change: float) -> float:
        moved = [w.copy() for w in weights]
        moved[which][at] += np.float32(change)
        nothing = tuple(np.zeros_like(w) for w in weights)
        losses = np.zeros(len(chosen))
        gradient(tuple(moved), layout(), lesson, chosen, masks, kept, nothing, losses)
        return float(losses.sum())

    gradient(weights, layout(), lesson, chosen, masks, kept, slopes, np.zeros(len(chosen)))
    places = [(0, (0, 1)), (0, (30, 2)), (0, (STARTED, 0)), (1, (0, 1)), (1, (1, 1)), (2, (1, 3))]
    places += [(2, (0, 2)), (4, (1, 0)), (4, (K + 3, 2))]
    for which, at in places:
        numeric = (loss(which, at, 0.0005) - loss(which, at, -0.0005)) / 0.001
        assert slopes[which][at] == pytest.approx(numeric, abs=0.02 * (1 + abs(numeric)))


def test_learning_finds_the_rule_of_the_keys() -> None:
    seen: list[tuple[int, int, float]] = []
    training = [document(seed) for seed in range(16)]
    model = train_joint(training, settings=QUICK, progress=lambda *news: seen.append(news))
    assert [news[0] for news in seen] == list(range(1, 41))
    assert seen[-1][2] < seen[0][2] / 3
    fresh = [document(seed) for seed in range(50, 55)]
    guess = np.log2(np.arange(1, 15)).sum()
    assert key_bits(fresh, model).mean() < guess / 3
    assert model.figures["documents"] == 16


def test_the_same_documents_and_seed_give_the_same_model() -> None:
    quick = JointSettings(units=4, members=2, epochs=2, min_documents=1)
    first, second = (train_joint([document(1), document(2)], settings=quick) for _ in range(2))
    assert (first.table == second.table).all()
    assert first.sha256 == second.sha256
    other = train_joint([document(1), document(3)], settings=quick)
    assert other.sha256 != first.sha256


def test_the_lexicon_holds_what_enough_documents_hold() -> None:
    documents = [document(seed) for seed in range(4)]
    words = joint_lexicon(documents, 4)
    assert set(words) <= set(joint_lexicon(documents, 1))
    assert len(set(words)) == len(words)


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(InputError, match="no documents"):
        train_joint([])


def test_uncertain_types_are_calibrated() -> None:
    """Of the types that are given probability p, about a share p is the true one."""
    rng = np.random.default_rng(0)
    templates = random_templates(4000, rng)
    certain = tuple(
        replace(t, type=str(rng.choice(["person", "place", "object"])), form="definite", context={})
        for t in templates
    )
    ids = [[t.id] for t in certain]
    before = Document("d", "news", certain, Configuration(ids), "")
    after = with_uncertain_types(before, rng)
    shares = [t.context["SORT_PROBABILITIES"] for t in after.templates]
    stated = np.array([max(each.values()) for each in shares])
    right = np.array([a.type == b.type for a, b in zip(certain, after.templates, strict=True)])
    assert all(sum(each.values()) == pytest.approx(1.0) for each in shares)
    assert abs(stated.mean() - right.mean()) < 0.02
    assert 0.75 < right.mean() < 0.95
    assert all(t.type == "" for t in without_types(after).templates)
    assert not any("SORT_PROBABILITIES" in t.context for t in without_types(after).templates)


def test_documents_with_probabilities_of_types_train_as_they_are() -> None:
    quick = JointSettings(units=4, members=1, epochs=1, min_documents=1)
    documents = [with_uncertain_types(document(n), np.random.default_rng(n)) for n in range(3)]
    model = train_joint(documents, settings=quick)
    assert np.isfinite(key_bits(documents, model)).all()

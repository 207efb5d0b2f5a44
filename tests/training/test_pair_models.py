"""Pair models learned from keyed documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.described import documents
from partita.errors import InputError
from partita.pairs.characteristics import EXTENDED, PAPER, characters, pairs_of
from partita.pairs.columns import template_columns
from partita.training.maxent import bits
from partita.training.pair_models import (
    KeyedTemplates,
    TrainingPairs,
    every_pair,
    merging_questions,
    select_features,
    select_pair_model,
    train_pair_model,
    training_pairs,
)


def keyed(seed: int, size: int = 12) -> KeyedTemplates:
    """Templates corefer if they have the same head, most of the time."""
    rng = np.random.default_rng(seed)
    templates = tuple(documents(rng, size))
    heads = {head: n for n, head in enumerate(dict.fromkeys(t.head for t in templates))}
    labels = np.array([heads[t.head] for t in templates])
    labels = np.where(rng.random(size) < 0.15, len(heads) + np.arange(size), labels)
    compatible = rng.random((size, size)) < 0.9
    return KeyedTemplates(f"d{seed}", templates, labels, compatible | compatible.T)


@pytest.fixture(scope="module")
def corpus() -> list[KeyedTemplates]:
    return [keyed(seed) for seed in range(20)]


@pytest.fixture(scope="module")
def taught(corpus: list[KeyedTemplates]) -> TrainingPairs:
    return training_pairs(corpus, every_pair, EXTENDED)


def test_the_training_pairs_are_the_compatible_ones(
    corpus: list[KeyedTemplates], taught: TrainingPairs
) -> None:
    counts = [int(np.triu(one.compatible, 1).sum()) for one in corpus]
    assert np.bincount(taught.documents).tolist() == counts
    fewer = training_pairs(corpus, merging_questions, PAPER)
    assert 0 < len(fewer.yes) < len(taught.yes)
    assert fewer.codes.shape[1] == len(PAPER)


def test_cutoffs_are_quintiles_of_the_pairs_asked(
    corpus: list[KeyedTemplates], taught: TrainingPairs
) -> None:
    place = [one.name for one in EXTENDED].index("distance")
    shares = np.bincount(taught.codes[:, place], minlength=5) / len(taught.yes)
    assert shares == pytest.approx([0.2] * 5, abs=0.05)
    again = training_pairs(corpus[:2], every_pair, EXTENDED, cutoffs=taught.cutoffs)
    assert again.cutoffs == taught.cutoffs
    known = template_columns(corpus[0].templates)
    assert characters(pairs_of(known, np.array([0]), np.array([3]), ())).tolist()[0] >= 0


def test_what_is_learned_holds_on_new_documents(taught: TrainingPairs) -> None:
    model = train_pair_model(taught, learned_from="drawn at random")
    fresh = training_pairs([keyed(seed) for seed in range(100, 110)], cutoffs=taught.cutoffs)
    cost = bits(fresh.contexts(), model.weights)
    share = fresh.yes.mean()
    base = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
    assert cost < 0.8 * base
    assert model.figures["pairs"] == len(taught.yes)
    assert model.figures["bits_per_pair"] == pytest.approx(bits(taught.contexts(), model.weights))
    assert model.learned_from == "drawn at random"
    assert len(model.sha256) == 64


def test_the_same_data_and_seed_give_the_same_model(corpus: list[KeyedTemplates]) -> None:
    one, two = (
        train_pair_model(training_pairs(corpus, every_pair, PAPER), seed=3) for _ in range(2)
    )
    assert np.array_equal(one.weights, two.weights)
    assert (one.sha256, one.cutoffs) == (two.sha256, two.cutoffs)


def test_the_hash_is_of_everything_learned_from(corpus: list[KeyedTemplates]) -> None:
    first = corpus[0]
    other = [
        replace(first, labels=first.labels[::-1].copy()),
        replace(first, templates=(replace(first.templates[0], head="x"), *first.templates[1:])),
        replace(first, compatible=~first.compatible),
        replace(first, name="other"),
    ]
    hashes = {training_pairs([one]).sha256 for one in (first, *other)}
    assert len(hashes) == 5


def test_selection_then_the_selected_model(taught: TrainingPairs) -> None:
    found = select_features(taught, held_out=0.25, precision=1.0, most=8)
    assert 1 < len(found.steps) <= 8
    assert all(step.held_out is not None for step in found.steps)
    model = select_pair_model(taught, found)
    used = {model.features[n] for n in np.flatnonzero(model.weights)}
    assert used == {step.feature for step in found.steps}
    alone = select_features(taught, most=3)
    assert all(step.held_out is None for step in alone.steps)


def test_one_document_has_nothing_to_hold_out() -> None:
    alone = training_pairs([keyed(0, 20)])
    assert train_pair_model(alone).figures["precision"] == 1.0
    with pytest.raises(InputError, match="two of them"):
        select_features(alone, held_out=0.2)


def test_one_class_only_is_refused(corpus: list[KeyedTemplates]) -> None:
    apart = [replace(one, labels=np.arange(len(one.labels))) for one in corpus[:3]]
    with pytest.raises(InputError, match="one class only"):
        train_pair_model(training_pairs(apart))
    with pytest.raises(InputError, match="one class only"):
        train_pair_model(training_pairs([]))


def test_progress_is_told(corpus: list[KeyedTemplates]) -> None:
    told: list[str] = []
    train_pair_model(training_pairs(corpus, merging_questions, PAPER), progress=told.append)
    assert told[0] == "choosing the prior"
    assert "fitting" in told[1]

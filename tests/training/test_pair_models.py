"""Pair models learned from keyed documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.described import documents
from partita.core import Configuration, Document
from partita.errors import InputError
from partita.evaluation.splits import Cut
from partita.pairs.characteristics import EXTENDED, PAPER, characters, pairs_of
from partita.pairs.columns import template_columns
from partita.training.maxent import bits, fit_maxent
from partita.training.pair_models import (
    TrainingPairs,
    every_pair,
    merging_questions,
    train_pairs,
    training_pairs,
)
from partita.training.parameter_files import TRAININGS


def keyed(seed: int, size: int = 12) -> Cut:
    """Templates corefer if they have the same head, most of the time."""
    rng = np.random.default_rng(seed)
    templates = tuple(documents(rng, size))
    heads = {head: n for n, head in enumerate(dict.fromkeys(t.head for t in templates))}
    labels = np.array([heads[t.head] for t in templates])
    labels = np.where(rng.random(size) < 0.15, len(heads) + np.arange(size), labels)
    compatible = rng.random((size, size)) < 0.9
    key = Configuration.from_labels([template.id for template in templates], labels)
    document = Document(f"d{seed}", "", templates, key)
    every = (np.arange(size),)
    return Cut(document, compatible | compatible.T, labels, every, crosses=False)


@pytest.fixture(scope="module")
def corpus() -> list[Cut]:
    return [keyed(seed) for seed in range(20)]


@pytest.fixture(scope="module")
def taught(corpus: list[Cut]) -> TrainingPairs:
    return training_pairs(corpus, every_pair, EXTENDED)


def test_the_training_pairs_are_the_compatible_ones(
    corpus: list[Cut], taught: TrainingPairs
) -> None:
    counts = [int(np.triu(one.compatible, 1).sum()) for one in corpus]
    assert len(taught.yes) == sum(counts)
    fewer = training_pairs(corpus, merging_questions, PAPER)
    assert 0 < len(fewer.yes) < len(taught.yes)
    assert fewer.codes.shape[1] == len(PAPER)


def test_cutoffs_are_quintiles_of_the_pairs_asked(corpus: list[Cut], taught: TrainingPairs) -> None:
    place = [one.name for one in EXTENDED].index("distance")
    shares = np.bincount(taught.codes[:, place], minlength=5) / len(taught.yes)
    assert shares == pytest.approx([0.2] * 5, abs=0.05)
    again = training_pairs(corpus[:2], every_pair, EXTENDED, cutoffs=taught.cutoffs)
    assert again.cutoffs == taught.cutoffs
    known = template_columns(corpus[0].document.templates)
    assert characters(pairs_of(known, np.array([0]), np.array([3]), ())).tolist()[0] >= 0


def test_what_is_learned_holds_on_new_documents(corpus: list[Cut], taught: TrainingPairs) -> None:
    model = train_pairs(corpus, EXTENDED, 10.0, learned_from="drawn at random")[0].every_pair
    fresh = training_pairs([keyed(seed) for seed in range(100, 110)], cutoffs=taught.cutoffs)
    cost = bits(fresh.contexts(), model.weights)
    share = fresh.yes.mean()
    base = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
    assert cost < 0.8 * base
    assert model.figures["pairs"] == len(taught.yes)
    assert model.figures["bits_per_pair"] == pytest.approx(bits(taught.contexts(), model.weights))
    assert model.weights == pytest.approx(fit_maxent(taught.contexts(), 10.0))
    assert model.learned_from == "drawn at random"
    assert len(model.sha256) == 64


def test_the_same_data_give_the_same_model(corpus: list[Cut]) -> None:
    one, two = (train_pairs(corpus, PAPER, 1.0)[0].questions for _ in range(2))
    assert np.array_equal(one.weights, two.weights)
    assert (one.sha256, one.cutoffs) == (two.sha256, two.cutoffs)


def test_the_hash_is_of_everything_learned_from(corpus: list[Cut]) -> None:
    first, document = corpus[0], corpus[0].document
    renamed = (replace(document.templates[0], head="x"), *document.templates[1:])
    other = [
        replace(first, labels=first.labels[::-1].copy()),
        replace(first, document=replace(document, templates=renamed)),
        replace(first, compatible=~first.compatible),
        replace(first, document=replace(document, name="other")),
    ]
    hashes = {training_pairs([one]).sha256 for one in (first, *other)}
    assert len(hashes) == 5


def test_the_selected_features_alone_have_weights(corpus: list[Cut]) -> None:
    learned, selected = train_pairs(corpus, PAPER, 1.0, skipped=["any_pair: any"])
    for name in TRAININGS:
        model, active = learned.pair_model(name), selected[name][1].active
        assert {*np.flatnonzero(model.weights)} == {*active}
        assert model.features.index("any_pair: any") not in active


def test_one_class_only_is_refused(corpus: list[Cut]) -> None:
    apart = [replace(one, labels=np.arange(len(one.labels))) for one in corpus[:3]]
    for cuts in (apart, []):
        with pytest.raises(InputError, match="one class only"):
            train_pairs(cuts, EXTENDED, 1.0)

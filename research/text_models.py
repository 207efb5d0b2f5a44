"""Train the models for raw text: the analyser, and the joint model on what the analyser finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from partita.configurations.joint.model import JointModel
from partita.core import Configuration, Document, IntArray, Template
from partita.corpora.documents import corpus_document, read_placed
from partita.corpora.keys import match_mentions
from partita.errors import InputError
from partita.text.analysis import Analyser
from partita.text.expressions import PlacedSentence, expressions, templates
from partita.text.messages import parse_message
from partita.text.raw_messages import RawMessage
from partita.training.joint import train_joint
from research.analyser import (
    AnalyserSettings,
    FoldModels,
    out_of_fold,
    train_with_folds,
)

Progress = Callable[[str], None]
FOLDS = 5
RULE = "analyser"  # where templates of found mentions come from


class TextModels(NamedTuple):
    """The models that lead from raw text to entities."""

    analyser: Analyser
    joint: JointModel


def text_templates(analyser: Analyser, name: str, text: str) -> tuple[Template, ...]:
    """Return the templates of the mentions that an analyser finds in a text."""
    message = parse_message(RawMessage(name, text, name))
    return document_templates(analyser.analyse(message), message.text, RULE)


def train_text_models(
    corpora: Iterable[str | Path],
    *,
    seed: int = 0,
    folds: int = FOLDS,
    settings: AnalyserSettings | None = None,
    learned_from: str = "",
    progress: Progress | None = None,
) -> TextModels:
    """Train the analyser, and the joint model on gold mentions and on those that it finds.

    The joint model sees every document twice: with its gold mentions, trees and types, and as an
    analyser finds them that was trained on the other folds. Corpora without entities are used for
    tags and trees.
    """
    report = progress or (lambda _: None)
    documents = [document for path in corpora for document in read_placed(path)]
    if not any(document.has_mentions for document in documents):
        raise InputError("no mentions in the corpora to learn from")
    analyser, models = train_with_folds(documents, seed, settings, folds=folds, progress=report)
    joint = train_joint(
        keyed_by_folds(models),
        seed=seed,
        learned_from=learned_from,
        progress=lambda done, of, bits: report(
            f"epoch {done} of {of}: {bits:.3f} bits per mention"
        ),
    )
    return TextModels(analyser, joint)


def keyed_by_folds(models: FoldModels) -> list[Document]:
    """Return every document with its gold mentions, then as found by a model of other folds."""
    gold, found = [], []
    for document, sentences in out_of_fold(models):
        gold.append(corpus_document(document))
        templates = document_templates(sentences, document.text, RULE)
        found.append(keyed_document(gold[-1], templates))
    return [*gold, *found]


def document_templates(
    sentences: Iterable[PlacedSentence], text: str, rule: str
) -> tuple[Template, ...]:
    """Return the templates of all mentions of a text, in text order."""
    made: list[Template] = []
    for sentence in sentences:
        made += templates(expressions(sentence), len(made) + 1, text, 0, rule)
    return tuple(made)


def keyed_document(gold: Document, found: Sequence[Template]) -> Document:
    """Return found mentions with a key: matched ones as in the gold key, others alone."""
    labels = keyed_labels(gold, match_mentions(gold.templates, found))
    cells: dict[int, list[str]] = {}
    for template, label in zip(found, labels.tolist(), strict=True):
        cells.setdefault(label, []).append(template.id)
    return Document(gold.name, gold.genre, tuple(found), Configuration(cells.values()), gold.text)


def keyed_labels(gold: Document, matched: IntArray) -> IntArray:
    """Return the cell of each found mention: the gold cell, or one of its own."""
    alone = len(gold) + np.arange(len(matched))
    if not len(gold):
        return alone
    return np.where(matched < 0, alone, gold.labels[matched])

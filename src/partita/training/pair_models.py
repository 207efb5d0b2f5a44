"""Train pair models from keyed documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.merging.model import questions
from partita.core import FloatArray, IntArray, Template
from partita.errors import InputError
from partita.pairs.characteristics import (
    Characteristic,
    Cutoffs,
    characteristics_of,
    characters,
    feature_names,
    pairs_of,
    quintiles,
)
from partita.pairs.columns import TemplateColumns, template_columns
from partita.pairs.extended import EXTENDED
from partita.pairs.models import MaximumEntropy
from partita.results.template_json import template_json
from partita.templates.schema import Schema
from partita.training.maxent import (
    Codes,
    Contexts,
    bits,
    choose_prior,
    contexts,
    fit_maxent,
    require_both_classes,
)
from partita.training.selection import Selection, select, selected_indices


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPairs:
    """Pairs as positions in text order, and whether they corefer by the key."""

    left: IntArray
    right: IntArray
    yes: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.yes)


PairChoice = Callable[[IntArray, NDArray[np.bool_]], LabelledPairs]


def every_pair(labels: IntArray, compatible: NDArray[np.bool_]) -> LabelledPairs:
    """Return all compatible pairs, for the evidential model."""
    _check_shape(labels, compatible)
    left, right = np.nonzero(np.triu(compatible, 1))
    return LabelledPairs(left, right, labels[left] == labels[right])


def merging_questions(labels: IntArray, compatible: NDArray[np.bool_]) -> LabelledPairs:
    """Return the pairs that the merger compares, for the merging decision model."""
    _check_shape(labels, compatible)
    compared = questions(labels, compatible)
    rows = np.array(compared, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(rows[:, 0], rows[:, 1], rows[:, 2].astype(np.bool_))


def _check_shape(labels: IntArray, compatible: NDArray[np.bool_]) -> None:
    n = len(labels)
    if compatible.shape != (n, n):
        raise InputError(f"{n} templates need a table of {n} by {n} compatible pairs")


Progress = Callable[[str], None]

PRECISION = 1.0  # of the prior where there are too few documents to choose one
ENOUGH_PAIRS = 40_000  # for the choice of the prior: the weights are learned from all


@dataclass(frozen=True, slots=True, eq=False)
class KeyedTemplates:
    """Templates in text order with their key: cell numbers, and which two are compatible."""

    name: str
    templates: tuple[Template, ...]
    labels: IntArray
    compatible: NDArray[np.bool_]
    schema: Schema | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPairs:
    """The training pairs of a model: codes, answers, and the document of each."""

    characteristics: tuple[Characteristic, ...]
    cutoffs: Cutoffs
    codes: Codes
    yes: NDArray[np.bool_]
    documents: IntArray
    sha256: str

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(characteristic.values) for characteristic in self.characteristics)

    def contexts(self, chosen: NDArray[np.bool_] | None = None) -> Contexts:
        if chosen is None:
            return contexts(self.codes, self.yes, self.sizes)
        return contexts(self.codes[chosen], self.yes[chosen], self.sizes)


def training_pairs(
    documents: Sequence[KeyedTemplates],
    choose_pairs: PairChoice = every_pair,
    characteristics: tuple[Characteristic, ...] = EXTENDED,
    cutoffs: Cutoffs | None = None,
) -> TrainingPairs:
    """Observe the chosen pairs of all documents; cut-offs are their quintiles by default."""
    observed = [
        template_columns(d.templates, schema=d.schema, compatible=d.compatible) for d in documents
    ]
    pairs = [choose_pairs(d.labels, d.compatible) for d in documents]
    both = list(zip(observed, pairs, strict=True))
    cuts = cutoffs if cutoffs is not None else quintiles(_distance(c, a) for c, a in both)
    codes = [characteristics_of(c, a.left, a.right, characteristics, cutoffs=cuts) for c, a in both]
    return TrainingPairs(
        characteristics,
        cuts,
        np.concatenate([*codes, np.zeros((0, len(characteristics)), dtype=np.uint8)]),
        np.concatenate([*(a.yes for a in pairs), np.zeros(0, dtype=np.bool_)]),
        np.repeat(_document_numbers(documents), [len(a) for a in pairs]),
        _hash(documents),
    )


def train_pair_model(
    training: TrainingPairs,
    *,
    name: str = "every pair",
    precision: float | None = None,
    seed: int = 0,
    learned_from: str = "",
    method: str = "auto",
    progress: Progress | None = None,
) -> MaximumEntropy:
    """Learn weights for all features under a Gaussian prior.

    The prior is chosen over documents unless its precision is given; `method` is one of those of
    `partita.training.maxent`.
    """
    report = progress or _silent
    sample = training.contexts()
    require_both_classes(sample)
    if precision is None:
        report("choosing the prior")
        precision = _choose_precision(training, np.random.default_rng(seed))
    report(f"fitting {sample.features} weights to {len(training.yes):,} pairs")
    weights = fit_maxent(sample, precision, method=method)
    figures = {"bits_per_pair": bits(sample, weights), "precision": precision}
    return _pair_model(training, weights, name, learned_from, seed, figures)


def select_pair_model(
    training: TrainingPairs,
    selection: Selection,
    *,
    name: str = "every pair",
    seed: int = 0,
    learned_from: str = "",
    method: str = "auto",
) -> MaximumEntropy:
    """Fit the selected features alone to all training pairs."""
    sample = training.contexts()
    active = selected_indices(selection, feature_names(training.characteristics))
    weights = fit_maxent(sample, selection.precision, active, method=method)
    cost, precision = bits(sample, weights), selection.precision
    figures = {"features": len(active), "bits_per_pair": cost, "precision": precision}
    return _pair_model(training, weights, name, learned_from, seed, figures)


def _pair_model(
    training: TrainingPairs,
    weights: FloatArray,
    name: str,
    learned_from: str,
    seed: int,
    figures: dict[str, float],
) -> MaximumEntropy:
    return MaximumEntropy(
        training.characteristics,
        weights,
        training.cutoffs,
        name,
        learned_from,
        training.sha256,
        seed,
        {
            "pairs": len(training.yes),
            "documents": len(np.unique(training.documents)),
            **figures,
        },
    )


def select_features(
    training: TrainingPairs,
    *,
    held_out: float = 0.0,
    precision: float = PRECISION,
    seed: int = 0,
    most: int | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Select features; with a share of documents held out, stop by their likelihood."""
    names = feature_names(training.characteristics)
    if not held_out:
        return select(training.contexts(), names, precision=precision, most=most, progress=progress)
    held = _held_out(training.documents, held_out, np.random.default_rng(seed))
    return select(
        training.contexts(~held),
        names,
        precision=precision,
        held_out=training.contexts(held),
        most=most,
        progress=progress,
    )


def _document_numbers(documents: Sequence[KeyedTemplates]) -> IntArray:
    """Return a number for each set; sets of one message share it and are held out together."""
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(d.name, len(seen)) for d in documents], dtype=np.int64)


def _distance(observed: TemplateColumns, pairs: LabelledPairs) -> NDArray[np.int32]:
    return characters(pairs_of(observed, pairs.left, pairs.right, ()))


def _choose_precision(training: TrainingPairs, rng: np.random.Generator) -> float:
    """Choose by cross-validation on as many documents as give enough pairs."""
    order = rng.permutation(np.unique(training.documents))
    if len(order) < 2:
        return PRECISION
    sizes = np.bincount(training.documents)[order]
    kept = max(2, int(np.searchsorted(np.cumsum(sizes), ENOUGH_PAIRS)) + 1)
    chosen = np.isin(training.documents, order[:kept])
    parts = (training.codes[chosen], training.yes[chosen], training.documents[chosen])
    try:
        return choose_prior(*parts, training.sizes, rng).precision
    except InputError:
        return PRECISION  # a fold without both answers says nothing about the prior


def _held_out(documents: IntArray, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    names = rng.permutation(np.unique(documents))
    if len(names) < 2:
        raise InputError("holding out documents needs two of them or more")
    count = min(max(1, round(share * len(names))), len(names) - 1)
    return np.isin(documents, names[:count])


def _hash(documents: Sequence[KeyedTemplates]) -> str:
    """Return a hash of all that the model can learn from."""
    digest = hashlib.sha256()
    for document in documents:
        templates = list(map(template_json, document.templates))
        text = json.dumps([document.name, templates, document.labels.tolist()], default=str)
        digest.update(text.encode())
        digest.update(np.packbits(document.compatible).tobytes())
    return digest.hexdigest()


def _silent(_: str) -> None:
    return None

"""Train pair models from keyed documents; fit the greedy, the scaled and the forest model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.merging.model import questions
from partita.configurations.odds import ScaledParameters
from partita.core import FloatArray, IntArray, Template
from partita.errors import InputError
from partita.pairs.characteristics import (
    EXTENDED,
    Characteristic,
    Cutoffs,
    characteristics_of,
    characters,
    feature_names,
    pairs_of,
    quintiles,
)
from partita.pairs.columns import template_columns
from partita.pairs.models import MaximumEntropy
from partita.results.result_lines import template_json
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

    def enough(self, pairs: int, rng: np.random.Generator) -> TrainingPairs:
        """Return as many documents as make so many pairs, at least two."""
        order = rng.permutation(np.unique(self.documents))
        sizes = np.bincount(self.documents)[order]
        kept = max(2, int(np.searchsorted(np.cumsum(sizes), pairs)) + 1)
        chosen = np.isin(self.documents, order[:kept])
        parts = (self.codes[chosen], self.yes[chosen], self.documents[chosen])
        return TrainingPairs(self.characteristics, self.cutoffs, *parts, self.sha256)


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
    cuts = (
        cutoffs
        if cutoffs is not None
        else quintiles(characters(pairs_of(c, a.left, a.right, ())) for c, a in both)
    )
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
    progress: Progress | None = None,
) -> MaximumEntropy:
    """Learn weights for all features under a Gaussian prior.

    The prior is chosen over documents unless its precision is given.
    """
    report = progress or (lambda _: None)
    sample = training.contexts()
    require_both_classes(sample)
    if precision is None:
        report("choosing the prior")
        precision = _choose_precision(training, np.random.default_rng(seed))
    report(f"fitting {sample.features} weights to {len(training.yes):,} pairs")
    weights = fit_maxent(sample, precision)
    figures = {"bits_per_pair": bits(sample, weights), "precision": precision}
    return _pair_model(training, weights, name, learned_from, seed, figures)


def select_pair_model(
    training: TrainingPairs,
    selection: Selection,
    *,
    name: str = "every pair",
    seed: int = 0,
    learned_from: str = "",
) -> MaximumEntropy:
    """Fit the selected features alone to all training pairs."""
    sample = training.contexts()
    active = selected_indices(selection, feature_names(training.characteristics))
    weights = fit_maxent(sample, selection.precision, active)
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
    skipped: frozenset[str] = frozenset(),
    progress: Progress | None = None,
) -> Selection:
    """Select features; with a share of documents held out, stop by their likelihood."""
    names = feature_names(training.characteristics)
    if not held_out:
        sample = training.contexts()
        return select(
            sample, names, precision=precision, most=most, skipped=skipped, progress=progress
        )
    held = _held_out(training.documents, held_out, np.random.default_rng(seed))
    return select(
        training.contexts(~held),
        names,
        precision=precision,
        held_out=training.contexts(held),
        most=most,
        skipped=skipped,
        progress=progress,
    )


def _document_numbers(documents: Sequence[KeyedTemplates]) -> IntArray:
    """Return a number for each set; sets of one message share it and are held out together."""
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(d.name, len(seen)) for d in documents], dtype=np.int64)


def _choose_precision(training: TrainingPairs, rng: np.random.Generator) -> float:
    """Choose by cross-validation on as many documents as give enough pairs."""
    if len(np.unique(training.documents)) < 2:
        return PRECISION
    part = training.enough(ENOUGH_PAIRS, rng)
    try:
        return choose_prior(part.codes, part.yes, part.documents, part.sizes, rng).precision
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


@dataclass(frozen=True, slots=True)
class MergedSets:
    """Sets of one size: how many there were, and how many were merged correctly."""

    sets: int = 0
    right: int = 0

    @property
    def share(self) -> float:
        return (self.right + 0.5) / (self.sets + 1)

    def __add__(self, right: bool) -> MergedSets:
        return MergedSets(self.sets + 1, self.right + right)


PRIOR_DEVIATION = 0.5  # of the prior around the evidential model, a = 1 and b = 0


def fit_scale(sets: Iterable[tuple[FloatArray, IntArray]]) -> ScaledParameters:
    """Fit the scaled model to pair probabilities (0 if incompatible) and the labels of the keys."""
    from scipy.optimize import minimize

    parts, templates = [np.zeros((4, 0))], 0
    for p, labels in sets:
        if len(labels) > 1:
            parts.append(_choices(p, labels, templates))
            templates += len(labels)
    if not templates:
        raise InputError(
            "no labelled set leaves anything to decide (expected sets with several configurations)"
        )
    choices = np.hstack(parts)
    result = minimize(
        lambda x: _objective(x, choices),
        np.array([1.0, 0.0]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None), (None, None)],
    )
    return ScaledParameters(float(result.x[0]), float(result.x[1]))


def _choices(p: FloatArray, labels: IntArray, first: int) -> FloatArray:
    """Return the cells that each template could join, without incompatible ones, as columns.

    Rows are Σθ, the number of members, the template (numbered from `first` on), and whether the key
    chooses the cell. "Alone" has Σθ = 0; it also stands for a cell of the key that is excluded.
    """
    n, off = len(p), ~np.eye(len(p), dtype=np.bool_)
    with np.errstate(divide="ignore"):
        theta = np.where(off & (p > 0), np.log(p) - np.log1p(-np.where(off, p, 0.0)), 0.0)
    cells = labels[:, None] == np.arange(labels.max() + 1)[None, :]
    sums, members = theta @ cells, off.astype(np.float64) @ cells
    barred = ((off & (p == 0)).astype(np.float64) @ cells) > 0
    template, cell = np.nonzero((members > 0) & ~barred)
    taken = (labels[template] == cell).astype(np.float64)
    alone = 1.0 - np.bincount(template, weights=taken, minlength=n)
    joined = np.array([sums[template, cell], members[template, cell], first + template, taken])
    return np.hstack([joined, np.array([np.zeros(n), np.zeros(n), first + np.arange(n), alone])])


def _objective(x: FloatArray, choices: FloatArray) -> tuple[float, FloatArray]:
    """Return minus the log of conditional likelihood times prior, and its gradient."""
    sums, members, numbers, taken = choices
    scores, template = x[0] * sums + x[1] * members, numbers.astype(np.int64)
    top = np.zeros(int(template.max()) + 1)
    np.maximum.at(top, template, scores)
    weights = np.exp(scores - top[template])
    total = np.bincount(template, weights=weights)
    loss = float((np.log(total) + top).sum() - taken @ scores)
    surplus = weights / total[template] - taken
    deviation, precision = x - np.array([1.0, 0.0]), PRIOR_DEVIATION**-2
    gradient = np.array([surplus @ sums, surplus @ members]) + precision * deviation
    return loss + precision * float(deviation @ deviation) / 2, gradient

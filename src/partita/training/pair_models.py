"""Train pair models from keyed documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.merging.model import questions
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
from partita.pairs.columns import Columns, template_columns
from partita.pairs.extended import EXTENDED
from partita.pairs.models import MaximumEntropy
from partita.records import IntArray, Template
from partita.templates.schema import Schema
from partita.training.maxent import (
    Codes,
    Contexts,
    bits,
    choose_prior,
    contexts,
    fit,
    refuse_one_class,
)
from partita.training.selection import Selection, active_of, select


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Pairs as positions in text order, and whether they corefer by the key."""

    left: IntArray
    right: IntArray
    yes: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.yes)


Ask = Callable[[IntArray, NDArray[np.bool_]], Asked]


def every_pair(labels: IntArray, compatible: NDArray[np.bool_]) -> Asked:
    """All compatible pairs, for the evidential model."""
    _refuse_shape(labels, compatible)
    left, right = np.nonzero(np.triu(compatible, 1))
    return Asked(left, right, labels[left] == labels[right])


def merging_questions(labels: IntArray, compatible: NDArray[np.bool_]) -> Asked:
    """What the merger asks, for the merging decision model."""
    _refuse_shape(labels, compatible)
    found = questions(labels, compatible)
    asked = np.array(found, dtype=np.int64).reshape(-1, 3)
    return Asked(asked[:, 0], asked[:, 1], asked[:, 2].astype(np.bool_))


def _refuse_shape(labels: IntArray, compatible: NDArray[np.bool_]) -> None:
    n = len(labels)
    if compatible.shape != (n, n):
        raise InputError(f"{n} templates need a table of {n} by {n} compatible pairs")


Progress = Callable[[str], None]

PRECISION = 1.0  # of the prior where there are too few documents to choose one
ENOUGH_PAIRS = 40_000  # for the choice of the prior: the weights are learned from all


@dataclass(frozen=True, slots=True, eq=False)
class Keyed:
    """A document or a coreference set with its key: templates in text order, for each the number
    of its cell, and which two are compatible a priori."""

    name: str
    templates: tuple[Template, ...]
    labels: IntArray
    compatible: NDArray[np.bool_]
    schema: Schema | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The pairs that a model learns from: codes, answers, and of which document each is."""

    characteristics: tuple[Characteristic, ...]
    cutoffs: Cutoffs
    codes: Codes
    yes: NDArray[np.bool_]
    documents: IntArray
    sha256: str

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(one.values) for one in self.characteristics)

    def contexts(self, chosen: NDArray[np.bool_] | None = None) -> Contexts:
        if chosen is None:
            return contexts(self.codes, self.yes, self.sizes)
        return contexts(self.codes[chosen], self.yes[chosen], self.sizes)


def training(
    documents: Sequence[Keyed],
    ask: Ask = every_pair,
    characteristics: tuple[Characteristic, ...] = EXTENDED,
    cutoffs: Cutoffs | None = None,
) -> Training:
    """The pairs that are asked about in all documents, observed; cut-offs as quintiles of them."""
    known = [
        template_columns(d.templates, schema=d.schema, compatible=d.compatible) for d in documents
    ]
    asked = [ask(d.labels, d.compatible) for d in documents]
    found = list(zip(known, asked, strict=True))
    cuts = cutoffs if cutoffs is not None else quintiles(_distance(c, a) for c, a in found)
    codes = [
        characteristics_of(c, a.left, a.right, characteristics, cutoffs=cuts) for c, a in found
    ]
    return Training(
        characteristics,
        cuts,
        np.concatenate([*codes, np.zeros((0, len(characteristics)), dtype=np.uint8)]),
        np.concatenate([*(a.yes for a in asked), np.zeros(0, dtype=np.bool_)]),
        np.repeat(_numbers(documents), [len(a) for a in asked]),
        _hash(documents),
    )


def train_pair_model(
    given: Training,
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
    told = progress or _silent
    sample = given.contexts()
    refuse_one_class(sample)
    if precision is None:
        told("choosing the prior")
        precision = _precision(given, np.random.default_rng(seed))
    told(f"fitting {sample.features} weights to {len(given.yes):,} pairs")
    weights = fit(sample, precision, method=method)
    figures = {
        "pairs": len(given.yes),
        "documents": len(np.unique(given.documents)),
        "bits_per_pair": bits(sample, weights),
        "precision": precision,
    }
    return MaximumEntropy(
        given.characteristics,
        weights,
        given.cutoffs,
        name,
        learned_from,
        given.sha256,
        seed,
        figures,
    )


def select_pair_model(
    given: Training,
    selection: Selection,
    *,
    name: str = "every pair",
    seed: int = 0,
    learned_from: str = "",
    method: str = "auto",
) -> MaximumEntropy:
    """Fit the selected features alone to all training pairs."""
    sample = given.contexts()
    active = active_of(selection, feature_names(given.characteristics))
    weights = fit(sample, selection.precision, active, method=method)
    figures = {
        "pairs": len(given.yes),
        "documents": len(np.unique(given.documents)),
        "features": len(active),
        "bits_per_pair": bits(sample, weights),
        "precision": selection.precision,
    }
    return MaximumEntropy(
        given.characteristics,
        weights,
        given.cutoffs,
        name,
        learned_from,
        given.sha256,
        seed,
        figures,
    )


def select_features(
    given: Training,
    *,
    held_out: float = 0.0,
    precision: float = PRECISION,
    seed: int = 0,
    most: int | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Feature selection; with a share of documents held out, it stops by their likelihood."""
    names = feature_names(given.characteristics)
    if not held_out:
        return select(given.contexts(), names, precision=precision, most=most, progress=progress)
    away = _away(given.documents, held_out, np.random.default_rng(seed))
    return select(
        given.contexts(~away),
        names,
        precision=precision,
        held_out=given.contexts(away),
        most=most,
        progress=progress,
    )


def _numbers(documents: Sequence[Keyed]) -> IntArray:
    """Sets of one message have one number: what is held out is held out whole."""
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(d.name, len(seen)) for d in documents], dtype=np.int64)


def _distance(known: Columns, asked: Asked) -> NDArray[np.int32]:
    return characters(pairs_of(known, asked.left, asked.right, ()))


def _precision(given: Training, rng: np.random.Generator) -> float:
    """By cross-validation on as many documents as make enough pairs."""
    order = rng.permutation(np.unique(given.documents))
    if len(order) < 2:
        return PRECISION
    sizes = np.bincount(given.documents)[order]
    kept = max(2, int(np.searchsorted(np.cumsum(sizes), ENOUGH_PAIRS)) + 1)
    chosen = np.isin(given.documents, order[:kept])
    parts = (given.codes[chosen], given.yes[chosen], given.documents[chosen])
    try:
        return choose_prior(*parts, given.sizes, rng).precision
    except InputError:
        return PRECISION  # a fold without both answers says nothing about the prior


def _away(documents: IntArray, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    names = rng.permutation(np.unique(documents))
    if len(names) < 2:
        raise InputError("holding out documents needs two of them or more")
    count = min(max(1, round(share * len(names))), len(names) - 1)
    return np.isin(documents, names[:count])


def _hash(documents: Sequence[Keyed]) -> str:
    """Of everything that the model may learn from."""
    digest = hashlib.sha256()
    for document in documents:
        said = [
            asdict(t) | {"slots": dict(t.slots), "context": dict(t.context)}
            for t in document.templates
        ]
        text = json.dumps([document.name, said, document.labels.tolist()], default=str)
        digest.update(text.encode())
        digest.update(np.packbits(document.compatible).tobytes())
    return digest.hexdigest()


def _silent(_: str) -> None:
    return None

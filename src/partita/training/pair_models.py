"""Train pair models pair by pair, as the paper does; measure how often a greedy merger is right."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.merging.model import questions
from partita.configurations.odds import UNSCALED
from partita.configurations.pair_models import GreedyParameters, greedy_labels
from partita.core import IntArray
from partita.errors import InputError
from partita.evaluation.splits import Cut, learn_excluded
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
from partita.training.maxent import Codes, Contexts, bits, contexts, fit_maxent
from partita.training.parameter_files import EVERY_PAIR, QUESTIONS, PairParameters
from partita.training.selection import Selection, select


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


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPairs:
    """The training pairs of a model: the codes of their characteristics, and the answers."""

    characteristics: tuple[Characteristic, ...]
    cutoffs: Cutoffs
    codes: Codes
    yes: NDArray[np.bool_]
    sha256: str

    def contexts(self) -> Contexts:
        sizes = tuple(len(characteristic.values) for characteristic in self.characteristics)
        return contexts(self.codes, self.yes, sizes)


def training_pairs(
    cuts: Sequence[Cut],
    choose_pairs: PairChoice = every_pair,
    characteristics: tuple[Characteristic, ...] = EXTENDED,
    cutoffs: Cutoffs | None = None,
) -> TrainingPairs:
    """Observe the chosen pairs of all documents; cut-offs are their quintiles by default."""
    pairs = [choose_pairs(cut.labels, cut.compatible) for cut in cuts]
    observed = [
        template_columns(cut.document.templates, schema=cut.schema, compatible=cut.compatible)
        for cut in cuts
    ]
    both = list(zip(observed, pairs, strict=True))
    if cutoffs is None:
        cutoffs = quintiles(characters(pairs_of(c, a.left, a.right, ())) for c, a in both)
    codes = [
        characteristics_of(c, a.left, a.right, characteristics, cutoffs=cutoffs) for c, a in both
    ]
    return TrainingPairs(
        characteristics,
        cutoffs,
        np.concatenate([*codes, np.zeros((0, len(characteristics)), dtype=np.uint8)]),
        np.concatenate([*(a.yes for a in pairs), np.zeros(0, dtype=np.bool_)]),
        _hash(cuts),
    )


def _hash(cuts: Sequence[Cut]) -> str:
    """Return a hash of all that a model can learn from."""
    digest = hashlib.sha256()
    for cut in cuts:
        templates = [template_json(template) for template in cut.document.templates]
        digest.update(repr((cut.document.name, templates, cut.labels.tolist())).encode())
        digest.update(np.packbits(cut.compatible).tobytes())
    return digest.hexdigest()


Selected = dict[str, tuple[Contexts, Selection]]  # by training set


def train_pairs(
    cuts: Sequence[Cut],
    characteristics: tuple[Characteristic, ...],
    precision: float,
    *,
    skipped: Collection[str] | None = None,
    learned_from: str = "",
) -> tuple[PairParameters, Selected]:
    """Return the parameters of the paper's models, learned pair by pair from scratch.

    All features get a weight under a Gaussian prior of this precision. With `skipped`, features are
    selected by their gain, but for these.
    """
    models: dict[str, MaximumEntropy] = {}
    selected: Selected = {}
    for name, ask in ((QUESTIONS, merging_questions), (EVERY_PAIR, every_pair)):
        pairs = training_pairs(cuts, ask, characteristics)
        sample = pairs.contexts()
        if skipped is None:
            weights = fit_maxent(sample, precision)
        else:
            features = feature_names(characteristics)
            never = [n for n, feature in enumerate(features) if feature in skipped]
            selection = select(sample, precision, never)
            weights, selected[name] = selection.weights, (sample, selection)
        figures = {"pairs": len(pairs.yes), "bits_per_pair": bits(sample, weights)}
        models[name] = MaximumEntropy(
            characteristics, weights, pairs.cutoffs, name, learned_from, pairs.sha256,
            figures=figures | {"precision": precision},
        )  # fmt: skip
    masses, every = learn_excluded(cuts), models[EVERY_PAIR]
    return PairParameters(
        every,
        models[QUESTIONS],
        greedy_shares(cuts),
        UNSCALED,
        masses.sets,
        masses.documents,
        learned_from,
        every.sha256,
        figures={"documents": len(cuts), "sets": sum(len(cut.sets) for cut in cuts)},
    ), selected


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


def greedy_tallies(cuts: Sequence[Cut]) -> tuple[MergedSets, MergedSets, MergedSets]:
    """Count sets of two, of three and of more templates, and those that greedy merges correctly."""
    tallies = {2: MergedSets(), 3: MergedSets(), 4: MergedSets()}
    for cut in cuts:
        for members in cut.sets:
            labels = greedy_labels(cut.compatible[np.ix_(members, members)])
            joined = labels[:, None] == labels[None, :]
            right = np.array_equal(joined, cut.joined[np.ix_(members, members)])
            tallies[min(len(members), 4)] += right
    return tallies[2], tallies[3], tallies[4]


def greedy_shares(cuts: Sequence[Cut]) -> GreedyParameters:
    """Measure how often a greedy merger is right."""
    return GreedyParameters(*(tally.share for tally in greedy_tallies(cuts)))

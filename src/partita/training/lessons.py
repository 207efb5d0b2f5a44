"""Keyed documents, observed once, and what their keys cost under parameters."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.configurations.count import log2_bell
from partita.configurations.odds import PairKnowledge
from partita.configurations.solve import model_posterior
from partita.core import BoolArray, Budget, FloatArray, IntArray, Posterior, restricted_growth
from partita.evaluation.splits import (
    Cut,
    allowed_bits,
    document_bits,
    excluded_bits,
    weighted_rows,
)
from partita.pairs.characteristics import pair_log_odds
from partita.pairs.columns import template_columns
from partita.pairs.models import MaximumEntropy, probability, tied
from partita.training.key_likelihood import KeyedSet
from partita.training.maxent import Codes
from partita.training.pair_models import LabelledPairs, every_pair
from partita.training.parameter_files import PairParameters, training_of

EXACT = 18  # templates: beyond, an exact answer takes longer than the others together


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A keyed document, observed once.

    The codes of its open pairs, for the pair model of every pair and for that of the merger's
    questions; their positions and whether they corefer; which of them the sentence says are one;
    the sets whose key is possible, with the places of their pairs; and a hash.
    """

    cut: Cut
    pairs: Codes
    by_merger: Codes
    open: LabelledPairs
    tied: BoolArray
    sets: tuple[KeyedSet, ...]
    places: IntArray
    sha256: str


def lesson(cut: Cut, start: PairParameters) -> Lesson:
    """Return the training data of one key, with the characteristics of the parameters."""
    templates = cut.document.templates
    observed = template_columns(templates, schema=cut.schema, compatible=cut.compatible)
    open_pairs = every_pair(cut.labels, cut.compatible)
    pairs, by_merger = (
        model.codes(observed, open_pairs.left, open_pairs.right)
        for model in (start.every_pair, start.questions)
    )
    sets, places = _keyed_sets(cut, open_pairs)
    digest = _hash(cut, (pairs, by_merger, open_pairs.yes))
    said = tied(observed, open_pairs.left, open_pairs.right)
    return Lesson(cut, pairs, by_merger, open_pairs, said, sets, places, digest)


def _hash(cut: Cut, arrays: Iterable[NDArray[Any]]) -> str:
    """Return a hash of all that is learned from a key."""
    others = [(str(cells), weight) for cells, weight in cut.document.alternatives]
    digest = hashlib.sha256(repr((cut.document.name, others)).encode())
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _keyed_sets(cut: Cut, pairs: LabelledPairs) -> tuple[tuple[KeyedSet, ...], IntArray]:
    """Return the sets that the key leaves possible, and the places of their pairs."""
    sets, places = [], [np.zeros(0, dtype=np.int64)]
    for members in cut.sets:
        rows, weights = weighted_rows(cut, members)
        if not len(rows):
            continue
        position = np.full(len(cut.labels), -1)
        position[members] = np.arange(len(members))
        inside = np.flatnonzero(position[pairs.left] >= 0)
        left, right = position[pairs.left[inside]], position[pairs.right[inside]]
        sets.append(KeyedSet(len(members), left, right, rows, weights))
        places.append(inside)
    return tuple(sets), np.concatenate(places)


def open_pair_matrix(key: Lesson, model: MaximumEntropy, codes: Codes) -> FloatArray:
    """Return pair probabilities from the codes of open pairs; 0 for incompatible ones."""
    odds = pair_log_odds(codes, model.characteristics, model.weights)
    p = probability(odds + model.identity * key.tied)
    matrix = np.eye(len(key.cut.labels))
    matrix[key.open.left, key.open.right] = matrix[key.open.right, key.open.left] = p
    return matrix


WORK = {"merging": 300_000}  # questions to the merger; of all others sweeps over a large set
USUAL = 300


@dataclass(frozen=True, slots=True, eq=False)
class KeyAnswer:
    """One key by one model: its bits, and the marginals of its open pairs beside the truth.

    `probability` is that of the key among the configurations that knowledge allows.
    """

    message: str
    templates: int
    bits: float
    probability: float
    stated: FloatArray
    observed: NDArray[np.bool_]


def key_answer(key: Lesson, learned: PairParameters, model: str) -> KeyAnswer:
    """Return the bits of a key under some parameters."""
    cut = key.cut
    spent, n, log_probability = 0.0, len(cut.labels), -math.inf if cut.crosses else 0.0
    stated = np.zeros((n, n))
    for members, posterior in key_posteriors(key, learned, model):
        spent += set_bits(cut, members, posterior, learned.excluded)
        if not cut.broken(members):
            row = restricted_growth(cut.labels[members].tolist())
            log_probability += posterior.log_weight(row) - posterior.log_normaliser.value
        else:
            log_probability = -math.inf
        stated[np.ix_(members, members)] = posterior.pairs().value
    sizes = [len(members) for members in cut.sets]
    spent = document_bits(n, sizes, spent, cut.crosses, learned.crossing)
    inside = np.clip(stated[key.open.left, key.open.right], 0.0, 1.0)
    probability = min(math.exp(min(log_probability, 0.0)), 1.0)
    return KeyAnswer(cut.document.name, n, spent, probability, inside, key.open.yes)


def key_posteriors(
    key: Lesson, learned: PairParameters, model: str, seed: int = 0, work: int | None = None
) -> Iterator[tuple[IntArray, Posterior]]:
    """Yield the members of every set with its posterior under a model; `work` limits each."""
    even = np.where(key.cut.compatible, 0.5, 0.0)
    p, parameters = even, getattr(learned, model, None)
    if model not in ("uniform", "greedy"):
        codes = key.by_merger if model == "merging" else key.pairs
        p = open_pair_matrix(key, learned.pair_model(training_of(model)), codes)
    budget = Budget(work=WORK.get(model, USUAL) if work is None else work)
    for members in key.cut.sets:
        yield members, _posterior(key.cut, members, p, model, parameters, budget, seed)


def _posterior(
    cut: Cut,
    members: IntArray,
    p: FloatArray,
    model: str,
    parameters: Any,
    budget: Budget,
    seed: int = 0,
) -> Posterior:
    inside = np.ix_(members, members)
    same = np.eye(len(members), dtype=np.bool_)
    knowledge = PairKnowledge(p[inside], cut.compatible[inside], same)
    method = "exact" if len(members) <= EXACT else "sampled"
    method = "auto" if model in ("merging", "forest") else method
    return model_posterior(knowledge, model, parameters, budget, seed, method)[0]


def set_bits(cut: Cut, members: IntArray, posterior: Posterior, excluded: float) -> float:
    """Return the bits of the key of a set; of several that its author holds possible, the mean."""
    mass = excluded if cut.open(members) else 0.0
    rows, weights = weighted_rows(cut, members)
    if not len(rows):
        return excluded_bits(len(members), _log2_allowed(cut, members), mass)
    total = posterior.log_normaliser.value
    each = [allowed_bits(posterior.log_weight(row) - total, mass) for row in rows]
    return float(weights @ each)


def _log2_allowed(cut: Cut, members: IntArray) -> float:
    """Return the logarithm of the number of configurations that knowledge allows."""
    if not cut.open(members):
        return log2_bell(len(members))
    even = np.where(cut.compatible, 0.5, 0.0)
    uniform = _posterior(cut, members, even, "uniform", None, Budget(work=USUAL))
    return uniform.log_normaliser.value / math.log(2)

"""Measure one model on one document: bits of the key, marginals beside the truth, scores.

Bits of a document = Σ_sets bits + the price of links between sets; a whole-document model has one
set, of all templates, and excludes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.count import log2_bell
from partita.core import FloatArray, IntArray, Posterior, restricted_growth
from partita.evaluation.bits import Excluded, allowed_bits, excluded_bits, log2_rest
from partita.evaluation.calibration import NOTHING, StatedProbabilities
from partita.evaluation.models import Fitted, UniformPosteriors
from partita.evaluation.scores import (
    CoreferenceScores,
    ScoreTally,
    b_cubed,
    expected_scores,
    lea,
    scores,
)
from partita.evaluation.splits import Cut

REPORTED = 10  # configurations that a report lists


@dataclass(frozen=True, slots=True)
class SetMeasure:
    """One coreference set: bits of its key, by the distribution and by the report of its best.

    Also the probabilities that the report states, and the key's place in it, -1 for none; and what
    it states of pairs and of cells.
    """

    size: int
    bits: float
    reported_bits: float
    stated: tuple[float, ...]
    found: int
    pairs: StatedProbabilities = NOTHING
    cells: StatedProbabilities = NOTHING

    @property
    def configurations(self) -> StatedProbabilities:
        """What the report states of configurations."""
        return StatedProbabilities.of(
            (p, place == self.found) for place, p in enumerate(self.stated)
        )

    @property
    def right(self) -> bool:
        """Whether the most probable configuration is the key."""
        return self.found == 0


@dataclass(frozen=True, slots=True, eq=False)
class DocumentMeasure:
    """One document."""

    name: str
    mentions: int
    bits: float
    sets: tuple[SetMeasure, ...]
    stated: FloatArray
    observed: NDArray[np.bool_]
    scores: CoreferenceScores
    expected_b_cubed: ScoreTally
    expected_lea: ScoreTally
    genre: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class MeasureSettings:
    """The settings of a measurement: what excluded keys cost, who counts, how many draws."""

    excluded: Excluded
    counts: UniformPosteriors
    draws: int = 20
    seed: int = 0


def measure_document(fitted: Fitted, cut: Cut, asking: MeasureSettings) -> DocumentMeasure:
    """Measure one model on one document."""
    answers = list(_answers(fitted, cut, _scope(fitted, cut)))
    sets = tuple(
        _set_measure(cut, m, p, asking, fitted.whole) for m, p in _by_set(fitted, cut, answers)
    )
    stated, observed = _marginals(cut, answers)
    rng = np.random.default_rng(asking.seed)
    n = len(cut.labels)
    drawn = assemble_configurations(
        n, ((m, p.draws(asking.draws, rng)) for m, p in answers), asking.draws
    )
    best = assemble_configurations(n, ((m, p.best(1).labels[:1]) for m, p in answers), 1)[0]
    return DocumentMeasure(
        cut.document.name,
        len(cut.labels),
        _document_bits(fitted, cut, answers, sets, asking),
        sets,
        stated,
        observed,
        scores(cut.labels, best),
        expected_scores(b_cubed, cut.labels, drawn),
        expected_scores(lea, cut.labels, drawn),
    )


Answer = tuple[IntArray, Posterior]


def _scope(fitted: Fitted, cut: Cut) -> tuple[IntArray, ...]:
    """Return the sets that a model answers to cover the document."""
    return (np.arange(len(cut.labels)),) if fitted.whole and len(cut.labels) else cut.sets


def _answers(fitted: Fitted, cut: Cut, scope: Iterable[IntArray]) -> Iterator[Answer]:
    for members in scope:
        yield members, fitted.posterior(cut, members)


def _by_set(fitted: Fitted, cut: Cut, answers: list[Answer]) -> Iterable[Answer]:
    return _answers(fitted, cut, cut.sets) if fitted.whole else answers


def _set_measure(
    cut: Cut, members: IntArray, posterior: Posterior, asking: MeasureSettings, whole: bool
) -> SetMeasure:
    key = restricted_growth(cut.labels[members].tolist())
    best = posterior.best(REPORTED)
    total = posterior.log_normaliser.value
    listed = np.exp(np.minimum(best.log_weights - total, 0.0))
    places = np.flatnonzero((best.labels == key).all(axis=1))
    mass = asking.excluded.sets if cut.open(members) and not whole else 0.0
    if not whole and cut.broken(members):
        spent = reported = excluded_bits(len(members), asking.counts.log2(cut, members), mass)
    else:
        spent = allowed_bits(posterior.log_weight(key) - total, mass)
        allowed = log2_bell(len(members)) if whole else asking.counts.log2(cut, members)
        reported = reported_bits(listed, places, allowed) - math.log2(1 - mass)
    place = int(places[0]) if len(places) else -1
    return SetMeasure(len(members), spent, reported, tuple(listed.tolist()), place)


def reported_bits(listed: FloatArray, places: IntArray, log2_allowed: float) -> float:
    """Return the bits of the key by the report: its probability, or a share of unlisted mass."""
    if len(places):
        return max(0.0, -math.log2(max(float(listed[places[0]]), 1e-300)))
    rest = max(1.0 - float(listed.sum()), 1e-9)
    return log2_rest(log2_allowed, math.log2(len(listed))) - math.log2(rest)


def _document_bits(
    fitted: Fitted,
    cut: Cut,
    answers: list[Answer],
    sets: tuple[SetMeasure, ...],
    asking: MeasureSettings,
) -> float:
    if fitted.whole:
        return sum(_log2_probability(cut, m, p) for m, p in answers)
    mass, n = asking.excluded.documents, len(cut.labels)
    if cut.crosses:
        return excluded_bits(n, sum(log2_bell(len(members)) for members in cut.sets), mass)
    one_set = n < 2 or any(len(members) == n for members in cut.sets)
    return math.fsum(measured.bits for measured in sets) - (0.0 if one_set else math.log2(1 - mass))


def _log2_probability(cut: Cut, members: IntArray, posterior: Posterior) -> float:
    key = restricted_growth(cut.labels[members].tolist())
    return allowed_bits(posterior.log_weight(key) - posterior.log_normaliser.value, 0.0)


def _marginals(cut: Cut, answers: list[Answer]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return all pairs of the document: pairs in no common set have probability 0."""
    n = len(cut.labels)
    stated = np.zeros((n, n))
    for members, posterior in answers:
        stated[np.ix_(members, members)] = posterior.pairs().value
    above = np.triu_indices(n, 1)
    return np.clip(stated[above], 0.0, 1.0), cut.joined[above]


def assemble_configurations(
    n: int, rows: Iterable[tuple[IntArray, IntArray]], count: int
) -> IntArray:
    """Return configurations of all n templates from those of their sets; the others are alone."""
    configurations = np.tile(np.arange(n), (count, 1))
    for members, set_rows in rows:
        configurations[:, members] = members[_first_member(set_rows)]
    return configurations


def _first_member(rows: IntArray) -> IntArray:
    """Return, for each template, the position of the first one in its cell."""
    first: IntArray = np.argmax(rows[:, :, None] == rows[:, None, :], axis=2)
    return first

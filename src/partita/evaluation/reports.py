"""Evaluate saved distributions against keys."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.configurations.count import log2_bell
from partita.core import FloatArray, IntArray, restricted_growth, restricted_growth_rows
from partita.core.cells import cell_shares
from partita.evaluation.calibration import StatedProbabilities
from partita.evaluation.rows import DocumentMeasure, SetMeasure, document_measure
from partita.evaluation.splits import Excluded, document_bits, excluded_bits, log2_rest

MIN_REMAINDER = 1e-9  # of a remainder that rounding may have taken away


@dataclass(frozen=True, slots=True, eq=False)
class ReportedAnswer:
    """The reported answer of one coreference set; members are positions among the templates.

    `rows` are the listed configurations, most probable first, and `rest` the mass and the number
    (log₂) of all others; `possible` and `needed` say which two may, and which must, corefer. Where
    the product form is known, `theta` and its normaliser give the probability of any configuration.
    `cells` are the reported probabilities of cells, by positions among the members; without them
    they follow from the listed configurations.
    """

    members: IntArray
    rows: IntArray
    probabilities: FloatArray
    rest: float
    log2_rest: float
    marginals: FloatArray
    possible: NDArray[np.bool_]
    needed: NDArray[np.bool_]
    theta: FloatArray | None = None
    log_normaliser: float = 0.0
    cells: Mapping[tuple[int, ...], float] | None = None

    @property
    def knows(self) -> bool:
        """Whether anything is excluded."""
        return bool(self.needed.any() or not self.possible.all())

    def among(self, kept: IntArray, places: IntArray) -> ReportedAnswer:
        """Return the answer for some members only, which have other places.

        Listed configurations that do not differ in these are merged.
        """
        if len(kept) == len(self.members):
            return replace(self, members=places)
        rows = restricted_growth_rows(self.rows[:, kept])
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        mass = np.zeros(len(distinct))
        np.add.at(mass, which.ravel(), self.probabilities)
        order, inside = np.argsort(-mass, kind="stable"), np.ix_(kept, kept)
        return replace(
            self,
            members=places,
            rows=distinct[order],
            probabilities=mass[order],
            log2_rest=log2_rest(log2_bell(len(kept)), math.log2(len(distinct))),
            marginals=self.marginals[inside],
            possible=self.possible[inside],
            needed=self.needed[inside],
            theta=None,
            cells=None,
        )


def measure_report(
    name: str,
    labels: IntArray,
    answers: Sequence[ReportedAnswer],
    excluded: Excluded,
    genre: str = "",
) -> DocumentMeasure:
    """Measure one message: `labels` are the key's cells of its templates in text order."""
    sets = tuple(_set_measure(answer, labels, excluded.sets) for answer in answers)
    sizes = [len(one.members) for one in answers]
    home = np.arange(len(labels)) + len(answers)
    for k, one in enumerate(answers):
        home[one.members] = k
    across = (labels[:, None] == labels[None, :]) & (home[:, None] != home[None, :])
    spent = math.fsum(one.bits for one in sets)
    return document_measure(
        name,
        labels,
        document_bits(len(labels), sizes, spent, bool(across.any()), excluded.documents),
        sets,
        [(answer.members, answer.marginals) for answer in answers],
        [(answer.members, answer.rows[0]) for answer in answers],
        genre,
    )


def _set_measure(answer: ReportedAnswer, labels: IntArray, excluded: float) -> SetMeasure:
    key = restricted_growth(labels[answer.members].tolist())
    listed = np.flatnonzero((answer.rows == key).all(axis=1))
    place = int(listed[0]) if len(listed) else -1
    joined = key[:, None] == key[None, :]
    mass = excluded if answer.knows else 0.0
    if (joined & ~answer.possible).any() or (answer.needed & ~joined).any():
        log2_allowed = float(np.logaddexp2(answer.log2_rest, math.log2(len(answer.rows))))
        spent = reported = excluded_bits(len(key), log2_allowed, mass)
    else:
        reported = _reported_bits(answer, place) - math.log2(1 - mass)
        bits = _product_bits(answer, joined)
        spent = reported if bits is None else bits - math.log2(1 - mass)
    return SetMeasure(
        len(key),
        spent,
        reported,
        tuple(answer.probabilities.tolist()),
        place,
        _pair_statements(answer, joined),
        _cell_statements(answer, key),
    )


def _pair_statements(answer: ReportedAnswer, joined: NDArray[np.bool_]) -> StatedProbabilities:
    above = np.triu_indices(len(joined), 1)
    return StatedProbabilities(
        np.clip(answer.marginals[above], 0.0, 1.0), joined[above]
    ).undecided()


def _cell_statements(answer: ReportedAnswer, key: IntArray) -> StatedProbabilities:
    """Return what is stated of cells between .05 and .95."""
    cells = answer.cells
    if cells is None:
        cells = cell_shares(answer.rows, answer.probabilities / answer.probabilities.sum())
    right = cell_shares(key[None, :], np.ones(1))
    return StatedProbabilities.of(
        (share, cell in right) for cell, share in cells.items()
    ).undecided()


def _reported_bits(answer: ReportedAnswer, place: int) -> float:
    if place >= 0:
        return max(0.0, -math.log2(max(float(answer.probabilities[place]), 1e-300)))
    rest = max(answer.rest, MIN_REMAINDER)
    return max(0.0, answer.log2_rest) - math.log2(rest)


def _product_bits(answer: ReportedAnswer, joined: NDArray[np.bool_]) -> float | None:
    """Return bits by the product form: (log Z − Σ θ of the pairs together) / log 2."""
    if answer.theta is None:
        return None
    weight = float(answer.theta[np.triu(joined, 1)].sum())
    return max(0.0, (answer.log_normaliser - weight) / math.log(2))


def possible_links(labels: IntArray, answers: Sequence[ReportedAnswer]) -> tuple[int, int]:
    """Count true links, and those among them that the answers leave possible."""
    possible = np.zeros((len(labels), len(labels)), dtype=np.bool_)
    for answer in answers:
        possible[np.ix_(answer.members, answer.members)] = answer.possible
    true = np.triu(labels[:, None] == labels[None, :], 1)
    return int(true.sum()), int((true & possible).sum())

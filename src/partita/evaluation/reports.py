"""Evaluate saved distributions against keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.evaluation.bits import Excluded, excluded_bits, log2_bell, log2_rest
from partita.evaluation.measure import Measure, SetMeasure, assembled
from partita.evaluation.scores import b_cubed, expected, lea, scores
from partita.records import FloatArray, IntArray, restricted_growth

DRAWS = 100
LEAST = 1e-9  # of a remainder that rounding may have taken away


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The reported answer of one coreference set; members are positions among the templates.

    `rows` are the listed configurations, most probable first, and `rest` the mass and the number
    (log₂) of all others; `possible` and `needed` say which two may, and which must, corefer. Where
    the product form is known, `theta` and its normaliser give the probability of any configuration.
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

    @property
    def knows(self) -> bool:
        """Whether anything is excluded."""
        return bool(self.needed.any() or not self.possible.all())

    def among(self, kept: IntArray, places: IntArray) -> Answer:
        """Return the answer for some members only, which have other places.

        Listed configurations that do not differ in these are merged.
        """
        if len(kept) == len(self.members):
            return replace(self, members=places)
        rows = np.array([restricted_growth(row) for row in self.rows[:, kept].tolist()])
        found, which = np.unique(rows, axis=0, return_inverse=True)
        mass = np.zeros(len(found))
        np.add.at(mass, which.ravel(), self.probabilities)
        order, inside = np.argsort(-mass, kind="stable"), np.ix_(kept, kept)
        return replace(
            self,
            members=places,
            rows=found[order],
            probabilities=mass[order],
            log2_rest=log2_rest(log2_bell(len(kept)), math.log2(len(found))),
            marginals=self.marginals[inside],
            possible=self.possible[inside],
            needed=self.needed[inside],
            theta=None,
        )


def judge(
    name: str, labels: IntArray, answers: Sequence[Answer], excluded: Excluded, seed: int = 0
) -> Measure:
    """Measure one message: `labels` are the key's cells of its templates in text order."""
    sets = tuple(_judged(one, labels, excluded.sets) for one in answers)
    rng = np.random.default_rng(seed)
    n = len(labels)
    drawn = assembled(n, ((one.members, _drawn(one, rng)) for one in answers), DRAWS)
    best = assembled(n, ((one.members, one.rows[:1]) for one in answers), 1)[0]
    stated = np.zeros((n, n))
    for one in answers:
        stated[np.ix_(one.members, one.members)] = one.marginals
    above = np.triu_indices(n, 1)
    return Measure(
        name,
        n,
        _document_bits(labels, answers, sets, excluded.documents),
        sets,
        np.clip(stated[above], 0.0, 1.0),
        (labels[:, None] == labels[None, :])[above],
        scores(labels, best),
        expected(b_cubed, labels, drawn),
        expected(lea, labels, drawn),
    )


def _judged(one: Answer, labels: IntArray, excluded: float) -> SetMeasure:
    key = restricted_growth(labels[one.members].tolist())
    listed = np.flatnonzero((one.rows == key).all(axis=1))
    place = int(listed[0]) if len(listed) else -1
    joined = key[:, None] == key[None, :]
    mass = excluded if one.knows else 0.0
    if (joined & ~one.possible).any() or (one.needed & ~joined).any():
        log2_allowed = float(np.logaddexp2(one.log2_rest, math.log2(len(one.rows))))
        spent = reported = excluded_bits(len(key), log2_allowed, mass)
    else:
        reported = _reported(one, place) - math.log2(1 - mass)
        known = _known(one, joined)
        spent = reported if known is None else known - math.log2(1 - mass)
    return SetMeasure(len(key), spent, reported, tuple(one.probabilities.tolist()), place)


def _reported(one: Answer, place: int) -> float:
    if place >= 0:
        return max(0.0, -math.log2(max(float(one.probabilities[place]), 1e-300)))
    rest = max(one.rest, LEAST)
    return max(0.0, one.log2_rest) - math.log2(rest)


def _known(one: Answer, joined: NDArray[np.bool_]) -> float | None:
    """Return bits by the product form: (log Z − Σ θ of the pairs together) / log 2."""
    if one.theta is None:
        return None
    weight = float(one.theta[np.triu(joined, 1)].sum())
    return max(0.0, (one.log_normaliser - weight) / math.log(2))


def _drawn(one: Answer, rng: np.random.Generator) -> IntArray:
    """Draw from the listed configurations, in proportion to their probabilities."""
    shares = one.probabilities / one.probabilities.sum()
    return one.rows[rng.choice(len(shares), size=DRAWS, p=shares)]


def _document_bits(
    labels: IntArray, answers: Sequence[Answer], sets: Sequence[SetMeasure], crossing: float
) -> float:
    """Return the bits of the sets, and of the links between them, which no set covers."""
    n = len(labels)
    home = np.arange(n) + len(answers)
    for k, one in enumerate(answers):
        home[one.members] = k
    across = (labels[:, None] == labels[None, :]) & (home[:, None] != home[None, :])
    if across.any():
        return excluded_bits(n, sum(log2_bell(len(one.members)) for one in answers), crossing)
    whole = n < 2 or any(len(one.members) == n for one in answers)
    return math.fsum(one.bits for one in sets) - (0.0 if whole else math.log2(1 - crossing))


def possible_links(labels: IntArray, answers: Sequence[Answer]) -> tuple[int, int]:
    """Count true links, and those among them that the answers leave possible."""
    possible = np.zeros((len(labels), len(labels)), dtype=np.bool_)
    for one in answers:
        possible[np.ix_(one.members, one.members)] = one.possible
    true = np.triu(labels[:, None] == labels[None, :], 1)
    return int(true.sum()), int((true & possible).sum())

"""Fit the greedy, the scaled and the forest model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.configurations.forest.model import ForestParameters, Links, log_odds, strengths
from partita.configurations.odds import ScaledParameters
from partita.core import BoolArray, FloatArray, IntArray
from partita.errors import InputError


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


FITTED = 10  # templates of a set up to which its key counts for the forest model
PRIOR_DEVIATION = 0.5  # of the prior around the evidential model, a = 1 and b = 0


@dataclass(frozen=True, slots=True, eq=False)
class CellChoices:
    """One row for each cell that a template could join: Σθ, the number of members, the template,
    and whether the key chooses it. "Alone" is a row of zeros."""

    sums: FloatArray
    members: FloatArray
    choice: IntArray
    taken: FloatArray


def fit_scale(
    sets: Iterable[tuple[FloatArray, IntArray]], deviation: float = PRIOR_DEVIATION
) -> ScaledParameters:
    """Fit the scaled model to pair probabilities (0 if incompatible) and the labels of the keys."""
    choices = _concatenate([_choices(p, labels) for p, labels in sets if len(labels) > 1])
    if not len(choices.sums):
        raise InputError(
            "no labelled set leaves anything to decide (expected sets with several configurations)"
        )
    from scipy.optimize import minimize

    result = minimize(
        lambda x: _objective(x, choices, deviation**-2),
        np.array([1.0, 0.0]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None), (None, None)],
    )
    return ScaledParameters(float(result.x[0]), float(result.x[1]))


def fit_forest(
    sets: Iterable[tuple[FloatArray, IntArray]], deviation: float = PRIOR_DEVIATION
) -> ForestParameters:
    """Fit scale and bias of the forest model by the likelihood of the keys of whole sets.

    Pair probabilities of 0 are incompatible pairs. Larger sets than FITTED are left out, as are
    keys that join incompatible templates. All pairs are compared, so `unlisted` stays.
    """
    from scipy.optimize import minimize

    keyed = [(p, labels) for p, labels in sets if 1 < len(labels) <= FITTED]
    keyed = [(p, labels) for p, labels in keyed if (p > 0)[_joined(labels)].all()]
    if not keyed:
        return ForestParameters()
    rows = _ForestRows(keyed)

    def objective(x: FloatArray) -> float:
        prior = (x[0] ** 2 + x[1] ** 2) / (2.0 * deviation**2)
        return float(prior - rows.log_probabilities(_forest(x)).sum())

    found = minimize(objective, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-3})
    return _forest(found.x)


def _forest(x: FloatArray) -> ForestParameters:
    return ForestParameters(math.exp(float(x[0])), float(x[1]))


def _joined(labels: IntArray) -> BoolArray:
    joined: BoolArray = labels[:, None] == labels[None, :]
    np.fill_diagonal(joined, False)
    return joined


class _ForestRows:
    """Sets with keys as flat arrays."""

    def __init__(self, keyed: Sequence[tuple[FloatArray, IntArray]]) -> None:
        sizes = np.array([len(labels) for _, labels in keyed])
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.labels = np.concatenate(
            [np.unique(labels, return_inverse=True)[1].ravel() for _, labels in keyed]
        )
        left, right, theta, self.apart = [], [], [], np.zeros(int(sizes.sum()), dtype=np.int64)
        for (p, _), first in zip(keyed, self.starts.tolist(), strict=False):
            a, b = np.nonzero(np.triu(p > 0, 1))
            left.append(a)
            right.append(b)
            theta.append(log_odds(p[a, b]))
            barred = (p == 0) & ~np.eye(len(p), dtype=np.bool_)
            self.apart[first : first + len(p)] = barred @ (1 << np.arange(len(p)))
        self.rows = np.array([len(a) for a in left])
        self.left, self.right = np.concatenate(left), np.concatenate(right)
        self.theta = np.concatenate(theta)

    def log_probabilities(self, parameters: ForestParameters) -> FloatArray:
        """Return the log-probability of every key."""
        from partita.configurations.forest.batch_kernels import key_log_probabilities

        offset, n = np.repeat(self.starts[:-1], self.rows), len(self.labels)
        ends = self.left + offset, self.right + offset
        charge, extra = strengths(*ends, self.theta, 0.0, n, parameters)
        row_starts = np.concatenate([[0], np.cumsum(self.rows)])
        logs = np.empty(len(self.rows))
        links = Links(
            *(self.starts, row_starts, self.left, self.right, extra, charge),
            *(np.zeros(len(self.rows)), np.ones(n), self.apart),
            np.zeros(len(self.rows), dtype=np.uint64),
        )
        key_log_probabilities(links, self.labels, logs)
        return logs


def _choices(p: FloatArray, labels: IntArray) -> CellChoices:
    """Return the cells that each template could join, without incompatible ones."""
    off = ~np.eye(len(p), dtype=np.bool_)
    with np.errstate(divide="ignore"):
        theta = np.where(off & (p > 0), np.log(p) - np.log1p(-np.where(off, p, 0.0)), 0.0)
    cells = labels[:, None] == np.arange(labels.max() + 1)[None, :]
    sums, members = theta @ cells, off.astype(np.float64) @ cells
    barred = ((off & (p == 0)).astype(np.float64) @ cells) > 0
    template, cell = np.nonzero((members > 0) & ~barred)
    taken = (labels[template] == cell).astype(np.float64)
    return _with_alone(len(p), sums[template, cell], members[template, cell], template, taken)


def _with_alone(
    n: int, sums: FloatArray, members: FloatArray, template: IntArray, taken: FloatArray
) -> CellChoices:
    """Add the choice "alone"; it also stands for a cell of the key that is excluded."""
    alone = 1.0 - np.bincount(template, weights=taken, minlength=n)
    return CellChoices(
        np.concatenate([sums, np.zeros(n)]),
        np.concatenate([members, np.zeros(n)]),
        np.concatenate([template, np.arange(n)]),
        np.concatenate([taken, alone]),
    )


def _concatenate(parts: list[CellChoices]) -> CellChoices:
    shift = np.cumsum([0, *(int(part.choice.max()) + 1 for part in parts)])
    return CellChoices(
        np.concatenate([np.zeros(0), *(part.sums for part in parts)]),
        np.concatenate([np.zeros(0), *(part.members for part in parts)]),
        np.concatenate(
            [
                np.zeros(0, dtype=np.int64),
                *(p.choice + s for p, s in zip(parts, shift, strict=False)),
            ]
        ),
        np.concatenate([np.zeros(0), *(part.taken for part in parts)]),
    )


def _objective(x: FloatArray, choices: CellChoices, precision: float) -> tuple[float, FloatArray]:
    """Return minus the log of conditional likelihood times prior, and its gradient."""
    scores = x[0] * choices.sums + x[1] * choices.members
    top = np.zeros(int(choices.choice.max()) + 1)
    np.maximum.at(top, choices.choice, scores)
    weights = np.exp(scores - top[choices.choice])
    total = np.bincount(choices.choice, weights=weights)
    loss = float((np.log(total) + top).sum() - choices.taken @ scores)
    surplus = weights / total[choices.choice] - choices.taken
    deviation = x - np.array([1.0, 0.0])
    gradient = np.array([surplus @ choices.sums, surplus @ choices.members]) + precision * deviation
    return loss + precision * float(deviation @ deviation) / 2, gradient

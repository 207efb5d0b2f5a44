"""Fit the greedy and the scaled model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from partita.configurations.odds import ScaledParameters
from partita.errors import InputError
from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Tally:
    """Sets of one size: how many there were, and how many were merged correctly."""

    sets: int = 0
    right: int = 0

    @property
    def share(self) -> float:
        return (self.right + 0.5) / (self.sets + 1)

    def __add__(self, right: bool) -> Tally:
        return Tally(self.sets + 1, self.right + right)


PRIOR_DEVIATION = 0.5  # of the prior around the evidential model, a = 1 and b = 0


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
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


def _choices(p: FloatArray, labels: IntArray) -> Choices:
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
) -> Choices:
    """Add the choice "alone"; it also stands for a cell of the key that is excluded."""
    alone = 1.0 - np.bincount(template, weights=taken, minlength=n)
    return Choices(
        np.concatenate([sums, np.zeros(n)]),
        np.concatenate([members, np.zeros(n)]),
        np.concatenate([template, np.arange(n)]),
        np.concatenate([taken, alone]),
    )


def _concatenate(parts: list[Choices]) -> Choices:
    shift = np.cumsum([0, *(int(part.choice.max()) + 1 for part in parts)])
    return Choices(
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


def _objective(x: FloatArray, choices: Choices, precision: float) -> tuple[float, FloatArray]:
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

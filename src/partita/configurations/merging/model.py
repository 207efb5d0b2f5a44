"""The merging decision model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.core import BoolArray, FloatArray, IntArray, components
from partita.errors import Contradiction, InputError


@dataclass(frozen=True, slots=True, eq=False)
class Merger:
    """What the merger uses about n templates in text order.

    `log_yes` and `log_no` hold log p and log(1 − p). `compatible` is closed under `groups`, which
    number the templates that must be together alike: who may not be with my mate may not be
    with me, for the mass of such a configuration is dropped anyway.
    """

    log_yes: FloatArray
    log_no: FloatArray
    compatible: BoolArray
    groups: IntArray

    @property
    def size(self) -> int:
        return len(self.groups)

    @property
    def linked(self) -> bool:
        """Whether there are any must-links."""
        return bool(self.groups.max(initial=-1) + 1 < self.size)

    def part(self, members: IntArray) -> Merger:
        """Return the same model for some of the templates."""
        if len(members) == self.size:
            return self
        block = np.ix_(members, members)
        groups = np.unique(self.groups[members], return_inverse=True)[1]
        return Merger(self.log_yes[block], self.log_no[block], self.compatible[block], groups)

    def log_weight(self, labels: IntArray) -> float:
        """Return the log-weight of a configuration, unnormalised; −∞ if it is impossible."""
        together = labels[:, None] == labels[None, :]
        if (together & ~self.compatible).any() or not possible_groups(together, self.groups):
            return -math.inf
        later, earlier = np.tril_indices(self.size, -1)
        joins, passes = (answers[0] for answers in decisions(labels[None, :], earlier, later))
        yes, no = self.log_yes[later, earlier], self.log_no[later, earlier]
        return float(yes[joins].sum() + no[passes].sum())


def possible_groups(together: BoolArray, groups: IntArray) -> bool:
    """Return whether every must-link holds."""
    first = np.unique(groups, return_index=True)[1][groups]
    return bool(together[np.arange(len(groups)), first].all())


def decisions(rows: IntArray, earlier: IntArray, later: IntArray) -> tuple[BoolArray, BoolArray]:
    """Return, for configurations and pairs, whether the later joins the earlier, or passes it.

    A template passes the cells that were updated after the one that it joins; the latest member of
    each stands for it.
    """
    n = rows.shape[1]
    order = np.arange(n)
    together = rows[:, :, None] == rows[:, None, :]
    before = np.where(together & (order < order[:, None]), order, -1).max(axis=2, initial=-1)
    after = np.where(together & (order > order[:, None]), order, n).min(axis=2, initial=n)
    passes = (before[:, later] < earlier) & (after[:, earlier] > later)
    return before[:, later] == earlier, passes


def merger(probabilities: FloatArray, compatible: BoolArray, must: BoolArray) -> Merger:
    """Return the model of these pair probabilities under these exclusions and must-links."""
    p = np.asarray(probabilities, dtype=np.float64)
    if not ((p >= 0) & (p <= 1) | np.eye(len(p), dtype=bool)).all():
        raise InputError("pair probabilities must lie between 0 and 1")
    groups = components(np.asarray(must, dtype=bool))
    apart = ~np.asarray(compatible, dtype=bool) & ~np.eye(len(p), dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_yes, log_no = np.log(p), np.log1p(-p)
    for logs in (log_yes, log_no):
        np.fill_diagonal(logs, 0.0)
    return Merger(log_yes, log_no, ~spread(apart, groups), groups)


def spread(apart: BoolArray, groups: IntArray) -> BoolArray:
    """Return incompatible pairs, extended to the must-linked mates of both."""
    contradictory = np.argwhere(apart & (groups[:, None] == groups[None, :]))
    if len(contradictory):
        raise Contradiction(str(contradictory[0, 0]), str(contradictory[0, 1]))
    between = np.zeros((len(groups), len(groups)), dtype=bool)
    left, right = np.nonzero(apart)
    between[groups[left], groups[right]] = True
    return between[np.ix_(groups, groups)]


def log_sum(logs: FloatArray) -> float:
    """Return the logarithm of a sum of exponentials; minus infinity for none."""
    top = float(logs.max(initial=-math.inf))
    return top if math.isinf(top) else top + math.log(float(np.exp(logs - top).sum()))


def is_constrained(model: Merger) -> bool:
    """Return whether a configuration may be dropped; if not, the total is 1 identically."""
    return model.linked or not model.compatible.all()


Question = tuple[int, int, bool]


def questions(labels: Sequence[int] | IntArray, compatible: NDArray[np.bool_]) -> list[Question]:
    """Return all questions, template after template, as positions in text order."""
    cells: dict[int, list[int]] = {}  # by recency: the last one is the latest
    asked: list[Question] = []
    for later, label in enumerate(int(label) for label in labels):
        asked += _questions_of(later, label, cells, compatible)
        cells[label] = [*cells.pop(label, []), later]
    return asked


def _questions_of(
    later: int, label: int, cells: dict[int, list[int]], compatible: NDArray[np.bool_]
) -> list[Question]:
    result: list[Question] = []
    for home, members in reversed(cells.items()):
        if compatible[later, members].all():
            result.append((members[-1], later, home == label))
        if home == label:
            break
    return result

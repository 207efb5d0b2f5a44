"""Potentials that keep rescaled weights at most 1: Σ_{i∈C} a_i ≥ log w(C) for every cell C.

They begin as half of each template's log-odds to its cell in a good configuration, where they
are tight, and are raised where a cell demands it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partita.configurations.frontier.kernels import cells_from
from partita.configurations.frontier.scale_kernels import climb
from partita.configurations.frontier.tree import Step
from partita.records import FloatArray


def potentials(theta: FloatArray, steps: Sequence[Step]) -> FloatArray:
    """a, feasible for every cell up to rounding."""
    near = theta > -np.inf
    np.fill_diagonal(near, False)
    first = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
    labels = climb(theta, first, np.nonzero(near)[1])
    together = labels[:, None] == labels[None, :]
    a: FloatArray = 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    for step in steps:
        # every cell is looked at once, with its first template; raising more never hurts it
        _, logs = cells_from(theta, a, step.vertex, step.members, 0)
        a[step.vertex] += max(0.0, logs.max())
    return a

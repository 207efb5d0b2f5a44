"""A near-feasible dual of the set partitioning problem, which keeps rescaled weights near 1.

min Σ_i a_i  subject to  Σ_{i∈C} a_i ≥ log w(C) for every cell C. Weights w(C)/exp(Σ_{i∈C} a_i) are
then at most about 1, and so the subtractions of the ranked transform lose no digits that matter.
"""

from __future__ import annotations

import numpy as np

from partita.configurations.dense.subsets import members, subset_sums
from partita.configurations.optimum.local import local_search
from partita.records import FloatArray, IntArray

SLACK = 1.0  # by how much a constraint may be violated: a factor e in a weight is harmless
ENOUGH = 5.0  # above the best known configuration by so much: worth a linear program
BLOCKS = 64  # where the worst violations are looked for, one in each


def near_dual(theta: FloatArray, log_w: FloatArray) -> FloatArray:
    """a: half of each template's log-odds to its cell in a good configuration, then repaired."""
    labels = local_search(theta)
    together = labels[:, None] == labels[None, :]
    start = 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    a = _raised(start, log_w)
    return a if a.sum() - start.sum() <= ENOUGH else _solved(log_w, a)


def _raised(a: FloatArray, log_w: FloatArray) -> FloatArray:
    """The members of the worst violated cell share what is missing, until none is."""
    a = a.copy()
    while (excess := log_w - subset_sums(a)).max() > SLACK:
        worst = int(excess.argmax())
        inside = list(members(worst))
        a[inside] += excess[worst] / len(inside)
    return a


def _solved(log_w: FloatArray, fallback: FloatArray) -> FloatArray:
    """The linear program with constraints added as they are found violated."""
    from scipy.optimize import linprog

    n = len(fallback)
    a, rows, bounds = np.zeros(n), np.zeros((0, n)), np.zeros(0)
    while len(cells := _violated(log_w, a)):
        rows = np.vstack([rows, cells[:, None] >> np.arange(n) & 1])
        bounds = np.concatenate([bounds, log_w[cells]])
        found = linprog(np.ones(n), A_ub=-rows, b_ub=-bounds, method="highs")
        if not found.success:
            return fallback
        a = found.x
    return a


def _violated(log_w: FloatArray, a: FloatArray) -> IntArray:
    """The worst violated cell of each block of subsets."""
    excess = (log_w - subset_sums(a)).reshape(BLOCKS, -1)
    worst = excess.argmax(axis=1)
    found = excess[np.arange(BLOCKS), worst] > SLACK
    cells: IntArray = (worst + np.arange(BLOCKS) * excess.shape[1])[found]
    return cells

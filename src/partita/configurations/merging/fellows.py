"""Who will be in the cell of a tail: pair probabilities from the end of a lattice backward.

fellows(s, t, j) = P(j joins the cell of tail t | s) = Σ over decisions of their chance times
fellows(s', t', j), or 1 for the j that joins now; i's fellows are those of tail i after i.
"""

from __future__ import annotations

import numpy as np

from partita.configurations.merging.lattice import Lattice, Step
from partita.records import FloatArray


def fellows(lattice: Lattice) -> FloatArray:
    """For i < j the probability that j is in i's cell."""
    n, visited = len(lattice.steps), lattice.visited()
    within = np.zeros((n, n))
    known = np.zeros((len(lattice.masses[-1]), n, 0))
    for x in range(n - 1, -1, -1):
        within[x, x + 1 :] = visited[x + 1] @ known[:, x]
        known = _before(lattice.steps[x], lattice.chances(x), x, known)
    return within


def _before(step: Step, chance: FloatArray, x: int, after: FloatArray) -> FloatArray:
    """The table before x, tails by later templates, from the one after it."""
    tables = np.zeros((len(chance) + 1, x, after.shape[2] + 1))  # an empty one ends the last sum
    tables[:-1, :, 1:] = after[step.target, :x]
    joins = np.flatnonzero(step.joined >= 0)
    tails = step.joined[joins]
    tables[joins, tails, 1:] = after[step.target[joins], x]
    tables[joins, tails, 0] = 1.0
    tables[:-1] *= chance[:, None, None]
    sums: FloatArray = np.add.reduceat(tables, step.first[:-1], axis=0)
    sums[np.diff(step.first) == 0] = 0.0
    return sums

"""The merging decision model twice, in plain Python: by replaying every partition, by recursion.

Both return unnormalised weights of the possible partitions that have any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oracles.partitions import Labels, joined, partitions

Matrix = NDArray[np.float64]
Known = NDArray[np.bool_]


def replayed(p: Matrix, compatible: Known, must: Known) -> dict[Labels, float]:
    """For each partition the questions on the way to it, and the product of their answers."""
    weights = {labels: _replay(labels, p) for labels in partitions(len(p))}
    return {w: x for w, x in weights.items() if x > 0 and _possible(w, compatible, must)}


def _possible(labels: Labels, compatible: Known, must: Known) -> bool:
    n = len(labels)
    fits = all(compatible[i, j] for i, j in joined(labels))
    return fits and all(labels[i] == labels[j] for i in range(n) for j in range(n) if must[i, j])


def _replay(labels: Labels, p: Matrix) -> float:
    weight, cells = 1.0, []  # the latest cell last
    for x, label in enumerate(labels):
        for cell in reversed(cells):
            if labels[cell[-1]] == label:
                weight *= p[x, cell[-1]]
                break
            weight *= 1 - p[x, cell[-1]]
        home = next((cell for cell in cells if labels[cell[0]] == label), [])
        cells = [cell for cell in cells if cell is not home] + [[*home, x]]
    return weight


def simulated(p: Matrix, compatible: Known, must: Known) -> dict[Labels, float]:
    """All decisions of the merger, one after another; a forbidden yes is followed nowhere."""
    n = len(p)
    found: dict[Labels, float] = {}

    def ask(x: int, cells: tuple[tuple[int, ...], ...], at: int, weight: float) -> None:
        if weight == 0:
            return
        if x == n:
            labels = _labels(cells, n)
            if all(labels[i] == labels[j] for i, j in np.argwhere(must)):
                found[labels] = found.get(labels, 0.0) + weight
            return
        if at == len(cells):  # cells run from the latest on; all have said no
            ask(x + 1, ((x,), *cells), 0, weight)
            return
        cell, chance = cells[at], float(p[x, cells[at][-1]])
        if all(compatible[x, member] for member in cell):
            rest = cells[:at] + cells[at + 1 :]
            ask(x + 1, ((*cell, x), *rest), 0, weight * chance)
        ask(x, cells, at + 1, weight * (1 - chance))

    ask(0, (), 0, 1.0)
    return found


def _labels(cells: tuple[tuple[int, ...], ...], n: int) -> Labels:
    home = {member: number for number, cell in enumerate(cells) for member in cell}
    seen: dict[int, int] = {}
    return tuple(seen.setdefault(home[i], len(seen)) for i in range(n))


def normalised(weights: dict[Labels, float]) -> dict[Labels, float]:
    total = sum(weights.values())
    return {labels: weight / total for labels, weight in weights.items()}


def knowledge(
    n: int, rng: np.random.Generator, holes: float = 0.0, links: int = 0, kept: bool = False
) -> tuple[Matrix, Known, Known]:
    """Random pairs, exclusions and must-links; `kept`: an excluded pair keeps its probability."""
    upper = np.triu(rng.random((n, n)), 1)
    p = upper + upper.T
    closed = np.triu(rng.random((n, n)) < holes, 1)
    must = np.eye(n, dtype=bool)
    for _ in range(links):
        i, j = rng.integers(n, size=2)
        must[i, j] = must[j, i] = True
        if rng.random() < 0.5 and i != j:
            p[i, j] = p[j, i] = 1.0
    linked = np.linalg.matrix_power(must.astype(int), n) > 0
    compatible = ~(closed | closed.T) | linked
    if not kept:
        p[~compatible] = 0.0
    return p, compatible, must

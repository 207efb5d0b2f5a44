"""Compiled single moves: each template to the cell where its sum of theta is highest."""

from __future__ import annotations

import numpy as np

from partita.compilation import kernel

ROUNDS = 50


@kernel()
def _best_cell(theta, i, near, labels, sizes, gains, seen):  # type: ignore[no-untyped-def]
    """Where i gains most among cells whose members are all its neighbours, -1 if nowhere; and
    whether it would rather be alone than where it is."""
    for j in near:
        gains[labels[j]] += theta[i, j]
        seen[labels[j]] += 1
    best, most = -1, max(0.0, gains[labels[i]])
    for j in near:
        label = labels[j]
        if label != labels[i] and seen[label] == sizes[label] and gains[label] > most + 1e-9:
            best, most = label, gains[label]
    alone = gains[labels[i]] < 0.0
    for j in near:
        gains[labels[j]], seen[labels[j]] = 0.0, 0
    return best, alone


@kernel()
def climb(theta, first, near):  # type: ignore[no-untyped-def]
    """Labels of a configuration that hardly any single move improves.

    The neighbours of i are near[first[i]:first[i+1]].
    """
    n = len(theta)
    labels, sizes = np.arange(n), np.ones(n, np.int64)
    gains, seen = np.zeros(n), np.zeros(n, np.int64)
    for _ in range(ROUNDS):
        moved = False
        for i in range(n):
            its = near[first[i] : first[i + 1]]
            best, alone = _best_cell(theta, i, its, labels, sizes, gains, seen)
            if best < 0 and alone:
                best = 0  # i shares its cell, so some label is not in use
                while sizes[best] > 0:
                    best += 1
            if best >= 0:
                sizes[labels[i]] -= 1
                sizes[best] += 1
                labels[i] = best
                moved = True
        if not moved:
            break
    return labels

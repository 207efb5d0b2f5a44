"""All configurations of each of many small sets, in compiled loops.

Templates are placed one after another; the weight of a partial configuration is the product of the
odds p/(1−p) of its pairs, and the mass below each choice is added to the pairs that it makes.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def enumerate_all(odds, totals, counts, pairs, best, best_weights):  # type: ignore[no-untyped-def]
    """For each set: the sum of weights, their number, the sums for pairs, and the best rows."""
    n = odds.shape[1]
    labels, used = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
    weight, mass = np.ones(n + 1), np.zeros(n + 1)
    factor = np.ones((n, n + 1))
    for s in range(odds.shape[0]):
        best_weights[s, :] = 0.0
        state = labels, used, weight, mass, factor
        counts[s] = _one(odds[s], pairs[s], best[s], best_weights[s], state)
        totals[s] = mass[0]


@njit(cache=True, nogil=True)
def _one(odds, pairs, best, best_weights, state):  # type: ignore[no-untyped-def]
    """Depth first, in the order of restricted growth strings; gives the number of possible ones."""
    labels, used, weight, mass, factor = state
    last = odds.shape[0] - 1
    i, row, possible = 0, 0, 0
    _enter(odds, labels, used, factor, mass, 0)
    while True:
        if i == last:
            possible += _leaves(
                pairs, labels, used[i], weight[i], factor[i], mass, best, best_weights, row
            )
            row += used[i] + 1
            labels[i] = used[i]
        labels[i] += 1
        if labels[i] > used[i]:
            if i == 0:
                return possible
            i -= 1
            _add(pairs, labels, i, mass[i + 1])
            mass[i] += mass[i + 1]
            continue
        used[i + 1] = max(used[i], labels[i] + 1)
        weight[i + 1] = weight[i] * factor[i, labels[i]]
        i += 1
        _enter(odds, labels, used, factor, mass, i)


@njit(cache=True, nogil=True)
def _enter(odds, labels, used, factor, mass, i):  # type: ignore[no-untyped-def]
    """What joining each cell, or a new one, would multiply the weight by."""
    for c in range(used[i] + 1):
        factor[i, c] = 1.0
    for j in range(i):
        factor[i, labels[j]] *= odds[i, j]
    labels[i], mass[i] = -1, 0.0


@njit(cache=True, nogil=True)
def _leaves(pairs, labels, used, weight, factor, mass, best, weights, row):  # type: ignore[no-untyped-def]
    """All choices of the last template at once; gives the number of possible ones."""
    last, worst, possible = pairs.shape[0] - 1, weights.shape[0] - 1, 0
    for c in range(used + 1):
        factor[c] *= weight
        mass[last] += factor[c]
        possible += factor[c] > 0.0
        if factor[c] > weights[worst]:
            _keep(best, weights, row + c, factor[c])
    for j in range(last):
        pairs[last, j] += factor[labels[j]]
    return possible


@njit(cache=True, nogil=True)
def _add(pairs, labels, i, below):  # type: ignore[no-untyped-def]
    """The mass below a choice belongs to the pairs that the choice made."""
    for j in range(i):
        if labels[j] == labels[i]:
            pairs[i, j] += below


@njit(cache=True, nogil=True)
def _keep(best, weights, row, weight):  # type: ignore[no-untyped-def]
    """Into its place among the best; an equal one that came before stays before."""
    k = weights.shape[0] - 1
    while k > 0 and weight > weights[k - 1]:
        weights[k], best[k] = weights[k - 1], best[k - 1]
        k -= 1
    weights[k], best[k] = weight, row

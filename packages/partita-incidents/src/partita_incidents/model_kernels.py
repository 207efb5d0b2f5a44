"""Compiled loops that train linear models over sparse features and grow boosted trees.

`bins` (cases × columns) are the values of cases, as numbers of bins; `gradient` and `curvature`
(cases) the first and second derivatives of the loss by the score of a case (J. Friedman, Greedy
function approximation, 2001). A tree has node 0 on top; `tested`, `cuts` and `values` (nodes) as in
`grow_tree`; `place` (cases) is the node of each case, −1 in a leaf above.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.core import FloatArray, IntArray

Weights = NDArray[np.float32]
Bins = NDArray[np.uint8]
MIN_GAIN = 1e-6  # of a split


@kernel(entry="i8[:], i8[:], i8[:], i8[:], f4[:,:], f4[:,:], f8")
def descend(
    features: IntArray,
    ends: IntArray,
    outcomes: IntArray,
    order: IntArray,
    weights: Weights,
    squares: Weights,
    rate: float,
) -> None:
    """Follow the gradient of each example once, with steps that shrink by the sum of squares.

    Example e has the `features` ends[e − 1]:ends[e] and the class outcomes[e]; examples are taken
    in `order`. `weights` (features × classes) of a softmax and the sums of squared slopes,
    `squares`, are changed in place (AdaGrad; Duchi, Hazan and Singer 2011).
    """
    excess = np.zeros(weights.shape[1], dtype=np.float32)
    for example in order:
        first = ends[example - 1] if example else 0
        last = ends[example]
        excess[:] = 0
        for n in range(first, last):
            for c in range(len(excess)):
                excess[c] += weights[features[n], c]
        excess -= excess.max()
        excess[:] = np.exp(excess)
        excess /= excess.sum()
        excess[outcomes[example]] -= 1
        for n in range(first, last):
            for c in range(len(excess)):
                squares[features[n], c] += excess[c] * excess[c]
                weights[features[n], c] -= rate * excess[c] / np.sqrt(squares[features[n], c])


@kernel(entry="u1[:,:], f8[:], f8[:], i8, i8, f8, f8")
def grow_tree(
    bins: Bins,
    gradient: FloatArray,
    curvature: FloatArray,
    depth: int,
    width: int,
    prior: float,
    least: float,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the tested column of each node (-1 for a leaf), the last bin on its left, its value.

    The nodes below node n are 2n + 1 and 2n + 2.
    """
    nodes = 2 ** (depth + 1) - 1
    tested = np.full(nodes, -1, dtype=np.int64)
    cuts = np.zeros(nodes, dtype=np.int64)
    values = np.zeros(nodes)
    place = np.zeros(len(bins), dtype=np.int64)
    for level in range(depth + 1):
        first = 2**level - 1
        sums = _sums(bins, gradient, curvature, place, first, width)
        for at in range(2**level):
            slope, curve = sums[0, at, 0].sum(), sums[1, at, 0].sum()
            values[first + at] = -slope / (curve + prior)
            if level < depth and curve >= 2 * least:
                split = _best_split(sums[:, at], slope, curve, prior, least)
                tested[first + at], cuts[first + at] = split
        _move(bins, tested, cuts, place, first)
    return tested, cuts, values


@kernel()
def _sums(
    bins: Bins,
    gradient: FloatArray,
    curvature: FloatArray,
    place: IntArray,
    first: int,
    width: int,
) -> FloatArray:
    """Return the sums of gradients and curvatures by node of a level, column and bin."""
    sums = np.zeros((2, first + 1, bins.shape[1], width))
    for n in range(len(bins)):
        at = place[n] - first
        if at >= 0:
            for j in range(bins.shape[1]):
                sums[0, at, j, bins[n, j]] += gradient[n]
                sums[1, at, j, bins[n, j]] += curvature[n]
    return sums


@kernel()
def _best_split(
    sums: FloatArray, slope: float, curve: float, prior: float, least: float
) -> tuple[int, int]:
    """Return the column and the last bin on the left of the best split, or -1 and 0.

    `sums` (2 × columns × bins): gradients and curvatures of one node.
    """
    best, column, cut = MIN_GAIN + slope**2 / (curve + prior), -1, 0
    for j in range(sums.shape[1]):
        left, left_curve = 0.0, 0.0
        for b in range(sums.shape[2] - 1):
            left += sums[0, j, b]
            left_curve += sums[1, j, b]
            if left_curve >= least and curve - left_curve >= least:
                gain = left**2 / (left_curve + prior)
                gain += (slope - left) ** 2 / (curve - left_curve + prior)
                if gain > best:
                    best, column, cut = gain, j, b
    return column, cut


@kernel()
def _move(bins: Bins, tested: IntArray, cuts: IntArray, place: IntArray, first: int) -> None:
    """Move the cases of a level's nodes below the nodes that are split; leaves keep none."""
    for n in range(len(bins)):
        at = place[n]
        if at >= first:
            if tested[at] < 0:
                place[n] = -1
            else:
                place[n] = 2 * at + 1 + (bins[n, tested[at]] > cuts[at])


@kernel(entry="u1[:,:], i8[:,:], i8[:,:], f8[:,:], f8[:]")
def add_trees(
    bins: Bins, tested: IntArray, cuts: IntArray, values: FloatArray, scores: FloatArray
) -> None:
    """Add the value of each tree (a row of the tables) to `scores` (cases)."""
    for n in range(len(bins)):
        for tree in range(len(tested)):
            at = 0
            while tested[tree, at] >= 0:
                at = 2 * at + 1 + (bins[n, tested[tree, at]] > cuts[tree, at])
            scores[n] += values[tree, at]

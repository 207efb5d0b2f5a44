"""The random rooted forest: from pair scores to the weights of a graph.

The weight of a cell is w(C) = |C| · Σ_{spanning trees T of C} Π_{ij ∈ T} W_ij, so a cell counts the
evidence of a spanning tree and not of every pair. P(configuration) ∝ Π_C w(C) is the law of the
trees of a random rooted spanning forest, whose normaliser is det(I + L), L the Laplacian of W.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel_record
from partita.configurations.odds import PairKnowledge
from partita.core import BoolArray, FloatArray, IntArray, components, linked_components
from partita.errors import InputError

CLIP = 1e-9  # scores count as at least this and at most 1 minus this
# GROWTH to FEW were chosen among some 35 settings by the worst ratio of bits to those of the raw
# scores on all Splink scores of the panel (research/score_records.py), which they are reported on.
# Leaving families out was tried for GROWTH and RISE only, before FEW and the cut at -SUREST: the
# ratio of the family left out was at most 1.02, but 1.07 for febrl.
GROWTH = 3.0  # by which the odds of joining large clusters may exceed those of one pair …
RISE = 4.0  # … and how late they rise: with two records beside a third hardly at all
NEAR = 0.5  # of the evidence that pairs of probably the same templates are for a pair
SUREST = 5.0  # the largest and least log-odds that count as evidence for another pair
FEW = 4.0  # pairs that are added to the compared ones of a template, none of them the same
STEEPEST = 45.0  # the largest aθ + c of a pair
REACH = 10.0  # templates from which the weight of a pair that was not compared falls as 1/n


@dataclass(frozen=True, slots=True)
class ForestParameters:
    """A scale and a bias on the log-odds of compared pairs, and the log-odds of all others.

    `floor` is the share of pairs that are the same whatever their scores say.
    """

    scale: float = 1.0
    bias: float = 0.0
    unlisted: float = -6.5
    floor: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            raise InputError(f"scale of the forest model is {self.scale}, not a positive number")
        for name in ("bias", "unlisted"):
            if not math.isfinite(value := getattr(self, name)):
                raise InputError(f"{name} of the forest model is {value}, not a finite number")
        if not 0.0 <= self.floor < 1.0:
            raise InputError(f"floor of the forest model is {self.floor} (expected 0 to below 1)")

    def evidence(self, theta: FloatArray) -> FloatArray:
        """Return the log-odds of compared pairs whose scores have the log-odds θ."""
        x = np.clip(self.scale * theta + self.bias, -STEEPEST, STEEPEST)
        if self.floor == 0.0:
            return x
        least = self.floor / (1.0 - self.floor)
        floored: FloatArray = np.where(
            theta > -np.inf, np.log(least + (1.0 + least) * np.exp(x)), x
        )
        return floored

    @property
    def unlisted_probability(self) -> float:
        """The probability of a set of two templates that were not compared."""
        return 1.0 / (1.0 + math.exp(-self.unlisted))


@dataclass(frozen=True, slots=True, eq=False)
class ForestScores:
    """Pair scores of one set as rows: compared pairs with θ, and what is known for certain.

    `home` gives each template its group of must-links; `apart` has the cannot-links as rows of two
    templates; `complete` says that every pair of templates is compared or known.
    """

    home: IntArray
    left: IntArray
    right: IntArray
    theta: FloatArray
    apart: IntArray
    complete: bool


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Weights between groups: extra + rate · charge_i · charge_j, `extra` for compared pairs only.

    `sizes` counts the templates of each group; `apart` has the cannot-links between groups.
    """

    sizes: FloatArray
    charge: FloatArray
    rate: float
    left: IntArray
    right: IntArray
    extra: FloatArray
    apart: IntArray

    def __len__(self) -> int:
        return len(self.sizes)

    def dense(self) -> FloatArray:
        """Return the weights as a matrix with zeros on the diagonal and at cannot-links."""
        weights = self.rate * np.outer(self.charge, self.charge)
        weights[self.left, self.right] += self.extra
        weights[self.right, self.left] = weights[self.left, self.right]
        weights[self.apart[:, 0], self.apart[:, 1]] = 0.0
        weights[self.apart[:, 1], self.apart[:, 0]] = 0.0
        np.fill_diagonal(weights, 0.0)
        return weights

    def weight_of(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return `extra` of pairs of groups; 0 for those that have none."""
        n = len(self)
        keys = self.left * n + self.right
        wanted = np.minimum(left, right) * n + np.maximum(left, right)
        at = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        if not len(keys):
            return np.zeros(len(left))
        return np.where(keys[at] == wanted, self.extra[at], 0.0)

    def part(self, places: IntArray) -> Graph:
        """Return the graph of some of the groups."""
        rank = np.full(len(self), -1)
        rank[places] = np.arange(len(places))
        inside = (rank[self.left] >= 0) & (rank[self.right] >= 0)
        apart = rank[self.apart]
        return Graph(
            self.sizes[places],
            self.charge[places],
            self.rate,
            rank[self.left[inside]],
            rank[self.right[inside]],
            self.extra[inside],
            apart[(apart >= 0).all(axis=1)],
        )


@kernel_record("i8[:], i8[:], i8[:], i8[:], f8[:], f8[:], f8[:], f8[:], i8[:], u8[:]")
class Links(NamedTuple):
    """Sets in flat arrays, with the weights of their pairs.

    A node is a record, or several that must be the same (`size` counts them). Set k has the nodes
    starts[k]:starts[k + 1] and the rows row_starts[k]:row_starts[k + 1], whose `left` and `right`
    are positions within the set; `apart` has a bit for every node of the set that must differ. The
    edge between nodes i and j weighs rate[k]·charge[i]·charge[j], and `extra` more for each row of
    theirs; `seeds` (one for each set) are of its draws.
    """

    starts: IntArray
    row_starts: IntArray
    left: IntArray
    right: IntArray
    extra: FloatArray
    charge: FloatArray
    rate: FloatArray
    size: FloatArray
    apart: IntArray
    seeds: NDArray[np.uint64]


def scores_of(knowledge: PairKnowledge) -> ForestScores:
    """Return the scores of a set that is given as matrices."""
    n = len(knowledge.p)
    upper = np.triu(np.ones((n, n), dtype=np.bool_), 1)
    known = knowledge.must | ~knowledge.compatible
    compared = knowledge.compared if knowledge.compared is not None else np.ones_like(upper)
    left, right = np.nonzero(upper & (compared | knowledge.must) & knowledge.compatible)
    theta = np.where(knowledge.must[left, right], np.inf, log_odds(knowledge.p[left, right]))
    apart = np.argwhere(upper & ~knowledge.compatible)
    complete = bool((compared | known)[upper].all())
    return ForestScores(components(knowledge.must), left, right, theta, apart, complete)


def log_odds(p: FloatArray, clip: float = CLIP) -> FloatArray:
    """Return log p/(1−p) of scores as evidence: 0 and 1 are clipped."""
    clipped = np.clip(p, clip, 1.0 - clip)
    theta: FloatArray = np.log(clipped) - np.log1p(-clipped)
    return theta


def logistic(x: FloatArray) -> FloatArray:
    """Return the probabilities of log-odds."""
    found: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(x, -500.0, 500.0)))
    return found


def weigh(scores: ForestScores, parameters: ForestParameters) -> Graph:
    """Return the weights W_ij = ½·exp(x_ij)·h(m_ij), must-links contracted.

    x is the mean of aθ + c with that of pairs of probably the same templates (`averaged`).
    h(m) = (1 + GROWTH·(1 − 1/m)^RISE)/m damps the evidence of pairs that repeat each other: m_ij is
    about half the size of both clusters together, from d_i = 1 + Σ_k σ(x_ik) over the compared
    pairs of i but for the pair itself. With h = 1/m, two clusters between which all pairs have the
    log-odds x are joined with just these: w(A ∪ B)/(w(A)·w(B)) = (|A| + |B|)·W. In large clusters
    more of the pairs are evidence of their own.
    A set of two has the odds exp(aθ + c). A pair that was not compared has the odds
    exp(unlisted)·min(1, REACH/n) and the geometric mean of h of both ends, with all their compared
    pairs; where there are such pairs, no pair has a smaller weight.
    """
    n, home = len(scores.home), scores.home
    rate = 0.0 if scores.complete else float(unlisted_rate(parameters, np.array(n)))
    s, extra = strengths(scores.left, scores.right, scores.theta, rate, n, parameters)
    between = home[scores.left] != home[scores.right]
    left, right = home[scores.left[between]], home[scores.right[between]]
    groups = int(home.max(initial=-1)) + 1
    charge = np.zeros(groups)
    np.add.at(charge, home, s)
    sizes = np.bincount(home, minlength=groups).astype(np.float64)
    rows = summed(left, right, extra[between], groups)
    return Graph(sizes, charge, rate, *rows, distinct_pairs(home[scores.apart], groups))


def strengths(
    left: IntArray,
    right: IntArray,
    theta: FloatArray,
    rate: FloatArray | float,
    n: int,
    parameters: ForestParameters,
) -> tuple[FloatArray, FloatArray]:
    """Return the charge of every template, and what every compared pair weighs beyond that.

    The rows may be those of many sets, `rate` that of the set of each row.
    """
    x = averaged(left, right, parameters.evidence(theta), theta, n)
    own = _sigmoid(x)
    d = (1.0 + np.bincount(left, own, n) + np.bincount(right, own, n)).astype(np.float64)
    s = math.sqrt(0.5) * _damping(d) ** 0.5
    both = np.maximum(1.0, d[left] - own) + np.maximum(1.0, d[right] - own)
    half = 0.5 * (own * (1.0 + 0.5 * both) + (1.0 - own) * both)
    extra = np.maximum(0.0, 0.5 * np.exp(x) * _damping(half) - rate * s[left] * s[right])
    return s.astype(np.float64), extra.astype(np.float64)


def averaged(
    left: IntArray, right: IntArray, x: FloatArray, theta: FloatArray, n: int
) -> FloatArray:
    """Return the log-odds x of pairs, each averaged with those of probably the same templates.

    To x_ij is added NEAR·σ(x_ik)²·x_kj, cut at ±SUREST, for every k that was compared with both i
    and j, and the same with i and j exchanged; the sum is divided by that of the weights. What is
    lower than x_ij has (1 − r_ij)² of its weight: r is the share of the compared pairs of i, or of
    j if that is more, that are probably the same, the pair itself not counted as one. Where most
    compared pairs are the same, a low score says little; a share of few pairs (FEW are added) says
    little itself. Pairs that are known (infinite θ) stay as they are; those that are known to be
    different count for nothing.
    """
    from partita.configurations.forest.kernels import average_neighbours

    rows = np.flatnonzero(theta > -np.inf)
    own, left, right = x[rows], left[rows], right[rows]
    ends, others = np.concatenate([left, right]), np.concatenate([right, left])
    order, counts = np.argsort(ends, kind="stable"), np.bincount(ends, minlength=n)
    starts = np.concatenate([[0], np.cumsum(counts)])
    number, same = np.tile(np.arange(len(rows)), 2)[order], _sigmoid(own)
    expected = np.bincount(ends, np.tile(same, 2), n)
    share = np.maximum(*((expected[end] - same) / (counts[end] + FEW) for end in (left, right)))
    lower = np.clip(1.0 - share, 0.0, 1.0) ** 2
    near = NEAR * same**2
    mean = average_neighbours(starts, others[order], number, own, near, lower, SUREST)
    result = x.copy()
    result[rows] = np.where(np.isfinite(theta[rows]), mean, own)
    return result


def _damping(d: FloatArray) -> FloatArray:
    """Return the factor of a pair between templates with d in their clusters; 1 for d = 1."""
    factor: FloatArray = (1.0 + GROWTH * (1.0 - 1.0 / d) ** RISE) / d
    return factor


def unlisted_rate(parameters: ForestParameters, n: IntArray) -> FloatArray:
    """Return exp(aθ + c) of a pair that was not compared, in a set of n templates."""
    rate: FloatArray = math.exp(parameters.unlisted) * np.minimum(1.0, REACH / n)
    return rate


def _sigmoid(x: FloatArray) -> FloatArray:
    values: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * x))
    return values


def summed(
    left: IntArray, right: IntArray, extra: FloatArray, n: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Sum parallel edges; return them sorted, the smaller end first."""
    key = np.minimum(left, right) * n + np.maximum(left, right)
    order = np.argsort(key, kind="stable")
    key, extra = key[order], extra[order]
    first = np.ones(len(key), dtype=np.bool_)
    first[1:] = np.diff(key) != 0
    sums = np.zeros(int(first.sum()))
    np.add.at(sums, np.cumsum(first) - 1, extra)
    kept = sums > 0.0
    return key[first][kept] // n, key[first][kept] % n, sums[kept]


def distinct_pairs(apart: IntArray, n: int) -> IntArray:
    """Return each pair once, the smaller end first, sorted."""
    key = np.sort(np.min(apart, axis=1) * n + np.max(apart, axis=1)) if len(apart) else apart[:, 0]
    once = key[np.append(True, np.diff(key) != 0)] if len(key) else key
    return np.stack([once // max(n, 1), once % max(n, 1)], axis=1).astype(np.int64)


def independent(graph: Graph) -> IntArray:
    """Return the number of the connected component of each group; one if no pair has weight 0."""
    if graph.rate > 0.0:
        return np.zeros(len(graph), dtype=np.int64)
    return linked_components(len(graph), graph.left, graph.right)


def violated(graph: Graph, labels: IntArray) -> BoolArray:
    """Return whether each row of labels breaks a cannot-link."""
    first, second = graph.apart.T
    broken: BoolArray = (labels[..., first] == labels[..., second]).any(axis=-1)
    return broken

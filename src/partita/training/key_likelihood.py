"""The likelihood of whole keys, and the parameters that maximise it under a prior."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from partita.configurations.exact.listed import partitions
from partita.configurations.exact.tables import PairWeights, SubsetTables
from partita.configurations.merging.model import decisions
from partita.configurations.odds import UNSCALED, ScaledParameters
from partita.configurations.solve_batch import SHARED, solve_rows
from partita.core import FloatArray, IntArray

EXACT = 14  # templates: beyond, the choices of each template stand for the set
EXACT_MERGING = 8  # templates: beyond, the merger's decisions stand for the set
ROWS = 64  # sets of one size that are solved together
STEPS = 200
ENOUGH = 1e-6  # of the gradient, in nats for each key
SMALLEST_SCALE = 0.05


@dataclass(frozen=True, eq=False)
class KeyedSet:
    """A coreference set with its key: n templates, open pairs, configurations with weights.

    Open pairs are the compatible ones, as positions left < right. `rows` are configurations as
    labels, and `weights`, which sum to 1, say how strongly the author of the key holds each.
    """

    size: int
    left: IntArray
    right: IntArray
    rows: IntArray
    weights: FloatArray

    @cached_property
    def pairs(self) -> IntArray:
        """Places of the open pairs in the order of np.triu_indices."""
        return self.left * (2 * self.size - self.left - 1) // 2 + self.right - self.left - 1

    @cached_property
    def joined(self) -> FloatArray:
        """The weight with which the key has each open pair in one cell."""
        together = self.rows[:, self.left] == self.rows[:, self.right]
        joined: FloatArray = self.weights @ together
        return joined

    @cached_property
    def decisions(self) -> tuple[FloatArray, FloatArray]:
        """The weight with which the merger joins, and passes, each pair on the way to the key."""
        answers = decisions(self.rows, *np.triu_indices(self.size, 1))
        joins, passes = (self.weights @ table.astype(np.float64) for table in answers)
        return joins, passes

    def matrix(self, values: FloatArray, other: float) -> FloatArray:
        """Return values of open pairs as a symmetric matrix with `other` for all other pairs."""
        matrix = np.full((self.size, self.size), other)
        np.fill_diagonal(matrix, 0.0)
        matrix[self.left, self.right] = matrix[self.right, self.left] = values
        return matrix


Theta = Sequence[FloatArray]
Values = tuple[float, list[FloatArray]]
Batch = Callable[[Sequence[KeyedSet], Theta], Values]


@dataclass(frozen=True, slots=True, eq=False)
class KeyLikelihood:
    """The log-likelihood of keys under a model of configurations, from log-odds of open pairs.

    Evidential: exact up to 14 templates; for a larger set, half the log-probability with which
    the templates choose their cells, each given all others. Merging: exact up to 8 templates; for
    a larger set, the log-probability of the decisions, which is never above that of the key.
    """

    sets: tuple[KeyedSet, ...]
    merging: bool = False

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood in nats, and its gradient by the log-odds of every pair."""
        ends = np.cumsum([0, *(len(one.left) for one in self.sets)])
        gradient, total = np.zeros(len(theta)), 0.0
        for places in self._batches():
            sets = [self.sets[n] for n in places]
            parts = [theta[ends[n] : ends[n + 1]] for n in places]
            value, gradients = self._batch(sets[0].size)(sets, parts)
            total += value
            for n, part in zip(places, gradients, strict=True):
                gradient[ends[n] : ends[n + 1]] = part
        return total, gradient

    def _batches(self) -> Iterator[list[int]]:
        """Yield places of sets of one size."""
        by_size: dict[int, list[int]] = {}
        for n, one in enumerate(self.sets):
            by_size.setdefault(one.size, []).append(n)
        for places in by_size.values():
            for start in range(0, len(places), ROWS):
                yield places[start : start + ROWS]

    def _batch(self, size: int) -> Batch:
        if self.merging:
            return _enumerated_merging if size <= EXACT_MERGING else _each(_decisions)
        if size <= SHARED:
            return _small_products
        return _each(_product if size <= EXACT else _choices)


def _each(one: Callable[[KeyedSet, FloatArray], tuple[float, FloatArray]]) -> Batch:
    """Return the likelihood of many sets from that of one."""

    def each(sets: Sequence[KeyedSet], theta: Theta) -> Values:
        answers = [one(*both) for both in zip(sets, theta, strict=True)]
        return sum(value for value, _ in answers), [gradient for _, gradient in answers]

    return each


def _full(sets: Sequence[KeyedSet], values: Theta, other: float) -> FloatArray:
    """Return one row for each set over all pairs."""
    rows = np.full((len(sets), sets[0].size * (sets[0].size - 1) // 2), other)
    for row, one, part in zip(rows, sets, values, strict=True):
        row[one.pairs] = part
    return rows


def _small_products(sets: Sequence[KeyedSet], theta: Theta) -> Values:
    """log P = Σ_{joined} θ − log Z;  its gradient is joined − P(joined); all sets together."""
    rows = _full(sets, theta, -np.inf)
    solved = solve_rows(rows, sets[0].size, 1)
    value = -float(np.sum(solved.log_normalisers))
    gradients = []
    for one, part, marginals in zip(sets, theta, solved.pairs, strict=True):
        value += float(one.joined @ part)
        gradients.append(one.joined - marginals[one.pairs])
    return value, gradients


def _product(one: KeyedSet, theta: FloatArray) -> tuple[float, FloatArray]:
    """Return the same for one set."""
    tables = SubsetTables(PairWeights(one.matrix(theta, -np.inf)))
    value = float(one.joined @ theta - tables.log_total)
    return value, one.joined - tables.pairs[one.left, one.right]


def _choices(one: KeyedSet, theta: FloatArray) -> tuple[float, FloatArray]:
    """Return ½ Σ_i log P(cell of i | the cells of all others), which of a pair is log P."""
    odds, closed = one.matrix(theta, 0.0), one.matrix(np.zeros(len(theta)), 1.0)
    value, gradient = 0.0, np.zeros((one.size, one.size))
    for labels, weight in zip(one.rows, one.weights, strict=True):
        member = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
        others = member.sum(axis=0) - member
        open_cell = (closed @ member == 0) & (others > 0)
        scores = np.where(open_cell, odds @ member, -np.inf)
        total = np.logaddexp.reduce(np.column_stack([np.zeros(one.size), scores]), axis=1)
        taken = (member > 0) & open_cell
        value += weight * float(scores[taken].sum() - total.sum()) / 2
        surplus = taken - np.exp(scores - total[:, None])
        gradient += weight / 2 * surplus @ member.T
    return value, (gradient + gradient.T)[one.left, one.right]


@lru_cache(maxsize=EXACT_MERGING + 1)
def _decision_tables(size: int) -> tuple[FloatArray, FloatArray]:
    """Return the yes and the no that lead to each partition, for each pair."""
    joins, passes = decisions(partitions(size), *np.triu_indices(size, 1))
    return joins.astype(np.float64), passes.astype(np.float64)


def _enumerated_merging(sets: Sequence[KeyedSet], theta: Theta) -> Values:
    """log P = Σ log p of joins + Σ log(1 − p) of passes − log of what knowledge leaves."""
    size = sets[0].size
    joins, passes = _decision_tables(size)
    is_open = _full(sets, [np.ones(len(part)) for part in theta], 0.0)
    odds = _full(sets, theta, 0.0)
    log_yes, log_no = (is_open * -np.logaddexp(0.0, sign * odds) for sign in (-1.0, 1.0))
    left, right = np.triu_indices(size, 1)
    together = partitions(size)[:, left] == partitions(size)[:, right]
    impossible = (1.0 - is_open) @ together.T > 0.5
    weights = log_yes @ joins.T + log_no @ passes.T
    weights[impossible] = -np.inf
    total = np.logaddexp.reduce(weights, axis=1)
    shares = np.exp(weights - total[:, None])
    value, gradients = -float(total.sum()), []
    for n, one in enumerate(sets):
        joined, passed = one.decisions
        value += float(joined @ log_yes[n] + passed @ log_no[n])
        p = np.exp(log_yes[n])
        gradient = (joined - shares[n] @ joins) * (1 - p) - (passed - shares[n] @ passes) * p
        gradients.append(gradient[one.pairs])
    return value, gradients


def _decisions(one: KeyedSet, theta: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-probability of the merger's decisions on the way to the key."""
    joined, passed = (side[one.pairs] for side in one.decisions)
    value = -float(joined @ np.logaddexp(0.0, -theta) + passed @ np.logaddexp(0.0, theta))
    p = (1 + np.tanh(theta / 2)) / 2
    return value, joined * (1 - p) - passed * p


@dataclass(frozen=True, slots=True)
class KeyPrior:
    """Precisions of a Gaussian prior around weights: of a scale of all, a bias, each feature.

    The prior is hierarchical: few keys can move the scale and the bias, which all pairs share;
    it takes many keys to move the weight of a feature.
    """

    scale: float
    bias: float
    feature: float


def fit_weights(
    likelihood: KeyLikelihood,
    indices: IntArray,
    start: FloatArray,
    prior: KeyPrior,
    scaled: ScaledParameters = UNSCALED,
) -> FloatArray:
    """Return the most probable weights λ = (1 + α)·start + β + δ given the keys.

    `indices` are the features of each pair, one of every characteristic. The log-odds of a pair
    are scaled as `scaled` says. The likelihood at the result is never below that at the start.
    """
    seen, place = np.unique(indices, return_inverse=True)
    place = place.reshape(indices.shape)
    base = start[indices].sum(axis=1)
    precisions = np.concatenate([[prior.scale, prior.bias], np.full(len(seen), prior.feature)])

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        odds = (1 + x[0]) * base + x[1] + x[2:][place].sum(axis=1)
        value, gradient = likelihood(scaled.scale * odds + scaled.bias)
        gradient = scaled.scale * gradient
        by_feature = np.bincount(
            place.ravel(), np.repeat(gradient, indices.shape[1]), minlength=len(seen)
        )
        slope = np.concatenate([[gradient @ base, gradient.sum()], by_feature])
        return float(precisions @ x**2) / 2 - value, precisions * x - slope

    bounds = [(SMALLEST_SCALE - 1, None)] + [(None, None)] * (len(seen) + 1)
    x = _minimise(objective, np.zeros(len(precisions)), bounds, len(likelihood.sets))
    weights: FloatArray = (1 + x[0]) * start + x[1] / indices.shape[1]
    weights[seen] += x[2:]
    return weights


def fit_scaled(
    likelihood: KeyLikelihood, odds: FloatArray, start: ScaledParameters, precision: float
) -> ScaledParameters:
    """Return the most probable scale and bias on log-odds, under a prior around the start."""
    around = np.array([start.scale, start.bias])

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood(x[0] * odds + x[1])
        away = x - around
        slope = np.array([gradient @ odds, gradient.sum()])
        return precision * float(away @ away) / 2 - value, precision * away - slope

    scale, bias = _minimise(objective, around, [(0.0, None), (None, None)], len(likelihood.sets))
    return ScaledParameters(float(scale), float(bias))


def _minimise(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    bounds: Sequence[tuple[float | None, float | None]],
    keys: int,
) -> FloatArray:
    from scipy.optimize import minimize

    options = {"gtol": ENOUGH * max(keys, 1), "ftol": 1e-12, "maxiter": STEPS, "maxcor": 20}
    result = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    best: FloatArray = result.x if result.fun <= objective(start)[0] else start
    return best

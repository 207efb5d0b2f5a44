"""Maximum entropy models and their fitting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.errors import InputError

Codes = NDArray[np.uint8]

LARGE = 10_000_000  # numbers in a table of contexts by features, beyond which L-BFGS is used
MANY = 100  # features, beyond which their curvature costs more than the steps it saves
NEWTON_STEPS = 200
NEWTON_ENOUGH = 1e-12  # of what a step would gain, for each pair
SLACK = 1e-15  # rounding of the objective must not stop the last, smallest step
LBFGS_STEPS = 2000
LBFGS_ENOUGH = 1e-6  # of the gradient per pair: far below what held-out documents can tell


def logistic_probability(score: FloatArray) -> FloatArray:
    """Return 1/(1 + e^{−score}), without overflow."""
    half = np.tanh(score / 2)
    return (1 + half) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Contexts:
    """Distinct contexts, how often each occurs, and how often with the answer yes."""

    codes: Codes
    sizes: tuple[int, ...]
    count: FloatArray
    yes: FloatArray

    @property
    def features(self) -> int:
        return sum(self.sizes)

    @property
    def pairs(self) -> float:
        return float(self.count.sum())

    @property
    def starts(self) -> list[int]:
        """Return the first feature of each characteristic."""
        return [0, *np.cumsum(self.sizes).tolist()][:-1]

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return Σ λ_i f_i(x) for every context."""
        total = np.zeros(len(self.codes))
        for column, first, size in zip(self.codes.T, self.starts, self.sizes, strict=True):
            if (table := weights[first : first + size]).any():
                total += table[column]
        return total

    def totals(self, of: FloatArray) -> FloatArray:
        """Return Σ_x f_i(x)·of(x) for every feature."""
        sums = [
            np.bincount(column, weights=of, minlength=size)
            for column, size in zip(self.codes.T, self.sizes, strict=True)
        ]
        return np.concatenate([*sums, np.zeros(0)])

    def table(self, active: IntArray) -> FloatArray:
        """Return f_i(x) for the active features as a dense table."""
        column_of = np.repeat(np.arange(len(self.sizes)), self.sizes)[active]
        value = active - np.array(self.starts, dtype=np.int64)[column_of]
        indicators: FloatArray = (self.codes[:, column_of] == value[None, :]).astype(np.float64)
        return indicators


def contexts(codes: Codes, yes: NDArray[np.bool_], sizes: Sequence[int]) -> Contexts:
    """Count training pairs with equal codes together."""
    if codes.shape != (len(yes), len(sizes)):
        raise InputError(f"{len(yes)} pairs need {len(yes)} rows of {len(sizes)} codes")
    _, first, home = np.unique(_keys(codes, sizes), return_index=True, return_inverse=True)
    return Contexts(
        np.asfortranarray(codes[first]),
        tuple(sizes),
        np.bincount(home, minlength=len(first)).astype(np.float64),
        np.bincount(home[yes], minlength=len(first)).astype(np.float64),
    )


def _keys(codes: Codes, sizes: Sequence[int]) -> IntArray:
    """Return one number for each row; numbers are renumbered before they exceed 63 bits."""
    keys, radix = np.zeros(len(codes), dtype=np.int64), 1
    for column, size in zip(codes.T, sizes, strict=True):
        if radix > (1 << 62) // max(size, 1):
            seen, keys = np.unique(keys, return_inverse=True)
            radix = len(seen)
        keys, radix = keys * size + column, radix * size
    return keys


def require_both_classes(sample: Contexts) -> None:
    """Raise an error unless both answers occur."""
    if not 0 < sample.yes.sum() < sample.count.sum():
        raise InputError(
            "training data has one class only; expected pairs that corefer and pairs that do not"
        )


def bits(sample: Contexts, weights: FloatArray) -> float:
    """Return the mean bits per pair: −log₂ of the probability of the answers."""
    return loss(sample, sample.scores(weights)) / max(sample.pairs, 1.0) / math.log(2)


def loss(sample: Contexts, scores: FloatArray) -> float:
    """Return −log of the probability of all answers, in nats."""
    return float(sample.count @ np.logaddexp(0, scores) - sample.yes @ scores)


def expected(sample: Contexts, scores: FloatArray) -> FloatArray:
    """Return the expected number of yes for each context."""
    return sample.count * logistic_probability(scores)


def fit_maxent(
    sample: Contexts,
    precision: float,
    active: IntArray | None = None,
    start: FloatArray | None = None,
) -> FloatArray:
    """Return the weights of all features, 0 for those that are not active.

    They are found by Newton's method, or by L-BFGS where there is much to fit.
    """
    chosen = np.arange(sample.features) if active is None else active
    large = len(sample.codes) * len(chosen) > LARGE or len(chosen) > MANY
    return (lbfgs if large else newton)(sample, chosen, precision, start)


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Logistic regression with a ridge over rows of a dense table, by Newton's method:
    λ += (Fᵀ W F + r)⁻¹ (Fᵀ(yes − np) − rλ),  W = np(1−p)."""

    table: FloatArray
    count: FloatArray
    yes: FloatArray
    precision: float

    def newton(self, start: FloatArray) -> FloatArray:
        """Return the most probable weights; without a prior, of several those nearest to the
        start (a characteristic's features always sum to one)."""
        weights, least = start, self.objective(start)
        enough = NEWTON_ENOUGH * float(self.count.sum())
        for _ in range(NEWTON_STEPS):
            step, gain = self._step(weights)
            weights, least = self._improved(weights, step, least)
            if gain <= enough:
                break
        return weights

    def objective(self, weights: FloatArray) -> float:
        scores = self.table @ weights
        nats = float(self.count @ np.logaddexp(0, scores) - self.yes @ scores)
        return nats + self.precision * float(weights @ weights) / 2

    def _step(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Return the step, and twice what it would gain if the curvature stayed as it is."""
        p = logistic_probability(self.table @ weights)
        gradient = self.table.T @ (self.yes - self.count * p) - self.precision * weights
        curvature = self.table.T @ (self.table * (self.count * p * (1 - p))[:, None])
        curvature[np.diag_indices_from(curvature)] += self.precision
        if self.precision > 0:
            step = np.linalg.solve(curvature, gradient)
        else:
            step = np.linalg.lstsq(curvature, gradient, rcond=1e-10)[0]
        return step.astype(np.float64), float(gradient @ step)

    def _improved(
        self, weights: FloatArray, step: FloatArray, least: float
    ) -> tuple[FloatArray, float]:
        """Take as much of the step as makes nothing worse: all of it, half of it, and so on."""
        for halving in range(40):
            moved: FloatArray = weights + step / 2.0**halving
            if (value := self.objective(moved)) <= least + SLACK * abs(least):
                return moved, value
        return weights, least


def newton(
    sample: Contexts, active: IntArray, precision: float = 0.0, start: FloatArray | None = None
) -> FloatArray:
    """Fit the active features by Newton's method."""
    rows = Regression(sample.table(active), sample.count, sample.yes, precision)
    weights, first = _initial_weights(sample, active, start)
    weights[active] = rows.newton(first)
    return weights


def lbfgs(
    sample: Contexts,
    active: IntArray,
    precision: float = 0.0,
    start: FloatArray | None = None,
    enough: float = LBFGS_ENOUGH,
) -> FloatArray:
    """Fit the active features by L-BFGS, which needs only sums over contexts and no table.

    `enough` bounds the gradient per pair.
    """
    from scipy.optimize import minimize

    weights, first = _initial_weights(sample, active, start)

    def objective(inner: FloatArray) -> tuple[float, FloatArray]:
        weights[active] = inner
        scores = sample.scores(weights)
        nats = loss(sample, scores) + precision * float(inner @ inner) / 2
        gradient = sample.totals(expected(sample, scores) - sample.yes)[active] + precision * inner
        return nats / sample.pairs, gradient / sample.pairs

    most = {"maxiter": LBFGS_STEPS, "maxfun": 2 * LBFGS_STEPS, "maxcor": 20}
    options = {"gtol": enough, "ftol": 0.0} | most
    weights[active] = minimize(objective, first, jac=True, method="L-BFGS-B", options=options).x
    return weights


def _initial_weights(
    sample: Contexts, active: IntArray, start: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return weights of 0, and what the active ones start from."""
    require_both_classes(sample)
    weights = np.zeros(sample.features)
    return weights, weights[active] if start is None else start[active]


# Pairs of one document depend on each other: with few documents a strong prior is best.
PRECISIONS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
FOLDS = 4


@dataclass(frozen=True, slots=True)
class Prior:
    """The chosen precision, and the held-out bits per pair of each precision tried."""

    precision: float
    tried: tuple[tuple[float, float], ...]


def choose_prior(
    codes: Codes,
    yes: np.ndarray[tuple[int], np.dtype[np.bool_]],
    documents: IntArray,
    sizes: Sequence[int],
    rng: np.random.Generator,
    precisions: Sequence[float] = PRECISIONS,
) -> Prior:
    """Choose the precision with the fewest held-out bits per pair; `documents` numbers the pairs'
    documents."""
    names = np.unique(documents)
    if len(names) < 2:
        raise InputError("cross-validation needs pairs of two documents or more")
    folds = rng.permutation(len(names)) % min(FOLDS, len(names))
    fold = folds[np.searchsorted(names, documents)]
    costs = np.zeros(len(precisions))
    for left_out in range(int(folds.max()) + 1):
        is_held = fold == left_out
        kept, held = (contexts(codes[m], yes[m], sizes) for m in (~is_held, is_held))
        weights = None
        for n in np.argsort(precisions)[::-1]:
            weights = fit_maxent(kept, precisions[n], start=weights)
            costs[n] += bits(held, weights) * held.pairs
    costs /= len(yes)
    tried = tuple(zip(map(float, precisions), costs.tolist(), strict=True))
    return Prior(float(precisions[int(costs.argmin())]), tried)

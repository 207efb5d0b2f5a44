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

STEPS = 2000
ENOUGH = 1e-8  # of the gradient per pair: far below what held-out documents can tell


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
    """Return the most probable weights of all features, 0 for those that are not active.

    L-BFGS needs only sums over contexts. Without a prior, of several optima (the features of a
    characteristic always sum to one) it finds that nearest to the start.
    """
    from scipy.optimize import minimize

    require_both_classes(sample)
    chosen = np.arange(sample.features) if active is None else active
    weights = np.zeros(sample.features)

    def objective(inner: FloatArray) -> tuple[float, FloatArray]:
        weights[chosen] = inner
        scores = sample.scores(weights)
        nats = loss(sample, scores) + precision * float(inner @ inner) / 2
        gradient = sample.totals(expected(sample, scores) - sample.yes)[chosen] + precision * inner
        return nats / sample.pairs, gradient / sample.pairs

    first = np.zeros(len(chosen)) if start is None else start[chosen]
    most = {"maxiter": STEPS, "maxfun": 2 * STEPS, "maxcor": 20}
    options = {"gtol": ENOUGH, "ftol": 0.0} | most
    weights[chosen] = minimize(objective, first, jac=True, method="L-BFGS-B", options=options).x
    return weights

"""Maximum entropy for two outcomes:  p(yes | x) = 1/(1 + e^{−Σ λ_i f_i(x)}),  f_i(x) ∈ {0, 1}.

The parameters maximise the likelihood of the training pairs, less precision·|λ|²/2 for a Gaussian
prior. A context x is a row of codes, one for each characteristic; what is the same is counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.learning.logistic import logistic
from partita.records import FloatArray, IntArray

Codes = NDArray[np.uint8]

LARGE = 10_000_000  # numbers in a table of contexts by features, beyond which L-BFGS is used
MANY = 100  # features, beyond which their curvature costs more than the steps it saves


@dataclass(frozen=True, slots=True, eq=False)
class Contexts:
    """Different contexts, how often each was seen, and how often with the answer yes."""

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
        """Where the features of each characteristic begin."""
        return [0, *np.cumsum(self.sizes).tolist()][:-1]

    def scores(self, weights: FloatArray) -> FloatArray:
        """Σ λ_i f_i(x) for every context."""
        total = np.zeros(len(self.codes))
        for column, first, size in zip(self.codes.T, self.starts, self.sizes, strict=True):
            if (table := weights[first : first + size]).any():
                total += table[column]
        return total

    def totals(self, of: FloatArray) -> FloatArray:
        """Σ_x f_i(x)·of(x) for every feature."""
        found = [
            np.bincount(column, weights=of, minlength=size)
            for column, size in zip(self.codes.T, self.sizes, strict=True)
        ]
        return np.concatenate([*found, np.zeros(0)])

    def table(self, active: IntArray) -> FloatArray:
        """f_i(x) for the active features, as a dense table."""
        home = np.repeat(np.arange(len(self.sizes)), self.sizes)[active]
        value = active - np.array(self.starts, dtype=np.int64)[home]
        found: FloatArray = (self.codes[:, home] == value[None, :]).astype(np.float64)
        return found


def contexts(codes: Codes, yes: NDArray[np.bool_], sizes: Sequence[int]) -> Contexts:
    """Training pairs with equal codes counted together."""
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
    """One number for each row; before it would outgrow 63 bits, the numbers are made dense."""
    keys, radix = np.zeros(len(codes), dtype=np.int64), 1
    for column, size in zip(codes.T, sizes, strict=True):
        if radix > (1 << 62) // max(size, 1):
            seen, keys = np.unique(keys, return_inverse=True)
            radix = len(seen)
        keys, radix = keys * size + column, radix * size
    return keys


def refuse_one_class(given: Contexts) -> None:
    if not 0 < given.yes.sum() < given.count.sum():
        raise InputError(
            "training data has one class only; expected pairs that corefer and pairs that do not"
        )


def bits(given: Contexts, weights: FloatArray) -> float:
    """Mean bits per pair: −log₂ of the probability of the answers."""
    return loss(given, given.scores(weights)) / max(given.pairs, 1.0) / math.log(2)


def loss(given: Contexts, scores: FloatArray) -> float:
    """−log of the probability of all answers, in nats."""
    return float(given.count @ np.logaddexp(0, scores) - given.yes @ scores)


def expected(given: Contexts, scores: FloatArray) -> FloatArray:
    """How many yes the model expects of each context."""
    return given.count * logistic(scores)


def fit(
    given: Contexts,
    precision: float,
    active: IntArray | None = None,
    start: FloatArray | None = None,
) -> FloatArray:
    """The weights of all features, 0 for those that are not active; by Newton, or where there
    is much to fit by L-BFGS."""
    chosen = np.arange(given.features) if active is None else active
    if len(given.codes) * len(chosen) > LARGE or len(chosen) > MANY:
        from partita.learning.maxent_large import lbfgs

        return lbfgs(given, chosen, precision, start)
    from partita.learning.maxent_newton import newton

    return newton(given, chosen, precision, start)

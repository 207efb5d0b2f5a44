"""Sets of which a sampler can miss a mode, and ordinary sets, for the study of its verdicts.

A block X joins either a block Y, which is then one configuration, or a block Z. If it joins Z, the
members of Y are free: that mode is spread over all partitions of Y, of which none alone is likely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from partita.configurations.count import bell
from partita.configurations.exact.posterior import exact
from partita.configurations.sampled.posterior import sampled
from partita.core import Budget, FloatArray

Family = Callable[[np.random.Generator], FloatArray]
TIE = 6.0  # log-odds inside a block
APART = -8.0  # log-odds between Y and Z


def trap(rng: np.random.Generator) -> FloatArray:
    """Two modes of about equal mass: one configuration, or one for every partition of Y."""
    return _trap(
        rng, x=int(rng.integers(2, 5)), y=int(rng.integers(4, 7)), z=int(rng.integers(2, 5))
    )


def lone_trap(rng: np.random.Generator) -> FloatArray:
    """A trap whose block Z is a single template, which few starts find first."""
    return _trap(rng, x=int(rng.integers(2, 4)), y=int(rng.integers(5, 8)), z=1)


def double_trap(rng: np.random.Generator) -> FloatArray:
    """Two traps side by side, with weak links between their templates."""
    one = _trap(rng, 2, int(rng.integers(3, 5)), 2)
    other = _trap(rng, 2, int(rng.integers(3, 5)), 2)
    n, m = len(one), len(other)
    theta = rng.uniform(-4.0, -3.0, (n + m, n + m))
    theta[:n, :n], theta[n:, n:] = one, other
    return _shuffled(theta, rng)


def barred_trap(rng: np.random.Generator) -> FloatArray:
    """A trap in which Y and Z exclude each other."""
    return _trap(rng, x=int(rng.integers(2, 5)), y=int(rng.integers(4, 7)), z=2, apart=-np.inf)


def flat(rng: np.random.Generator) -> FloatArray:
    return _odds(rng.uniform(0.3, 0.7, _square(rng)))


def mid(rng: np.random.Generator) -> FloatArray:
    return _odds(rng.uniform(0.05, 0.95, _square(rng)))


def sparse(rng: np.random.Generator) -> FloatArray:
    theta = mid(rng)
    barred = np.triu(rng.random(theta.shape) < 0.4, 1)
    theta[barred | barred.T] = -np.inf
    return theta


def sharp(rng: np.random.Generator) -> FloatArray:
    """Planted clusters with a tenth of the links wrong."""
    shape = _square(rng)
    labels = rng.integers(0, 4, shape[0])
    inside = (labels[:, None] == labels) ^ (rng.random(shape) < 0.1)
    return _odds(np.where(inside, rng.uniform(0.8, 0.99, shape), rng.uniform(0.01, 0.2, shape)))


TRAPS: dict[str, Family] = {
    "trap": trap,
    "lone": lone_trap,
    "double": double_trap,
    "barred": barred_trap,
}
ORDINARY: dict[str, Family] = {"flat": flat, "mid": mid, "sparse": sparse, "sharp": sharp}


def _trap(rng: np.random.Generator, x: int, y: int, z: int, apart: float = APART) -> FloatArray:
    n = x + y + z
    theta = rng.normal(0.0, 0.1, (n, n))
    theta[:x, :x] = theta[x + y :, x + y :] = TIE
    theta[x : x + y, x + y :] = apart
    pull = rng.uniform(6.0, 16.0)  # of Z, in all
    balance = np.log(bell(y)) + rng.normal(0.0, 0.7)
    theta[:x, x + y :] = pull / (x * z)
    theta[:x, x : x + y] = (pull + balance) / (x * y)
    return _shuffled(theta, rng)


def _shuffled(theta: FloatArray, rng: np.random.Generator) -> FloatArray:
    order = rng.permutation(len(theta))
    return _symmetric(theta)[np.ix_(order, order)]


def _square(rng: np.random.Generator) -> tuple[int, int]:
    n = int(rng.integers(8, 15))
    return n, n


def _odds(p: FloatArray) -> FloatArray:
    return _symmetric(np.log(p) - np.log1p(-p))


def _symmetric(theta: FloatArray) -> FloatArray:
    upper = np.triu(theta, 1)
    upper[np.tril_indices(len(theta))] = 0.0
    return upper + upper.T


WRONG = 0.05  # the error of a pair of an answer that should not have been given
FAR = 6.0  # standard errors of the log-normaliser


@dataclass(frozen=True)
class Verdict:
    """What the sampler says of a set, whether it is wrong, and how many pairs its errors cover."""

    converged: bool
    wrong: bool
    pairs: int
    covered: int


def judge(theta: FloatArray, work: int, seed: int) -> Verdict:
    """Compare a sampled answer with the exact one."""
    truth = exact(theta, Budget())
    answer = sampled(theta, Budget(work=work), seed)
    upper = np.triu_indices(len(theta), 1)
    off = np.abs(answer.pairs().value - truth.pairs().value)[upper]
    total = answer.log_normaliser
    far = abs(total.value - truth.log_normaliser.value)
    wrong = off.max() > WRONG or far > max(0.25, FAR * (total.high - total.value))
    covered = int((off <= 2 * answer.error[upper] + 1e-12).sum())
    return Verdict(answer.converged, bool(wrong), len(off), covered)

"""Count the configurations that incompatibilities leave, as an exact integer.

Configurations are partitions into sets that are independent in the graph H of incompatible pairs.
Let a_k be the number of those with k cells. Then Σ_k a_k·x(x−1)…(x−k+1) is the chromatic polynomial
of H, which multiplies over the components of H; its finite differences at 0 give the a_k back.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from partita.configurations.exact.subsets import (
    SMALL,
    SUM,
    count_small,
    log_cell_weights,
    recursion,
)
from partita.core import BoolArray, components

OPERATIONS = 2e9  # of an elimination: some two seconds
CONNECTED = 12  # templates in one component of H


def bell(n: int) -> int:
    """Return the number of partitions of n things, by the Bell triangle."""
    row = [1]
    for _ in range(n - 1):
        following = [row[-1]]
        for above in row:
            following.append(following[-1] + above)
        row = following
    return row[-1]


@lru_cache(maxsize=1 << 12)
def log2_bell(n: int) -> float:
    """Return log₂ of the number of partitions of n things, by Dobinski's sum Σ_k kⁿ/k! / e."""
    if n < 2:
        return 0.0
    terms = [n * math.log(k) - math.lgamma(k + 1) for k in range(1, 2 * n + 20)]
    top = max(terms)
    return (top + math.log(math.fsum(math.exp(t - top) for t in terms)) - 1) / math.log(2)


def log2_of(number: int) -> float:
    """Return log₂ of an integer of any size; minus infinity for 0."""
    if number == 0:
        return -math.inf
    shift = max(0, number.bit_length() - 64)
    return float(np.log2(float(number >> shift))) + shift


def count_configurations(compatible: BoolArray) -> int | None:
    """Return the number of configurations, or None where neither structure nor size allows it.

    Of more than 2^53 it is known if all templates are compatible, or if the incompatible pairs
    make small components.
    """
    n = len(compatible)
    if compatible.all():
        return bell(n)
    if n <= SMALL:
        return count_small(compatible)
    home = components(~compatible)
    if np.bincount(home).max() <= CONNECTED:
        return _from_components(compatible, home)
    return _by_elimination(compatible)


def _by_elimination(compatible: BoolArray) -> int | None:
    """Count along an elimination order, if the number is so small that a double holds it."""
    from partita.configurations.sparse.order import counting_operations, plan_elimination
    from partita.configurations.sparse.recursion import SUM, Recursion

    theta = np.where(compatible, 0.0, -np.inf)
    chosen = plan_elimination(theta)
    if chosen.operations == math.inf or counting_operations(chosen.steps) > OPERATIONS:
        return None
    recursion = Recursion(chosen.steps, theta, np.zeros(len(theta)), SUM)
    recursion.total()
    return recursion.whole()


def _from_components(compatible: BoolArray, home: np.ndarray) -> int:
    """Count by the product of the components' chromatic polynomials at 0…n."""
    n = len(compatible)
    values = [1] * (n + 1)
    for number in range(int(home.max()) + 1):
        inside = np.flatnonzero(home == number)
        by_cells = _by_number_of_cells(compatible[np.ix_(inside, inside)])
        for x in range(n + 1):
            values[x] *= sum(a * math.perm(x, k) for k, a in enumerate(by_cells))
    return int(sum(_falling_coefficients(values)))


def _falling_coefficients(values: list[int]) -> list[Fraction]:
    """Return the coefficients in x(x−1)…(x−k+1): the k-th difference at 0 over k!."""
    coefficients = []
    for k in range(len(values)):
        coefficients.append(Fraction(values[0], math.factorial(k)))
        values = [after - before for before, after in pairwise(values)]
    return coefficients


def _by_number_of_cells(compatible: BoolArray) -> list[int]:
    """Return a_k for k = 0…m, from Σ_k a_k·y^k at y = 0…m: the recursion with y for each cell."""
    m = len(compatible)
    possible = log_cell_weights(np.where(compatible, 0.0, -np.inf)) == 0.0
    values = [int(recursion(possible * np.int64(y), SUM)[-1]) for y in range(m + 1)]
    return _interpolate(values)


def _interpolate(values: list[int]) -> list[int]:
    """Return the coefficients of the polynomial that takes these values at 0, 1, 2, …"""
    newton = _falling_coefficients(values)
    result = [Fraction(0)] * len(values)
    basis = [Fraction(1)] + [Fraction(0)] * (len(values) - 1)
    for k, coefficient in enumerate(newton):
        result = [r + coefficient * b for r, b in zip(result, basis, strict=True)]
        basis = [(basis[i - 1] if i else 0) - k * basis[i] for i in range(len(basis))]
    return [int(r) for r in result]


def count_bounds(compatible: BoolArray) -> tuple[float, float]:
    """Return bounds on log₂ of the number of configurations.

    Each template joins the cell of a compatible one before it or none: at most Π (1 + earlier).
    Disjoint sets of mutually compatible templates can be partitioned at will: at least Π Bell.
    """
    earlier = np.tril(compatible, -1).sum(axis=1)
    high = min(float(np.log2(1.0 + earlier).sum()), log2_of(bell(len(compatible))))
    left, low = np.ones(len(compatible), dtype=np.bool_), 0.0
    while left.any():
        clique = _clique(compatible, left)
        low += log2_of(bell(len(clique)))
        left[clique] = False
    return low, high


def _clique(compatible: BoolArray, left: BoolArray) -> list[int]:
    """Return mutually compatible templates among the remaining ones, grown greedily."""
    clique: list[int] = []
    able = left.copy()
    while able.any():
        names = np.flatnonzero(able)
        clique.append(int(names[np.argmax(compatible[np.ix_(names, names)].sum(axis=1))]))
        able &= compatible[clique[-1]]
        able[clique[-1]] = False
    return clique

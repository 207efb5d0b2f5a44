"""Prove that a configuration is the most probable one, or bound how much better another can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.configurations.meters import SearchMeter
from partita.configurations.odds import UNSCALED, ScaledParameters, checked_knowledge, odds_of
from partita.configurations.optimum import score
from partita.configurations.report import listing, remainder
from partita.configurations.search.best import best
from partita.configurations.search.prices import rounding
from partita.core import (
    Best,
    Budget,
    Distribution,
    FloatArray,
    IntArray,
    PairProbabilities,
    components,
    restricted_growth,
)

LARGEST = 400  # templates: beyond, one linear program takes minutes
ROUNDS = 100
EACH_ROUND = 16  # broken triangles taken in one round, times the number of templates
BROKEN = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """The bound, and the value of each pair in the solution (0 apart, 1 together)."""

    upper: float
    pairs: FloatArray


def relaxations(theta: FloatArray, meter: SearchMeter) -> Iterator[Relaxation]:
    """Yield decreasing bounds, until no triangle is violated or the budget is used up."""
    n = len(theta)
    left, right = np.nonzero(np.triu(np.isfinite(theta), 1))
    place = np.full((n, n), -1)
    place[left, right] = place[right, left] = np.arange(len(left))
    weights = theta[left, right]
    x = _matrix(np.where(weights > 0.0, 1.0, 0.0), left, right, n)
    rows = np.empty((0, 3), dtype=np.int64)
    for _ in range(ROUNDS if n <= LARGEST else 0):
        broken = _violated_triangles(x)
        if not len(broken) or not meter.allowance():
            return
        rows = np.vstack([rows, broken])
        solved = _solve_program(weights, rows, place, meter)
        if solved is None:
            return
        values, multipliers = solved
        x = _matrix(values, left, right, n)
        yield Relaxation(_upper(weights, rows, place, multipliers), x)
        rows = rows[(multipliers > 0.0) | _tight(x, rows)]


def _matrix(values: FloatArray, left: IntArray, right: IntArray, n: int) -> FloatArray:
    x = np.zeros((n, n))
    x[left, right] = x[right, left] = values
    return x


def _violated_triangles(x: FloatArray) -> IntArray:
    """Return the most violated triangles (i, j, k) with x_ij + x_jk − x_ik > 1, i < k."""
    n = len(x)
    triangles, excess = [], []
    for j in range(n):
        over = np.triu(x[:, j, None] + x[None, j, :] - x - 1.0, 1)
        over[j, :] = over[:, j] = 0.0
        i, k = np.nonzero(over > BROKEN)
        worst = np.argsort(-over[i, k], kind="stable")[: EACH_ROUND * n // 2]
        triangles.append(np.column_stack([i, np.full(len(i), j), k])[worst])
        excess.append(over[i, k][worst])
    worst = np.argsort(-np.concatenate(excess), kind="stable")[: EACH_ROUND * n]
    return np.concatenate(triangles)[worst]


def _tight(x: FloatArray, rows: IntArray) -> NDArray[np.bool_]:
    i, j, k = rows.T
    return np.asarray(x[i, j] + x[j, k] - x[i, k] > 1.0 - BROKEN)


def _entries(rows: IntArray, place: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the rows' coefficients as (row, column, value); incompatible pairs have no column."""
    i, j, k = rows.T
    columns = np.column_stack([place[i, j], place[j, k], place[i, k]])
    values = np.broadcast_to([1.0, 1.0, -1.0], columns.shape)
    number = np.broadcast_to(np.arange(len(rows))[:, None], columns.shape)
    there = columns >= 0
    return number[there], columns[there], values[there]


def _solve_program(
    weights: FloatArray, rows: IntArray, place: IntArray, meter: SearchMeter
) -> tuple[FloatArray, FloatArray] | None:
    """Return the solution and the rows' multipliers; None if the solver was stopped."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    number, column, value = _entries(rows, place)
    matrix = csr_matrix((value, (number, column)), shape=(len(rows), len(weights)))
    limit = {"time_limit": meter.seconds_left()} if meter.budget.work is None else {}
    limit |= {"maxiter": meter.allowance(1 << 30)}
    solution = linprog(
        -weights, A_ub=matrix, b_ub=np.ones(len(rows)), bounds=(0, 1), method="highs", options=limit
    )
    meter.spend(int(solution.nit) + 1)
    if solution.status != 0:
        return None
    return np.asarray(solution.x), np.maximum(0.0, -np.asarray(solution.ineqlin.marginals))


def _upper(weights: FloatArray, rows: IntArray, place: IntArray, multipliers: FloatArray) -> float:
    number, column, value = _entries(rows, place)
    charged = np.bincount(column, value * multipliers[number], minlength=len(weights))
    return float(multipliers.sum() + np.maximum(0.0, weights - charged).sum())


SHARE = 0.6  # of the budget for prices and covers, the rest for the relaxation
ENOUGH = 1e-7  # a gap that the accuracy of the linear programs leaves, for each unit of log-weight


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """A configuration and an upper bound on every log-weight."""

    labels: IntArray
    log_weight: float
    upper: float

    @property
    def gap(self) -> float:
        return max(0.0, self.upper - self.log_weight)

    @property
    def proved(self) -> bool:
        """Whether nothing is heavier by more than rounding and the solver's accuracy."""
        return self.gap <= ENOUGH * (1.0 + abs(self.log_weight))


def optimum(theta: FloatArray, budget: Budget) -> Optimum:
    """Return the most probable configuration, proved where the budget allows."""
    meter = SearchMeter(budget)
    work = None if budget.work is None else int(SHARE * budget.work)
    listed = best(theta, 1, replace(budget, seconds=SHARE * budget.seconds, work=work))
    weight = float(listed.log_weights[0])
    bounded = Optimum(listed.labels[0], weight, weight + listed.gap)
    meter.spend(work or 0)
    return bounded if listed.gap == 0.0 else _tighten(theta, bounded, meter)


def _tighten(theta: FloatArray, bounded: Optimum, meter: SearchMeter) -> Optimum:
    """Return both bounds from the relaxation, as far as they are better."""
    slack = rounding(theta)
    for relaxed in relaxations(theta, meter):
        labels = components(relaxed.pairs > 0.5)
        weight = score(theta, labels)
        if weight > bounded.log_weight:
            bounded = replace(bounded, labels=restricted_growth(labels), log_weight=weight)
        bounded = replace(bounded, upper=min(bounded.upper, relaxed.upper + slack))
        if bounded.proved:
            break
    return bounded


def prove(
    distribution: Distribution, budget: Budget, scaled: ScaledParameters = UNSCALED
) -> Distribution:
    """Return a distribution of the evidential or the scaled model whose gap is a certificate.

    Nothing has a probability above that of the first configuration times e^gap; 0 means that it
    is proved most probable. A better configuration than the listed ones becomes the first.
    """
    if distribution.gap == 0.0:
        return distribution
    bounded = _optimum_of_set(distribution, budget, scaled)
    first = distribution.configurations.rows[0]
    weight = distribution.posterior.log_weight(first)
    if bounded.log_weight > weight + ENOUGH * (1.0 + abs(weight)):
        distribution, weight = _with_first(distribution, bounded.labels), bounded.log_weight
    bounded = replace(bounded, log_weight=weight)
    words = "the first configuration is proved most probable"
    if not bounded.proved:
        words = f"no configuration exceeds the first by more than a factor of e^{bounded.gap:.3g}"
    gap = 0.0 if bounded.proved else bounded.gap
    return replace(distribution, gap=gap, reason=f"{distribution.reason}; {words}")


def _optimum_of_set(
    distribution: Distribution, budget: Budget, scaled: ScaledParameters
) -> Optimum:
    """The optima of all components together; the budget is shared by the number of pairs."""
    odds = odds_of(
        checked_knowledge(PairProbabilities(distribution.set, distribution.probabilities)), scaled
    )
    home = components(np.isfinite(odds.theta))
    places = [np.flatnonzero(home == number) for number in range(home.max(initial=-1) + 1)]
    total = sum(len(place) ** 2 for place in places)
    labels, weight, upper = np.zeros(len(odds.theta), dtype=np.int64), 0.0, 0.0
    for place in places:
        share = len(place) ** 2 / total
        work = None if budget.work is None else int(share * budget.work)
        part = optimum(
            odds.theta[np.ix_(place, place)],
            replace(budget, seconds=share * budget.seconds, work=work),
        )
        labels[place] = part.labels + labels.max() + 1
        weight, upper = weight + part.log_weight, upper + part.upper
    return Optimum(restricted_growth(labels[odds.home]), weight, upper)


def _with_first(distribution: Distribution, labels: IntArray) -> Distribution:
    """List a configuration before the others, in place of the last one."""
    rows = np.vstack([labels, distribution.configurations.rows[:-1]])
    weights = np.array([distribution.posterior.log_weight(row) for row in rows])
    listed = listing(distribution.posterior, distribution.configurations.ids, Best(rows, weights))
    rest = remainder(listed, distribution.count, distribution.figures.log2_count.value)
    return replace(distribution, configurations=listed, remainder=rest)

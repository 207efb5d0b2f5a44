"""The most probable configuration with a certificate: max Σ_{i<j together} θ_ij.

Lower bound: a configuration in hand. Upper bound: prices of cells and the covers below them, which
prove it where all cheap cells can be listed; else the linear relaxation over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from partita.configurations.graphs import components
from partita.configurations.optimum.local import score
from partita.configurations.optimum.relaxation import relaxations
from partita.configurations.search.best import best
from partita.configurations.search.meter import Meter
from partita.configurations.search.prices import rounding
from partita.records import Budget, FloatArray, IntArray, restricted_growth

SHARE = 0.6  # of the budget for prices and covers, the rest for the relaxation
ENOUGH = 1e-7  # a gap that the accuracy of the linear programs leaves, for each unit of log-weight


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """A configuration; nothing has a log-weight above `upper`."""

    labels: IntArray
    log_weight: float
    upper: float

    @property
    def gap(self) -> float:
        return max(0.0, self.upper - self.log_weight)

    @property
    def proved(self) -> bool:
        """Nothing is heavier by more than what rounding and the solver's accuracy leave open."""
        return self.gap <= ENOUGH * (1.0 + abs(self.log_weight))


def optimum(theta: FloatArray, budget: Budget) -> Optimum:
    """The most probable configuration, proved where the budget allows."""
    meter = Meter(budget)
    work = None if budget.work is None else int(SHARE * budget.work)
    found = best(theta, 1, replace(budget, seconds=SHARE * budget.seconds, work=work))
    weight = float(found.log_weights[0])
    known = Optimum(found.labels[0], weight, weight + found.gap)
    meter.spend(work or 0)
    return known if found.gap == 0.0 else _relaxed(theta, known, meter)


def _relaxed(theta: FloatArray, known: Optimum, meter: Meter) -> Optimum:
    """Both bounds from the relaxation, as far as they are better."""
    slack = rounding(theta)
    for relaxed in relaxations(theta, meter):
        labels = components(relaxed.pairs > 0.5)
        weight = score(theta, labels)
        if weight > known.log_weight:
            known = replace(known, labels=restricted_growth(labels), log_weight=weight)
        known = replace(known, upper=min(known.upper, relaxed.upper + slack))
        if known.proved:
            break
    return known

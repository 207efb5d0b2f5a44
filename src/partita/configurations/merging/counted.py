"""How many configurations are possible: exactly where that is known, otherwise by draws.

With 1 for every yes and every no, each configuration has the weight 1 and Z is their number.
"""

from __future__ import annotations

import math

import numpy as np

from partita.configurations.count import count as number
from partita.configurations.merging.model import Merger
from partita.records import Figure

ISLANDS, WORK = 16, 2e8


def count(model: Merger) -> int | None:
    """Exactly, or None; what must be together counts as one."""
    first = np.unique(model.groups, return_index=True)[1]
    return number(model.compatible[np.ix_(first, first)])


def log2_count(model: Merger) -> Figure:
    """The logarithm of the number, or an estimate of it."""
    exact = count(model)
    return _estimated(model) if exact is None else Figure.exact(math.log2(exact))


def _estimated(model: Merger) -> Figure:
    from partita.configurations.merging.particles import island, plan

    planned = plan(_even(model))
    draws = int(min(2048, max(8, WORK / (ISLANDS * planned.cost))))
    totals = [island(planned, draws, np.random.default_rng([0, r]))[2] for r in range(ISLANDS)]
    top = max(totals)
    shares = np.exp(np.array(totals) - top)
    error = float(shares.std(ddof=1) / shares.mean()) / math.sqrt(ISLANDS)
    value = (top + math.log(float(shares.mean()))) / math.log(2)
    return Figure.estimate(value, error / math.log(2))


def _even(model: Merger) -> Merger:
    """The model in which every possible configuration weighs the same."""
    first = np.unique(model.groups, return_index=True)[1]
    possible = model.compatible[np.ix_(first, first)]
    yes = np.where(possible, 0.0, -math.inf)
    return Merger(yes, np.zeros(possible.shape), possible, np.arange(len(first)))

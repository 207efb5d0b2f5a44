"""Merging decisions at every size: parts that never ask each other, each by the best way there is.

Exact: a table of all configurations (up to nine templates), the set of tails (where no yes can be
forbidden), the lattice of decisions. Beyond: the same lattice with the mass that it drops, as
intervals; or weighted draws with their error.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from partita.configurations.graphs import BoolArray, components
from partita.configurations.merging.chosen import chosen
from partita.configurations.merging.model import Merger, merger
from partita.configurations.whole import Part, Product
from partita.errors import InputError
from partita.records import Budget, FloatArray, IntArray

PROCESS = 150 << 20  # bytes that compiled code and its libraries take
METHODS = ("auto", "exact", "certified", "sampled")


def merging(
    probabilities: FloatArray,
    compatible: BoolArray,
    must: BoolArray,
    budget: Budget,
    seed: int = 0,
    method: str = "auto",
) -> Product:
    """The distribution that the merger's decisions give, templates in text order."""
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}, expected one of {', '.join(METHODS)}")
    model = merger(probabilities, compatible, must)
    parts = _parts(model)
    budget = replace(budget, memory=max(budget.memory // 2, budget.memory - PROCESS))
    shares = _shares([len(part) for part in parts])
    answers = [
        chosen(model.part(part), _share(budget, share), seed, method)
        for part, share in zip(parts, shares, strict=True)
    ]
    return Product(model.size, [Part(p, a) for p, a in zip(parts, answers, strict=True)])


def _parts(model: Merger) -> list[IntArray]:
    """Templates of which none is ever drawn to one of another part.

    Where p is 0, a tail says no for certain. An excluded pair with p > 0 still has its no of
    1 − p, which depends on what both have done before: it keeps two parts together.
    """
    drawn = model.log_yes > -math.inf
    home = components(drawn | (model.groups[:, None] == model.groups[None, :]))
    return [np.flatnonzero(home == label) for label in range(int(home.max(initial=-1)) + 1)]


def _shares(sizes: list[int]) -> list[float]:
    """Parts of the budget: the work grows with size, and small parts need none."""
    weights = [0.0 if size <= 9 else float(size) ** 2 for size in sizes]
    total = sum(weights) or 1.0
    return [weight / total if weight else 1.0 for weight in weights]


def _share(budget: Budget, share: float) -> Budget:
    work = None if budget.work is None else max(1, int(budget.work * share))
    return replace(
        budget, seconds=budget.seconds * share, memory=int(budget.memory * share), work=work
    )

"""Solve the merging model: choose a method for each independent part.

Where all configurations can be listed, the answer is exact. Beyond, the best beginnings are
followed; if they may miss too much of the mass, weighted draws answer, and what was followed
guards them.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from partita.configurations.count import count_configurations
from partita.configurations.exact.listed import LARGEST
from partita.configurations.merging.listed import beam, enumerate_configurations, possible
from partita.configurations.merging.model import Merger, merger
from partita.configurations.merging.particles import plan_beam
from partita.configurations.merging.sampled import sampled_merging
from partita.configurations.product_posterior import Part, Product
from partita.core import BoolArray, Budget, FloatArray, IntArray, Posterior, components
from partita.errors import InputError, TooLarge

LISTABLE = 200_000  # configurations that are listed one by one
WIDTH, PILOT = 2000, 4_000_000  # beginnings that are followed first, with so much work at most
RATE = 40_000_000  # units of work a second, about
RESIDUAL = 0.01  # a larger share that may be missing says less than draws do
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
    """Return the distribution that the merger's decisions give, templates in text order."""
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}, expected one of {', '.join(METHODS)}")
    model = merger(probabilities, compatible, must)
    parts = _parts(model)
    budget = replace(budget, memory=max(budget.memory // 2, budget.memory - PROCESS))
    shares = _shares([len(part) for part in parts])
    answers = [
        solve_part(model.part(part), _share(budget, share), seed, method)
        for part, share in zip(parts, shares, strict=True)
    ]
    return Product(model.size, [Part(p, a) for p, a in zip(parts, answers, strict=True)])


def solve_part(model: Merger, budget: Budget, seed: int, method: str) -> Posterior:
    """Return the posterior of a part by this method, or by the best that the budget allows."""
    start, planned = time.monotonic(), plan_beam(model)
    if method in ("auto", "exact"):
        if model.size <= LARGEST:
            return enumerate_configurations(model)
        number = count_configurations(possible(model))
        if number is not None and number <= LISTABLE:
            return beam(model, planned, LISTABLE)
        if method == "exact":
            raise _too_large(model, number)
    if method == "certified":
        work = RATE * budget.seconds if budget.work is None else budget.work
        fits = budget.memory // (100 * model.size)
        return beam(model, planned, int(max(8, min(fits, work / planned.cost))))
    bounded = beam(model, planned, int(min(WIDTH, max(8, PILOT / planned.cost))))
    if method == "auto" and bounded.mass.residual <= RESIDUAL:
        return bounded
    why = f"a search may miss {bounded.mass.residual:.0%} of the mass"
    seconds = max(0.1, 0.9 * (budget.seconds + start - time.monotonic()))
    left = replace(budget, seconds=seconds)
    return sampled_merging(model, left, seed, bounded, "asked for" if method == "sampled" else why)


def _too_large(model: Merger, number: int | None) -> TooLarge:
    what = f"an exact answer for {model.size} templates by merging decisions"
    needs = "more configurations than can be counted" if number is None else f"{number:.1e} of them"
    has = f"a list of {LISTABLE:,} configurations"
    return TooLarge(what, needs, has, "the methods certified and sampled need less")


def _parts(model: Merger) -> list[IntArray]:
    """Return independent parts: no template is ever drawn to one of another part.

    Where p is 0, a tail says no for certain. An excluded pair with p > 0 still has its no of
    1 − p, which depends on what both have done before: it keeps two parts together.
    """
    drawn = model.log_yes > -np.inf
    home = components(drawn | (model.groups[:, None] == model.groups[None, :]))
    return [np.flatnonzero(home == label) for label in range(int(home.max(initial=-1)) + 1)]


def _shares(sizes: list[int]) -> list[float]:
    """Divide the budget: the work grows with size, and small parts need none."""
    weights = [0.0 if size <= LARGEST else float(size) ** 2 for size in sizes]
    total = sum(weights) or 1.0
    return [weight / total if weight else 1.0 for weight in weights]


def _share(budget: Budget, share: float) -> Budget:
    work = None if budget.work is None else max(1, int(budget.work * share))
    return replace(
        budget, seconds=budget.seconds * share, memory=int(budget.memory * share), work=work
    )

"""Solve the merging model: choose a method for each independent part."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from partita.configurations.exact.listed import LARGEST
from partita.configurations.merging.lattice import (
    BITS,
    SMALL,
    Lattice,
    LatticePosterior,
    LatticeStates,
    lattice,
)
from partita.configurations.merging.listed import ListedPosterior, enumerate_configurations
from partita.configurations.merging.model import Merger, is_constrained, merger, reach_of
from partita.configurations.merging.states import small_states
from partita.configurations.merging.unconstrained import (
    bytes_needed,
    questions_needed,
    unconstrained,
)
from partita.configurations.product_posterior import Part, Product
from partita.core import BoolArray, Budget, FloatArray, IntArray, Posterior, components
from partita.errors import InputError, TooLarge

RATE = 2_000_000  # decisions a second, at least, with all questions answered
TAIL_RATE = 150_000_000  # questions a second to sets of tails
PILOT = 200_000  # decisions that show whether more would help,
PILOT_EACH = 5_000  # and so many more for each template
RESIDUAL = 0.01  # a larger share that may be missing says less than draws do


def solve_part(model: Merger, budget: Budget, seed: int, method: str) -> Posterior:
    """Return the posterior of a part by this method, or by the best that the budget allows."""
    if method in ("auto", "exact"):
        if model.size <= LARGEST:
            return enumerate_configurations(model)
        if not is_constrained(model) and _unconstrained_fits(model, budget):
            return unconstrained(model, budget)
    if method == "sampled":
        return _sampled(model, budget, seed, "asked for")
    if method == "certified":
        return _bounded(model, budget, _decisions(model, budget))
    return _exact_or_beyond(model, budget, seed, method == "exact")


def _exact_or_beyond(model: Merger, budget: Budget, seed: int, needed: bool) -> Posterior:
    start, room = time.monotonic(), _decisions(model, budget)
    if not _packs(model):
        if needed:
            raise _too_large(model, math.inf, room)
        return _sampled(model, budget, seed, f"{model.size} templates, too many states")
    grown, growing = _grow(model, budget, room, needed)
    if grown.mass.exact or (grown.mass.residual <= RESIDUAL and not needed):
        return _lattice_posterior(model, budget, grown)
    if needed:
        raise _too_large(model, growing, room)
    why = f"a search may miss {grown.mass.residual:.0%} of the mass"
    return _sampled(
        model, _left(budget, start), seed, why, _lattice_posterior(model, budget, grown)
    )


def _grow(model: Merger, budget: Budget, room: float, needed: bool) -> tuple[Lattice, float]:
    """Return a lattice as large as may be useful, and the size that the whole would have."""
    lattice(_states(model), model.size, 1)  # so that compilation is not timed
    start = time.monotonic()
    pilot = PILOT + PILOT_EACH * model.size
    grown = lattice(_states(model), model.size, min(room, pilot))
    growing = predicted_decisions(grown, reach_of(model))
    if grown.mass.exact or room <= pilot:
        return grown, growing
    if budget.work is None:  # a busy machine gets less done
        room = min(room, 0.5 * budget.seconds * grown.made / (time.monotonic() - start))
    if growing <= 1.5 * room:
        return lattice(_states(model), model.size, room), growing
    if grown.mass.residual < 0.5 and not needed:
        return lattice(_states(model), model.size, room / 2), growing
    return grown, growing


def _left(budget: Budget, start: float) -> Budget:
    """Return the budget with the remaining time; units of work start anew."""
    return replace(budget, seconds=max(0.1, 0.9 * (budget.seconds + start - time.monotonic())))


def _too_large(model: Merger, needs: float, has: float) -> TooLarge:
    what = f"an exact answer for {model.size} templates by merging decisions"
    needed = f"about {needs:.1e} decisions" if needs < 1e15 else "more decisions than can be made"
    return TooLarge(what, needed, f"{has:.1e}", "the methods certified and sampled need less")


def _unconstrained_fits(model: Merger, budget: Budget) -> bool:
    work = TAIL_RATE * budget.seconds if budget.work is None else budget.work
    return bytes_needed(model) <= budget.memory and questions_needed(model) <= work


def _packs(model: Merger) -> bool:
    """Return whether what relates two templates fits into a word."""
    return reach_of(model) <= BITS


def _states(model: Merger) -> LatticeStates:
    if model.size <= SMALL:
        return small_states(model)
    from partita.configurations.merging.states import packed_states

    return packed_states(model)


def _decisions(model: Merger, budget: Budget) -> float:
    """Return how many decisions the budget allows, by time and by memory."""
    work = float(RATE * budget.seconds if budget.work is None else budget.work)
    if model.size <= SMALL or not _packs(model):
        return work
    from partita.configurations.merging.states import words_needed

    return min(work, 0.8 * budget.memory / (24 + 8 * (2 + words_needed(model))))


def predicted_decisions(lattice: Lattice, reach: int) -> float:
    """Predict the number of decisions of the whole lattice, from its growth before it was cut."""
    sizes = [len(step.target) for step in lattice.steps]
    if lattice.mass.exact:
        return float(sum(sizes))
    grown = sizes[: max(1, lattice.whole - 1)]
    recent, earlier = max(grown[-reach:]), max(grown[:-reach], default=0)
    if recent <= 1.5 * earlier:  # no template is related to so many that it goes on growing
        return float(recent * len(sizes))
    growth = min(2.5, (grown[-1] / grown[max(0, len(grown) - 4)]) ** (1 / 3))
    left = len(sizes) - len(grown)
    return float(sum(grown[-1] * growth ** min(x, reach, max(1, left - 3)) for x in range(left)))


def _lattice_posterior(model: Merger, budget: Budget, lattice: Lattice) -> LatticePosterior:
    states = sum(len(masses) for masses in lattice.masses)
    reason = f"merging decisions over {states} states"
    if not lattice.mass.exact:
        reason += f", at most {lattice.mass.residual:.1e} of the mass dropped"
    return LatticePosterior(model, lattice.mass, lattice, budget.memory, reason)


def _bounded(model: Merger, budget: Budget, room: float) -> ListedPosterior | LatticePosterior:
    """Return the result of a bounded search, and a bound for the rest."""
    if _packs(model):
        return _lattice_posterior(model, budget, lattice(_states(model), model.size, room))
    from partita.configurations.merging.listed import beam
    from partita.configurations.merging.particles import plan_beam

    planned = plan_beam(model)
    width = int(min(2000, max(8, 20 * room / planned.cost)))
    return beam(model, planned, width)


def _sampled(
    model: Merger,
    budget: Budget,
    seed: int,
    why: str,
    bounded: ListedPosterior | LatticePosterior | None = None,
) -> Posterior:
    from partita.configurations.merging.sampled import sampled_merging

    if bounded is None:
        bounded = _bounded(model, budget, min(PILOT, 0.2 * _decisions(model, budget)))
    return sampled_merging(model, budget, seed, bounded, why)


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


def _parts(model: Merger) -> list[IntArray]:
    """Return independent parts: no template is ever drawn to one of another part.

    Where p is 0, a tail says no for certain. An excluded pair with p > 0 still has its no of
    1 − p, which depends on what both have done before: it keeps two parts together.
    """
    drawn = model.log_yes > -math.inf
    home = components(drawn | (model.groups[:, None] == model.groups[None, :]))
    return [np.flatnonzero(home == label) for label in range(int(home.max(initial=-1)) + 1)]


def _shares(sizes: list[int]) -> list[float]:
    """Divide the budget: the work grows with size, and small parts need none."""
    weights = [0.0 if size <= 9 else float(size) ** 2 for size in sizes]
    total = sum(weights) or 1.0
    return [weight / total if weight else 1.0 for weight in weights]


def _share(budget: Budget, share: float) -> Budget:
    work = None if budget.work is None else max(1, int(budget.work * share))
    return replace(
        budget, seconds=budget.seconds * share, memory=int(budget.memory * share), work=work
    )

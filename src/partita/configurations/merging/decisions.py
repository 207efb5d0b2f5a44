"""Solve the merging model: choose a method for each independent part.

Sets without incompatible pairs are answered here by a pass over sets of tails.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from partita.configurations.exact.listed import LARGEST
from partita.configurations.merging.lattice import (
    BITS,
    Choice,
    Lattice,
    LatticePosterior,
    best_first,
    lattice,
    packed_states,
    words_needed,
)
from partita.configurations.merging.listed import (
    ListedPosterior,
    MergingPosterior,
    beam,
    enumerate_configurations,
)
from partita.configurations.merging.model import Merger, is_constrained, merger, reach_of
from partita.configurations.product_posterior import Part, Product
from partita.core import (
    Best,
    BoolArray,
    Budget,
    Figure,
    FloatArray,
    IntArray,
    Marginals,
    Method,
    Posterior,
    components,
)
from partita.errors import InputError, TooLarge


@dataclass(frozen=True, slots=True, eq=False)
class UnconstrainedPosterior(MergingPosterior):
    """The exact posterior where no yes is ever forbidden."""

    asked: FloatArray
    starts: FloatArray
    ends: FloatArray
    budget: Budget
    reason: str
    method: Method = "exact"
    log_normaliser: Figure = field(default=Figure.exact(0.0))

    def links(self) -> FloatArray:
        """Return D: for an earlier and a later template the probability that the later joins it."""
        linked: FloatArray = (self.asked * np.exp(self.model.log_yes)).T
        return linked

    def entropy(self) -> Figure:
        """Sum the entropies of the answers, each weighted by the probability of its question."""
        yes, no = np.tril(self.model.log_yes, -1), np.tril(self.model.log_no, -1)
        with np.errstate(invalid="ignore"):
            each = np.nan_to_num(np.exp(yes) * yes) + np.nan_to_num(np.exp(no) * no)
        return Figure.exact(abs(float((self.asked * each).sum())) / math.log(2))

    def pairs(self) -> Marginals:
        together, links, reach = np.eye(self.size), self.links(), window(self.model)
        for x in range(1, self.size):
            near = slice(max(0, x - reach), x)
            together[:x, x] = together[:x, near] @ links[near, x]
        return Marginals.exact(np.clip(together + np.triu(together, 1).T, 0.0, 1.0))

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        links = self.links()
        for first in np.flatnonzero(self.starts).tolist():
            yield from self._chains((first,), float(self.starts[first]), links)

    def _chains(
        self, cell: tuple[int, ...], share: float, links: FloatArray
    ) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield all cells that begin like this one, depth first."""
        if self.ends[cell[-1]] > 0:
            yield cell, share * float(self.ends[cell[-1]])
        for later in np.flatnonzero(links[cell[-1]]).tolist():
            yield from self._chains((*cell, later), share * float(links[cell[-1], later]), links)

    def best(self, k: int) -> Best:
        tables = best_completions(self.model, self.budget)
        return best_first(self.size, _choices(self.model), lambda x, t: float(tables[x][t >> 1]), k)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        from partita.configurations.merging.particles import island, plan_beam

        return island(plan_beam(self.model), count, rng)[0].home.astype(np.int64)


def window(model: Merger) -> int:
    """Return the largest distance in text order over which a template may be drawn to a tail."""
    later, earlier = np.nonzero(np.tril(model.log_yes > -math.inf, -1))
    return int((later - earlier).max(initial=1))


def bytes_needed(model: Merger) -> int:
    """Return the bytes of the tables of the forward pass at their largest."""
    return 24 << max(0, window(model) - 1)


def questions_needed(model: Merger) -> int:
    """Return the number of questions that the forward pass asks."""
    width = window(model)
    return (model.size - width + 1) * width << max(0, width - 2)


def unconstrained(model: Merger, budget: Budget) -> UnconstrainedPosterior:
    """Compute one forward pass over all sets of tails; the latest template is always one of them.

    A table has an entry for every set of older tails: bit d is the tail d + 2 places back.
    """
    from partita.configurations.merging.kernels import shared

    width, n = window(model), model.size
    reach, starts, ends = np.zeros((n, n)), np.ones(n), np.ones(n)
    chances = np.ones(1)
    for x in range(1, n):
        back = x - 1 - np.arange(len(chances).bit_length())
        p, q = np.exp(model.log_yes[x, back]), np.exp(model.log_no[x, back])
        latest, asked, starts[x] = shared(chances * q[0], p[1:], q[1:])
        reach[x, back] = [1.0, *asked]
        chances = _forget(np.stack([chances * p[0], latest], axis=1).ravel(), x, width, ends)
    for d in range(len(chances).bit_length() - 1):
        ends[n - 2 - d] = _with_bit(chances, d)[:, 1].sum()
    return UnconstrainedPosterior(
        model, reach, starts, ends, budget, "exact over sets of tails, no answer being excluded"
    )


def _forget(chances: FloatArray, x: int, width: int, ends: FloatArray) -> FloatArray:
    """Remove the tail that nothing later is drawn to; if it is one, its cell ends with it."""
    if len(chances) < 1 << width:
        return chances
    halves = _with_bit(chances, width - 1)
    ends[x - width] = halves[:, 1].sum()
    forgotten: FloatArray = halves.sum(axis=1).ravel()
    return forgotten


def _with_bit(table: FloatArray, d: int) -> FloatArray:
    """Return a view of a table over sets with the membership of tail d as its middle axis."""
    return table.reshape(-1, 2, 1 << d)


def best_completions(model: Merger, budget: Budget) -> list[FloatArray]:
    """Compute backward, for every set of older tails before each template, the best completion."""
    width, n = window(model), model.size
    needs = sum(8 << min(x, width) for x in range(n))
    if needs > budget.memory:
        has = f"{budget.memory >> 20} MB"
        raise TooLarge("the best configurations in order", f"{needs >> 20} MB", has)
    tables = [np.zeros(1 << min(n, width) - 1)]
    for x in range(n - 1, 0, -1):
        tables.append(_best_answer(model, x, min(x, width) - 1, tables[-1]))
    return [np.zeros(1), *tables[::-1]]


def _best_answer(model: Merger, x: int, older: int, later: FloatArray) -> FloatArray:
    if len(later) == 1 << older:  # the oldest tail is forgotten now and makes no difference
        later = np.tile(later, 2)
    best = later[1::2] + model.log_no[x, x - 1]
    for d in range(older - 1, -1, -1):
        asked = _with_bit(best, d)[:, 1]
        asked += model.log_no[x, x - 2 - d]
        yes = model.log_no[x, x - 1] + model.log_yes[x, x - 2 - d]
        np.maximum(asked, _with_bit(later[1::2], d)[:, 0] + yes, out=asked)
    joined: FloatArray = np.maximum(best, later[::2] + model.log_yes[x, x - 1])
    return joined


def _choices(model: Merger) -> Callable[[int, int], list[Choice]]:
    """Return a function that lists a template's choices given the set of tails before it."""
    full = (1 << window(model)) - 1

    def choices(x: int, tails: int) -> list[Choice]:
        joins, spent = [], 0.0
        for d in (d for d in range(tails.bit_length()) if tails >> d & 1):
            yes = spent + float(model.log_yes[x, x - 1 - d])
            joins.append((x - 1 - d, yes, ((tails ^ 1 << d) << 1 | 1) & full))
            spent += float(model.log_no[x, x - 1 - d])
        return [*joins, (-1, spent, (tails << 1 | 1) & full)]

    return choices


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
    lattice(packed_states(model), model.size, 1)  # so that compilation is not timed
    start = time.monotonic()
    pilot = PILOT + PILOT_EACH * model.size
    grown = lattice(packed_states(model), model.size, min(room, pilot))
    growing = predicted_decisions(grown, reach_of(model))
    if grown.mass.exact or room <= pilot:
        return grown, growing
    if budget.work is None:  # a busy machine gets less done
        room = min(room, 0.5 * budget.seconds * grown.made / (time.monotonic() - start))
    if growing <= 1.5 * room:
        return lattice(packed_states(model), model.size, room), growing
    if grown.mass.residual < 0.5 and not needed:
        return lattice(packed_states(model), model.size, room / 2), growing
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


def _decisions(model: Merger, budget: Budget) -> float:
    """Return how many decisions the budget allows, by time and by memory."""
    work = float(RATE * budget.seconds if budget.work is None else budget.work)
    if not _packs(model):
        return work
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
        return _lattice_posterior(model, budget, lattice(packed_states(model), model.size, room))
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

"""Answers for sets without incompatible pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from partita.configurations.merging.lattice import Choice, best_first
from partita.configurations.merging.listed import MergingPosterior
from partita.configurations.merging.model import Merger
from partita.core import Best, BoolArray, Budget, Figure, FloatArray, IntArray, Marginals, Method
from partita.errors import TooLarge


def simulate(model: Merger, count: int, rng: np.random.Generator) -> IntArray:
    """Draw independent configurations as rows of labels."""
    labels = np.zeros((count, model.size), dtype=np.int64)
    tail = np.zeros((count, model.size), dtype=bool)
    cells = np.zeros(count, dtype=np.int64)
    for x in range(model.size):
        alone = _ask(model, x, labels, tail, rng)
        labels[alone, x] = cells[alone]
        cells += alone
        tail[:, x] = True
    return labels


def _ask(
    model: Merger, x: int, labels: IntArray, tail: BoolArray, rng: np.random.Generator
) -> BoolArray:
    """Let x ask the tails of every draw, latest first; where none answers yes, it starts a cell."""
    alone = np.ones(len(labels), dtype=bool)
    for t in np.flatnonzero(model.log_yes[x, :x] > -math.inf)[::-1]:
        asked = np.flatnonzero(alone & tail[:, t])
        joins = asked[rng.random(len(asked)) < math.exp(model.log_yes[x, t])]
        labels[joins, x] = labels[joins, t]
        tail[joins, t] = alone[joins] = False
    return alone


Share = Callable[[FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray, float]]
COMPILED = 15  # from so many tails on, compiled loops pay for their start


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
        return simulate(self.model, count, rng)


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
    width, n = window(model), model.size
    reach, starts, ends = np.zeros((n, n)), np.ones(n), np.ones(n)
    chances = np.ones(1)
    share = _compiled() if width > COMPILED else shared
    for x in range(1, n):
        back = x - 1 - np.arange(len(chances).bit_length())
        p, q = np.exp(model.log_yes[x, back]), np.exp(model.log_no[x, back])
        latest, asked, starts[x] = share(chances * q[0], p[1:], q[1:])
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


def shared(left: FloatArray, p: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Let a template ask every set of tails: sets without the one joined, chances of being asked.

    `left` is spent. The last figure is the chance that all say no.
    """
    after, asked = np.zeros(len(left)), np.empty(len(p))
    for d in range(len(p)):
        tails = _with_bit(left, d)[:, 1]
        asked[d] = tails.sum()
        _with_bit(after, d)[:, 0] += tails * p[d]
        tails *= q[d]
    after += left
    return after, asked, float(left.sum())


def _compiled() -> Share:
    from partita.configurations.merging.kernels import shared as compiled

    share: Share = compiled
    return share


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

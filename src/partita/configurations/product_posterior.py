"""The posterior of a set as the product of its independent parts."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from partita.core import (
    Best,
    Figure,
    FloatArray,
    IntArray,
    Kind,
    Marginals,
    Method,
    Posterior,
    restricted_growth,
    restricted_growth_rows,
)
from partita.core.configurations import least_cells

ORDER: tuple[Kind, ...] = ("exact", "interval", "estimate")
METHODS: tuple[Method, ...] = ("exact", "certified", "sampled")


def total(figures: Sequence[Figure]) -> Figure:
    """Return the sum of independent figures, no surer than the least sure of them."""
    kind = ORDER[max((ORDER.index(figure.kind) for figure in figures), default=0)]
    value = math.fsum(figure.value for figure in figures)
    if kind == "estimate":
        spread = math.sqrt(math.fsum((figure.high - figure.value) ** 2 for figure in figures))
        return Figure.estimate(value, spread)
    low = math.fsum(figure.low for figure in figures)
    high = math.fsum(figure.high for figure in figures)
    return Figure(value, low, high, kind)


def least_sure(methods: Sequence[Method]) -> Method:
    """Return the least certain of the parts' methods."""
    return METHODS[max((METHODS.index(method) for method in methods), default=0)]


def entropy_bounds(within: float, most: float, least: float) -> tuple[float, float]:
    """Bound an entropy in bits, from that `within` a part with at least the probability `least`.

    H = h(q) + q·within + (1 − q)·rest with q ≥ least and 0 ≤ rest ≤ most. Both bounds are concave
    in q: the least is at an end, the largest at the left end or where the derivative is 0.
    """
    q = max(least, 1.0 / (1.0 + 2.0 ** min(1000.0, most - within)))
    low = min(within, _coin(least) + least * within)
    return low, _coin(q) + q * within + (1.0 - q) * most


def _coin(q: float) -> float:
    """Return the entropy of a coin, in bits."""
    return -sum(p * math.log2(p) for p in (q, 1.0 - q) if p > 0.0)


# The posterior of one connected component, from θ and the share of the time left that it may take.
Engine = Callable[[FloatArray, float], Posterior]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A component: the positions of its templates in the whole, and its posterior."""

    positions: IntArray
    posterior: Posterior


class Product:
    """The posterior of a set whose parts cannot corefer."""

    def __init__(self, size: int, parts: Sequence[Part]) -> None:
        self.size = size
        self.parts = tuple(parts)
        self.log_normaliser = total([part.posterior.log_normaliser for part in self.parts])
        self.method: Method = least_sure([part.posterior.method for part in self.parts])
        self.reason = _reasons([part.posterior.reason for part in self.parts])
        verdicts = [getattr(part.posterior, "converged", None) for part in self.parts]
        self.converged = None if all(word is None for word in verdicts) else False not in verdicts

    def log_weight(self, labels: IntArray) -> float:
        home = np.empty(self.size, dtype=np.int64)
        for number, part in enumerate(self.parts):
            home[part.positions] = number
        if np.any((labels[:, None] == labels) & (home[:, None] != home)):
            return -math.inf
        rows = (restricted_growth(labels[part.positions]) for part in self.parts)
        weights = (p.posterior.log_weight(row) for p, row in zip(self.parts, rows, strict=True))
        return math.fsum(weights)

    def count(self) -> int | None:
        counts = [part.posterior.count() for part in self.parts]
        return None if None in counts else math.prod(c for c in counts if c is not None)

    def log2_count(self) -> Figure:
        return total([part.posterior.log2_count() for part in self.parts])

    def entropy(self) -> Figure:
        return total([part.posterior.entropy() for part in self.parts])

    def pairs(self) -> Marginals:
        value, low, high = (np.eye(self.size) for _ in range(3))
        kinds = [0]
        for part in self.parts:
            marginals = part.posterior.pairs()
            inside = np.ix_(part.positions, part.positions)
            value[inside], low[inside], high[inside] = (
                marginals.value,
                marginals.low,
                marginals.high,
            )
            kinds.append(ORDER.index(marginals.kind))
        return Marginals(value, low, high, ORDER[max(kinds)])

    def least_cells(self) -> int:
        return sum(least_cells(part.posterior) for part in self.parts)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        for part in self.parts:
            for cell, probability in part.posterior.cells():
                yield tuple(part.positions[list(cell)].tolist()), probability

    def best(self, k: int) -> Best:
        best = Best(np.zeros((1, self.size), dtype=np.int64), np.zeros(1))
        for part in self.parts:
            best = _best_sums(best, part.posterior.best(k), part.positions, k)
        return Best(restricted_growth_rows(best.labels), best.log_weights, best.gap)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        rows = np.zeros((count, self.size), dtype=np.int64)
        for part in self.parts:
            offset = rows.max(initial=0) + 1
            rows[:, part.positions] = part.posterior.draws(count, rng) + offset
        return restricted_growth_rows(rows)


def _reasons(reasons: Sequence[str]) -> str:
    """Return the distinct reasons, each with the number of parts it holds for."""
    numbers = {reason: reasons.count(reason) for reason in reasons}
    if len(reasons) <= 1:
        return "".join(reasons) or "nothing can corefer"
    lines = (f"{number} × {reason}" for reason, number in numbers.items())
    return f"{len(reasons)} independent parts: " + "; ".join(lines)


def _best_sums(left: Best, right: Best, positions: IntArray, k: int) -> Best:
    """Return the k best of all sums of one from each list, both in order."""
    chosen = _largest_sums(left.log_weights, right.log_weights, k)
    first, second = (np.array(side, dtype=np.int64) for side in zip(*chosen, strict=True))
    labels = left.labels[first].copy()
    labels[:, positions] = right.labels[second] + labels.max(initial=0) + 1
    weights = left.log_weights[first] + right.log_weights[second]
    return Best(labels, weights, max(0.0, _best_unlisted(left, right) - float(weights[-1])))


def _best_unlisted(left: Best, right: Best) -> float:
    """Return the most that a sum can reach with one side beyond its list, if not proved."""
    return max(_beyond(left) + _most(right), _most(left) + _beyond(right), key=_without_nan)


def _beyond(best: Best) -> float:
    """Return the most that an unlisted configuration can reach; −∞ if the list is proved."""
    return float(best.log_weights[-1]) + best.gap if best.gap else -math.inf


def _most(best: Best) -> float:
    return max(float(best.log_weights[0]), _beyond(best))


def _without_nan(reach: float) -> float:
    """Replace ∞ − ∞: one side is proved, so there is nothing beyond it."""
    return -math.inf if math.isnan(reach) else reach


def _largest_sums(left: FloatArray, right: FloatArray, k: int) -> list[tuple[int, int]]:
    """Return places (i, j) of the k largest left[i] + right[j], best first."""
    queue = [(-float(left[0] + right[0]), 0, 0)]
    places: list[tuple[int, int]] = []
    while queue and len(places) < k:
        _, i, j = heapq.heappop(queue)
        places.append((i, j))
        if j + 1 < len(right):
            heapq.heappush(queue, (-float(left[i] + right[j + 1]), i, j + 1))
        if j == 0 and i + 1 < len(left):
            heapq.heappush(queue, (-float(left[i + 1] + right[0]), i + 1, 0))
    return places


class Contracted:
    """The posterior of all templates, from that of the groups which must corefer.

    `home` gives each template the number of its group.
    """

    def __init__(self, groups: Posterior, home: IntArray) -> None:
        self.groups, self.home = groups, home
        self.size = len(home)
        self.log_normaliser = groups.log_normaliser
        self.method: Method = groups.method
        self.reason = groups.reason
        self.converged = getattr(groups, "converged", None)
        self.first = np.array([np.argmax(home == g) for g in range(groups.size)], dtype=np.int64)

    def log_weight(self, labels: IntArray) -> float:
        of_groups = labels[self.first]
        if not np.array_equal(of_groups[self.home], labels):
            return -math.inf
        return self.groups.log_weight(restricted_growth(of_groups))

    def count(self) -> int | None:
        return self.groups.count()

    def log2_count(self) -> Figure:
        return self.groups.log2_count()

    def entropy(self) -> Figure:
        return self.groups.entropy()

    def pairs(self) -> Marginals:
        marginals, spread = self.groups.pairs(), np.ix_(self.home, self.home)
        return Marginals(
            marginals.value[spread], marginals.low[spread], marginals.high[spread], marginals.kind
        )

    def least_cells(self) -> int:
        return least_cells(self.groups)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        for cell, probability in self.groups.cells():
            yield tuple(np.flatnonzero(np.isin(self.home, cell)).tolist()), probability

    def best(self, k: int) -> Best:
        best = self.groups.best(k)
        return Best(best.labels[:, self.home], best.log_weights, best.gap)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        return self.groups.draws(count, rng)[:, self.home]

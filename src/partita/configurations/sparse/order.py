"""Choose an elimination order and predict its cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from partita.configurations.sparse.tree import (
    DEGREE,
    FILL,
    EliminationStep,
    Join,
    degeneracy,
    eliminate,
    steps,
)
from partita.core import BoolArray, FloatArray, IntArray

WIDEST = 28  # bits of the largest table that is ever thought of
PATIENCE = 200_000_000  # words that one search for an order may read
CHEAP = 2e8  # operations below which no other order is looked for
TRIES = 12
ROOM = 32 << 20  # bytes that Python and numpy take beside the tables
PER_STEP, PER_CLIQUE, PER_ENTRY = 1e5, 100.0, 10.0  # operations beside the products
PER_PAIR = 1.1  # nanoseconds for one pair of a listed entry and a place of the table


@dataclass(frozen=True, slots=True, eq=False)
class EliminationPlan:
    """An order, the bits of its largest message, and the cost of the exact answer at most.

    An operation is about a nanosecond of one core; both are infinite if no order is narrow
    enough, and `width` is then a lower bound. Bytes are for every question; draws and the K best
    need 40 a template and row besides.
    """

    order: IntArray
    width: int
    operations: float
    bytes: float
    steps: Sequence[EliminationStep] = ()


class _Cost(NamedTuple):
    """The cost of one step: operations up, operations down, bytes in use beside messages."""

    up: float
    down: float
    room: float


class _CostedSteps(NamedTuple):
    steps: list[EliminationStep]
    costs: list[_Cost]

    @property
    def operations(self) -> float:
        return sum(cost.up + cost.down for cost in self.costs)

    @property
    def width(self) -> int:
        return max((len(step.dims) for step in self.steps), default=0)


def plan_elimination(theta: FloatArray) -> EliminationPlan:
    """Return the cheapest order found."""
    compatible = theta > -np.inf
    rows = _rows(compatible)
    least = int(degeneracy(rows))
    cheapest = _cheapest(compatible, rows, least) if least <= WIDEST else None
    if cheapest is None:
        return EliminationPlan(np.arange(len(theta)), least, math.inf, math.inf)
    order = np.array([step.vertex for step in cheapest.steps], dtype=np.int64)
    needs = _bytes(cheapest)
    return EliminationPlan(order, cheapest.width, cheapest.operations, needs, cheapest.steps)


def _rows(compatible: BoolArray) -> np.ndarray:
    """Return the graph as rows of 64-bit words."""
    n = len(compatible)
    padded = np.zeros((n, max(1, -(-n // 64)) * 64), dtype=np.bool_)
    padded[:, :n] = compatible
    np.fill_diagonal(padded, False)
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _cheapest(compatible: BoolArray, rows: np.ndarray, least: int) -> _CostedSteps | None:
    best: _CostedSteps | None = None
    for order in _orders(rows):
        candidate = steps(order.tolist(), compatible, WIDEST) if len(order) == len(rows) else None
        if candidate is None:
            continue
        costed = _CostedSteps(candidate, [_step_cost(step) for step in candidate])
        if best is None or costed.operations < best.operations:
            best = costed
        if best.operations < CHEAP or best.width == least:
            break
    return best


def _orders(rows: np.ndarray) -> Iterator[IntArray]:
    """Yield orders to try, the quickest to find first."""
    n = len(rows)
    text = np.arange(n)
    yield text
    yield eliminate(rows.copy(), text, DEGREE, WIDEST, PATIENCE)
    yield eliminate(rows.copy(), text, FILL, WIDEST, PATIENCE)
    # other ways to break ties; a fixed seed, so that a plan depends on the graph alone
    rng = np.random.default_rng(0)
    for _ in range(TRIES if n <= 500 else 0):
        ties = rng.permutation(n)
        yield eliminate(rows.copy(), ties, FILL, WIDEST, PATIENCE // TRIES)


def counting_operations(steps: Iterable[EliminationStep]) -> float:
    """Return the operations of a count: the way up."""
    return sum(_step_cost(step).up for step in steps)


def _step_cost(step: EliminationStep) -> _Cost:
    once = PER_PAIR * step.pairs
    joins = sum(_join_cost(join) for join in step.joins)
    entries = 2.0 ** len(step.dims) + sum(2.0 ** len(join.dims) for join in step.joins)
    up = PER_STEP / 3 + once + joins + PER_CLIQUE / 2 * step.cliques + PER_ENTRY * entries
    down = up + once + 2 * joins + PER_STEP / 3 + PER_CLIQUE * step.cliques
    listed = sum(2.0 ** len(join.listed) for join in step.joins)
    return _Cost(up, down, 64 * entries + 128 * step.cliques + 32 * listed)


def _join_cost(join: Join) -> float:
    bits = len(join.dense)
    shared = bits - join.own
    above = len(join.listed) - shared
    every = 2.0**join.own * 3.0**shared * 2.0**above
    return PER_PAIR * min(every, join.entries * 2.0**bits)


def _bytes(costed: _CostedSteps) -> float:
    """Sum the messages, slopes on the way down, and one step's room.

    Messages count twice: the maxima, for the best, are there beside the sums.
    """
    steps = costed.steps
    sizes = [8.0 * 2.0 ** len(step.dims) for step in steps]
    slopes = most = 0.0
    for n in reversed(range(len(steps))):
        slopes += sum(sizes[child] for child in steps[n].children) - sizes[n]
        most = max(most, slopes + sizes[n] + costed.costs[n].room)
    return 2.0 * sum(sizes) + most + ROOM + 40.0 * len(steps) ** 2 + 4096.0 * len(steps)

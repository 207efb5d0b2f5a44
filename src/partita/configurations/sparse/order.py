"""Choose an elimination order and predict its cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from partita.configurations.sparse.steps import EliminationStep, steps
from partita.core import BoolArray, FloatArray, IntArray

WIDEST = 28  # bits of the largest table that is ever thought of
CHEAP = 5e8  # operations below which no other order is looked for
TRIES = 8  # templates from which orders begin
SMALL = 300  # templates up to which each next one is sought among all
ROOM = 32 << 20  # bytes that Python and numpy take beside the tables
PER_STEP, PER_CLIQUE, PER_ENTRY = 1e5, 100.0, 10.0  # operations beside the products
PER_PAIR = 1.1  # nanoseconds for one pair of a listed entry and a place of the table


@dataclass(frozen=True, slots=True, eq=False)
class EliminationPlan:
    """An order, the bits of its largest message, and the cost of the exact answer at most.

    An operation is about a nanosecond of one core; both are infinite if no order is narrow
    enough. Bytes are for every question; draws and the K best need 40 a template and row besides.
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


def plan_elimination(theta: FloatArray) -> EliminationPlan:
    """Return the cheapest order found."""
    cheapest: _CostedSteps | None = None
    for order in _orders(theta > -np.inf):
        found = steps(order, theta > -np.inf, WIDEST) if len(order) == len(theta) else None
        costed = found and _CostedSteps(found, _costs(found))
        if costed and (cheapest is None or costed.operations < cheapest.operations):
            cheapest = costed
        if cheapest and cheapest.operations < CHEAP:
            break
    if cheapest is None:
        return EliminationPlan(np.arange(len(theta)), WIDEST + 1, math.inf, math.inf)
    vertices = np.array([step.vertex for step in cheapest.steps], dtype=np.int64)
    width = max((len(step.dims) for step in cheapest.steps), default=0)
    return EliminationPlan(vertices, width, cheapest.operations, _bytes(cheapest), cheapest.steps)


def _orders(compatible: BoolArray) -> Iterator[list[int]]:
    """Yield orders to try: that of the text, and narrow ones from templates with few neighbours."""
    near = compatible & ~np.eye(len(compatible), dtype=np.bool_)
    yield list(range(len(near)))
    for start in np.argsort(near.sum(axis=1), kind="stable")[:TRIES].tolist():
        for newest in (False, True):
            yield _narrow_order(near, start, newest, everywhere=False)
            if len(near) <= SMALL:
                yield _narrow_order(near, start, newest, everywhere=True)


def _narrow_order(near: BoolArray, start: int, newest: bool, everywhere: bool) -> list[int]:
    """Return an order in which each next template adds the fewest to the border.

    The border are the templates to come with an eliminated neighbour. The next one is from the
    border, or from `everywhere`; among equals the one that has been in it longest, or shortest. It
    ends early where the border is too wide.
    """
    left, border = np.ones(len(near), dtype=np.bool_), np.zeros(len(near), dtype=np.bool_)
    since, order = np.zeros(len(near), dtype=np.int64), [start]
    while True:
        left[order[-1]] = border[order[-1]] = False
        fresh = near[order[-1]] & left & ~border
        since[fresh] = -len(order) if newest else len(order)
        border |= fresh
        if len(order) == len(near) or border.sum() > WIDEST:
            return order
        able = np.flatnonzero(left if everywhere or not border.any() else border)
        added = (near[able] & left & ~border).sum(axis=1) - border[able]
        order.append(int(able[np.lexsort((since[able], added))[0]]))


def counting_operations(steps: Sequence[EliminationStep]) -> float:
    """Return the operations of a count: the way up."""
    return sum(cost.up for cost in _costs(steps))


def _costs(steps: Sequence[EliminationStep]) -> list[_Cost]:
    return [_step_cost(step, before) for step, before in zip(steps, _sizes(steps), strict=False)]


def _sizes(steps: Sequence[EliminationStep]) -> list[float]:
    """Return the entries of the table before each step, and of the last one."""
    return [1.0, *(2.0 ** len(step.dims) for step in steps)]


def _step_cost(step: EliminationStep, before: float) -> _Cost:
    once, entries = PER_PAIR * step.pairs, 2.0 ** len(step.dims) + before
    up = PER_STEP / 3 + once + PER_CLIQUE / 2 * step.cliques + PER_ENTRY * entries
    down = up + once + PER_STEP / 3 + PER_CLIQUE * step.cliques
    return _Cost(up, down, 64 * entries + 128 * step.cliques)


def _bytes(costed: _CostedSteps) -> float:
    """Sum the messages and one step's room.

    Messages count twice: the maxima, for the best, are there beside the sums.
    """
    most = max((cost.room for cost in costed.costs), default=0.0)
    n = len(costed.steps)
    return 16.0 * sum(_sizes(costed.steps)) + most + ROOM + 40.0 * n**2 + 4096.0 * n

"""The recursion along an elimination: normaliser upwards, marginals downwards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from partita.configurations.sparse import kernels
from partita.configurations.sparse.tree import EliminationStep, Join
from partita.core import FloatArray, IntArray

SUM, MAX, LOG = kernels.SUM, kernels.MAX, kernels.LOG
LOG2 = math.log(2.0)
WHOLE = 53  # bits of an integer that a double holds
SMALLEST = -1022  # the exponent of the smallest double that keeps all its digits


class SubsetMessage(NamedTuple):
    """A table over subsets, times 2^exponent."""

    table: FloatArray
    exponent: int


class Operand(NamedTuple):
    """A factor of a step or a join: a dense table and listed entries, times 2^exponent."""

    table: FloatArray
    masks: IntArray
    weights: FloatArray
    exponent: int

    @property
    def bits(self) -> int:
        return len(self.table).bit_length() - 1


class StepChoices(NamedTuple):
    """The choices at a step: its template covered from below, or a cell chosen now."""

    covered: FloatArray
    chosen: Operand
    log_weights: FloatArray


class StepCells(NamedTuple):
    """The cells whose first template is a step's: masks over its message, log-weights, P."""

    step: EliminationStep
    masks: IntArray
    log_weights: FloatArray
    probabilities: FloatArray


@dataclass(slots=True, eq=False)
class Recursion:
    """The messages of one algebra; `scale` is subtracted from log w(C) for every member of C.

    `loss` is the logarithm, to base 2, of a bound on the probability that vanished because a
    product was too small for a double.
    """

    steps: Sequence[EliminationStep]
    theta: FloatArray
    scale: FloatArray
    kind: int
    loss: float = -math.inf
    messages: dict[int, SubsetMessage] = field(default_factory=dict)

    # up

    def total(self) -> float:
        """Return log Z, or the largest log-weight; no message is kept."""
        for n, step in enumerate(self.steps):
            self.messages[n] = self._message(step)
            for child in step.children:
                del self.messages[child]
        return self._at_roots()

    def keep(self) -> float:
        """Return the same as `total`, and keep what the way down needs."""
        for n, step in enumerate(self.steps):
            self.messages[n] = self._message(step)
        return self._at_roots()

    def whole(self) -> int | None:
        """Return the total of weights of 0 and 1 if it is exact; call it after `total`.

        No entry on the way is larger than the total of its root: each part of a configuration
        can be continued to a whole one.
        """
        roots = [self.messages[n] for n, step in enumerate(self.steps) if not step.dims]
        counts = [math.ldexp(float(root.table[0]), min(root.exponent, 1000)) for root in roots]
        if max(counts, default=1.0) > 2.0**WHOLE:
            return None
        return math.prod(map(int, counts))

    def _at_roots(self) -> float:
        roots = [self.messages[n] for n, step in enumerate(self.steps) if not step.dims]
        return math.fsum(float(self._log(r.table)[0]) + r.exponent * LOG2 for r in roots)

    def _log(self, values: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(values) if self.kind == SUM else values

    def _message(self, step: EliminationStep) -> SubsetMessage:
        covered, chosen, _ = self.choices(step, self.products(step)[-1])
        out = self._empty(len(step.dims))
        out[: len(covered)] = covered
        self._push(out, chosen)
        return self._normal(out, chosen.exponent)

    def _empty(self, bits: int) -> FloatArray:
        return np.zeros(1 << bits) if self.kind == SUM else np.full(1 << bits, -np.inf)

    def _normal(self, table: FloatArray, exponent: int) -> SubsetMessage:
        """Divide by a power of two so that the largest entry is near 1: no digit changes."""
        if self.kind == SUM:
            exponent += kernels.normalise(table)
        return SubsetMessage(table, exponent)

    def _push(self, out: FloatArray, by: Operand) -> None:
        kernels.push(self.kind, out, by.table, by.bits, by.masks, by.weights)

    # what a step is made of

    def products(self, step: EliminationStep) -> list[SubsetMessage]:
        """Return the product of the first messages of its children, for every number of them."""
        if not step.children:
            return [SubsetMessage(np.full(1, 1.0 if self.kind == SUM else 0.0), 0)]
        messages = [self.messages[step.children[0]]]
        for join, child in zip(step.joins, step.children[1:], strict=True):
            operand = self.operand(join, messages[-1], self.messages[child])
            out = self._empty(len(join.dims))
            self._push(out, operand)
            messages.append(self._normal(out, operand.exponent))
        return messages

    def operand(self, join: Join, left: SubsetMessage, right: SubsetMessage) -> Operand:
        """Return two messages as a join multiplies them: the possible entries of one are listed."""
        entries = gathered(right.table, join.listed, 0)
        possible = np.flatnonzero(entries != (0.0 if self.kind == SUM else -np.inf))
        table = gathered(left.table, join.dense, 0)
        return Operand(
            table, possible << join.own, entries[possible], left.exponent + right.exponent
        )

    def choices(self, step: EliminationStep, product: SubsetMessage) -> StepChoices:
        """Return T with the template covered; T without it, and the cells that it may choose."""
        masks, logs = kernels.cells_from(
            self.theta, self.scale, step.vertex, step.members, step.own
        )
        weights = np.exp(logs) if self.kind == SUM else logs
        table = gathered(product.table, step.table, 0)
        covered = table[:0]
        if step.bit >= 0:
            covered = gathered(product.table, step.table, 1 << step.bit)
        return StepChoices(covered, Operand(table, masks, weights, product.exponent), logs)

    # down

    def cells(self) -> Iterator[StepCells]:
        """Yield every cell with its probability, step by step from the last."""
        slopes: dict[int, SubsetMessage] = {}
        for n, step in reversed(list(enumerate(self.steps))):
            slope = slopes.pop(n) if step.dims else self._root_slope(self.messages[n])
            products = self.products(step)
            cells, below = self._step_down(step, products[-1], slope)
            yield cells
            slopes.update(self._joins_down(step, products, below))

    def _root_slope(self, root: SubsetMessage) -> SubsetMessage:
        return SubsetMessage(1.0 / root.table if self.kind == SUM else -root.table, -root.exponent)

    def _step_down(
        self, step: EliminationStep, product: SubsetMessage, slope: SubsetMessage
    ) -> tuple[StepCells, SubsetMessage]:
        covered, chosen, logs = self.choices(step, product)
        exponent = chosen.exponent + slope.exponent
        self._note_loss(exponent, len(step.dims))
        dots = self._dot(slope, chosen)
        p = np.exp(np.minimum(logs + self._log(dots) + exponent * LOG2, 0.0))
        below = self._empty(step.bits + (step.bit >= 0))
        kernels.scatter(self._pull(slope, chosen), step.table, 0, below)
        if step.bit >= 0:
            kernels.scatter(slope.table[: len(covered)], step.table, 1 << step.bit, below)
        return StepCells(step, chosen.masks, logs, p), self._normal(below, slope.exponent)

    def _pull(self, slope: SubsetMessage, by: Operand) -> FloatArray:
        """Return the derivative by the table."""
        table = self._empty(by.bits)
        kernels.pull(self.kind, table, slope.table, by.bits, by.masks, by.weights)
        return table

    def _dot(self, slope: SubsetMessage, by: Operand) -> FloatArray:
        """Return the derivative by the listed entries."""
        products: FloatArray = kernels.dot(self.kind, by.table, slope.table, by.bits, by.masks)
        return products

    def _joins_down(
        self, step: EliminationStep, products: list[SubsetMessage], slope: SubsetMessage
    ) -> dict[int, SubsetMessage]:
        slopes: dict[int, SubsetMessage] = {}
        for k in reversed(range(len(step.joins))):
            child = step.children[k + 1]
            message = self.messages[child]
            slope, slopes[child] = self._join_down(step.joins[k], products[k], message, slope)
        if step.children:
            slopes[step.children[0]] = slope
        return slopes

    def _join_down(
        self, join: Join, left: SubsetMessage, right: SubsetMessage, slope: SubsetMessage
    ) -> tuple[SubsetMessage, SubsetMessage]:
        by = self.operand(join, left, right)
        self._note_loss(by.exponent + slope.exponent, len(join.dims))
        of_left, of_right = self._empty(len(join.dense)), self._empty(len(join.listed))
        kernels.scatter(self._pull(slope, by), join.dense, 0, of_left)
        # where the right message is zero its slope is never used, and zero will do
        listed = self._empty(len(join.listed))
        listed[by.masks >> join.own] = self._dot(slope, by)
        kernels.scatter(listed, join.listed, 0, of_right)
        return (
            self._normal(of_left, slope.exponent + right.exponent),
            self._normal(of_right, slope.exponent + left.exponent),
        )

    def _note_loss(self, exponent: int, bits: int) -> None:
        """Record the largest probability of the products that vanished at a step or a join.

        Entries of tables and slopes and (by the choice of `scale`) weights are at most about 1,
        so each of at most 2^bits vanished sums has less than 2^(SMALLEST + exponent).
        """
        self.loss = max(self.loss, exponent + bits + SMALLEST)


def gathered(source: FloatArray, positions: IntArray, base: int) -> FloatArray:
    """Return the part of a table at `base`, its bit j taken from positions[j]."""
    to = np.empty(1 << len(positions))
    kernels.gather(source, positions, base, to)
    return to

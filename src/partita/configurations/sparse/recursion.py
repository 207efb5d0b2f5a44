"""The recursion along an elimination: normaliser upwards, marginals downwards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from partita.configurations.sparse import kernels
from partita.configurations.sparse.steps import EliminationStep
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
    """The factors of a step: a dense table and listed cells, times 2^exponent."""

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

    `messages` are the tables before each step and after the last one, once they are kept. `loss` is
    the logarithm, to base 2, of a bound on the probability that vanished because a product was too
    small for a double.
    """

    steps: Sequence[EliminationStep]
    theta: FloatArray
    scale: FloatArray
    kind: int
    loss: float = -math.inf
    messages: list[SubsetMessage] = field(default_factory=list)

    # up

    def total(self) -> float:
        """Return log Z, or the largest log-weight; only the last message is kept."""
        message = self._nothing()
        for step in self.steps:
            message = self._message(step, message)
        self.messages = [message]
        return self._logarithm(message)

    def keep(self) -> float:
        """Return the same as `total`, and keep what the way down needs."""
        self.messages = [self._nothing()]
        for step in self.steps:
            self.messages.append(self._message(step, self.messages[-1]))
        return self._logarithm(self.messages[-1])

    def whole(self) -> int | None:
        """Return the total of weights of 0 and 1 if it is exact; call it after `total`.

        No entry on the way is larger than the total: each part of a configuration can be continued
        to a whole one.
        """
        (total,), exponent = self.messages[-1]
        number = math.ldexp(float(total), min(exponent, 1000))
        return int(number) if number <= 2.0**WHOLE else None

    def _nothing(self) -> SubsetMessage:
        """Return the table before the first step."""
        return SubsetMessage(np.full(1, 1.0 if self.kind == SUM else 0.0), 0)

    def _logarithm(self, message: SubsetMessage) -> float:
        return float(self._log(message.table)[0]) + message.exponent * LOG2

    def _log(self, values: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(values) if self.kind == SUM else values

    def _message(self, step: EliminationStep, before: SubsetMessage) -> SubsetMessage:
        covered, chosen, _ = self.choices(step, before)
        out = self._empty(len(step.dims))
        out[: len(covered)] = covered
        kernels.push(self.kind, out, chosen.table, chosen.bits, chosen.masks, chosen.weights)
        return self._normal(out, chosen.exponent)

    def _empty(self, bits: int) -> FloatArray:
        return np.zeros(1 << bits) if self.kind == SUM else np.full(1 << bits, -np.inf)

    def _normal(self, table: FloatArray, exponent: int) -> SubsetMessage:
        """Divide by a power of two so that the largest entry is near 1: no digit changes."""
        if self.kind == SUM:
            exponent += kernels.normalise(table)
        return SubsetMessage(table, exponent)

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
        last = self.messages[-1]
        slope = SubsetMessage(1.0 / last.table if self.kind == SUM else -last.table, -last.exponent)
        for step, before in zip(self.steps[::-1], self.messages[-2::-1], strict=True):
            cells, slope = self._step_down(step, before, slope)
            yield cells

    def _step_down(
        self, step: EliminationStep, product: SubsetMessage, slope: SubsetMessage
    ) -> tuple[StepCells, SubsetMessage]:
        covered, chosen, logs = self.choices(step, product)
        exponent = chosen.exponent + slope.exponent
        self._note_loss(exponent, len(step.dims))
        table, bits, masks = chosen.table, chosen.bits, chosen.masks
        dots = kernels.dot(self.kind, table, slope.table, bits, masks)
        p = np.exp(np.minimum(logs + self._log(dots) + exponent * LOG2, 0.0))
        below = self._empty(step.bits + (step.bit >= 0))
        pulled = self._empty(bits)
        kernels.pull(self.kind, pulled, slope.table, bits, masks, chosen.weights)
        kernels.scatter(pulled, step.table, 0, below)
        if step.bit >= 0:
            kernels.scatter(slope.table[: len(covered)], step.table, 1 << step.bit, below)
        return StepCells(step, chosen.masks, logs, p), self._normal(below, slope.exponent)

    def _note_loss(self, exponent: int, bits: int) -> None:
        """Record the largest probability of the products that vanished at a step.

        Entries of tables and slopes and (by the choice of `scale`) weights are at most about 1,
        so each of at most 2^bits vanished sums has less than 2^(SMALLEST + exponent).
        """
        self.loss = max(self.loss, exponent + bits + SMALLEST)


def gathered(source: FloatArray, positions: IntArray, base: int) -> FloatArray:
    """Return the part of a table at `base`, its bit j taken from positions[j]."""
    to = np.empty(1 << len(positions))
    kernels.gather(source, positions, base, to)
    return to

"""Why a mention joined a cell: contributions that add up to the score of that choice.

For the hidden units as they are, the score is linear in the characteristics: that of
characteristic k is Σ_q out_q · slope_q · table[value of k, q], and the bias is the start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint import codes as code
from partita.configurations.joint.cells_kernels import (
    FIRST,
    CellTable,
    Grown,
    growing,
    list_cells,
    no_cells,
    place,
    place_of,
    similar_mentions,
)
from partita.configurations.joint.codes import LEXEME_ID as LEXEME
from partita.configurations.joint.features_kernels import Mentions, fill_relations
from partita.configurations.joint.kernels import (
    RELATIVE,
    RELATIVE_NEW,
    describe_new,
    fill_near_cells,
    fill_relative,
    no_counts,
)
from partita.configurations.joint.network_kernels import (
    Network,
    fill_view,
    log_probabilities,
    new_view,
)
from partita.configurations.joint.posterior import JointPosterior
from partita.core import FloatArray, IntArray
from partita.errors import InputError

Codes = NDArray[np.uint8]


class Decision(NamedTuple):
    """Codes of cells and of "new", cells, classes of far cells, log P."""

    codes: Codes
    new: Codes
    among: IntArray
    classes: IntArray
    logs: FloatArray


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one characteristic adds to the score of a choice."""

    name: str
    amount: float


@dataclass(frozen=True, slots=True)
class Explained:
    """The contributions to one choice's score, and its probability among all choices."""

    contributions: tuple[Contribution, ...]
    score: float
    log_normaliser: float

    @property
    def probability(self) -> float:
        return float(np.exp(self.score - self.log_normaliser))


def explain(
    posterior: JointPosterior, labels: IntArray, mention: int, cell: int | None = None
) -> Explained:
    """Template `mention` in a configuration: why the cell that label `cell` has before it.

    Without a cell: why a new one. Both are places and labels in text order.
    """
    row = posterior.decided(np.asarray(labels, dtype=np.int64)[None, :])[0]
    step = int(np.flatnonzero(posterior.order == mention)[0])
    found = decision(posterior.mentions, posterior.network, row, step)
    if cell is None:
        parts, logs = _starting(posterior, found, step), float(found.logs[-1])
    else:
        chosen = _cell(posterior, labels, row, step, cell)
        parts, logs = _joining(posterior, found, chosen), float(found.logs[chosen])
    a, b = posterior.network.temperature
    score = float(sum(part.amount for part in parts)) * math.exp(a + b * math.log(len(found.logs)))
    return Explained(tuple(parts), score, score - logs)


def _cell(posterior: JointPosterior, labels: IntArray, row: IntArray, step: int, cell: int) -> int:
    """The cell's number in the order of decisions."""
    for earlier in range(step):
        if labels[posterior.order[earlier]] == cell:
            return int(row[earlier])
    raise InputError(f"cell {cell} holds no template that is decided before this one")


def _starting(posterior: JointPosterior, found: Decision, step: int) -> list[Contribution]:
    layout, new = posterior.network.layout, found.new
    rows = [first + value for first, value in zip(layout.new[:-1], new, strict=True)]
    rows.append(layout.new[-1] + int(posterior.mentions.attributes[step, LEXEME]))
    return _contributions(posterior, 1, [*(c.name for c in code.NEW), "word"], rows)


def _joining(posterior: JointPosterior, found: Decision, chosen: int) -> list[Contribution]:
    if found.classes[chosen] >= 0:
        group = code.GROUPS[found.new[code.N_KIND]]
        amount = posterior.network.other[len(code.OTHER) * group + found.classes[chosen]]
        return [Contribution(code.OTHER[found.classes[chosen]], float(amount))]
    place, layout = int(np.flatnonzero(found.among == chosen)[0]), posterior.network.layout
    codes = found.codes[place].astype(np.int64)
    rows = [first + value for first, value in zip(layout.cell, codes, strict=True)]
    return _contributions(posterior, 0, [c.name for c in code.CELL], rows)


def _contributions(
    posterior: JointPosterior, which: int, names: list[str], places: list[int]
) -> list[Contribution]:
    network = posterior.network
    table, bias, out = network.table / code.SCALE, network.bias.astype(float), network.out
    rows: FloatArray = table[np.array(places, dtype=np.int64)]
    hidden = bias[which] + rows.sum(axis=0)
    gate = network.gate[places[: code.GATING]].sum(axis=0) / code.SCALE if which == 0 else 0.0
    slopes = (out[which] + gate) * np.where(hidden > 0.0, 1.0, 0.1)
    start = Contribution("bias", float(bias[which] @ slopes))
    return [start] + [
        Contribution(name, amount)
        for name, amount in zip(names, (rows @ slopes).tolist(), strict=True)
    ]


def decision(mentions: Mentions, network: Network, labels: IntArray, j: int) -> Decision:
    """Mention j after the others before it, in a table of cells that holds no other ones."""
    n = len(labels)
    grown, cells, used = growing(1, n), no_cells(n + 2), 1
    for i in range(j):
        used = place(mentions, grown, cells, used, 0, i, _place(grown, cells, labels, i))
    row, such = relations(mentions)[j], np.zeros(n, dtype=np.int64)
    count, view = list_cells(grown, 0, 1, cells, 0), new_view(n + 1, network.table.shape[1])
    fill_view(mentions, network, cells, used, count, row, j, view)
    near, keys = np.zeros(n + 2, dtype=np.int64), np.zeros(n + 2, dtype=np.int64)
    alike = such[: similar_mentions(mentions, j, such)]
    found, _ = fill_near_cells(
        mentions, grown, cells, view.facts, row, alike, 0, j, near, keys, no_counts()
    )
    firsts = cells.columns[grown.cells[0, :count], FIRST]
    codes = view.codes[cells.slots[grown.cells[0, near[:found]]], : len(code.CELL)].copy()
    new = np.zeros(len(code.NEW), dtype=np.uint8)
    describe_new(mentions.attributes, j, new)
    fill_relative(keys[found], RELATIVE_NEW, new)
    for key, one in zip(keys[:found], codes, strict=True):
        fill_relative(key, RELATIVE, one)
    classes = np.zeros(count, dtype=np.int64)
    classes[labels[firsts]] = cells.classes[grown.cells[0, :count]]
    return Decision(codes, new, labels[firsts[near[:found]]], classes,
                    _logs(mentions, network, labels[:j], count))  # fmt: skip


def _place(grown: Grown, cells: CellTable, labels: IntArray, i: int) -> int:
    earlier = np.flatnonzero(labels[:i] == labels[i])
    return int(place_of(grown, cells, 0, int(earlier[0]) if len(earlier) else -1))


def _logs(mentions: Mentions, network: Network, before: IntArray, count: int) -> FloatArray:
    """log P of each cell and of a new one: of one more decision, from two configurations each."""
    rows = np.array([[*before, c] for c in range(count + 1)], dtype=np.int64)
    with_it = log_probabilities(mentions, network, rows)
    without = log_probabilities(mentions, network, rows[:1, :-1])[0] if len(before) else 0.0
    logs: FloatArray = with_it - without
    return logs


def relations(mentions: Mentions) -> IntArray:
    """The relation bits of all pairs, [later, earlier]."""
    n = len(mentions.attributes)
    rows = np.zeros((n, n), dtype=np.int64)
    for j in range(n):
        fill_relations(mentions, j, rows[j])
    return rows

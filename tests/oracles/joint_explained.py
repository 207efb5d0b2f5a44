"""Why a mention joined a cell: contributions that add up to the score of that choice.

For the hidden units as they are, the score is linear in the characteristics: that of
characteristic k is Σ_q out_q · slope_q · table[value of k, q], and the bias is the start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint import codes as code
from partita.configurations.joint.cells_kernels import Mentions, empty_state, place
from partita.configurations.joint.codes import LEXEME_ID as LEXEME
from partita.configurations.joint.kernels import describe
from partita.configurations.joint.network_kernels import Network, choices, scratch
from partita.configurations.joint.posterior import JointPosterior
from partita.errors import InputError
from partita.records import FloatArray, IntArray

Codes = NDArray[np.uint8]
Decision = tuple[Codes, Codes, IntArray, IntArray, FloatArray]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one characteristic adds to the score of a choice."""

    name: str
    says: str
    value: int
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
        lexeme = int(posterior.mentions[0][step, LEXEME])
        parts, logs = _starting(posterior, found[1], lexeme), float(found[4][-1])
    else:
        chosen = _cell(posterior, labels, row, step, cell)
        parts, logs = _joining(posterior, found, chosen), float(found[4][chosen])
    score = float(sum(part.amount for part in parts))
    return Explained(tuple(parts), score, score - logs)


def _cell(posterior: JointPosterior, labels: IntArray, row: IntArray, step: int, cell: int) -> int:
    """The cell's number in the order of decisions."""
    for earlier in range(step):
        if labels[posterior.order[earlier]] == cell:
            return int(row[earlier])
    raise InputError(f"cell {cell} holds no template that is decided before this one")


def _starting(posterior: JointPosterior, new: Codes, lexeme: int) -> list[Contribution]:
    named = [*code.NEW, code.Characteristic("lexeme", 0, "its word, where it is a known one")]
    values = [*new.tolist(), lexeme]
    return _contributions(posterior, 1, named, values)


def _joining(posterior: JointPosterior, found: Decision, chosen: int) -> list[Contribution]:
    codes, _, among, classes, _ = found
    if classes[chosen] >= 0:
        amount = float(posterior.network[3][classes[chosen]])
        name = code.OTHER[classes[chosen]]
        return [Contribution(name, "the cell is of another sort", int(classes[chosen]), amount)]
    row = int(np.flatnonzero(among == chosen)[0])
    return _contributions(posterior, 0, list(code.CELL), codes[row].tolist())


def _contributions(
    posterior: JointPosterior, which: int, named: list[code.Characteristic], values: list[int]
) -> list[Contribution]:
    table, bias, out, _ = posterior.network[:4]
    offsets = posterior.network[5 if which else 4]
    rows: FloatArray = table[offsets + np.array(values)]
    hidden = bias[which] + rows.sum(axis=0)
    slopes = out[which] * np.where(hidden > 0.0, 1.0, 0.1)
    start = Contribution(
        "bias", "where every choice of this sort starts", 0, float(bias[which] @ slopes)
    )
    return [start] + [
        Contribution(each.name, each.says, value, amount)
        for each, value, amount in zip(named, values, (rows @ slopes).tolist(), strict=True)
    ]


def decision(
    mentions: Mentions, network: Network, labels: IntArray, j: int
) -> tuple[Codes, Codes, IntArray, IntArray, FloatArray]:
    """Mention j after the others before it: codes of cells and "new", cells, classes, log P."""
    n = len(labels)
    room, logs, state, count = scratch(n, network[0].shape[1]), np.zeros(n + 1), empty_state(n), 0
    for i in range(j):
        count = place(mentions, state, i, labels[i], count)
    found = describe(mentions, state, j, count, room[0], room[1], room[2], room[3])
    codes, new, among = room[0][:found].copy(), room[1].copy(), room[2][:found].copy()
    choices(mentions, network, state, j, count, room, logs)
    return codes, new, among, room[3][:count].copy(), logs[: count + 1].copy()

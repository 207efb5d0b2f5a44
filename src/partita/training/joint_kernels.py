"""Compiled loss and gradient of the joint model.

`weights` and `slopes` (their gradient) are five arrays: the table, the biases of joining and
starting a cell, their outputs, the scores of far cells, the gate's rows. `layout` says where the
values of a characteristic begin in the table; `rows` are rows of it. For one decision: `codes` (the
values of characteristics), `mask` (units; 0 for what is dropped, else the scale), `kept`
(characteristics), `out` (the outputs of joining and starting), `hidden` (cells + 1, units),
`scores` (cells + 1). P(choice) is the softmax of scores; the loss is −log P of the key's choice.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, kernel_record
from partita.configurations.joint.cells_kernels import (
    compare_members,
    fill_bits,
    growing,
    list_cells,
    no_cells,
    place,
    place_of,
    similar_mentions,
)
from partita.configurations.joint.codes import LEXEME_ID, N_KIND, SLOPE
from partita.configurations.joint.features_kernels import Mentions, fill_relations
from partita.configurations.joint.kernels import (
    FACTS,
    KIND_GROUPS,
    NEAR,
    RELATIVE,
    RELATIVE_NEW,
    Codes,
    classify,
    describe_cell,
    describe_new,
    fill_near_cells,
    fill_relative,
    no_counts,
)
from partita.configurations.joint.network_kernels import (
    CLASSES,
    CODES,
    GATING,
    JOIN,
    MOST_ROWS,
    NEW_CODES,
    OWN,
    START,
    Layout,
)
from partita.core import FloatArray, IntArray

Single = NDArray[np.float32]
Kept = NDArray[np.bool_]
Weights = tuple[Single, Single, Single, Single, Single]  # table, bias, out, other, gate
NEW_CELL = -1  # the key starts a cell; -2 - k: it joins a far cell of class k
NEGLIGIBLE = 1e-4  # errors that are not propagated


@kernel_record("u1[:,:], i8[:], u1[:,:], i8[:], i8[:,:], i8[:]")
class Decisions(NamedTuple):
    """Decisions one after another.

    `codes` (near cells of all decisions, CODES), those of decision j from begin[j] to begin[j + 1];
    `new` (decisions, NEW_CODES) and `lexemes`, its word, of the choice to start a cell; `others`
    counts far cells by class; `answers` is the key's choice: a near cell, NEW_CELL, or −2 − the
    class of a far one.
    """

    codes: Codes
    begin: IntArray
    new: Codes
    lexemes: IntArray
    others: IntArray
    answers: IntArray


@kernel(entry="Mentions, i8[:]")
def decisions_of(mentions: Mentions, labels: IntArray) -> Decisions:
    """Return all decisions that lead to a configuration, in order.

    `labels` (mentions) are the key's cells in the order of decisions. The loop's invariant: before
    step j, `grown` has one configuration, the key's of the mentions before j, and begin[j] = rows
    is the number of near cells that they met. At step j, codes[rows:rows + found] are those of the
    cells near mention j, by place from the most recent on; `firsts` is the first mention of each
    cell, by which the key's cell is found. `codes` grows; everything else has its size from the
    start.
    """
    n, rows = len(labels), 0
    grown, cells, used = growing(1, n), no_cells(2 * n + 2), 1
    codes = np.zeros((max(64, 8 * n), CODES), np.uint8)
    new, lexemes = np.zeros((n, NEW_CODES), np.uint8), np.zeros(n, np.int64)
    others, begin = np.zeros((n, CLASSES), np.int64), np.zeros(n + 1, np.int64)
    answers, row, similar = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    near, keys, firsts = (
        np.zeros(n + 2, np.int64),
        np.zeros(n + 2, np.int64),
        np.full(n, -1, np.int64),
    )
    facts, described = np.zeros((n, FACTS), np.int32), np.zeros((n, CODES), np.uint8)
    counts = no_counts()
    for j in range(n):
        count = list_cells(grown, 0, 1, cells, 0)
        if rows + count + 1 > len(codes):
            codes = np.concatenate((codes, np.zeros((len(codes) + count, CODES), np.uint8)))
        fill_relations(mentions, j, row)
        fill_bits(cells, used, row)
        classify(mentions, cells, count, j)
        compare_members(mentions, cells, used, row, j)
        for slot in range(count):
            cell = cells.met[slot]
            if cells.classes[cell] == NEAR:
                describe_cell(mentions, cells, row, j, cell, facts[slot], described[slot])
            else:
                others[j, cells.classes[cell]] += 1
        alike = similar[: similar_mentions(mentions, j, similar)]
        found, _ = fill_near_cells(
            mentions, grown, cells, facts, row, alike, 0, j, near, keys, counts
        )
        for r in range(found):
            codes[rows + r] = described[cells.slots[grown.cells[0, near[r]]]]
            fill_relative(keys[r], RELATIVE, codes[rows + r])
        describe_new(mentions.attributes, j, new[j])
        fill_relative(keys[found], RELATIVE_NEW, new[j])
        at = place_of(grown, cells, 0, firsts[labels[j]])
        answers[j] = NEW_CELL
        if at < count:
            which = cells.classes[grown.cells[0, at]]
            answers[j] = np.searchsorted(near[:found], at) if which == NEAR else -2 - which
        else:
            firsts[labels[j]] = j
        lexemes[j] = mentions.attributes[j, LEXEME_ID]
        rows += found
        begin[j + 1] = rows
        used = place(mentions, grown, cells, used, 0, j, at)
    return Decisions(codes[:rows].copy(), begin, new, lexemes, others, answers)


@kernel()
def own_rows(layout: Layout, codes: Codes, rows: IntArray) -> int:
    """List the table's rows of what a mention has before any cell; return their number."""
    for k in range(OWN):
        rows[k] = layout.cell[k] + codes[k]
    return OWN


@kernel()
def cell_rows(layout: Layout, codes: Codes, rows: IntArray) -> int:
    """List the table's rows of what a mention and a cell have together; return their number."""
    for k in range(OWN, CODES):
        rows[k - OWN] = layout.cell[k] + codes[k]
    return CODES - OWN


@kernel()
def new_rows(layout: Layout, codes: Codes, lexeme: int, rows: IntArray) -> int:
    """List the table's rows of a mention that starts a cell; return their number."""
    for k in range(NEW_CODES):
        rows[k] = layout.new[k] + codes[k]
    rows[NEW_CODES] = layout.new[NEW_CODES] + lexeme
    return NEW_CODES + 1


@kernel(
    entry="(f4[:,:], f4[:,:], f4[:,:], f4[:], f4[:,:]), Layout, Decisions, i8[:], f4[:,:], "
    "b1[:,:], (f4[:,:], f4[:,:], f4[:,:], f4[:], f4[:,:]), f8[:]"
)
def gradient(
    weights: Weights,
    layout: Layout,
    decisions: Decisions,
    chosen: IntArray,
    masks: Single,
    kept: Kept,
    slopes: Weights,
    losses: FloatArray,
) -> None:
    """Write the losses of the `chosen` decisions in nats; add their gradient to slopes.

    `losses` (decisions); `masks` (chosen, units) scale the hidden units of each; `kept` says which
    characteristics it may use: those of CELL, those of NEW, the word.
    """
    begin, widest = decisions.begin, 0
    for j in chosen:
        widest = max(widest, begin[j + 1] - begin[j])
    hidden = np.zeros((widest + 1, weights[0].shape[1]), np.float32)
    scores, rows = np.zeros(widest + 1), np.zeros(MOST_ROWS, np.int64)
    out = np.zeros_like(weights[2])
    for k in range(len(chosen)):
        j = chosen[k]
        _forward(weights, layout, decisions, j, masks[k], kept[k], out, hidden, scores, rows)
        losses[j] = _backward(
            weights, layout, decisions, j, masks[k], kept[k], out, hidden, scores, rows, slopes
        )


@kernel()
def _forward(
    weights: Weights,
    layout: Layout,
    decisions: Decisions,
    j: int,
    mask: Single,
    kept: Kept,
    out: Single,
    hidden: Single,
    scores: FloatArray,
    rows: IntArray,
) -> None:
    """Fill the output, the hidden units and scores of a decision's cells, those of "new" last.

    hidden[r] = bias + Σ_k table[value of characteristic k of cell r], scores[r] = Σ_q out_q ·
    mask_q · f(hidden_rq), f the leaky rectifier. What is of the mention alone is summed once, in
    `own`, and copied for every cell. `kept` (characteristics) drops the rows of some. The arrays
    from `out` on belong to `gradient` and are written.
    """
    table, first = weights[0], decisions.begin[j]
    found, lexeme = decisions.begin[j + 1] - first, decisions.lexemes[j]
    own = weights[1][JOIN].copy()
    out[:] = weights[2]
    if found > 0:
        own_rows(layout, decisions.codes[first], rows)
        add_rows(weights[4], rows[: _kept(rows, GATING, kept)], out[JOIN])
        used = _kept(rows, own_rows(layout, decisions.codes[first], rows), kept)
        add_rows(table, rows[:used], own)
    for r in range(found):
        hidden[r] = own
        listed = cell_rows(layout, decisions.codes[first + r], rows)
        used = _kept(rows, listed, kept[OWN:])
        add_rows(table, rows[:used], hidden[r])
        scores[r] = _score(out[JOIN], mask, hidden[r])
    hidden[found] = weights[1][START]
    used = _kept(rows, new_rows(layout, decisions.new[j], lexeme, rows), kept[CODES:])
    add_rows(table, rows[:used], hidden[found])
    scores[found] = _score(out[START], mask, hidden[found])


@kernel()
def add_rows(table: Single, rows: IntArray, hidden: Single) -> None:
    """Add rows of the table to the hidden units."""
    for row in rows:
        for q in range(len(hidden)):
            hidden[q] += table[row, q]


@kernel()
def _kept(rows: IntArray, listed: int, kept: Kept) -> int:
    """Move the rows of kept characteristics to the front; return their number."""
    used = 0
    for k in range(listed):
        if kept[k]:
            rows[used] = rows[k]
            used += 1
    return used


@kernel()
def _score(out: Single, mask: Single, hidden: Single) -> float:
    """Return the score of a cell: Σ_q out_q · mask_q · f(hidden_q), f the leaky rectifier."""
    score = np.float32(0.0)
    for q in range(len(hidden)):
        active = hidden[q] if hidden[q] > 0 else np.float32(SLOPE) * hidden[q]
        score += out[q] * mask[q] * active
    return float(score)


@kernel()
def _backward(
    weights: Weights,
    layout: Layout,
    decisions: Decisions,
    j: int,
    mask: Single,
    kept: Kept,
    out: Single,
    hidden: Single,
    scores: FloatArray,
    rows: IntArray,
    slopes: Weights,
) -> float:
    """Add the gradient of a decision's loss to `slopes`; return the loss.

    With p the softmax over near cells, "new" and far cells (`others` of each class, which share a
    score), the slope of score r is p_r − [r is the key's choice]. It goes through `hidden` and
    `out` as `_forward` left them: `back` is the slope of the hidden units of one cell, `total` its
    sum over cells, for what is of the mention alone, and `spread` the slope of the output of
    joining, which is that of the gate's rows too.
    """
    first, answer, others = decisions.begin[j], decisions.answers[j], decisions.others[j]
    found, lexeme = decisions.begin[j + 1] - first, decisions.lexemes[j]
    far = CLASSES * KIND_GROUPS[decisions.new[j, N_KIND]]
    other = weights[3][far : far + CLASSES]
    log_total = _log_total(scores[: found + 1], others, other)
    for q in range(CLASSES):
        share = others[q] * math.exp(other[q] - log_total)
        slopes[3][far + q] += share - (answer == -2 - q)
    right = found if answer == NEW_CELL else answer
    back, total = np.zeros(len(mask), np.float32), np.zeros(len(mask), np.float32)
    spread = np.zeros(len(mask), np.float32)
    for r in range(found):
        error = math.exp(scores[r] - log_total) - (r == right)
        if abs(error) > NEGLIGIBLE:
            _units(out[JOIN], spread, mask, hidden[r], error, back)
            listed = cell_rows(layout, decisions.codes[first + r], rows)
            used = _kept(rows, listed, kept[OWN:])
            _spread(slopes[0], rows[:used], back)
            total += back
    if found > 0:
        slopes[1][JOIN] += total
        slopes[2][JOIN] += spread
        own_rows(layout, decisions.codes[first], rows)
        _spread(slopes[4], rows[: _kept(rows, GATING, kept)], spread)
        used = _kept(rows, own_rows(layout, decisions.codes[first], rows), kept)
        _spread(slopes[0], rows[:used], total)
    error = math.exp(scores[found] - log_total) - (found == right)
    _units(out[START], slopes[2][START], mask, hidden[found], error, back)
    slopes[1][START] += back
    used = _kept(rows, new_rows(layout, decisions.new[j], lexeme, rows), kept[CODES:])
    _spread(slopes[0], rows[:used], back)
    key = scores[right] if right >= 0 else other[-2 - right]
    return float(log_total - key)


@kernel()
def _log_total(scores: FloatArray, others: IntArray, other: Single) -> float:
    """Return the logarithm of the sum of e^score over all cells.

    `others` counts the far cells of each class, whose scores are `other`.
    """
    top, total = max(scores.max(), float(other.max())), 0.0
    for score in scores:
        total += math.exp(score - top)
    for q in range(len(others)):
        total += others[q] * math.exp(other[q] - top)
    return float(top + math.log(total))


@kernel()
def _units(
    out: Single, slopes: Single, mask: Single, hidden: Single, error: float, back: Single
) -> None:
    """Propagate the error of one score to the output's `slopes`, and into `back` (units)."""
    for q in range(len(hidden)):
        slope = mask[q] * np.float32(error * (1.0 if hidden[q] > 0 else SLOPE))
        slopes[q] += slope * hidden[q]
        back[q] = slope * out[q]


@kernel()
def _spread(slopes: Single, rows: IntArray, back: Single) -> None:
    """Add `back`, the slope of the hidden units, to the slopes of the rows."""
    for row in rows:
        for q in range(len(back)):
            slopes[row, q] += back[q]


@kernel(entry="f4[:], f4[:], f4[:], f4[:], f8, i8, f8")
def step(
    values: Single,
    slopes: Single,
    means: Single,
    squares: Single,
    rate: float,
    t: int,
    decay: float,
) -> None:
    """Take one step of Adam with decoupled decay, and clear the slopes.

    `values` and the running means of slopes (`means`) and of their `squares` are changed in place
    (Kingma and Ba 2015; Loshchilov and Hutter 2019).
    """
    pace = np.float32(rate * math.sqrt(1.0 - 0.999**t) / (1.0 - 0.9**t))
    keep = np.float32(1.0 - rate * decay)
    for i in range(len(values)):
        slope = slopes[i]
        means[i] += np.float32(0.1) * (slope - means[i])
        squares[i] += np.float32(0.001) * (slope * slope - squares[i])
        root = np.float32(math.sqrt(squares[i])) + np.float32(1e-8)
        values[i] = values[i] * keep - pace * means[i] / root
        slopes[i] = np.float32(0.0)

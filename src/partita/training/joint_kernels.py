"""Compiled loss and gradient of the joint model."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.joint.cells_kernels import Mentions, empty_state, place
from partita.configurations.joint.codes import LEXEME_ID
from partita.configurations.joint.kernels import Codes, describe
from partita.configurations.joint.network_kernels import CODES, NEW_CODES, SLOPE
from partita.records import FloatArray, IntArray

Single = NDArray[np.float32]
# codes, codes of "new", lexemes, counts of other cells, where rows begin, the key's choice
Decisions = tuple[Codes, Codes, IntArray, IntArray, IntArray, IntArray]
Weights = tuple[Single, Single, Single, Single]  # table, bias, out, other
NEW_CELL = -1  # the key starts a cell; -2 - k: it joins a cell of another sort, of class k


@kernel()
def decisions_of(mentions: Mentions, labels: IntArray) -> Decisions:
    """Return all decisions that lead to a configuration, in order."""
    n = len(labels)
    state, count, rows = empty_state(n), 0, 0
    codes = np.zeros((max(64, 8 * n), CODES), np.uint8)
    new, lexemes = np.zeros((n, NEW_CODES), np.uint8), np.zeros(n, np.int64)
    others, begin = np.zeros((n, 3), np.int64), np.zeros(n + 1, np.int64)
    answers = np.zeros(n, np.int64)
    among, other = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for j in range(n):
        if rows + count + 1 > len(codes):
            codes = np.concatenate((codes, np.zeros((len(codes) + count, CODES), np.uint8)))
        found = describe(mentions, state, j, count, codes[rows:], new[j], among, other)
        for c in range(count):
            if other[c] >= 0:
                others[j, other[c]] += 1
        answers[j] = _answer(labels[j], count, found, among, other)
        lexemes[j] = mentions[0][j, LEXEME_ID]
        rows += found
        begin[j + 1] = rows
        count = place(mentions, state, j, labels[j], count)
    return codes[:rows].copy(), new, lexemes, others, begin, answers


@kernel()
def _answer(label: int, count: int, found: int, among: IntArray, other: IntArray) -> int:
    if label == count:
        return NEW_CELL
    if other[label] >= 0:
        return -2 - int(other[label])
    row = 0
    while row < found and among[row] != label:
        row += 1
    return row


@kernel()
def gradient(
    weights: Weights,
    offsets: tuple[IntArray, IntArray],
    decisions: Decisions,
    chosen: IntArray,
    masks: Single,
    slopes: Weights,
    losses: FloatArray,
) -> None:
    """Write the losses of the chosen decisions in nats; add their gradient to slopes."""
    begin, widest = decisions[4], 0
    for j in chosen:
        widest = max(widest, begin[j + 1] - begin[j])
    hidden = np.zeros((widest + 1, weights[0].shape[1]), np.float32)
    scores = np.zeros(widest + 1)
    for k in range(len(chosen)):
        j, mask = chosen[k], masks[k]
        found = begin[j + 1] - begin[j]
        for r in range(found):
            codes = decisions[0][begin[j] + r]
            scores[r] = _forward(weights, 0, offsets[0], codes, -1, mask, hidden[r])
        lexeme = decisions[2][j]
        scores[found] = _forward(
            weights, 1, offsets[1], decisions[1][j], lexeme, mask, hidden[found]
        )
        losses[j] = _backward(weights, offsets, decisions, j, mask, hidden, scores, slopes)


@kernel()
def _forward(
    weights: Weights,
    which: int,
    offsets: IntArray,
    codes: Codes,
    lexeme: int,
    mask: Single,
    hidden: Single,
) -> float:
    table = weights[0]
    hidden[:] = weights[1][which]
    for k in range(len(codes)):
        row = table[offsets[k] + codes[k]]
        for q in range(len(hidden)):
            hidden[q] += row[q]
    if lexeme >= 0:
        row = table[offsets[len(codes)] + lexeme]
        for q in range(len(hidden)):
            hidden[q] += row[q]
    score = np.float32(0.0)
    for q in range(len(hidden)):
        active = hidden[q] if hidden[q] > 0 else np.float32(SLOPE) * hidden[q]
        score += weights[2][which, q] * mask[q] * active
    return float(score)


@kernel()
def _backward(
    weights: Weights,
    offsets: tuple[IntArray, IntArray],
    decisions: Decisions,
    j: int,
    mask: Single,
    hidden: Single,
    scores: FloatArray,
    slopes: Weights,
) -> float:
    begin, answer, others = decisions[4], decisions[5][j], decisions[3][j]
    found = begin[j + 1] - begin[j]
    log_total = _log_total(scores[: found + 1], others, weights[3])
    for q in range(len(others)):
        share = others[q] * math.exp(weights[3][q] - log_total)
        slopes[3][q] += share - (answer == -2 - q)
    right = found if answer == NEW_CELL else answer
    for r in range(found):
        error = math.exp(scores[r] - log_total) - (r == right)
        codes = decisions[0][begin[j] + r]
        _spread(weights, 0, offsets[0], codes, -1, mask, hidden[r], error, slopes)
    error = math.exp(scores[found] - log_total) - (found == right)
    new, lexeme = decisions[1][j], decisions[2][j]
    _spread(weights, 1, offsets[1], new, lexeme, mask, hidden[found], error, slopes)
    key = scores[right] if right >= 0 else weights[3][-2 - right]
    return float(log_total - key)


@kernel()
def _log_total(scores: FloatArray, others: IntArray, other: Single) -> float:
    top, total = max(scores.max(), float(other.max())), 0.0
    for score in scores:
        total += math.exp(score - top)
    for q in range(len(others)):
        total += others[q] * math.exp(other[q] - top)
    return float(top + math.log(total))


@kernel()
def _spread(
    weights: Weights,
    which: int,
    offsets: IntArray,
    codes: Codes,
    lexeme: int,
    mask: Single,
    hidden: Single,
    error: float,
    slopes: Weights,
) -> None:
    """Propagate the error of one score back to the weights."""
    if abs(error) < 1e-7:
        return
    back = np.zeros(len(hidden), np.float32)
    for q in range(len(hidden)):
        slope = mask[q] * np.float32(error * (1.0 if hidden[q] > 0 else SLOPE))
        slopes[2][which, q] += slope * hidden[q]
        back[q] = slope * weights[2][which, q]
    slopes[1][which] += back
    for k in range(len(codes)):
        row = slopes[0][offsets[k] + codes[k]]
        for q in range(len(back)):
            row[q] += back[q]
    if lexeme >= 0:
        slopes[0][offsets[len(codes)] + lexeme] += back


@kernel()
def step(
    values: Single,
    slopes: Single,
    means: Single,
    squares: Single,
    rate: float,
    t: int,
    decay: float,
) -> None:
    """Take one step of Adam with decoupled decay, and clear the slopes."""
    pace = np.float32(rate * math.sqrt(1.0 - 0.999**t) / (1.0 - 0.9**t))
    keep = np.float32(1.0 - rate * decay)
    for i in range(len(values)):
        slope = slopes[i]
        means[i] += np.float32(0.1) * (slope - means[i])
        squares[i] += np.float32(0.001) * (slope * slope - squares[i])
        root = np.float32(math.sqrt(squares[i])) + np.float32(1e-8)
        values[i] = values[i] * keep - pace * means[i] / root
        slopes[i] = np.float32(0.0)

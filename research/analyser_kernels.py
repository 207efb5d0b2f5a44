"""Compiled training passes of the parser and of the models of mentions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.core import IntArray
from partita.text.mention_kernels import PLACES as MENTION_PLACES
from partita.text.mention_kernels import describe_child, describe_word, load_tree
from partita.text.parser_kernels import (
    LEFT,
    MORE,
    PLACES,
    RIGHT,
    RIGHTS,
    SHIFT,
    Codes,
    HashedModel,
    Seen,
    add_scores,
    allowed,
    attach,
    codes_at,
    counts_of,
    describe,
    describe_arc,
    load,
)
from research.tagger_kernels import GUARD, SMALL, Weights, drawn

PADDING = 64
Times = NDArray[np.uint8]
SHIFT_TIMES = 5  # bits of a code that do not tell features apart when they are counted


class Learned(NamedTuple):
    """A model in training: its features, weights, squared gradients, and counts of features."""

    places: IntArray
    table: Weights
    squares: Weights
    times: Times


class Pace(NamedTuple):
    """How a pass learns: a negative `least` counts the features of the right trees instead."""

    least: int
    rate: float
    dropped: float
    explored: float


class Work(NamedTuple):
    """Arrays that are used again for every step."""

    codes: Codes
    bases: IntArray
    right: NDArray[np.bool_]
    scores: Weights


@kernel()
def parser_pass(
    words: IntArray,
    rows: Seen,
    tags: NDArray[np.uint8],
    coarse: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    ends: IntArray,
    order: IntArray,
    heads: IntArray,
    labels: IntArray,
    many: int,
    moves: Learned,
    names: Learned,
    pace: Pace,
    seed: int,
) -> tuple[int, int, int]:
    """Train on every sentence once; return the numbers of words, wrong heads and wrong labels.

    The arrays of words are those of parser_kernels.parse_all; `heads` and `labels` (words) are the
    right ones, `order` the order of sentences, `many` the number of labels. `moves` and `names`
    change in place. The parser follows its own transitions with probability `pace.explored`, and
    learns from the states that it reaches so: the right transitions there are those of a dynamic
    oracle (Goldberg and Nivre 2013), `zero_cost`. The class `many` of `names` stands for a wrong
    arc.
    """
    state = np.uint64(seed)
    wrong_heads, wrong_labels = 0, 0
    move_work, label_work = work_for(moves), work_for(names)
    at = np.zeros(PLACES, dtype=np.int64)
    for sentence in order:
        start = ends[sentence - 1] if sentence else 0
        size = ends[sentence] - start
        seen = np.zeros((size + 3, RIGHTS + 1 + rows.shape[1] - MORE), dtype=np.uint32)
        load(words, rows, tags, coarse, start, ends[sentence], seen)
        counts = counts_of(tags[start : start + size], kinds)
        gold = gold_heads(heads, start, ends[sentence])
        above = np.full(size + 2, -1, dtype=np.int64)
        stack = np.empty(size + 2, dtype=np.int64)
        sides = np.zeros((size + 2, 4), dtype=np.int64)
        depth, ahead, root = 0, 1, size + 1
        while ahead < root or depth > 0:
            move = SHIFT
            if depth > 0:
                describe(seen, stack, depth, ahead, sides, counts, at)
                codes_at(seen, at, moves.places, move_work.codes)
                zero_cost(gold, stack, depth, ahead, root, move_work.right)
                state, move = learn_move(moves, move_work, depth, ahead, root, pace, state)
            if move == SHIFT:
                stack[depth] = ahead
                depth, ahead = depth + 1, ahead + 1
                continue
            word = stack[depth - 1]
            head = ahead if move == LEFT else stack[depth - 2]
            depth -= 1
            describe_arc(seen, word, head, root, sides, counts, at)
            codes_at(seen, at, names.places, label_work.codes)
            is_right = head == gold[word]
            right = labels[start + word - 1] if is_right else many
            state, label = learn_label(names, label_work, many + 1, right, pace, state)
            wrong_heads += not is_right
            wrong_labels += is_right and label != right
            if label == many:  # no arc, and yet it must have a label
                label = right if is_right else int(np.argmax(label_work.scores[:many]))
            attach(seen, sides, above, word, head, label)
    return len(words), wrong_heads, wrong_labels


@kernel()
def work_for(model: Learned) -> Work:
    """Return the arrays for the steps of a model."""
    return Work(
        np.empty(len(model.places), dtype=np.uint32),
        np.empty(len(model.places), dtype=np.int64),
        np.zeros(PADDING, dtype=np.bool_),
        np.empty(PADDING, dtype=np.float32),
    )


@kernel()
def learn_move(
    model: Learned, work: Work, depth: int, ahead: int, root: int, pace: Pace, state: np.uint64
) -> tuple[np.uint64, int]:
    """Learn from one state; return the transition to follow, the best or the best right one."""
    if pace.least < 0:
        count(work.codes, model.times)
        return state, int(np.argmax(work.right[:3]))
    state, kept = keep(work.codes, model, pace, state, work.bases)
    best, chosen = softmax_gradient(
        work.bases[:kept], model.table, 3, work.right, depth, ahead, root, work.scores,
        1 / (1 - pace.dropped),
    )  # fmt: skip
    follow(work.bases[:kept], model, 3, work.scores, pace.rate)
    state, chance = drawn(state)
    return state, best if chance < pace.explored else chosen


@kernel()
def learn_label(
    model: Learned, work: Work, many: int, right: int, pace: Pace, state: np.uint64
) -> tuple[np.uint64, int]:
    """Learn one of several classes; return the best one."""
    if pace.least < 0:
        count(work.codes, model.times)
        return state, right
    work.right[:many] = False
    work.right[right] = True
    state, kept = keep(work.codes, model, pace, state, work.bases)
    label, _ = softmax_gradient(
        work.bases[:kept], model.table, many, work.right, -1, 0, 0, work.scores,
        1 / (1 - pace.dropped),
    )  # fmt: skip
    follow(work.bases[:kept], model, many, work.scores, pace.rate)
    return state, label


@kernel()
def count(codes: Codes, times: Times) -> None:
    """Count features, up to 255."""
    for code in codes:
        if times[code >> SHIFT_TIMES] < 255:
            times[code >> SHIFT_TIMES] += 1


@kernel()
def gold_heads(heads: IntArray, start: int, end: int) -> IntArray:
    """Return the right heads counted from 1; the root is after the last word."""
    gold = np.empty(end - start + 2, dtype=np.int64)
    gold[0] = gold[end - start + 1] = -1
    for place in range(start, end):
        head = heads[place]
        gold[place - start + 1] = head + 1 if head >= 0 else end - start + 1
    return gold


@kernel()
def zero_cost(
    gold: IntArray, stack: IntArray, depth: int, ahead: int, root: int, right: NDArray[np.bool_]
) -> None:
    """Mark the transitions after which no further gold arc is lost (a dynamic oracle)."""
    cost = np.zeros(3, dtype=np.int64)
    top = stack[depth - 1]
    below = 0
    for place in range(ahead, root):
        below += gold[place] == top
    head = gold[top]
    if head == root and depth > 1:
        head = 0  # only the last word on the stack can still depend on the root
    cost[LEFT] = below + (head > ahead) + (depth > 1 and head == stack[depth - 2])
    cost[RIGHT] = below + (head >= ahead)
    cost[SHIFT] = gold[ahead] == root
    for place in range(depth):
        other = stack[place]
        cost[SHIFT] += gold[other] == ahead
        cost[SHIFT] += place < depth - 1 and gold[ahead] == other
    least = 1 << 30
    for move in range(3):
        if allowed(move, depth, ahead, root):
            least = min(least, cost[move])
    for move in range(3):
        right[move] = allowed(move, depth, ahead, root) and cost[move] == least


@kernel()
def keep(
    codes: Codes, model: Learned, pace: Pace, state: np.uint64, bases: IntArray
) -> tuple[np.uint64, int]:
    """Write the places of the features that are frequent and not dropped; return how many."""
    mask = np.uint32(len(model.table) - PADDING - 1)
    kept = 0
    for code in codes:
        state, chance = drawn(state)
        if chance >= pace.dropped and model.times[code >> SHIFT_TIMES] >= pace.least:
            bases[kept] = np.int64(code & mask)
            kept += 1
    return state, kept


@kernel()
def softmax_gradient(
    bases: IntArray,
    table: Weights,
    classes: int,
    right: NDArray[np.bool_],
    depth: int,
    ahead: int,
    root: int,
    scores: Weights,
    scale: float,
) -> tuple[int, int]:
    """Write the gradient of the log probability of the right classes to `scores`; return the best
    class and the best right one. A negative depth allows every class.

    `bases` are the places of the features' weights in `table`, those of the classes side by side.
    Several classes may be right: with p = softmax(scale · sums), the loss is −log Σ_right p and its
    gradient by the scaled sums is p_c − [c right] · p_c / Σ_right p. `scale` makes up for the
    dropped features. Classes that are not allowed have p = 0.
    """
    scores[:classes] = 0
    for base in bases:
        for each in range(classes):
            scores[each] += table[base + each]
    best, chosen = -1, -1
    for each in range(classes):
        if depth < 0 or allowed(each, depth, ahead, root):
            if best < 0 or scores[each] > scores[best]:
                best = each
            if right[each] and (chosen < 0 or scores[each] > scores[chosen]):
                chosen = each
        else:
            scores[each] = -np.inf
    top, total, good = scores[best], np.float32(0), np.float32(0)
    for each in range(classes):
        scores[each] = np.exp(np.float32(scale) * (scores[each] - top))
        total += scores[each]
        good += scores[each] if right[each] else np.float32(0)
    for each in range(classes):
        held = scores[each] / max(good, np.float32(1e-30)) if right[each] else np.float32(0)
        scores[each] = scores[each] / total - held
    return best, chosen


@kernel()
def follow(bases: IntArray, model: Learned, classes: int, slopes: Weights, rate: float) -> None:
    """Take a step down the gradient for every feature and every class that matters."""
    table, squares = model.table, model.squares
    for each in range(classes):
        slope = slopes[each]
        if abs(slope) >= SMALL:
            for base in bases:
                squares[base + each] += slope * slope
                step = np.float32(rate) * slope / np.sqrt(squares[base + each] + GUARD)
                table[base + each] -= step


@kernel()
def examples_pass(
    codes: Codes,
    right: IntArray,
    order: IntArray,
    model: Learned,
    classes: int,
    pace: Pace,
    seed: int,
) -> int:
    """Train on every example once, in the given order; return the number of wrong classes."""
    state = np.uint64(seed)
    work = work_for(model)
    wrong = 0
    for example in order:
        work.codes[:] = codes[example]
        state, best = learn_label(model, work, classes, right[example], pace, state)
        wrong += best != right[example]
    return wrong


@kernel()
def count_all(codes: Codes, times: Times) -> None:
    """Count the features of all examples."""
    for example in range(len(codes)):
        count(codes[example], times)


@kernel()
def scores_of(codes: Codes, model: HashedModel, classes: int) -> NDArray[np.int32]:
    """Return the scores of all classes for every example."""
    result = np.zeros((len(codes), classes), dtype=np.int32)
    for example in range(len(codes)):
        add_scores(codes[example], model, classes, result[example])
    return result


@kernel()
def codes_of_words(
    words: IntArray,
    rows: Seen,
    tags: NDArray[np.uint8],
    coarse: NDArray[np.uint8],
    ends: IntArray,
    heads: IntArray,
    relations: NDArray[np.uint8],
    roles: NDArray[np.uint8],
    places: IntArray,
    children: bool,
) -> Codes:
    """Return the codes of the features of every word, as a head or as a dependent.

    `words` (words) are rows of `rows`, and `tags`, `heads`, `relations` (words) are those of all
    sentences one after another; sentence k ends before ends[k]. `heads` count from 0 within the
    sentence, −1 for the root. `places` (features, 4, 2) are the positions and columns that a
    feature joins. The result has a row for each word and a column for each feature.
    """
    result = np.zeros((len(words), len(places)), dtype=np.uint32)
    at = np.zeros(MENTION_PLACES, dtype=np.int64)
    start = 0
    for end in ends:
        if end > start:
            seen, above, links = load_tree(
                words, rows, tags, coarse, start, end, heads, relations, roles
            )
            for place in range(1, end - start + 1):
                if children:
                    describe_child(seen, above, links, place, at)
                else:
                    describe_word(seen, above, links, place, at)
                codes_at(seen, at, places, result[start + place - 1])
        start = end
    return result


@kernel()
def add_rows(
    table: Weights,
    rows: IntArray,
    kept: Weights,
    more: IntArray,
    starts: IntArray,
    ends: IntArray,
    own: Weights,
    hidden: Weights,
) -> None:
    """Add the rows of the table of each example to its hidden units.

    `rows` and `kept` (examples, columns) are rows with their weights; those in
    more[starts[n] : ends[n]] have the weight own[n]. `hidden` (examples, units) changes.
    """
    for example in range(len(rows)):
        sums = hidden[example]
        for column in range(rows.shape[1]):
            if kept[example, column]:
                sums += kept[example, column] * table[rows[example, column]]
        if own[example]:
            for place in range(starts[example], ends[example]):
                sums += own[example] * table[more[place]]


@kernel()
def spread_rows(
    slopes: Weights,
    rows: IntArray,
    kept: Weights,
    more: IntArray,
    starts: IntArray,
    ends: IntArray,
    own: Weights,
    back: Weights,
) -> None:
    """Add the gradient by the hidden units, `back`, to that by the rows: `add_rows` backwards."""
    for example in range(len(rows)):
        for column in range(rows.shape[1]):
            if kept[example, column]:
                slopes[rows[example, column]] += kept[example, column] * back[example]
        if own[example]:
            for place in range(starts[example], ends[example]):
                slopes[more[place]] += own[example] * back[example]


@kernel()
def adam_step(
    weights: Weights,
    slopes: Weights,
    means: Weights,
    squares: Weights,
    step: int,
    rate: float,
    decay: float,
) -> None:
    """Change weights by AdamW (Loshchilov and Hutter 2019), with decays of .9 and .999."""
    first, second = 1 - 0.9**step, 1 - 0.999**step
    for n in range(len(weights)):
        means[n] = np.float32(0.9) * means[n] + np.float32(0.1) * slopes[n]
        squares[n] = np.float32(0.999) * squares[n] + np.float32(0.001) * slopes[n] * slopes[n]
        move = means[n] / first / (np.sqrt(squares[n] / second) + 1e-8)
        weights[n] -= rate * (move + decay * weights[n])

"""The compiled loops of the parser: features of a state, transitions, labels.

Arrays of one sentence of `size` words, counted from 1: `seen` (size + 3, columns) describes words,
then the root, then the state; `counts` (size + 3, 2) has the signs and verbs before each row. `at`
(PLACES) gets rows of `seen`, `codes` one code for each feature, `scores` one number for each class:
room for work, which every call overwrites. `states` is a beam of states of the sentence, `stack`
and `sides` are those of one. `words`, `tags` and the models are the caller's: `moves` (transitions)
and `names` (labels), whose scores `scales` turn into log-odds; `places` is a model's, and `coarse`
maps a tag to its coarse tag.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, kernel_record, uncounted
from partita.core import FloatArray, IntArray
from partita.text.tagger_kernels import ALL_LOWER, ALL_UPPER, sentence_case

Codes = NDArray[np.uint32]
Seen = NDArray[np.uint32]
SHIFT_USED = 8  # bits of a code that do not tell features apart when they are looked up

# Columns of a word, as in parser.COLUMNS; the first 14 are the tagger's.
WORD, SHAPE, FLAT, CONTEXT = 0, 10, 11, 13
MORE = 16  # the first column of a word's row after the tagger's
TAG, UPOS, RELATION, LEFTS, RIGHTS = 14, 15, 16, 17, 18
# Columns of the row that describes the whole state.
GAP, DEEP_GAP, SIGNS, VERBS, DIRECTION = 0, 1, 2, 3, 4
SHIFT, LEFT, RIGHT = 0, 1, 2
# Positions of a state, as in parser.POSITIONS.
PLACES = 22
BEAM = 4  # states that are kept at each step
LIKELY = 8.0  # nats by which a state that is kept may be less probable than the best one


@kernel_record("i8[:,:,:], u1[:], i1[:]")
class HashedModel(NamedTuple):
    """A linear model of hashed features.

    `places` (features, 4, 2): the position and column of each part that a feature joins, −1 for
    none; `used`: a bit for each class of codes, whether it has weights; `table`: the weights, those
    of the classes of a code one after another.
    """

    places: IntArray
    used: NDArray[np.uint8]
    table: NDArray[np.int8]


class States(NamedTuple):
    """States of one sentence, in a beam.

    For each: `seen`, the words with their dependents so far; `stack`, of which `depth` words are in
    use; `sides`, the outer two dependents of each word on both sides; `above`, its governor;
    `ahead`, the next word; `score`, log P.
    """

    seen: NDArray[np.uint32]
    stack: IntArray
    sides: IntArray
    above: IntArray
    depth: IntArray
    ahead: IntArray
    score: FloatArray


@kernel(
    entry="i8[:], u4[:,:], u1[:], u1[:], u1[:], i8[:], HashedModel, HashedModel, i8, f8[:]",
)
def parse_all(
    words: IntArray,
    rows: Seen,
    tags: NDArray[np.uint8],
    coarse: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    ends: IntArray,
    moves: HashedModel,
    names: HashedModel,
    labels: int,
    scales: FloatArray,
) -> tuple[IntArray, NDArray[np.uint8]]:
    """Return the head (a position in the sentence, -1 for the root) and label of every word.

    `words` (words) are rows of `rows`, `tags` (words) their tags; `coarse` and `kinds` map a tag to
    its coarse tag and to signs, verbs or neither. Sentence k ends before ends[k]. `moves` and
    `names` score transitions and labels in whole numbers, which `scales` (2) turn into log-odds.
    """
    heads = np.full(len(words), -1, dtype=np.int64)
    relations = np.zeros(len(words), dtype=np.uint8)
    start = 0
    for end in ends:
        if end > start:
            size = end - start
            seen = np.zeros((size + 3, RIGHTS + 1 + rows.shape[1] - MORE), dtype=np.uint32)
            load(words, rows, tags, coarse, start, end, seen)
            counts = counts_of(tags[start:end], kinds)
            best = parse(seen, counts, moves, names, labels, scales)
            for place in range(size):
                head = best.above[0, place + 1]
                heads[start + place] = head - 1 if head <= size else -1
                relations[start + place] = best.seen[0, place + 1, RELATION] - 1
        start = end
    return heads, relations


@kernel()
def load(
    words: IntArray,
    rows: Seen,
    tags: NDArray[np.uint8],
    coarse: NDArray[np.uint8],
    start: int,
    end: int,
    seen: Seen,
) -> None:
    """Write the columns of a sentence's words to the rows from 1 on; row 0 stands for nothing,
    the row after the words for the root, the last one for the state.

    `seen` (words of the sentence + 3, columns) belongs to the caller and must be zero: what a word
    has only in a tree (RELATION, LEFTS, RIGHTS) is left alone. In text that is all in one case,
    shapes say nothing and are replaced by those without case (FLAT).
    """
    size = end - start
    count = np.zeros(5, dtype=np.int64)
    for place in range(size):
        count[rows[words[start + place], CONTEXT]] += 1
    kind = sentence_case(count)
    for place in range(size):
        row = seen[place + 1]
        row[:TAG] = rows[words[start + place], :TAG]
        if kind in (ALL_UPPER, ALL_LOWER):
            row[SHAPE] = row[FLAT]
        row[CONTEXT] = 2 * kind + (place == 0)
        row[TAG] = tags[start + place] + 1
        row[UPOS] = coarse[tags[start + place]] + 1
        row[RIGHTS + 1 :] = rows[words[start + place], MORE:]
    seen[size + 1, WORD] = 2
    seen[size + 1, TAG] = 255
    seen[size + 1, UPOS] = 255


@kernel()
def counts_of(tags: NDArray[np.uint8], kinds: NDArray[np.uint8]) -> IntArray:
    """Return how many signs and verbs (`kinds` of `tags`) precede each position."""
    counts = np.zeros((len(tags) + 3, 2), dtype=np.int64)
    for place in range(len(tags)):
        counts[place + 2] = counts[place + 1]
        kind = kinds[tags[place]]
        if kind:
            counts[place + 2, kind - 1] += 1
    counts[len(tags) + 2] = counts[len(tags) + 1]
    return counts


@kernel()
def parse(
    seen: Seen,
    counts: IntArray,
    moves: HashedModel,
    names: HashedModel,
    labels: int,
    scales: FloatArray,
) -> States:
    """Attach every word of a sentence by arc-hybrid transitions; return states, the best first.

    A beam keeps the most probable states. The probability of a state is the product of those of its
    transitions and of the best labels of its arcs; label number `labels` is that of no arc. A
    sentence takes exactly 2 · size transitions (Kuhlmann, Gómez-Rodríguez and Satta 2011): each
    word is shifted once and attached once. `seen` and `counts` are of the sentence and are only
    read. `states` holds the `live` states before a transition, `others` those after it; the two
    change places. `logs[3 · n + move]` is log P of state n after a move, −∞ if it is not allowed.
    """
    size = len(seen) - 3
    states, others = states_of(seen, size), states_of(seen, size)
    at = np.zeros(PLACES, dtype=np.int64)
    codes = np.empty(max(len(moves.places), len(names.places)), dtype=np.uint32)
    scores = np.empty(64, dtype=np.int32)
    logs = np.empty(3 * BEAM)
    live = 1
    for _ in range(2 * size):
        logs[:] = -np.inf
        for n in range(live):
            score_moves(states, n, counts, moves, scales[0], at, codes, scores, logs)
        order = np.argsort(-logs)[:BEAM]
        live = 0
        for choice in order:
            if not logs[choice] >= logs[order[0]] - LIKELY:
                break
            n, move = choice // 3, choice % 3
            copy_state(states, n, others, live)
            others.score[live] = logs[choice]
            take(others, live, move, counts, names, labels, scales[1], at, codes, scores)
            live += 1
        states, others = others, states
    copy_state(states, int(np.argmax(states.score[:live])), others, 0)
    return others


@kernel()
def states_of(seen: Seen, size: int) -> States:
    """Return room for the states of a beam, each at the start of the sentence."""
    rows = np.empty((BEAM, seen.shape[0], seen.shape[1]), dtype=np.uint32)
    rows[:] = seen
    return States(
        rows,
        np.zeros((BEAM, size + 2), dtype=np.int64),
        np.zeros((BEAM, size + 2, 4), dtype=np.int64),
        np.full((BEAM, size + 2), -1, dtype=np.int64),
        np.zeros(BEAM, dtype=np.int64),
        np.ones(BEAM, dtype=np.int64),
        np.zeros(BEAM),
    )


@uncounted
def copy_state(source: States, n: int, target: States, m: int) -> None:
    """Copy what tells state n of `source` from others of its sentence to place m of `target`."""
    seen, sides, above = target.seen[m], target.sides[m], target.above[m]
    for word in range(1, len(above)):
        for column in (RELATION, LEFTS, RIGHTS):
            seen[word, column] = source.seen[n, word, column]
        for side in range(4):
            sides[word, side] = source.sides[n, word, side]
        above[word] = source.above[n, word]
    for place in range(source.depth[n]):
        target.stack[m, place] = source.stack[n, place]
    target.depth[m] = source.depth[n]
    target.ahead[m] = source.ahead[n]
    target.score[m] = source.score[n]


@uncounted
def score_moves(
    states: States,
    n: int,
    counts: IntArray,
    moves: HashedModel,
    scale: float,
    at: IntArray,
    codes: Codes,
    scores: NDArray[np.int32],
    logs: FloatArray,
) -> None:
    """Write log P of a state after each transition that it allows.

    The three entries of `logs` from 3 · n on must be −∞ before: those that are not allowed stay so.
    P is a softmax over the allowed moves. An empty stack allows only a shift, at no cost. `at`,
    `codes` and `scores` are room for work.
    """
    seen, depth, ahead = states.seen[n], states.depth[n], states.ahead[n]
    root = len(seen) - 2
    if depth == 0:
        logs[3 * n + SHIFT] = states.score[n]
        return
    describe(seen, states.stack[n], depth, ahead, states.sides[n], counts, at)
    codes_at(seen, at, moves.places, codes)
    add_scores(codes[: len(moves.places)], moves, 3, scores)
    top, total = -np.inf, 0.0
    for move in range(3):
        if allowed(move, depth, ahead, root):
            top = max(top, scores[move] * scale)
    for move in range(3):
        if allowed(move, depth, ahead, root):
            total += np.exp(scores[move] * scale - top)
    for move in range(3):
        if allowed(move, depth, ahead, root):
            logs[3 * n + move] = states.score[n] + scores[move] * scale - top - np.log(total)


@uncounted
def take(
    states: States,
    n: int,
    move: int,
    counts: IntArray,
    names: HashedModel,
    labels: int,
    scale: float,
    at: IntArray,
    codes: Codes,
    scores: NDArray[np.int32],
) -> None:
    """Take a transition: shift a word, or attach one with its best label.

    State n changes in place. Its log P has that of the move already; here that of the label is
    added, −log Σ exp(scale · (score − score of the best label)), summed over all labels and no arc.
    `at`, `codes` and `scores` are room for work.
    """
    seen, stack, depth, ahead = states.seen[n], states.stack[n], states.depth[n], states.ahead[n]
    if move == SHIFT:
        stack[depth] = ahead
        states.depth[n] += 1
        states.ahead[n] += 1
        return
    word = stack[depth - 1]
    head = ahead if move == LEFT else stack[depth - 2]
    states.depth[n] -= 1
    describe_arc(seen, word, head, len(seen) - 2, states.sides[n], counts, at)
    codes_at(seen, at, names.places, codes)
    add_scores(codes[: len(names.places)], names, labels + 1, scores)
    label, total = 0, 0.0
    for each in range(1, labels):
        if scores[each] > scores[label]:
            label = each
    for each in range(labels + 1):
        total += np.exp((scores[each] - scores[label]) * scale)
    states.score[n] -= np.log(total)
    attach(seen, states.sides[n], states.above[n], word, head, label)


@uncounted
def allowed(move: int, depth: int, ahead: int, root: int) -> bool:
    """Return whether a transition is possible; the root takes one dependent, the last word left."""
    if move == SHIFT:
        return ahead < root
    if move == LEFT:
        return depth > 0 and (ahead < root or depth == 1)
    return depth > 1


@uncounted
def attach(seen: Seen, sides: IntArray, above: IntArray, word: int, head: int, label: int) -> None:
    """Make a word a dependent (`above`); `sides` keeps the outer two dependents of each side."""
    above[word] = head
    seen[word, RELATION] = label + 1
    if word < head:
        sides[head, 1] = sides[head, 0]
        sides[head, 0] = word
        seen[head, LEFTS] += 1
    else:
        sides[head, 3] = sides[head, 2]
        sides[head, 2] = word
        seen[head, RIGHTS] += 1


@uncounted
def describe(
    seen: Seen, stack: IntArray, depth: int, ahead: int, sides: IntArray, counts: IntArray,
    at: IntArray,
) -> None:  # fmt: skip
    """Write the rows of the positions of a state, as parser.POSITIONS lists them.

    `at` (PLACES) gets a row of `seen` for each position, 0 where there is none; `sides` (words, 4)
    has the outer two dependents of each word on both sides, `counts` (words + 3, 2) the signs and
    verbs before each row. The last row of `seen` is written too: it belongs to the state.
    """
    root = len(seen) - 2
    first = stack[depth - 1]
    second = stack[depth - 2] if depth > 1 else 0
    third = stack[depth - 3] if depth > 2 else 0
    at[0], at[1], at[2] = first, second, third
    at[3] = ahead
    at[4] = ahead + 1 if ahead < root else 0
    at[5] = ahead + 2 if ahead + 1 < root else 0
    at[6], at[7], at[8], at[9] = sides[first]
    at[10], at[11], at[12], at[13] = sides[second]
    at[14], at[15] = sides[ahead, 0], sides[ahead, 1]
    at[16] = first - 1
    at[17] = first + 1 if first + 1 != ahead else 0
    at[18] = ahead - 1 if ahead - 1 != first else 0
    at[19] = ahead + 3 if ahead + 2 < root else 0
    at[20] = sides[at[6], 0]
    at[21] = root + 1
    state = seen[root + 1]
    state[GAP] = bucket(ahead - first)
    state[DEEP_GAP] = bucket(first - second) if second else 0
    state[SIGNS] = min(counts[ahead, 0] - counts[first + 1, 0], 3) + 1
    state[VERBS] = min(counts[ahead, 1] - counts[first + 1, 1], 3) + 1
    state[DIRECTION] = 0


@uncounted
def describe_arc(
    seen: Seen, word: int, head: int, root: int, sides: IntArray, counts: IntArray, at: IntArray
) -> None:
    """Write the rows of the positions of an arc, as parser.ARC_POSITIONS lists them."""
    low, high = min(word, head), max(word, head)
    at[0], at[1] = word, head
    at[2], at[3], at[4], at[5] = sides[word]
    at[6], at[7], at[8], at[9] = sides[head]
    at[10], at[11] = word - 1, (word + 1 if word < root else 0)
    at[12], at[13] = head - 1, (head + 1 if head < root else 0)
    at[14] = sides[at[4], 2]
    at[15] = root + 1
    state = seen[root + 1]
    state[GAP] = bucket(high - low)
    state[DEEP_GAP] = 0
    state[SIGNS] = min(counts[high, 0] - counts[low + 1, 0], 3) + 1
    state[VERBS] = min(counts[high, 1] - counts[low + 1, 1], 3) + 1
    state[DIRECTION] = 1 + (word > head)


@uncounted
def bucket(distance: int) -> int:
    """Return a distance as one of eight classes."""
    if distance < 5:
        return distance
    return 5 if distance < 7 else (6 if distance < 11 else 7)


# Odd multipliers of SplitMix64, xxHash and wyhash: a change of one bit reaches all bits of a code.
# Trained weights lie at these codes, so neither they nor the shifts can change without training.
@uncounted
def codes_at(seen: Seen, at: IntArray, places: IntArray, codes: Codes) -> None:
    """Write one code for every feature; a feature joins up to four columns of positions."""
    for feature in range(len(places)):
        part = places[feature]
        mixed = np.uint64(seen[at[part[0, 0]], part[0, 1]]) * np.uint64(0x9E3779B97F4A7C15)
        if part[1, 0] >= 0:
            mixed ^= mixed >> np.uint64(29)
            mixed += np.uint64(seen[at[part[1, 0]], part[1, 1]]) * np.uint64(0xC2B2AE3D27D4EB4F)
        if part[2, 0] >= 0:
            mixed ^= mixed >> np.uint64(30)
            mixed += np.uint64(seen[at[part[2, 0]], part[2, 1]]) * np.uint64(0x165667B19E3779F9)
        if part[3, 0] >= 0:
            mixed ^= mixed >> np.uint64(28)
            mixed += np.uint64(seen[at[part[3, 0]], part[3, 1]]) * np.uint64(0xA0761D6478BD642F)
        mixed += np.uint64(feature + 1) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(31)
        codes[feature] = np.uint32((mixed * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32))


@uncounted
def add_scores(codes: Codes, model: HashedModel, classes: int, scores: NDArray[np.int32]) -> None:
    """Write the sum of the weights of the features in use of a `model` for each class."""
    used, table = model.used, model.table
    mask = np.uint32(len(table) - 64 - 1)
    scores[:classes] = 0
    for code in codes:
        place = code >> SHIFT_USED
        if not used[place >> 3] >> (place & 7) & 1:
            continue
        base = np.int64(code & mask)
        weights = table[base : base + classes]
        for each in range(classes):
            scores[each] += weights[each]

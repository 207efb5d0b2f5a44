"""Compiled training pass of the tagger."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.core import IntArray
from partita.text.tagger_kernels import (
    REACH,
    Codes,
    Seen,
    load_sentence,
    longest_sentence,
    tagger_codes,
)

Weights = NDArray[np.float32]

NO_TAG = 255
SMALL = np.float32(1e-3)  # gradients below this are not followed: most weights stay at nothing
GUARD = np.float32(1e-4)


@kernel()
def learn_pass(
    codes: NDArray[np.uint32],
    steps: NDArray[np.uint32],
    right: IntArray,
    fixed: IntArray,
    ends: IntArray,
    order: IntArray,
    table: Weights,
    squares: Weights,
    tags: int,
    padding: int,
    rate: float,
    dropped: float,
    seed: int,
) -> int:
    """Train on every sentence once, in the given order; return the number of wrong tags.

    `codes` (words, features) are those of `codes_all`, before they move
    by `steps` with the last two tags; `right` and `fixed` (words) are the right tag and the only
    possible one, or NO_TAG. `table` and its sums of squared gradients (`squares`: Adagrad) change
    in place. `first` and `second` are the tags that the tagger itself gave to the two words before,
    right or not, as when it is used. Each feature of a word is left out with probability `dropped`;
    the scores of the others are scaled up to make up for it.
    """
    bases = np.empty(codes.shape[1], dtype=np.int64)
    scores = np.empty(tags, dtype=np.float32)
    mask = np.uint64(len(table) - padding - 1)
    state = np.uint64(seed)
    wrong = 0
    for sentence in order:
        first, second = tags, tags
        for place in range(ends[sentence - 1] if sentence else 0, ends[sentence]):
            best = fixed[place]
            if best == NO_TAG:
                kept = 0
                for feature in range(codes.shape[1]):
                    state, chance = drawn(state)
                    if chance >= dropped:
                        moved = np.uint64(codes[place, feature])
                        moved += np.uint64(steps[feature, 0]) * np.uint64(first)
                        moved += np.uint64(steps[feature, 1]) * np.uint64(second)
                        bases[kept] = np.int64(moved & mask)
                        kept += 1
                best = _gradient(bases[:kept], table, 1.0 / (1.0 - dropped), right[place], scores)
                _follow(bases[:kept], table, squares, scores, rate)
            wrong += best != right[place]
            first, second = best, first
    return wrong


@kernel()
def drawn(state: np.uint64) -> tuple[np.uint64, float]:
    """Return the next state of a generator, and a number from 0 to 1 (Steele's splitmix)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, np.float64(mixed >> np.uint64(40)) / 16777216.0


@kernel()
def _gradient(bases: IntArray, table: Weights, scale: float, right: int, scores: Weights) -> int:
    """Write the probabilities of the tags, less 1 for the right one, to scores; return the best
    tag."""
    scores[:] = 0
    for base in bases:
        for tag in range(len(scores)):
            scores[tag] += table[base + tag]
    best = int(np.argmax(scores))
    top, total = scores[best], np.float32(0)
    for tag in range(len(scores)):
        scores[tag] = np.exp(np.float32(scale) * (scores[tag] - top))
        total += scores[tag]
    for tag in range(len(scores)):
        scores[tag] /= total
    scores[right] -= np.float32(1)
    return best


@kernel()
def _follow(
    bases: IntArray, table: Weights, squares: Weights, gradient: Weights, rate: float
) -> None:
    """Take a step down the gradient for every feature and every tag that matters."""
    for tag in range(len(gradient)):
        slope = gradient[tag]
        if abs(slope) >= SMALL:
            for base in bases:
                squares[base + tag] += slope * slope
                table[base + tag] -= np.float32(rate) * slope / np.sqrt(squares[base + tag] + GUARD)


@kernel()
def codes_all(words: IntArray, rows: Seen, ends: IntArray, places: IntArray) -> Codes:
    """Return the codes of every word's features before the shift by earlier tags."""
    result = np.empty((len(words), len(places)), dtype=np.uint32)
    seen = np.zeros((longest_sentence(ends) + 2 * REACH, rows.shape[1]), dtype=np.uint32)
    start = 0
    for end in ends:
        load_sentence(words, rows, start, end, seen)
        for place in range(end - start):
            tagger_codes(seen, place + REACH, places, result[start + place])
        start = end
    return result

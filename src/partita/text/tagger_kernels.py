"""The compiled loop of the tagger.

`words` are rows of `rows` (columns: tagger.COLUMNS). `seen` has the rows of one sentence between
REACH empty ones, `codes` a code for each feature and `scores` a sum for each tag: room for work.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, uncounted
from partita.core import IntArray

Codes = NDArray[np.uint32]
Seen = NDArray[np.uint32]

WIDTH = 64  # weights read per feature; a constant, so that the compiler unrolls the loop
REACH = 2  # words around a word that features read
FORM, WORD, SHAPE, FLAT, CONTEXT, FIXED = 1, 0, 10, 11, 13, 14  # columns, as in tagger.COLUMNS
NO_TAG = 255
LOWER, CAPITALISED, UPPER, MIXED = 1, 2, 3, 4  # capitalisation, as in tagger
# The case of a sentence: usual, all upper case, all lower case, or a title.
USUAL, ALL_UPPER, ALL_LOWER, TITLE = 0, 1, 2, 3


@kernel(entry="i8[:], u4[:,:], i8[:], i8[:,:,:], u4[:,:], i1[:], i8")
def tag_all(
    words: IntArray,
    rows: Seen,
    ends: IntArray,
    places: IntArray,
    steps: Codes,
    table: NDArray[np.int8],
    tags: int,
) -> NDArray[np.uint8]:
    """Return the tags of all sentences, from left to right.

    `words` (words) are rows of `rows`; sentence k ends before ends[k]. `places` (features, 3, 2)
    are the words around and the columns that a feature joins, `steps` (features, 2) how its code
    moves with the last two tags. `table` has the weights of a code for all tags side by side, its
    length a power of two and WIDTH more, so that no code reads beyond it. At each word `first` and
    `second` are the tags of the two words before, `tags` (a number that no tag has) where there is
    none. Words with a single possible tag (FIXED) are not scored.
    """
    result = np.empty(len(words), dtype=np.uint8)
    seen = np.zeros((longest_sentence(ends) + 2 * REACH, rows.shape[1]), dtype=np.uint32)
    codes = np.empty(len(places), dtype=np.uint32)
    scores = np.empty(WIDTH, dtype=np.int32)
    mask = np.uint32(len(table) - WIDTH - 1)
    start = 0
    for end in ends:
        load_sentence(words, rows, start, end, seen)
        first, second = tags, tags
        for place in range(end - start):
            tag = int(seen[place + REACH, FIXED])
            if tag == NO_TAG:
                tagger_codes(seen, place + REACH, places, codes)
                tag = _best_tag(codes, steps, first, second, table, mask, tags, scores)
            result[start + place] = tag
            first, second = tag, first
        start = end
    return result


@uncounted
def longest_sentence(ends: IntArray) -> int:
    """Return the most words of a sentence, from the `ends` of all."""
    longest, start = 0, 0
    for end in ends:
        longest = max(longest, end - start)
        start = end
    return longest


@kernel()
def load_sentence(words: IntArray, rows: Seen, start: int, end: int, seen: Seen) -> None:
    """Copy the rows of a sentence between empty rows; hide case where it is uninformative."""
    length = end - start
    for place in range(length):
        seen[place + REACH] = rows[words[start + place]]
    seen[length + REACH : length + 2 * REACH] = 0
    count = np.zeros(5, dtype=np.int64)
    for place in range(length):
        count[seen[place + REACH, CONTEXT]] += 1
    kind = sentence_case(count)
    for place in range(REACH, length + REACH):
        if kind in (ALL_UPPER, ALL_LOWER):
            seen[place, SHAPE] = seen[place, FLAT]
            seen[place, FORM] = seen[place, WORD]
        seen[place, CONTEXT] = 2 * kind + (place == REACH)


@uncounted
def sentence_case(count: IntArray) -> int:
    """Return the case of a sentence from the number of its words by capitalisation (`count`, 5)."""
    other = count[LOWER] + count[CAPITALISED] + count[MIXED]
    if count[UPPER] > 0 and count[UPPER] >= 4 * other:
        return ALL_UPPER
    if count[LOWER] > 0 and count[LOWER] == other + count[UPPER]:
        return ALL_LOWER
    if count[CAPITALISED] >= 3 and 10 * count[CAPITALISED] >= 7 * (other + count[UPPER]):
        return TITLE
    return USUAL


@uncounted
def tagger_codes(seen: Seen, place: int, places: IntArray, codes: Codes) -> None:
    """Write one code for every feature of the word at a place (`places` as in `tag_all`)."""
    for feature in range(len(places)):
        at = places[feature]
        mixed = np.uint64(seen[place + at[0, 0], at[0, 1]]) * np.uint64(0x9E3779B97F4A7C15)
        mixed += np.uint64(seen[place + at[1, 0], at[1, 1]]) * np.uint64(0xC2B2AE3D27D4EB4F)
        mixed += np.uint64(seen[place + at[2, 0], at[2, 1]]) * np.uint64(0x165667B19E3779F9)
        mixed += np.uint64(feature + 1) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(31)
        codes[feature] = np.uint32((mixed * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32))


@uncounted
def _best_tag(
    codes: Codes,
    steps: Codes,
    first: int,
    second: int,
    table: NDArray[np.int8],
    mask: np.uint32,
    tags: int,
    scores: NDArray[np.int32],
) -> int:
    """Return the tag with the greatest score, the first of equals.

    `steps` and `table` as in `tag_all`; `mask` cuts a code to the table.
    """
    scores[:] = 0
    for feature in range(len(codes)):
        moved = codes[feature] + steps[feature, 0] * np.uint32(first)
        moved += steps[feature, 1] * np.uint32(second)
        base = np.int64(moved & mask)
        weights = table[base : base + WIDTH]
        for tag in range(WIDTH):
            scores[tag] += weights[tag]
    best = 0
    for tag in range(1, tags):
        if scores[tag] > scores[best]:
            best = tag
    return best

"""The compiled loops that find mentions in trees: features, probabilities, spans.

Arrays of one sentence of `size` words, counted from 1: `seen` (size + 3, columns) describes words,
the root and the state, `above` (size + 2) is the governor of each word, `links` (size + 2, LINKS)
its dependents; `at` (PLACES) are rows of `seen`. They belong to the call of `find_all`, as do
`codes` (one for each feature), `scores` and `chances`, which are room for work. `words`, `rows`,
`tags`, `heads`, `relations` and the models are the caller's; `coarse` maps a tag to its coarse tag
and `roles` a relation to its role (0 for none).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, uncounted
from partita.core import IntArray
from partita.text.parser_kernels import (
    LEFTS,
    MORE,
    RELATION,
    RIGHTS,
    Codes,
    HashedModel,
    Seen,
    add_scores,
    bucket,
    codes_at,
    load,
)

# Roles of relations, as in mentions.ROLES.
CASE, DETERMINER, SUBJECT, COPULA, CONJUNCT, COORDINATOR, CLAUSE = 1, 2, 3, 4, 5, 6, 7
ROLES = 8
# Columns of the links of a word: its dependents next to it and beyond, one by each role.
NEAR_LEFT, FAR_LEFT, NEAR_RIGHT, FAR_RIGHT = 0, 1, 2, 3
LEFTMOST, RIGHTMOST, FIRST, LAST = 4, 5, 6, 7
LINKS = 8 + ROLES
PLACES = 24
AROUND = PLACES - 1  # positions without the state
SIDE, SIZE, COMMA, DEPTH, OWN = 0, 1, 2, 3, 4  # columns of the row of the state


@kernel()
def load_tree(
    words: IntArray,
    rows: Seen,
    tags: NDArray[np.uint8],
    coarse: NDArray[np.uint8],
    start: int,
    end: int,
    heads: IntArray,
    relations: NDArray[np.uint8],
    roles: NDArray[np.uint8],
) -> tuple[Seen, IntArray, IntArray]:
    """Return the columns of a parsed sentence's words, the governor and the links of each."""
    size = end - start
    seen = np.zeros((size + 3, RIGHTS + 1 + rows.shape[1] - MORE), dtype=np.uint32)
    load(words, rows, tags, coarse, start, end, seen)
    above = np.zeros(size + 2, dtype=np.int64)
    for place in range(1, size + 1):
        head = heads[start + place - 1]
        above[place] = head + 1 if head >= 0 else size + 1
        seen[place, RELATION] = relations[start + place - 1] + 1
        seen[above[place], LEFTS if place < above[place] else RIGHTS] += 1
    return seen, above, links_of(seen, above, roles)


@kernel()
def links_of(seen: Seen, above: IntArray, roles: NDArray[np.uint8]) -> IntArray:
    """Return the links of every word: dependents by place and by role, and the ends of its subtree.

    A row of `links` (size + 2, LINKS) belongs to a word, counted from 1; the row after the words is
    the root's. Its entries are words, 0 for none. `above` (size + 2) is the governor of each word
    and `roles` the role of each relation. The first loop goes from left to right, so that the
    dependents of a word arrive in text order; the second one walks from every word up to the root
    and widens the ends of all words on the way, at most `size` steps even if the heads form a
    cycle.
    """
    size = len(above) - 2
    links = np.zeros((size + 2, LINKS), dtype=np.int64)
    for place in range(1, size + 1):
        links[place, FIRST] = links[place, LAST] = place
        head = above[place]
        link = links[head]
        role = roles[seen[place, RELATION] - 1]
        if role and not link[8 + role]:
            link[8 + role] = place
        if place < head:
            link[FAR_LEFT] = link[NEAR_LEFT]
            link[NEAR_LEFT] = place
            if not link[LEFTMOST]:
                link[LEFTMOST] = place
        else:
            if not link[NEAR_RIGHT]:
                link[NEAR_RIGHT] = place
            elif not link[FAR_RIGHT]:
                link[FAR_RIGHT] = place
            link[RIGHTMOST] = place
    for place in range(1, size + 1):
        head = above[place]
        for _ in range(size):
            if head > size:
                break
            links[head, FIRST] = min(links[head, FIRST], place)
            links[head, LAST] = max(links[head, LAST], place)
            head = above[head]
    return links


@uncounted
def describe_word(seen: Seen, above: IntArray, links: IntArray, word: int, at: IntArray) -> None:
    """Write the rows of the positions around a possible head, as mentions.POSITIONS lists them.

    `at` (PLACES) gets a row of `seen` for each position, 0 where there is none. The last row of
    `seen` is written too: it belongs to the state, and each call overwrites it.
    """
    size = len(above) - 2
    head, link = above[word], links[word]
    at[0], at[1] = word, head
    at[2] = above[head] if head <= size else 0
    at[3], at[4] = link[8 + CASE], link[8 + DETERMINER]
    at[5], at[6], at[7], at[8] = link[NEAR_LEFT], link[FAR_LEFT], link[NEAR_RIGHT], link[FAR_RIGHT]
    at[9], at[10] = word - 1, (word + 1 if word < size else 0)
    at[11], at[12] = max(word - 2, 0), (word + 2 if word + 1 < size else 0)
    at[13] = links[link[NEAR_RIGHT], 8 + CASE]
    at[14] = link[8 + SUBJECT] if link[8 + COPULA] else links[head, 8 + SUBJECT] * (head <= size)
    at[15] = link[8 + COPULA]
    at[16] = link[8 + CONJUNCT]
    at[17] = links[link[8 + CONJUNCT], 8 + COORDINATOR]
    at[18] = links[head, 8 + COPULA] * (head <= size)
    at[19] = link[LEFTMOST]
    at[20] = link[FIRST] - 1
    at[21] = link[LAST] + 1 if link[LAST] < size else 0
    at[22] = links[head, 8 + CASE] * (head <= size)
    at[23] = size + 2
    state = seen[size + 2]
    state[SIDE] = 1 + (word > head)
    state[SIZE] = bucket(link[LAST] - link[FIRST])
    state[COMMA] = min(size, 4)
    state[DEPTH] = bucket(abs(word - head))
    state[OWN] = (word == 1) + 2 * (link[8 + CLAUSE] > 0) + 4 * (link[8 + CONJUNCT] > 0)


@uncounted
def describe_child(seen: Seen, above: IntArray, links: IntArray, word: int, at: IntArray) -> None:
    """Write the rows of the positions around a dependent, as mentions.CHILD_POSITIONS lists them.

    `at` and the last row of `seen` are written as in `describe_word`. `inner` and `outer` are the
    next dependents of the same head towards the head and away from it, 0 if there is none.
    """
    size = len(above) - 2
    head, link = above[word], links[word]
    at[0], at[1] = word, head
    at[2] = above[head] if head <= size else 0
    inner, outer = 0, 0
    step = 1 if word < head else -1
    for place in range(word + step, head, step):
        if above[place] == head:
            inner = place
            break
    place = word - step
    while 0 < place <= size:
        if above[place] == head:
            outer = place
            break
        place -= step
    at[3], at[4] = inner, outer
    at[5], at[6] = link[LEFTMOST], link[RIGHTMOST]
    at[7], at[8] = link[FIRST], link[LAST]
    at[9] = link[FIRST] - 1
    at[10] = link[LAST] + 1 if link[LAST] < size else 0
    at[11] = links[head, 8 + COPULA]
    at[12] = links[head, 8 + CASE]
    at[13] = link[8 + CASE]
    at[14] = links[head, 8 + DETERMINER]
    at[15] = size + 2
    state = seen[size + 2]
    state[SIDE] = 1 + (word > head)
    state[SIZE] = bucket(link[LAST] - link[FIRST])
    state[COMMA] = (inner > 0) + 2 * (outer > 0)
    state[DEPTH] = bucket(abs(word - head))
    state[OWN] = 1 + (links[head, 8 + COPULA] > 0)


@kernel(
    entry="i8[:], u4[:,:], u1[:], u1[:], i8[:], i8[:], u1[:], u1[:], b1[:], HashedModel, "
    "HashedModel, HashedModel, i8, f8[:], f8"
)
def find_all(
    words: IntArray,
    rows: Seen,
    tags: NDArray[np.uint8],
    coarse: NDArray[np.uint8],
    ends: IntArray,
    heads: IntArray,
    relations: NDArray[np.uint8],
    roles: NDArray[np.uint8],
    possible: NDArray[np.bool_],
    types: HashedModel,
    spans: HashedModel,
    both: HashedModel,
    many: int,
    scales: NDArray[np.float64],
    threshold: float,
) -> tuple[int, IntArray, NDArray[np.float64], IntArray]:
    """Return the number of mentions, their (head, first, last, coordination) as positions among
    all words, the probabilities of nothing and of each type, and what is around them.

    `words` (words) are rows of `rows`, and `tags`, `heads`, `relations` (words) are those of all
    sentences one after another; sentence k ends before ends[k]. `heads` count from 0 within the
    sentence, −1 for the root. `possible` says which tags a head may have.
    Three linear models are asked: `types` for the class of a head (`many` classes, the first is
    nothing), `spans` whether a dependent belongs to the mention, `both` whether a coordination is a
    mention as a whole. Their scores are whole numbers, which `scales` (3) turn into log-odds. Rows
    before `count` are finished; `chances[count]` is room for the word at hand, and is overwritten
    unless it is a mention. A word gives at most two of them: hence 2 · words rows. A coordination
    has the types of its first conjunct: P(type) = P(both) · P(type of the head | it is a mention).
    `around` (2 · words, AROUND + 5) has the word at each position, −1 for none and −2 for the root,
    and the state.
    """
    found = np.zeros((2 * len(words), 4), dtype=np.int64)
    around = np.zeros((2 * len(words), AROUND + 5), dtype=np.int64)
    chances = np.zeros((2 * len(words), many), dtype=np.float64)
    at = np.zeros(PLACES, dtype=np.int64)
    type_codes = np.empty(len(types.places), dtype=np.uint32)
    span_codes = np.empty(len(spans.places), dtype=np.uint32)
    both_codes = np.empty(len(both.places), dtype=np.uint32)
    scores = np.empty(64, dtype=np.int32)
    count, start = 0, 0
    for end in ends:
        if end == start:
            continue
        seen, above, links = load_tree(
            words, rows, tags, coarse, start, end, heads, relations, roles
        )
        for place in range(1, end - start + 1):
            if not possible[tags[start + place - 1]]:
                continue
            describe_word(seen, above, links, place, at)
            codes_at(seen, at, types.places, type_codes)
            add_scores(type_codes, types, many, scores)
            softmax(scores[:many], scales[0], chances[count])
            if 1 - chances[count, 0] < threshold:
                continue
            for each in range(AROUND):
                inside = 1 <= at[each] <= end - start
                around[count, each] = start + at[each] - 1 if inside else -1
                around[count, each] -= at[each] == end - start + 1
            around[count, AROUND:] = seen[end - start + 2, :5]
            first, last, joined = span_of(
                seen, above, links, roles, place, spans, span_codes, scores, at
            )
            found[count] = start + place - 1, start + first - 1, start + last - 1, int(joined)
            count += 1
            if links[place, 8 + CONJUNCT] and not joined:
                describe_word(seen, above, links, place, at)
                codes_at(seen, at, both.places, both_codes)
                add_scores(both_codes, both, 2, scores)
                chance = 1 / (1 + np.exp((scores[0] - scores[1]) * scales[2]))
                if chance >= threshold:
                    end_of = coordination_end(seen, above, links, roles, place)
                    found[count] = start + place - 1, start + first - 1, start + end_of - 1, 2
                    chances[count] = chances[count - 1] * chance / (1 - chances[count - 1, 0])
                    chances[count, 0] = 1 - chance
                    around[count] = around[count - 1]
                    count += 1
        start = end
    return count, found, chances, around


@uncounted
def softmax(scores: NDArray[np.int32], scale: float, chances: NDArray[np.float64]) -> None:
    """Write the probabilities of the classes, softmax(scale · scores), into `chances`."""
    top, total = scores[0], 0.0
    for each in range(1, len(scores)):
        top = max(top, scores[each])
    for each in range(len(scores)):
        chances[each] = np.exp((scores[each] - top) * scale)
        total += chances[each]
    for each in range(len(scores)):
        chances[each] /= total


@uncounted
def span_of(
    seen: Seen,
    above: IntArray,
    links: IntArray,
    roles: NDArray[np.uint8],
    head: int,
    spans: HashedModel,
    codes: Codes,
    scores: NDArray[np.int32],
    at: IntArray,
) -> tuple[int, int, bool]:
    """Return the ends of a mention by its head, and whether it has a conjunct in it."""
    first, last, joined = head, head, False
    for word in range(links[head, FIRST], links[head, LAST] + 1):
        if above[word] != head:
            continue
        describe_child(seen, above, links, word, at)
        codes_at(seen, at, spans.places, codes)
        add_scores(codes, spans, 2, scores)
        if scores[1] > scores[0]:
            first = min(first, links[word, FIRST])
            last = max(last, links[word, LAST])
            joined |= roles[seen[word, RELATION] - 1] == CONJUNCT
    return first, last, joined


@uncounted
def coordination_end(
    seen: Seen, above: IntArray, links: IntArray, roles: NDArray[np.uint8], head: int
) -> int:
    """Return the end of the last conjunct of a head that is of the same kind as the first one."""
    last = head
    for word in range(head + 1, links[head, LAST] + 1):
        if above[word] == head and roles[seen[word, RELATION] - 1] == CONJUNCT:
            last = links[word, LAST]
    return last

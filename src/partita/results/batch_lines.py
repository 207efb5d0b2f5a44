"""Result lines of many small sets, written by compiled loops.

The text around names and numbers is cut out of a line that `result_line` writes, so that there is
one description of the format. Numbers are written as Python's repr writes them: the shortest
decimal number that reads back as the same double is found in the interval of all numbers that
round to it (Giulietti 2020, The Schubfach way to render doubles). With the double as c·2^q, the
ends and the middle of the interval are multiplied by a power of ten of 128 bits, so that their
integer parts differ by 2 to 20.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from json.encoder import encode_basestring

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.core import (
    BoolArray,
    CoreferenceSet,
    Distribution,
    Figure,
    Figures,
    FloatArray,
    IntArray,
    Listing,
    Marginals,
    Remainder,
    Template,
    pair,
)
from partita.results.result_lines import result_line

LONGEST = 25  # characters of a number
NULL = np.frombuffer(b"null", np.uint8)
U = np.uint64
U0, U1, U2, U4, U10, U32, U40 = U(0), U(1), U(2), U(4), U(10), U(32), U(40)
LOW = U(0xFFFFFFFF)
HIDDEN = U(1 << 52)
SIGN = U(1 << 63)
LEAST_POWER, LARGEST_POWER = -292, 324
# places of the text before, between and after names and numbers in the line of `_specimen`
SET, FIRST_ID, NEXT_ID, APART, COMMA, UNLISTED, PAIR, RIGHT, GIVEN, MARGINAL, NEXT_PAIR = (
    0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11)  # fmt: skip
CELLS, NEXT_CELL, SHARE, NEXT_CELLS, REST, PIECES = 15, 17, 18, 19, 23, 32
FIGURES = 6


@dataclass(frozen=True, slots=True, eq=False)
class SmallSets:
    """What is to be written of many sets, one row for each; all of one number of columns.

    `ids` are those of all sets, one set after the other. `given`, `marginals` and `listed` are
    rows over the pairs of a set, in order. `figures` are log₂ of the number of unlisted
    configurations and their mass, log₂ of the number of all, entropy, log-normaliser, conflict.
    """

    names: Sequence[str]
    ids: Sequence[str]
    sizes: IntArray
    unlisted: IntArray
    counts: IntArray
    given: FloatArray
    marginals: FloatArray
    listed: BoolArray
    labels: NDArray[np.uint8]
    shares: FloatArray
    figures: FloatArray


def small_set_lines(sets: SmallSets, model: str, source: str, missing: float, seed: int,
                    reason: str) -> list[str]:  # fmt: skip
    """Return the line of every set, as `result_line` writes it."""
    if not np.isfinite(sets.figures[:, 1:]).all() or not np.isfinite(sets.marginals).all():
        raise ValueError("a probability is not a finite number")
    pieces = _pieces(model, source, missing, seed, reason)
    texts, text_starts = _joined(pieces)
    names, starts = _quoted([*sets.ids, *sets.names])
    numbers = np.stack([sets.sizes, sets.unlisted, sets.counts], axis=1)
    out = np.empty(_bound(sets, np.diff(starts), pieces), np.uint8)
    ends = np.zeros(len(sets.sizes) + 1, np.int64)
    write_lines(
        out,
        ends,
        texts,
        text_starts,
        names,
        starts,
        numbers,
        sets.given,
        sets.marginals,
        sets.listed,
        sets.labels,
        sets.shares,
        sets.figures,
        powers_of_ten(),
    )
    data, places = out.data, ends.tolist()
    return [str(data[a:b], "utf-8") for a, b in pairwise(places)]


def _quoted(names: Sequence[str]) -> tuple[NDArray[np.uint8], IntArray]:
    """Return names as JSON; those that are plain text at once."""
    together = "".join(names)
    if not together.isascii() or not together.isprintable() or set(together) & {'"', "\\"}:
        return _joined([encode_basestring(name).encode() for name in names])
    lengths = np.fromiter(map(len, names), np.int64, len(names)) + 2
    starts = np.concatenate([[0], np.cumsum(lengths)])
    text = '""'.join(names)
    return np.frombuffer(f'"{text}"'.encode(), np.uint8), starts


def _joined(texts: Sequence[bytes]) -> tuple[NDArray[np.uint8], IntArray]:
    """Return texts one after the other, and where each starts."""
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=starts[1:])
    return np.frombuffer(b"".join(texts), np.uint8), starts


def _bound(sets: SmallSets, lengths: IntArray, pieces: Sequence[bytes]) -> int:
    """Return a number of bytes that all lines do not exceed."""
    n, pairs, top = sets.sizes, sets.given.shape[1], sets.shares.shape[1]
    names = int(lengths[: int(n.sum())].sum()) * (1 + 2 * int(n.max()) + top)
    text = sum(map(len, pieces))
    each = n * len(pieces[NEXT_ID]) + (pairs + top + 3) * (text - len(pieces[NEXT_ID]))
    numbers = LONGEST * (2 * pairs + top + FIGURES + 3) + top * 4 * n
    total: int = names + int((each + numbers).sum()) + int(lengths.sum())
    return total


MARK = re.compile(r'"\ue000"|"\ue001"|"\ue002"|"\ue003"|7777\.25|777725')


@cache
def _pieces(model: str, source: str, missing: float, seed: int, reason: str) -> list[bytes]:
    """Cut a line where names and numbers are."""
    line = result_line(_specimen(model, seed, reason), "", (777725, missing))
    pieces = MARK.split(line)
    assert len(pieces) == PIECES
    pieces[SET] = pieces[SET].replace('"message":""', f'"message":{encode_basestring(source)}')
    pieces[APART], pieces[UNLISTED] = pieces[APART][:-1], pieces[UNLISTED][1:]  # of one pair
    return [piece.encode() for piece in pieces]


def _specimen(model: str, seed: int, reason: str) -> Distribution:
    """Return a set of three templates, two pairs and two configurations, all numbers alike."""
    ids, number = ("\ue000", "\ue001", "\ue002"), 7777.25
    p = np.zeros((3, 3))
    p[0, 1:] = p[1:, 0] = number
    labels = np.array([[0, 0, 1], [0, 1, 2]])
    figure = Figure.exact(number)
    templates = tuple(Template(name) for name in ids)
    return Distribution(
        set=CoreferenceSet(templates, frozenset([pair(*ids[:2])]), name="\ue003"),
        model=model,
        method="exact",
        reason=reason,
        probabilities=p,
        marginals=Marginals.exact(p),
        configurations=Listing(ids, labels, [number, number]),
        remainder=Remainder(777725, number, number),
        figures=Figures(figure, figure, figure),
        conflict=number,
        count=777725,
        seed=seed,
        posterior=None,  # type: ignore[arg-type]
    )


@kernel(native=True)
def write_lines(  # type: ignore[no-untyped-def]
    out, ends, texts, text_starts, names, starts, sets, given, marginals, listed, labels, shares,
    figures, powers,
):  # fmt: skip
    """Write a line for each set, and where it ends."""
    at, first, named = 0, 0, starts.shape[0] - 1 - sets.shape[0]
    for k in range(sets.shape[0]):
        n, unlisted, count = sets[k]
        at = _put_text(out, at, texts, text_starts, SET)
        at = _put_text(out, at, names, starts, named + k)
        for i in range(n):
            at = _put_text(out, at, texts, text_starts, NEXT_ID if i else FIRST_ID)
            at = _put_text(out, at, names, starts, first + i)
        at = _put_apart(out, at, texts, text_starts, names, starts, first, n, given[k], listed[k])
        at = _put_integer(out, at, unlisted)
        piece, x = PAIR, 0
        for i in range(n):
            for j in range(i + 1, n):
                if listed[k, x]:
                    at = _put_text(out, at, texts, text_starts, piece)
                    at = _put_text(out, at, names, starts, first + i)
                    at = _put_text(out, at, texts, text_starts, RIGHT)
                    at = _put_text(out, at, names, starts, first + j)
                    at = _put_text(out, at, texts, text_starts, GIVEN)
                    at = put_number(out, at, given[k, x], powers)
                    at = _put_text(out, at, texts, text_starts, MARGINAL)
                    at = put_number(out, at, marginals[k, x], powers)
                    piece = NEXT_PAIR
                x += 1
        top = min(count, shares.shape[1])
        for c in range(top):
            at = _put_text(out, at, texts, text_starts, NEXT_CELLS if c else CELLS)
            at = _put_cells(out, at, texts, text_starts, names, starts, first, n, labels[k, c])
            at = _put_text(out, at, texts, text_starts, SHARE)
            at = put_number(out, at, shares[k, c], powers)
        at = _put_figures(out, at, texts, text_starts, count, count - top, figures[k], powers)
        first += n
        ends[k + 1] = at


@kernel()
def _put_text(out, at, texts, starts, number):  # type: ignore[no-untyped-def]
    length = starts[number + 1] - starts[number]
    to, source = U(at), U(starts[number])  # unsigned places need no check of their sign
    for place in range(U(length)):
        out[to + place] = texts[source + place]
    return at + length


@kernel()
def _put_apart(  # type: ignore[no-untyped-def]
    out, at, texts, text_starts, names, starts, first, n, given, listed
):
    """Write the pairs that are listed with probability 0."""
    at, x, some = _put_text(out, at, texts, text_starts, APART), 0, False
    for i in range(n):
        for j in range(i + 1, n):
            if listed[x] and given[x] == 0.0:
                if some:
                    at = _put_text(out, at, texts, text_starts, COMMA)
                out[at] = 91
                at = _put_text(out, at + 1, names, starts, first + i)
                at = _put_text(out, at, texts, text_starts, COMMA)
                at = _put_text(out, at, names, starts, first + j)
                out[at] = 93
                at += 1
                some = True
            x += 1
    return _put_text(out, at, texts, text_starts, UNLISTED)


@kernel()
def _put_cells(  # type: ignore[no-untyped-def]
    out, at, texts, text_starts, names, starts, first, n, labels
):
    """Write the members of every cell, cells by their first member."""
    placed, cell = 0, 0
    while placed < n:
        inside = False
        for i in range(n):
            if labels[i] == cell:
                if inside:
                    at = _put_text(out, at, texts, text_starts, COMMA)
                elif cell:
                    at = _put_text(out, at, texts, text_starts, NEXT_CELL)
                at = _put_text(out, at, names, starts, first + i)
                inside = True
                placed += 1
        cell += 1
    return at


@kernel()
def _put_figures(  # type: ignore[no-untyped-def]
    out, at, texts, text_starts, count, left, figures, powers
):
    """Write what is not listed, and the figures of the whole set."""
    at = _put_integer(out, _put_text(out, at, texts, text_starts, REST), left)
    for f in range(FIGURES):
        if f == 2:
            at = _put_text(out, at, texts, text_starts, REST + 3)
            at = _put_integer(out, at, count)
        at = _put_text(out, at, texts, text_starts, REST + 1 + f + (1 if f >= 2 else 0))
        if f == 0 and left == 0:
            for place in range(4):
                out[at + place] = NULL[place]
            at += 4
        else:
            at = put_number(out, at, figures[f], powers)
    return _put_text(out, at, texts, text_starts, PIECES - 1)


@cache
def powers_of_ten() -> NDArray[np.uint64]:
    """Return the first 128 bits of every power of ten that is needed, rounded up, in two halves."""
    halves = []
    for power in range(LEAST_POWER, LARGEST_POWER + 1):
        shift = (power * 1741647 >> 19) - 127
        number = 10 ** max(power, 0) << max(-shift, 0)
        divisor = 10 ** max(-power, 0) << max(shift, 0)
        bits = -(-number // divisor)
        halves.append((bits >> 64, bits & (1 << 64) - 1))
    return np.array(halves, dtype=np.uint64)


@kernel()
def _product_high(a, b):  # type: ignore[no-untyped-def]
    """Return the higher half of the 128 bits of a product."""
    low = (a & LOW) * (b & LOW)
    cross = (a >> U32) * (b & LOW) + (low >> U32)
    other = (a & LOW) * (b >> U32) + (cross & LOW)
    return (a >> U32) * (b >> U32) + (cross >> U32) + (other >> U32)


@kernel()
def _scaled(high, low, number):  # type: ignore[no-untyped-def]
    """Return the integer part of a product; its last bit is set if there is a fraction."""
    below = _product_high(low, number)
    middle = high * number
    fraction = middle + below
    carry = U1 if fraction < middle else U0
    return (_product_high(high, number) + carry) | (U1 if fraction > U1 else U0)


@kernel()
def _shortest(bits, powers):  # type: ignore[no-untyped-def]
    """Return digits and a power of ten for the bits of a positive double."""
    exponent, fraction = np.int64(bits >> U(52)), bits & (HIDDEN - U1)
    c, q = (fraction | HIDDEN, exponent - 1075) if exponent else (fraction, -1074)
    nearer = fraction == U0 and exponent > 1  # the next smaller double is nearer than the larger
    odd = c & U1
    k = (q * 1262611 - 524031 if nearer else q * 1262611) >> 22
    shift = U(q + (-k * 1741647 >> 19) + 1)
    high, low = powers[-k - LEAST_POWER, 0], powers[-k - LEAST_POWER, 1]
    least = _scaled(high, low, (U4 * c - (U1 if nearer else U2)) << shift) + odd
    value = _scaled(high, low, (U4 * c) << shift)
    largest = _scaled(high, low, (U4 * c + U2) << shift) - odd
    s = value // U4
    if s >= U10:
        tens = s // U10
        below, above = least <= U40 * tens, U40 * tens + U40 <= largest
        if below != above:
            return tens + (U1 if above else U0), k + 1
    below, above = least <= U4 * s, U4 * s + U4 <= largest
    if below != above:
        return s + (U1 if above else U0), k
    middle = U4 * s + U2
    up = value > middle or (value == middle and s & U1 == U1)
    return s + (U1 if up else U0), k


@kernel()
def _put_digits(out, at, number, count):  # type: ignore[no-untyped-def]
    """Write the last `count` digits of a number."""
    for place in range(at + count - 1, at - 1, -1):
        out[place] = 48 + np.uint8(number % U10)
        number //= U10
    return at + count


@kernel()
def _put_zeros(out, at, count):  # type: ignore[no-untyped-def]
    for place in range(at, at + count):
        out[place] = 48
    return at + count


@kernel()
def _digits(number):  # type: ignore[no-untyped-def]
    count, limit = 1, U10
    while number >= limit and count < 19:
        count += 1
        limit *= U10
    return count


@kernel()
def _put_integer(out, at, number):  # type: ignore[no-untyped-def]
    number = U(number)
    return _put_digits(out, at, number, _digits(number))


@kernel()
def put_number(out, at, value, powers):  # type: ignore[no-untyped-def]
    """Write a finite double as repr does, and return the place after it."""
    bits = np.float64(value).view(np.uint64)
    if bits & SIGN:
        out[at] = 45
        at += 1
    if value == 0.0:
        out[at], out[at + 1], out[at + 2] = 48, 46, 48
        return at + 3
    number, power = _shortest(bits & ~SIGN, powers)
    while number % U10 == U0:
        number //= U10
        power += 1
    count = _digits(number)
    point = count + power
    if point <= -4 or point > 16:
        return _put_exponential(out, at, number, count, point - 1)
    if point <= 0:
        out[at], out[at + 1] = 48, 46
        return _put_digits(out, _put_zeros(out, at + 2, -point), number, count)
    if point >= count:
        at = _put_zeros(out, _put_digits(out, at, number, count), point - count)
        out[at], out[at + 1] = 46, 48
        return at + 2
    _put_digits(out, at + 1, number, count)
    for place in range(at, at + point):
        out[place] = out[place + 1]
    out[at + point] = 46
    return at + count + 1


@kernel()
def _put_exponential(out, at, number, count, power):  # type: ignore[no-untyped-def]
    end = _put_digits(out, at + 1, number, count)
    out[at] = out[at + 1]
    out[at + 1] = 46
    if count == 1:
        end = at + 1
    out[end], out[end + 1] = 101, 43 if power > 0 else 45
    power = U(abs(power))
    return _put_digits(out, end + 2, power, max(2, _digits(power)))

"""Compiled reading of the fields of a block of text: numbers for names, and decimals."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np

from partita.compilation import kernel
from partita.core import FloatArray, IntArray

FIRST_SLOTS = 1 << 16
EMPTY = -1
HASH, NUMBER, START, LENGTH = range(4)  # columns of slots
OFFSET, PRIME = 0xCBF29CE484222325 - (1 << 64), 0x100000001B3  # of the hash FNV-1a, signed


class DistinctTexts:
    """Numbers for texts by first appearance, over all blocks of a file.

    A text is found by its hash in `slots`, at most half of which are in use: a slot has the hash
    of a text, its number, and where it starts in `text` and how long it is.
    """

    def __init__(self) -> None:
        self.count = self.used = 0
        self.text = np.empty(0, np.uint8)
        self.slots = np.full((FIRST_SLOTS, 4), EMPTY)

    def numbers(self, data: bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, list[str]]:
        """Return the number of each text of a block, and the new texts."""
        self._make_room(len(starts), len(data))
        numbers, lengths = np.empty((2, len(starts)), np.int64)
        places = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
        given = np.frombuffer(data, np.uint8), *places, self.count, self.used
        new = int(_number_texts(*given, self.slots, self.text, numbers, lengths))
        edges = [0, *np.cumsum(lengths[:new]).tolist()]
        text = self.text[self.used : self.used + edges[-1]].tobytes()
        self.count, self.used = self.count + new, self.used + edges[-1]
        if text.isascii():
            whole = text.decode()
            return numbers, [whole[a:b] for a, b in pairwise(edges)]
        return numbers, [text[a:b].decode() for a, b in pairwise(edges)]

    def _make_room(self, texts: int, letters: int) -> None:
        if self.used + letters > len(self.text):
            text = np.empty(2 * (self.used + letters), np.uint8)
            text[: self.used] = self.text[: self.used]
            self.text = text
        if (most := 2 * (self.count + texts)) > len(self.slots):
            slots = np.full((1 << most.bit_length(), 4), EMPTY)
            _move_slots(self.slots, slots)
            self.slots = slots


@kernel(entry="i8[:,:], i8[:,:]")
def _move_slots(old, new):  # type: ignore[no-untyped-def]
    """Move the slots in use to a larger table."""
    last = new.shape[0] - 1
    for slot in range(old.shape[0]):
        if old[slot, NUMBER] != EMPTY:
            place = (old[slot, HASH] ^ old[slot, HASH] >> 32) & last
            while new[place, NUMBER] != EMPTY:
                place = (place + 1) & last
            for column in range(4):
                new[place, column] = old[slot, column]


@kernel(entry="u1[:], i8[:], i8[:], i8, i8, i8[:,:], u1[:], i8[:], i8[:]")
def _number_texts(  # type: ignore[no-untyped-def]
    data, starts, ends, count, used, slots, text, numbers, lengths
):
    """Number texts, of which so many are known; return how many are new, with their lengths."""
    last, first = slots.shape[0] - 1, count
    for field in range(starts.shape[0]):
        start, length = starts[field], ends[field] - starts[field]
        code = OFFSET
        for k in range(length):
            code = (code ^ data[start + k]) * PRIME
        place = (code ^ code >> 32) & last
        while slots[place, NUMBER] != EMPTY:
            if slots[place, HASH] == code and slots[place, LENGTH] == length:
                k, known = 0, slots[place, START]
                while k < length and text[known + k] == data[start + k]:
                    k += 1
                if k == length:
                    break
            place = (place + 1) & last
        if slots[place, NUMBER] == EMPTY:
            slots[place, HASH], slots[place, NUMBER] = code, count
            slots[place, START], slots[place, LENGTH] = used, length
            text[used : used + length] = data[start : start + length]
            lengths[count - first] = length
            count, used = count + 1, used + length
        numbers[field] = slots[place, NUMBER]
    return count - first


MINUS, POINT, ZERO, LETTER_E = b"-.0e"
LOWER = 0x20  # the bit by which small letters differ
DIGITS = 18  # that an integer of 64 bits holds
LEAST_POWER = -128
SPLIT = 2.0**27 + 1.0
ERROR = 2.0**-98  # relative, more than that of a product of two doubles


def decimals(data: bytes, starts: IntArray, ends: IntArray) -> FloatArray:
    """Return decimals as `float` reads them, NaN for what is left to it."""
    values = np.empty(len(starts))
    places = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    _read_decimals(np.frombuffer(data, np.uint8), *places, _powers(), values)
    return values


@cache
def _powers() -> FloatArray:
    """Return powers of ten from the least to 1, each as the sum of two doubles."""
    exact = [Fraction(10) ** n for n in range(LEAST_POWER, 1)]
    high = np.array([float(power) for power in exact])
    low = [float(power - Fraction(first)) for power, first in zip(exact, high, strict=True)]
    return np.array([high, low])


@kernel(entry="u1[:], i8[:], i8[:], f8[:,:], f8[:]")
def _read_decimals(data, starts, ends, powers, values):  # type: ignore[no-untyped-def]
    """Read digits with a point and an exponent, whose product with a power of ten is certain."""
    for field in range(starts.shape[0]):
        start, end = starts[field], ends[field]
        place = start + (start < end and data[start] == MINUS)
        mantissa, digits, power, any_digit, after_point = 0, 0, 0, False, False
        while place < end:
            digit = int(data[place]) - ZERO
            if 0 <= digit <= 9:
                mantissa = 10 * mantissa + digit
                digits += mantissa > 0
                power -= after_point
                any_digit = True
                if digits > DIGITS:
                    break
            elif data[place] == POINT and not after_point:
                after_point = True
            else:
                break
            place += 1
        if any_digit and place + 1 < end and data[place] | LOWER == LETTER_E:
            exponent, end_of_sign = 0, place + 1 + (data[place + 1] == MINUS)
            place = end_of_sign
            while place < end and 0 <= int(data[place]) - ZERO <= 9 and exponent < 1000:
                exponent = 10 * exponent + int(data[place]) - ZERO
                place += 1
            any_digit = place > end_of_sign
            power += -exponent if data[end_of_sign - 1] == MINUS else exponent
        if any_digit and place == end and LEAST_POWER <= power <= 0:
            value = _scaled(
                mantissa, powers[0, power - LEAST_POWER], powers[1, power - LEAST_POWER]
            )
            values[field] = -value if data[start] == MINUS else value
        else:
            values[field] = np.nan


@kernel()
def _scaled(mantissa, high, low):  # type: ignore[no-untyped-def]
    """Return mantissa · (high + low), correctly rounded; NaN where that is not certain."""
    first = np.float64(mantissa)
    rest = np.float64(mantissa - np.int64(first))
    a = SPLIT * first - (SPLIT * first - first)
    b = SPLIT * high - (SPLIT * high - high)
    product = first * high
    error = a * b - product + a * (high - b) + (first - a) * b + (first - a) * (high - b)
    error += first * low + rest * high
    total = product + error
    left = error - (total - product)
    bound = ERROR * total
    upper, lower = total + (left + bound), total + (left - bound)
    return upper if upper == lower else np.nan

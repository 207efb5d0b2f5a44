"""How much mass agrees when pairs may be together, apart or unsaid:  1 − κ.

A choice for every pair contradicts itself when two templates that a chain of "together" links are
"apart". Sorted by the cells that "together" makes, the agreeing mass is
Σ_configurations Π_cells C(cell) · Π_across (A+U),  C(S) the mass of choices inside S that link all
of S and part nothing:  C(S) = Π_S (T+U) − Σ_{min S ∈ S' ⊂ S} C(S')·Π_{S∖S'} (T+U)·Π_across U.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

from partita.records import FloatArray


def agreement(together: FloatArray, apart: FloatArray, ignorance: FloatArray) -> float:
    """The mass of all choices that some configuration satisfies; 3^n steps for n templates."""
    size = len(together)
    joined, parted = together + ignorance, apart + ignorance

    @cache
    def linked(cell: int) -> float:
        whole = _inside(joined, cell)
        return whole - math.fsum(
            linked(part) * _inside(joined, cell ^ part) * _across(ignorance, part, cell ^ part)
            for part in _parts(cell)
        )

    @cache
    def agreeing(rest: int) -> float:
        if not rest:
            return 1.0
        return math.fsum(
            linked(cell) * _across(parted, cell, rest ^ cell) * agreeing(rest ^ cell)
            for cell in (*_parts(rest), rest)
        )

    return agreeing((1 << size) - 1)


def _parts(whole: int) -> Iterator[int]:
    """Proper parts of a set that hold its first member."""
    first = whole & -whole
    rest = part = whole ^ first
    while part:
        part = (part - 1) & rest
        yield first | part


def _inside(matrix: FloatArray, cell: int) -> float:
    members = _members(cell)
    return math.prod(float(matrix[i, j]) for n, i in enumerate(members) for j in members[n + 1 :])


def _across(matrix: FloatArray, left: int, right: int) -> float:
    others = _members(right)
    return math.prod(float(matrix[i, j]) for i in _members(left) for j in others)


def _members(cell: int) -> list[int]:
    return [n for n in range(cell.bit_length()) if cell >> n & 1]

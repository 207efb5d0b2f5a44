"""Tables of records with known clusters, and two records compared field by field.

Similarity of two values is that of Dice over pairs of neighbouring characters: 2|X∩Y|/(|X|+|Y|).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from partita.core import FloatArray, IntArray
from partita.errors import InputError

Block = tuple[tuple[str, int], ...]
Grams = frozenset[str]
WHOLE = 64  # characters: more than any value that a block is made of


@dataclass(frozen=True, slots=True)
class Table:
    """A file, its column of true clusters, the fields to compare, and the blocks.

    Two records are compared where some block (fields with a number of leading characters) has
    the same values in both, none of them empty.
    """

    file: str
    cluster: str
    fields: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The rows of a table: values by field, their pairs of characters, and cluster numbers."""

    table: Table
    values: list[dict[str, str]]
    grams: list[dict[str, Grams]]
    clusters: IntArray

    def __len__(self) -> int:
        return len(self.values)


def read_records(folder: Path, table: Table) -> Records:
    """The records of one file."""
    path = folder / table.file
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, skipinitialspace=True))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    values = [{name: _plain(row[name]) for name in table.fields} for row in rows]
    grams = [{name: _grams(value) for name, value in row.items()} for row in values]
    _, clusters = np.unique([row[table.cluster] for row in rows], return_inverse=True)
    return Records(table, values, grams, clusters.astype(np.int64))


def candidates(records: Records) -> list[tuple[int, int]]:
    """The pairs that share a block, in order."""
    found: set[tuple[int, int]] = set()
    for block in records.table.blocks:
        for members in _blocked(records.values, block):
            found.update(combinations(members, 2))
    return sorted(found)


def comparisons(records: Records, pairs: Iterable[tuple[int, int]]) -> FloatArray:
    """A row for each pair: a constant; for each field whether it is equal, how similar, and
    whether it is missing; how many fields are equal, one column for each number; and the
    similarity of the records as a whole (fields may be swapped) with its square.
    """
    return np.array([_compared(records, left, right) for left, right in pairs], dtype=np.float64)


def _compared(records: Records, left: int, right: int) -> list[float]:
    one, other = records.values[left], records.values[right]
    grams, others = records.grams[left], records.grams[right]
    missing = [not one[name] or not other[name] for name in one]
    equal = [one[name] == other[name] != "" for name in one]
    similar = [_dice(grams[name], others[name]) for name in one]
    numbers = [sum(equal) == n for n in range(len(equal) + 1)]
    whole = _dice(frozenset().union(*grams.values()), frozenset().union(*others.values()))
    return [1.0, *map(float, equal), *similar, *map(float, missing + numbers), whole, whole**2]


def _blocked(values: Sequence[dict[str, str]], block: Block) -> Iterator[list[int]]:
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, row in enumerate(values):
        key = tuple(row[name][:length] for name, length in block)
        if all(key):
            groups[key].append(number)
    yield from groups.values()


def _plain(value: str) -> str:
    """Lower case, without spaces around; NA is empty."""
    plain = value.strip().lower()
    return "" if plain == "na" else plain


def _grams(value: str) -> Grams:
    padded = f" {value} "
    return frozenset(padded[n : n + 2] for n in range(len(padded) - 1)) if value else frozenset()


def _dice(left: Grams, right: Grams) -> float:
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0

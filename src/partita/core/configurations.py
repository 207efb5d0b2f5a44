"""Configurations: partitions of a coreference set into cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from partita.core.arrays import IntArray
from partita.errors import InputError

Cell = tuple[str, ...]


@lru_cache(maxsize=1 << 16)
def _natural(text: str) -> tuple[tuple[bool, int, str, str], ...]:
    """Return a key that sorts T2 before T10."""
    parts = [p for p in re.split(r"([0-9]+)", str(text)) if p]
    digits = [p.lstrip("0") if "0" <= p[0] <= "9" else "" for p in parts]
    return tuple((not "0" <= p[0] <= "9", len(d), d, p) for p, d in zip(parts, digits, strict=True))


@dataclass(frozen=True, slots=True)
class Configuration:
    """A partition of a coreference set into cells, in canonical order."""

    cells: tuple[Cell, ...]

    def __init__(self, cells: Iterable[Iterable[str]]) -> None:
        ordered = (tuple(sorted(cell, key=_natural)) for cell in cells)
        canonical = tuple(sorted(filter(None, ordered), key=lambda cell: _natural(cell[0])))
        members = [member for cell in canonical for member in cell]
        if len(set(members)) < len(members):
            twice = next(m for n, m in enumerate(members) if m in members[:n])
            raise InputError(f"template {twice} is in two cells of one configuration")
        object.__setattr__(self, "cells", canonical)

    @classmethod
    def from_labels(cls, ids: Sequence[str], labels: Sequence[int] | IntArray) -> Configuration:
        """Return the configuration in which templates with the same label share a cell."""
        return cls.from_rows(ids, [[int(label) for label in labels]])[0]

    @classmethod
    def from_rows(cls, ids: Sequence[str], rows: Iterable[Sequence[int]]) -> list[Configuration]:
        """Return one configuration per row of labels."""
        order = sorted(range(len(ids)), key=lambda position: _natural(ids[position]))
        configurations = []
        for row in rows:
            cells: dict[int, list[str]] = {}
            for position in order:
                cells.setdefault(row[position], []).append(ids[position])
            configuration = object.__new__(cls)
            object.__setattr__(configuration, "cells", tuple(map(tuple, cells.values())))
            configurations.append(configuration)
        return configurations

    def labels(self, ids: Sequence[str]) -> IntArray:
        """Return the cell number of each id, by first appearance."""
        cell_of = {member: n for n, cell in enumerate(self.cells) for member in cell}
        if odd := set(cell_of) ^ set(ids):
            raise InputError(f"template {min(odd)} is not in both the configuration and the set")
        return restricted_growth([cell_of[name] for name in ids])

    def together(self, left: str, right: str) -> bool:
        return any(left in cell and right in cell for cell in self.cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __str__(self) -> str:
        return " ".join(f"({' '.join(map(str, cell))})" for cell in self.cells)


def restricted_growth(labels: Iterable[int]) -> IntArray:
    """Renumber labels by first appearance: equal partitions get equal arrays."""
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(int(n), len(numbers)) for n in labels], dtype=np.int64)


def restricted_growth_rows(rows: IntArray) -> IntArray:
    """Renumber the labels of each row, whole numbers from 0 on, by first appearance."""
    count, size = rows.shape
    if not rows.size:
        return np.zeros((count, size), dtype=np.int64)
    places, each = np.arange(size), np.arange(count)[:, None]
    firsts = np.full((count, int(rows.max()) + 1), size)
    np.minimum.at(firsts, (each, rows), places)
    homes = firsts[each, rows]
    numbers = np.cumsum(homes == places, axis=1) - 1
    renumbered: IntArray = numbers[each, homes]
    return renumbered


def in_text_order(configuration: Configuration, place: Mapping[str, int]) -> list[list[str]]:
    """Return cells by their first template, each cell's templates in text order."""
    cells = [sorted(cell, key=place.__getitem__) for cell in configuration]
    return sorted(cells, key=lambda cell: place[cell[0]])

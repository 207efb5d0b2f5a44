"""Read CSV and JSONL as rows of named columns with their line numbers."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice
from typing import Any, overload

import numpy as np

from partita.core import IntArray
from partita.errors import InputError
from partita.files.strict import json_problem
from partita.files.text import Lines

CHUNK = 1 << 16
LARGE = 1 << 18  # bytes that are worth the loading of compiled code
COMMA, LINE_END = b",\n"
OTHER_MARKS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with common columns, the line of each, and problems by row.

    A row with a problem is filled up with empty values.
    """

    columns: tuple[str, ...]
    values: Sequence[Sequence[Any]]
    lines: Sequence[int]
    problems: dict[int, str]

    def column(self, name: str) -> Sequence[Any]:
        return self.values[self.columns.index(name)]


class Block:
    """Regular lines of a CSV file: no quotes, and as many values in each.

    `ends` has the place of the mark after each value; `large` says that the file is large.
    """

    def __init__(self, data: bytes, ends: IntArray, width: int, large: bool) -> None:
        self.data, self.width, self.large = data, width, large
        self.ends: IntArray = ends.reshape(-1, width)

    @cached_property
    def texts(self) -> list[list[str]]:
        """The values of each column."""
        values = self.data.decode().replace("\n", ",").split(",")
        return [values[n : -1 : self.width] for n in range(self.width)]


class Fields(Sequence[str]):
    """A column of a block, of which texts are made only where they are wanted."""

    def __init__(self, block: Block, number: int) -> None:
        self.block, self.number = block, number

    @cached_property
    def places(self) -> tuple[IntArray, IntArray]:
        """Where each value starts and ends in the block."""
        ends, n = self.block.ends, self.number
        starts = ends[:, n - 1] + 1 if n else np.append(0, ends[:-1, -1] + 1)
        return starts, ends[:, n]

    @cached_property
    def longest(self) -> int:
        """The bytes of the longest value."""
        starts, ends = self.places
        return int(np.max(ends - starts, initial=0))

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self.block.texts[self.number][place]

    def __iter__(self) -> Iterator[str]:
        return iter(self.block.texts[self.number])

    def __len__(self) -> int:
        return len(self.block.ends)


def csv_rows(lines: Lines, any_delimiter: bool = False) -> Iterator[Rows]:
    """Yield the rows of a CSV file; the first row names the columns.

    Values are separated by commas or, with `any_delimiter`, by what separates most of the header.
    """
    blocks = lines.blocks()
    first, _, rest = next(blocks, b"").partition(b"\n")
    if re.match(rb"\s*[\[{]\s*([\"\[{]|$)", first):
        problem = "is JSON; expected CSV with a header, or JSON Lines (one object in each line)"
        raise InputError(problem, file=lines.file, line=1)
    delimiter = _delimiter(first) if any_delimiter else ","
    if delimiter != ",":
        yield from _irregular_csv_rows(lines, chain([first + b"\n" + rest], blocks), (), delimiter)
        return
    if not first.strip() or b'"' in first or b"\r" in first.removesuffix(b"\r"):
        # a blank first line, or quotes that may hold line ends
        yield from _irregular_csv_rows(lines, chain([first + b"\n" + rest], blocks), ())
        return
    [names] = _next_rows(csv.reader(lines.decoded(first), skipinitialspace=True), lines.file, 0, 1)
    header = _header(names, 1, lines)
    if not rest:
        yield Rows(header, [()] * len(header), (), {})
    large = len(rest) >= LARGE
    for block in chain([rest], blocks):
        columns = _regular_columns(block, len(header), large)
        if columns is None:
            yield from _irregular_csv_rows(lines, chain([block], blocks), header)
            return
        count = len(columns[0])
        yield Rows(header, columns, range(lines.read + 1, lines.read + 1 + count), {})
        lines.read += count


def _delimiter(header: bytes) -> str:
    """Return the mark that separates most columns of a header; a comma, if none does."""
    return max([",", *OTHER_MARKS], key=lambda mark: header.count(mark.encode()))


def _regular_columns(data: bytes, width: int, large: bool) -> list[Fields] | None:
    """Return the columns of a block without quotes or irregular lines, else None."""
    if width == 1:  # where a blank line would look like a value
        return None
    data = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    data = data if data.endswith(b"\n") else data + b"\n"
    numbers = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero((numbers == COMMA) | (numbers == LINE_END))
    if len(ends) % width or any(odd in data for odd in (b'"', b"\0", b"\r")):
        return None
    if np.any(numbers[ends].reshape(-1, width) != [COMMA] * (width - 1) + [LINE_END]):
        return None
    block = Block(data, ends, width, large)
    try:
        data.isascii() or block.texts
    except UnicodeDecodeError:
        return None
    return [Fields(block, n) for n in range(width)]


def _irregular_csv_rows(
    lines: Lines, blocks: Iterable[bytes], header: tuple[str, ...], delimiter: str = ","
) -> Iterator[Rows]:
    """Yield rows by the csv module, from the first irregularity on."""
    before = lines.read
    reader = csv.reader(
        chain.from_iterable(map(lines.decoded, blocks)),
        delimiter=delimiter,
        skipinitialspace=True,
        strict=True,
    )
    done = 0
    while rows := _next_rows(reader, lines.file, before + done, CHUNK if header else 1):
        starts, rows = _numbered(rows, before + done, before + reader.line_num)
        done = reader.line_num
        if header:
            yield _rectangular(header, rows, starts, lines.broken)
        elif rows:
            header = _header(rows[0], starts[0], lines)
    if not header:
        raise InputError("is empty; expected a header and rows", file=lines.file)


def _next_rows(reader: Iterator[list[str]], file: str, before: int, count: int) -> list[list[str]]:
    """Return the next rows; an unclosed quote is an error."""
    rows: list[list[str]] = []
    try:
        rows.extend(islice(reader, count))
    except csv.Error as error:
        line = before + sum(map(_height, rows)) + 1
        raise InputError(f"is not CSV: {error}", file=file, line=line) from error
    return rows


def _height(row: list[str]) -> int:
    """Return how many lines a row takes."""
    return 1 + sum(value.count("\n") for value in row)


def _numbered(
    rows: list[list[str]], before: int, last: int
) -> tuple[Sequence[int], list[list[str]]]:
    """Return the line of each row, without blank lines."""
    starts: Sequence[int] = range(before + 1, last + 1)
    if len(starts) > len(rows):
        starts = [*accumulate(map(_height, rows[:-1]), initial=before + 1)]
    if [] in rows:
        kept = [n for n, row in enumerate(rows) if row]
        return [starts[n] for n in kept], [rows[n] for n in kept]
    return starts, rows


def _header(names: list[str], line: int, lines: Lines) -> tuple[str, ...]:
    if line in lines.broken:
        raise InputError(lines.broken[line], file=lines.file, line=line)
    stripped = tuple(name.strip() for name in names)
    if len(stripped) == 1 and (other := [mark for mark in OTHER_MARKS if mark in stripped[0]]):
        problem = f"is separated by {OTHER_MARKS[other[0]]}; expected commas"
        raise InputError(problem, file=lines.file, line=line)
    if twice := [name for n, name in enumerate(stripped) if name in stripped[:n]]:
        raise InputError(f"column {twice[0]!r} appears twice", file=lines.file, line=line)
    return stripped


def _rectangular(
    header: tuple[str, ...], rows: list[list[str]], starts: Sequence[int], broken: dict[int, str]
) -> Rows:
    """Return columns of equal length; rows of a wrong length become problems."""
    problems: dict[int, str] = {}
    width = len(header)
    if set(map(len, rows)) - {width}:
        for n, row in enumerate(rows):
            if len(row) != width:
                problems[n] = f"has {len(row)} values; the header names {width} columns"
                rows[n] = (row + [""] * width)[:width]
    for n, row in enumerate(rows) if broken else ():
        inside = range(starts[n], starts[n] + _height(row))
        if line_problems := [broken[line] for line in inside if line in broken]:
            problems[n] = line_problems[0]
    return Rows(header, list(zip(*rows, strict=True)) or [()] * width, starts, problems)


def jsonl_rows(lines: Lines) -> Iterator[Rows]:
    """Yield the objects of a JSONL file, in runs with the same keys."""
    stream, line, any_rows = chain.from_iterable(map(lines.decoded, lines.blocks())), 1, False
    while texts := list(islice(stream, CHUNK)):
        objects, problems = _objects(texts, line, lines.broken)
        for run in _runs(objects):
            any_rows = True
            yield _columns(objects, run, line, problems)
        line += len(texts)
    if not any_rows:
        raise InputError("is empty; expected one JSON object per line", file=lines.file)


def _objects(
    texts: list[str], line: int, broken: dict[int, str]
) -> tuple[list[dict[str, Any] | None], dict[int, str]]:
    """Parse every line as an object (None for a blank line), at once if all are valid."""
    try:
        objects = json.loads("[" + ",".join(texts) + "]")
    except (ValueError, RecursionError):
        objects = []
    if len(objects) == len(texts) and {type(item) for item in objects} == {dict} and not broken:
        return objects, {}
    return _objects_line_by_line(texts, line, broken)


def _objects_line_by_line(
    texts: list[str], line: int, broken: dict[int, str]
) -> tuple[list[dict[str, Any] | None], dict[int, str]]:
    objects: list[dict[str, Any] | None] = []
    problems: dict[int, str] = {}
    for n, text in enumerate(texts):
        if not text.strip():
            objects.append(None)
            continue
        try:
            item = json.loads(text.rstrip("\r\n"))
        except (ValueError, RecursionError) as error:
            item, problems[n] = {}, json_problem(error)
        if not isinstance(item, dict):
            item, problems[n] = {}, f"is not a JSON object but {type(item).__name__}"
        objects.append(item)
        if line + n in broken:
            problems[n] = broken[line + n]
    return objects, problems


def _runs(objects: list[dict[str, Any] | None]) -> Iterator[range]:
    """Yield runs of objects with the same keys in the same order."""
    start = 0
    for n in range(1, len(objects) + 1):
        if (
            n == len(objects)
            or objects[n] is None
            or objects[start] is None
            or (
                objects[n].keys() != objects[start].keys()  # type: ignore[union-attr]
            )
        ):
            if objects[start] is not None:
                yield range(start, n)
            start = n


def _columns(
    objects: list[dict[str, Any] | None], run: range, line: int, problems: dict[int, str]
) -> Rows:
    items = [item for item in objects[run.start : run.stop] if item is not None]
    columns = tuple(items[0])
    values = [[item[name] for item in items] for name in columns]
    lines = range(line + run.start, line + run.stop)
    return Rows(columns, values, lines, {n - run.start: problems[n] for n in run if n in problems})

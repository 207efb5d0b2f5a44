"""Read CSV and JSON Lines as blocks of a table, with the line of each row."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, groupby, islice
from typing import Any, Literal

import numpy as np

from partita.errors import InputError
from partita.files.strict import json_problem, unique_fields
from partita.files.text import Lines
from partita.tables.table import Table

CHUNK = 1 << 16
LINE_END = ord("\n")
TAB = "\t"
DELIMITERS = (",", ";", TAB, "|")
LONGEST_HEADER = 1 << 20  # bytes
CONSTANTS = {"Infinity": math.inf, "-Infinity": -math.inf}  # NaN is None


def csv_rows(lines: Lines, columns: tuple[str, ...] = (), usual: str = "") -> Iterator[Table]:
    """Yield the rows of a CSV file; the first row names the columns, unless they are given.

    Values are separated by what files of this name usually have, if the first line has it, or
    else by what separates most of that line.
    """
    blocks = lines.blocks()
    start = next(blocks, b"")
    first, _, rest = start.partition(b"\n")
    _check_first(first, lines)
    named = first if first.strip() else start.lstrip().partition(b"\n")[0]
    mark = _delimiter(named, len(columns), usual)
    if columns:
        head, rest = Table(lines.file, columns, [()] * len(columns), (), separator=mark), start
    elif not first.strip() or b'"' in first or b"\r" in first.removesuffix(b"\r"):
        # a blank first line, or quotes that may hold line ends
        yield from _irregular_csv_rows(lines, chain([start], blocks), None, mark)
        return
    else:
        reader = csv.reader(lines.decoded(first), delimiter=mark, skipinitialspace=True)
        rows, fault = _next_rows(reader, lines.file, 0, 1)
        if fault:
            raise fault
        head = _head(rows[0], 1, lines, mark)
    if not rest:
        yield head
    for block in chain([rest], blocks):
        fields = _regular_columns(block, len(head.columns), mark)
        if fields is None:
            yield from _irregular_csv_rows(lines, chain([block], blocks), head, mark)
            return
        count = len(fields[0])
        yield replace(head, values=fields, lines=range(lines.read + 1, lines.read + 1 + count))
        lines.read += count


def _check_first(first: bytes, lines: Lines) -> None:
    """Raise an error for a first line that cannot be one of a CSV file."""
    if len(first) > LONGEST_HEADER:
        problem = f"the first line has {len(first):,} bytes"
        problem += f" (expected a header of at most {LONGEST_HEADER:,})"
    elif re.match(rb"\s*[\[{]\s*([\"\[{]|$)", first):
        problem = "is JSON; expected CSV with a header, or JSON Lines (one object in each line)"
    else:
        return
    raise InputError(problem, file=lines.file, line=1)


def _delimiter(first: bytes, width: int, usual: str) -> str:
    """Return the mark that separates a line into so many values, or that it has most often."""
    if usual and usual.encode() in first:
        return usual
    counts = {mark: re.sub(rb'"[^"]*"', b"", first).count(mark.encode()) for mark in DELIMITERS}
    fitting = [mark for mark in DELIMITERS if width > 1 and counts[mark] == width - 1]
    return fitting[0] if fitting else max(DELIMITERS, key=lambda mark: counts[mark])


def _regular_columns(data: bytes, width: int, mark: str) -> list[list[str]] | None:
    """Return the columns of a block without quotes or irregular lines, else None."""
    if width == 1:  # where a blank line would look like a value
        return None
    data = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    data = data if data.endswith(b"\n") else data + b"\n"
    numbers, after = np.frombuffer(data, np.uint8), ord(mark)
    ends = np.flatnonzero((numbers == after) | (numbers == LINE_END))
    if len(ends) % width or any(odd in data for odd in (b'"', b"\0", b"\r")):
        return None
    if np.any(numbers[ends].reshape(-1, width) != [after] * (width - 1) + [LINE_END]):
        return None
    try:
        values = data.decode().replace("\n", mark).split(mark)
    except UnicodeDecodeError:
        return None
    return [values[n:-1:width] for n in range(width)]


def _irregular_csv_rows(
    lines: Lines, blocks: Iterable[bytes], head: Table | None, mark: str
) -> Iterator[Table]:
    """Yield rows by the csv module, from the first irregularity on."""
    before = lines.read
    texts: Iterable[str] = chain.from_iterable(map(lines.decoded, blocks))
    if mark == TAB:
        texts = [*texts]
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
    if isinstance(texts, list) and not _is_quoted(texts):
        quoting = csv.QUOTE_NONE
    reader = csv.reader(
        texts, delimiter=mark, quoting=quoting, skipinitialspace=mark != TAB, strict=True
    )
    done, any_block, fault = 0, False, None
    while fault is None:
        rows, fault = _next_rows(reader, lines.file, before + done, 1 if head is None else CHUNK)
        if not rows:
            break
        starts, rows = _numbered(rows, before + done, before + reader.line_num)
        done = reader.line_num
        if head is not None:
            any_block = True
            yield _rectangular(head, rows, starts, lines)
        elif rows:
            head = _head(rows[0], starts[0], lines, mark)
    if fault:  # after the rows before it, in which an earlier line may be at fault
        raise fault
    if head is None:
        raise InputError("is empty; expected a header and rows", file=lines.file)
    if not any_block:
        yield head


def _is_quoted(texts: Sequence[str]) -> bool:
    """Return whether quotes enclose values between tabs, as spreadsheets write them."""
    try:
        for _ in csv.reader(texts, delimiter=TAB, strict=True):
            pass
    except csv.Error:
        return False
    return True


def _next_rows(
    reader: Iterator[list[str]], file: str, before: int, count: int
) -> tuple[list[list[str]], InputError | None]:
    """Return the next rows, and the error after them, such as an unclosed quote."""
    rows: list[list[str]] = []
    try:
        rows.extend(islice(reader, count))
    except csv.Error as error:
        line = before + sum(map(_height, rows)) + 1
        return rows, InputError(f"is not CSV: {error}", file=file, line=line)
    return rows, None


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


def _head(names: list[str], line: int, lines: Lines, mark: str) -> Table:
    """Return the table of a header, without rows."""
    if line in lines.broken:
        raise InputError(lines.broken[line], file=lines.file, line=line)
    stripped = tuple(name.strip() for name in names)
    if twice := [name for n, name in enumerate(stripped) if name in stripped[:n]]:
        raise InputError(f"column {twice[0]!r} appears twice", file=lines.file, line=line)
    return Table(lines.file, stripped, [()] * len(names), (), header=line, separator=mark)


def _rectangular(head: Table, rows: list[list[str]], starts: Sequence[int], lines: Lines) -> Table:
    """Return columns of equal length; rows of a wrong length become problems."""
    problems: dict[int, str] = {}
    width, broken = len(head.columns), lines.broken
    if set(map(len, rows)) - {width}:
        named = f"the header names {width} columns" if head.header else f"expected {width}"
        for n, row in enumerate(rows):
            if len(row) != width:
                problems[n] = f"has {len(row)} values; {named}"
                rows[n] = (row + [""] * width)[:width]
    for n, row in enumerate(rows) if broken else ():
        inside = range(starts[n], starts[n] + _height(row))
        if line_problems := [broken[line] for line in inside if line in broken]:
            problems[n] = line_problems[0]
    values = list(zip(*rows, strict=True)) or [()] * width
    return replace(head, values=values, lines=starts, problems=problems)


def jsonl_rows(lines: Lines) -> Iterator[Table]:
    """Yield the objects of a JSONL file, in runs with the same keys."""
    stream, before, any_rows = chain.from_iterable(map(lines.decoded, lines.blocks())), 0, False
    while texts := list(islice(stream, CHUNK)):
        places: Sequence[int] = range(before + 1, before + 1 + len(texts))
        before += len(texts)
        if not all(map(str.strip, texts)):
            places = [place for place, text in zip(places, texts, strict=True) if text.strip()]
            texts = [text for text in texts if text.strip()]
        objects, problems = _objects(texts, places, lines.broken)
        start = 0
        for _, run in groupby(objects, dict.keys):
            items, any_rows = [*run], True
            inside = places[start : start + len(items)]
            wrong = {n - start: text for n, text in problems.items() if 0 <= n - start < len(items)}
            start += len(items)
            columns = tuple(items[0])
            values = [[item[name] for item in items] for name in columns]
            yield Table(lines.file, columns, values, inside, problems=wrong, header=inside[0])
    if not any_rows:
        raise InputError("is empty; expected one JSON object per line", file=lines.file)


def _objects(
    texts: list[str], places: Sequence[int], broken: dict[int, str]
) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """Parse every line as an object, at once if all are valid; an invalid one is empty."""
    try:
        objects = _parsed("[" + ",".join(texts) + "]")
    except (ValueError, RecursionError):
        objects = []
    if len(objects) == len(texts) and {type(item) for item in objects} == {dict} and not broken:
        return objects, {}
    objects, problems = [], {}
    for n, text in enumerate(texts):
        try:
            item = _parsed(text.rstrip("\r\n"))
        except (ValueError, RecursionError) as error:
            item, problems[n] = {}, json_problem(error)
        if not isinstance(item, dict):
            item, problems[n] = {}, f"is not a JSON object but {type(item).__name__}"
        if places[n] in broken:
            problems[n] = broken[places[n]]
        objects.append(item)
    return objects, problems


def _parsed(text: str) -> Any:
    """Parse JSON; NaN is a missing value, and fields that appear twice are an error."""
    return json.loads(text, object_pairs_hook=unique_fields, parse_constant=CONSTANTS.get)

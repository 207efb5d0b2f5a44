"""Read a table from anything that holds one: a file, a stream, bytes, a data frame, a list."""

from __future__ import annotations

import csv
import datetime
import gzip
import json
import math
import os
import re
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from itertools import accumulate, chain, groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from partita.core.tabular import optional
from partita.errors import InputError
from partita.files.strict import json_problem, unique_fields
from partita.files.text import BLOCK, MARK, STANDARD_INPUT, WIDE_MARKS, Lines, opened
from partita.tables.table import Note, Table, joined, noted

FORMS = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
TABS = (".tsv", ".tab", ".txt")
DATABASE = re.compile(r"\.(duckdb|ddb)(::.+)?$")  # a DuckDB file, and which of its tables
EXPECTED = "expected CSV, JSON Lines, Parquet or Arrow"
GZIP = b"\x1f\x8b"
LARGEST_RATIO = 200  # of gzip: a choice; files made to fill the memory reach 1,000
LEAST_LIMIT = 1 << 28  # bytes that may always be decompressed
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow", b"\xff\xff\xff\xff": "arrow"}
REFUSED = {  # by the first bytes
    b"PK\x03\x04": "is a spreadsheet or a zip file",
    b"\xd0\xcf\x11\xe0": "is a spreadsheet",
    b"BZh": "is a bzip2 file",
    b"\xfd7zXZ": "is an xz file",
    b"\x28\xb5\x2f\xfd": "is a zstd file",
    b"%PDF": "is a PDF",
}
Wanted = Callable[[list[str]], list[str]]  # of the columns of a Parquet file


def read_table(
    source: Any,
    what: str | None = None,
    *,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    tuples: Sequence[Sequence[str]] = (),
    note: Note = lambda text: None,
) -> Table:
    """Return a table from a file, a stream, bytes, a data frame, or a list of dicts or tuples.

    Files are CSV (separated by commas, semicolons, tabs or bars), JSON Lines, Parquet or Arrow,
    also compressed by gzip, or DuckDB's (`people.duckdb::TABLE`, or its only table); a dash is
    standard input; bytes are the content of a file called
    `name`. Text is UTF-8, UTF-16 or Windows-1252. `columns` names the columns of a file without a
    header; `tuples` names the values of tuples, by their number, and of mappings. Errors call a
    table without a file by `what` it is; a row that cannot be read is one. `note` gets what the
    user should know of the reading.
    """
    if not isinstance(source, str | os.PathLike):
        name = name or what
    blocks = table_blocks(source, name=name, columns=columns, tuples=tuples)
    return noted(joined([*blocks]).checked(), note)


def table_blocks(
    source: Any,
    *,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    tuples: Sequence[Sequence[str]] = (),
    wanted: Wanted | None = None,
) -> Iterator[Table]:
    """Yield a table in blocks, with rows that cannot be read as problems.

    `wanted` chooses the columns of a Parquet file.
    """
    if isinstance(source, Table):
        yield source
        return
    if isinstance(source, str | os.PathLike):
        dash = str(source) == STANDARD_INPUT
        file = name or ("standard input" if dash else str(source))
        if DATABASE.search(str(source)):
            yield from duckdb_blocks(str(source))
            return
        with opened(source) as stream:
            yield from _file_blocks(stream, file, columns or (), wanted)
    elif isinstance(source, bytes | bytearray | memoryview):
        yield from _file_blocks(BytesIO(source), name or "bytes", columns or (), wanted)
    elif hasattr(source, "read"):
        file = name or str(getattr(source, "name", "standard input"))
        yield from _file_blocks(source, file, columns or (), wanted)
    else:
        yield from object_blocks(source, name or "the table", (columns or (), *tuples))


def is_table_name(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of a file is one of a table."""
    name = Path(path)
    place = Path(name.stem) if name.suffix.lower() == ".gz" else name
    return place.suffix.lower() in (*FORMS, ".tsv", ".tab")


def _file_blocks(
    stream: BinaryIO, file: str, columns: Sequence[str], wanted: Wanted | None
) -> Iterator[Table]:
    stream = stream if stream.seekable() else BytesIO(stream.read())
    place = Path(file)
    if (start := _start(stream)).startswith(GZIP):
        stream = BytesIO(_decompressed(stream, file))
        start = _start(stream)
        place = place.with_suffix("") if place.suffix.lower() == ".gz" else place
    for magic, problem in REFUSED.items():
        if start.startswith(magic):
            raise InputError(f"{problem} ({EXPECTED}, as they are or with gzip)", file=file)
    by_suffix = FORMS.get(place.suffix.lower())
    form = next((known for magic, known in MAGIC.items() if start.startswith(magic)), by_suffix)
    notes: tuple[str, ...] = ()
    if form == "parquet":
        blocks = parquet_blocks(stream, file, wanted)
    elif form == "arrow":
        blocks = arrow_file_blocks(stream.read(), file)
    else:
        stream, notes = as_utf8(stream, file)
        lines = Lines(stream, file)
        if form == "jsonl" or (form is None and _start(stream, MARK).startswith(b"{")):
            blocks = jsonl_rows(lines)
        else:
            tabs = place.suffix.lower() in TABS
            blocks = csv_rows(lines, tuple(columns), TAB if tabs else "")
    for block in blocks:
        yield replace(block, source=place.stem, notes=notes)
        notes = ()


def _start(stream: BinaryIO, mark: bytes = b"") -> bytes:
    """Return the first bytes of a stream, without a mark and blanks before them."""
    start = stream.read(64)
    stream.seek(0)
    return start.removeprefix(mark).lstrip() if mark else start


def _decompressed(stream: BinaryIO, file: str) -> bytes:
    packed = stream.read()
    most = max(LEAST_LIMIT, LARGEST_RATIO * len(packed))
    try:
        data = gzip.GzipFile(fileobj=BytesIO(packed)).read(most + 1)
        if len(data) <= most:
            return data
        problem = f"is compressed more than {LARGEST_RATIO}-fold (expected a table)"
        raise InputError(problem, file=file)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"is not gzip: {error}", file=file) from error


def as_utf8(stream: BinaryIO, file: str) -> tuple[BinaryIO, tuple[str, ...]]:
    """Return text in UTF-8, with a note if it was converted from what spreadsheets save.

    A file with a mark of UTF-16 is UTF-16; one that is not UTF-8, nor any character of it, is
    Windows-1252. Others stay as they are.
    """
    wide, valid = stream.read(2) in WIDE_MARKS, _is_utf8(stream)
    stream.seek(0)
    if valid and not wide:
        return stream, ()
    data = stream.read()
    try:
        text = data.decode("utf-16" if wide else "cp1252")
    except UnicodeDecodeError:
        text = ""
    if not text or (not wide and _has_letters(data.decode(errors="replace"))):
        return BytesIO(data), ()
    name = "UTF-16" if wide else "Windows-1252, since it is not UTF-8: check accented letters"
    return BytesIO(text.encode()), (f"{file} is read as {name}",)


def _has_letters(text: str) -> bool:
    """Return whether a text has characters beyond ASCII and beyond what replaces invalid bytes."""
    return not text.replace("\ufffd", "").isascii()


def _is_utf8(stream: BinaryIO) -> bool:
    stream.seek(0)
    decoder = getincrementaldecoder("utf-8")()
    try:
        while block := stream.read(BLOCK):
            if not block.isascii() or decoder.getstate()[0]:
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


INDEX = "__index_level_"  # pandas' name of an unnamed index
LAZY = ("as_pandas_dataframe", "collect")  # of Splink and of lazy frames
PLAIN = {str, int, bool, type(None), list, dict}
MISSING = ("NAType", "NaTType")  # of pandas
AS_TEXT = (datetime.date, datetime.time, datetime.timedelta, Decimal)


def object_blocks(value: Any, name: str, tuples: Sequence[Sequence[str]]) -> Iterator[Table]:
    """Yield the rows of a data frame, of dicts, of tuples or of a mapping from keys to values.

    `tuples` gives the names of the values of tuples, by their number.
    """
    value = _materialised(value)
    if is_frame(value):
        yield from _arrow_blocks(_arrow_table(value), name)
        return
    if isinstance(value, Mapping):
        value = [(*_parts(key), one) for key, one in value.items()]
    elif not isinstance(value, Iterable):
        expected = "a file, a data frame, or a list of dicts or tuples"
        raise TypeError(f"{name} must be {expected}, not {type(value).__name__}")
    rows = list(value)
    if rows and isinstance(rows[0], Mapping):
        names, rows = _dict_rows(rows, name)
    else:
        names, rows = _tuple_rows(rows, name, [tuple(names) for names in tuples if names])
    columns = [_plain_values(column) for column in zip(*rows, strict=True)]
    places = range(1, len(rows) + 1)
    yield Table(name, names, columns or [[] for _ in names], places, "row", source=name)


def _materialised(value: Any) -> Any:
    """Return Splink's data frame as a pandas one, and a lazy Polars frame collected."""
    for name in LAZY:
        if hasattr(value, name) and not hasattr(value, "__arrow_c_stream__"):
            return getattr(value, name)()
    return value


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame (pandas, Polars, Arrow, DuckDB or compatible)."""
    return any(hasattr(value, name) for name in ("__arrow_c_stream__", "__dataframe__", *LAZY))


def _parts(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _dict_rows(rows: list[Any], name: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the names of all columns, and the values of dicts in this order."""
    for n, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise InputError(f"{row!r} is not a dict", file=f"{name}, row {n}")
    names = tuple(dict.fromkeys(key for row in rows for key in row))
    return tuple(map(str, names)), [tuple(row.get(key) for key in names) for row in rows]


def _tuple_rows(
    rows: list[Any], name: str, tuples: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return names for the values of tuples; where one name will do, rows may be values."""
    named = {len(names): names for names in reversed(tuples)}
    if 1 in named:
        rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    first = next(iter(tuples), ())
    names = named.get(len(rows[0]), first) if rows and isinstance(rows[0], Sequence) else first
    for n, row in enumerate(rows, 1):
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != len(names):
            expected = ", ".join(names) or "a dict"
            raise InputError(f"{row!r} is not a row (expected {expected})", file=f"{name}, row {n}")
    return names, rows


def _plain_values(values: Sequence[Any]) -> Sequence[Any]:
    """Return values as JSON could hold them: missing ones as None, dates as texts."""
    kinds = set(map(type, values))
    if kinds <= PLAIN:
        return values
    if kinds <= {*PLAIN, float}:
        return [None if value != value else value for value in values]
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if type(value).__name__ in MISSING or (isinstance(value, float) and value != value):
        return None
    return str(value) if isinstance(value, AS_TEXT) else value


def parquet_blocks(
    stream: BinaryIO, file: str, wanted: Callable[[list[str]], list[str]] | None = None
) -> Iterator[Table]:
    """Yield the rows of a Parquet file: all columns, or those that are wanted."""
    arrow = optional("pyarrow", "a Parquet file")
    from pyarrow.parquet import ParquetFile

    try:
        parquet = ParquetFile(BytesIO(stream.read()))
        names = parquet.schema_arrow.names
        table = parquet.read(columns=wanted(names) if wanted else names)
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"is not Parquet: {_one_line(error)}", file=file) from error
    return _arrow_blocks(table, file)


def duckdb_blocks(source: str) -> Iterator[Table]:
    """Yield the rows of a table or view of a DuckDB file, which is only read."""
    duckdb = optional("duckdb", "a DuckDB file")
    file, _, wanted = source.partition("::")
    if not Path(file).is_file():
        raise InputError("no such file", file=file)
    try:
        with duckdb.connect(file, read_only=True) as database:
            names = [row[0] for row in database.execute("SHOW TABLES").fetchall()]
            if wanted not in names and (wanted or len(names) != 1):
                listed = ", ".join(names) or "none"
                problem = f"no table {wanted}" if wanted else f"has {len(names)} tables"
                raise InputError(f"{problem} (expected {file}::TABLE, of: {listed})", file=file)
            frame = _arrow_table(database.table(wanted or names[0]))
    except duckdb.Error as error:
        raise InputError(f"is not a DuckDB file: {_one_line(error)}", file=file) from error
    yield from _arrow_blocks(frame, file)


def arrow_file_blocks(data: bytes, file: str) -> Iterator[Table]:
    """Yield the rows of an Arrow or Feather file, or of an Arrow stream."""
    arrow = optional("pyarrow", "an Arrow file")
    from pyarrow import feather

    try:
        if data.startswith(b"\xff\xff\xff\xff"):
            table = arrow.ipc.open_stream(data).read_all()
        else:
            table = feather.read_table(BytesIO(data))
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"is not Arrow: {_one_line(error)}", file=file) from error
    return _arrow_blocks(table, file)


def _arrow_table(frame: Any) -> Any:
    arrow = optional("pyarrow", "a data frame")
    if hasattr(frame, "__arrow_c_stream__"):
        return arrow.RecordBatchReader.from_stream(frame).read_all()
    from pyarrow.interchange import from_dataframe

    return from_dataframe(frame)


def _arrow_blocks(table: Any, name: str) -> Iterator[Table]:
    names = tuple(column for column in table.column_names if not column.startswith(INDEX))
    if twice := [column for n, column in enumerate(names) if column in names[:n]]:
        raise InputError(f"column {twice[0]!r} appears twice", file=name)
    for start in range(0, max(table.num_rows, 1), CHUNK):
        part = table.slice(start, CHUNK)
        values = [_plain_values(part.column(column).to_pylist()) for column in names]
        places = range(start + 1, start + 1 + part.num_rows)
        yield Table(name, names, values, places, "row", source=name)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120]


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

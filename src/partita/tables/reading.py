"""Read a table from anything that holds one: a file, a stream, bytes, a data frame, a list."""

from __future__ import annotations

import gzip
import os
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from partita.errors import InputError
from partita.files.text import BLOCK, MARK, STANDARD_INPUT, WIDE_MARKS, Lines, opened
from partita.tables.frames import arrow_file_blocks, object_blocks, parquet_blocks
from partita.tables.rows import TAB, csv_rows, jsonl_rows
from partita.tables.table import Table, joined

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
EXPECTED = "expected CSV, JSON Lines, Parquet or Arrow"
GZIP = b"\x1f\x8b"
LARGEST_RATIO = 200  # of gzip: no table has more, what is made to fill the memory has 1,000
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
    *,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    tuples: Sequence[Sequence[str]] = (),
    form: str | None = None,
) -> Table:
    """Return a table from a file, a stream, bytes, a data frame, or a list of dicts or tuples.

    Files are CSV (separated by commas, semicolons, tabs or bars), JSON Lines, Parquet or Arrow,
    also compressed by gzip; a dash is standard input; bytes are the content of a file called
    `name`. Text is UTF-8, UTF-16 or Windows-1252. `columns` names the columns of a file without a
    header; `tuples` names the values of tuples, by their number, and of mappings. `form` is csv,
    jsonl, parquet or arrow where the suffix and the first bytes do not tell. A row that cannot be
    read is an error.
    """
    blocks = table_blocks(source, name=name, columns=columns, tuples=tuples, form=form)
    return joined([*blocks]).checked()


def table_blocks(
    source: Any,
    *,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    tuples: Sequence[Sequence[str]] = (),
    form: str | None = None,
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
        with opened(source) as stream:
            yield from _file_blocks(stream, file, form, columns or (), wanted)
    elif isinstance(source, bytes | bytearray | memoryview):
        yield from _file_blocks(BytesIO(source), name or "bytes", form, columns or (), wanted)
    elif hasattr(source, "read"):
        file = name or str(getattr(source, "name", "standard input"))
        yield from _file_blocks(source, file, form, columns or (), wanted)
    else:
        yield from object_blocks(source, name or "the table", (columns or (), *tuples))


def named(source: Any, what: str) -> str | None:
    """Return the name of a table for errors: None for a file, which has one, else what it is."""
    return None if isinstance(source, str | os.PathLike) else what


def is_table_name(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of a file is one of a table."""
    name = Path(path)
    place = Path(name.stem) if name.suffix.lower() == ".gz" else name
    return place.suffix.lower() in (*FORMS, ".tsv", ".tab")


def _file_blocks(
    stream: BinaryIO, file: str, form: str | None, columns: Sequence[str], wanted: Wanted | None
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
    form = next((known for magic, known in MAGIC.items() if start.startswith(magic)), form)
    form = form or FORMS.get(place.suffix.lower())
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

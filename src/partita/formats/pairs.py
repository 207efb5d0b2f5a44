"""Pair probabilities from CSV, JSONL, Parquet or standard input, with the line each stands in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from partita.errors import InputError
from partita.formats.gather import gather
from partita.formats.rows import csv_rows, jsonl_rows
from partita.formats.table import PairTable
from partita.formats.text import MARK, Lines

SUFFIXES = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
STANDARD_INPUT = "-"


def read_pairs(
    path: str | Path, form: str | None = None, stdin: BinaryIO | None = None
) -> PairTable:
    """The pairs of a file, or of standard input where the path is a dash."""
    file = "standard input" if str(path) == STANDARD_INPUT else str(path)
    with opened(path, stdin) as stream:
        form = form or SUFFIXES.get(Path(path).suffix.lower()) or _sniffed(stream)
        if form == "parquet":
            from partita.formats.frames import parquet_rows

            return gather(parquet_rows(stream, file), file, unit="row")
        rows = csv_rows if form == "csv" else jsonl_rows
        return gather(rows(Lines(stream, file)), file)


@contextmanager
def opened(path: str | Path, stdin: BinaryIO | None = None) -> Iterator[BinaryIO]:
    """A file to read bytes from; what the system refuses becomes one clear line."""
    if str(path) == STANDARD_INPUT:
        yield stdin or sys.stdin.buffer
        return
    try:
        with Path(path).open("rb") as stream:
            yield stream
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def _sniffed(stream: BinaryIO) -> str:
    """By the first bytes: Parquet has a magic word, JSONL starts with a brace."""
    start = stream.peek(64) if isinstance(stream, BufferedReader) else b""
    if start.startswith(b"PAR1"):
        return "parquet"
    return "jsonl" if start.removeprefix(MARK).lstrip().startswith(b"{") else "csv"

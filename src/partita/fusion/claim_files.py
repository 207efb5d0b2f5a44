"""Read claims from files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from partita.errors import InputError
from partita.files.rows import Rows, csv_rows, jsonl_rows
from partita.files.strict import Place, first_too_long, shortened
from partita.files.text import Lines, opened
from partita.fusion.claims import Claims
from partita.templates.words import symbol

SKIPPED_COLUMN = "-"
ROLES = {
    "object": ("object", "obj", "question", "task", "item", "entity", "id"),
    "source": ("source", "src", "worker", "annotator", "site", "seller", "system"),
    "slot": ("slot", "attribute", "property"),
    "value": ("value", "answer", "label", "claim", "judgement", "judgment", "same", "truth"),
    "confidence": ("confidence",),
    "reliability": ("reliability",),
    "left": ("left",),
    "right": ("right",),
    "probability": ("probability",),
    "stated": ("stated", "stated_on", "as_of"),
}


@dataclass(frozen=True, slots=True)
class ClaimColumns:
    """The column for each role (None: no column), and the slot columns of records."""

    object: str | None
    source: str | None
    slot: str | None
    value: str | None
    confidence: str | None
    reliability: str | None
    left: str | None
    right: str | None
    probability: str | None
    stated: str | None
    slots: tuple[str, ...] = ()


def claim_columns(columns: Sequence[str]) -> ClaimColumns | str:
    """Return the roles of the columns, or a description of what is wrong with them."""
    roles = {role: _find_column(columns, names) for role, names in ROLES.items()}
    pair = roles["left"] is not None and roles["right"] is not None
    taken = {name for name in roles.values() if name is not None}
    others = tuple(name for name in columns if name not in taken and name != SKIPPED_COLUMN)
    present = ", ".join(columns) or "nothing"
    if roles["object"] is None and not pair:
        options = _alternatives("object")
        problem = f"has no column object (or {options}, or left and right); found {present}"
        return f"{problem}{'' if taken else NO_HEADER}"
    if roles["value"] is None and roles["probability"] is None and not others:
        return f"has no column value (or {_alternatives('value')}) and no slots; found {present}"
    if (roles["value"] or roles["probability"]) and others:
        unknown = ", ".join(map(repr, others))
        return f"has unknown columns {unknown} beside {roles['value'] or 'probability'}"
    return ClaimColumns(**roles, slots=() if roles["value"] else others)


def _find_column(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the column with the first of these names, ignoring case."""
    lower = {column.lower(): column for column in reversed(columns)}
    return next((lower[name] for name in names if name in lower), None)


def _alternatives(role: str) -> str:
    return ", ".join(ROLES[role][1:-1]) + " or " + ROLES[role][-1]


FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".tsv": "tab", ".txt": "tab",
         ".tab": "tab", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow",
         ".feather": "arrow"}  # fmt: skip
NO_HEADER = "; if the file has no header, name its columns with --columns"
KNOWN_COLUMNS = {name for names in ROLES.values() for name in names}


def rows_of(path: str | Path, columns: Sequence[str] = ()) -> Iterator[Rows]:
    """Yield the rows of a file; `columns` names those of a file without a header."""
    form = FORMATS.get(Path(path).suffix.lower(), "csv")
    with opened(path) as stream:
        lines = Lines(stream, str(path))
        if form == "tab":
            yield from _tab_rows(lines, tuple(columns))
        elif columns:
            yield from _headerless_rows(lines, tuple(columns))
        elif form == "parquet":
            from partita.linkage.frames import parquet_rows

            yield from parquet_rows(stream, str(path))
        elif form == "arrow":
            yield _arrow_rows(stream, str(path))
        else:
            yield from (csv_rows if form == "csv" else jsonl_rows)(lines)


def _arrow_rows(stream: BinaryIO, file: str) -> Rows:
    """Return the rows of an Arrow or Feather file."""
    try:
        import pyarrow
    except ImportError:
        raise InputError(
            "is Arrow; reading it needs pyarrow: pip install 'partita[frames]'", file=file
        ) from None
    from pyarrow import feather

    try:
        table = feather.read_table(BytesIO(stream.read()))
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"is not Arrow: {str(error).splitlines()[0]}", file=file) from error
    values = [column.to_pylist() for column in table.columns]
    return Rows(tuple(table.column_names), values, range(1, table.num_rows + 1), {})


def _headerless_rows(lines: Lines, columns: tuple[str, ...]) -> Iterator[Rows]:
    """Yield the rows of a CSV file without a header."""
    for block in lines.blocks():
        before = lines.read
        try:
            rows = list(csv.reader(lines.decoded(block), skipinitialspace=True))
        except csv.Error as error:
            raise InputError(f"is not CSV: {error}", file=lines.file, line=before + 1) from error
        yield _rectangular(columns, rows, before + 1, lines.broken)


def _tab_rows(lines: Lines, columns: tuple[str, ...]) -> Iterator[Rows]:
    """Yield tab-separated rows; the first line is a header if it has a known column name."""
    for block in lines.blocks():
        before = lines.read
        texts = [line.rstrip("\r\n") for line in lines.decoded(block)]
        rows = [text.split("\t") if text.strip() else [] for text in texts]
        first = before + 1
        if not columns:
            blank = next((n for n, row in enumerate(rows) if row), len(rows))
            if blank == len(rows):
                continue
            columns, taken = _tab_columns(rows[blank], lines.file, first + blank)
            rows, first = rows[blank + taken :], first + blank + taken
        yield _rectangular(columns, rows, first, lines.broken)


def _tab_columns(row: Sequence[str], file: str, line: int) -> tuple[tuple[str, ...], int]:
    """Return the columns of a table and the number of header lines.

    Two columns without names are an object and its true value.
    """
    if any(name.strip().lower() in KNOWN_COLUMNS for name in row):
        return tuple(name.strip() for name in row), 1
    if len(row) == 2:
        return ("object", "value"), 0
    problem = f"has no header; name its {len(row)} columns with --columns"
    raise InputError(problem, file=file, line=line)


def _rectangular(
    columns: tuple[str, ...],
    rows: list[list[str]],
    first: int,
    broken: dict[int, str] | None = None,
) -> Rows:
    """Return columns of equal length; rows of a wrong length become problems."""
    width, problems = len(columns), {}
    kept = [n for n, row in enumerate(rows) if row]
    for at, n in enumerate(kept):
        if len(rows[n]) != width:
            problems[at] = f"has {len(rows[n])} values; expected {width}: {', '.join(columns)}"
            rows[n] = (rows[n] + [""] * width)[:width]
        if broken and first + n in broken:
            problems[at] = broken[first + n]
    values = list(zip(*(rows[n] for n in kept), strict=True)) or [()] * width
    return Rows(columns, values, [first + n for n in kept], problems)


SAME = frozenset(("SAME", "1", "YES", "TRUE", "MATCH"))
DIFFERENT = frozenset(("DIFFERENT", "0", "NO", "FALSE", "NON-MATCH"))
PAIR_SEPARATOR = "_"  # between the two sides of a pair
Names = dict[str, int]


@dataclass(slots=True)
class _ClaimBuffer:
    """The claims read from a file so far."""

    file: str
    names: dict[str, Names] = field(
        default_factory=lambda: {"object": {}, "slot": {}, "source": {}, "value": {}}
    )
    points: dict[str, list[int]] = field(
        default_factory=lambda: {"object": [], "slot": [], "source": [], "value": [], "line": []}
    )
    confidence: list[float] = field(default_factory=list)
    reliabilities: dict[str, float] = field(default_factory=dict)
    several: set[str] = field(default_factory=set)
    days: dict[int, int] = field(default_factory=dict)
    empty: int = 0

    def error(self, line: int, problem: str) -> InputError:
        return InputError(problem, file=self.file, line=line)


def read_claims(path: str | Path, columns: Sequence[str] = ()) -> Claims:
    """Read the claims of a file; without a source column, the file is the source."""
    buffer = _ClaimBuffer(str(path))
    for rows in rows_of(path, columns):
        if rows.problems:
            first = min(rows.problems)
            raise buffer.error(rows.lines[first], rows.problems[first])
        roles = claim_columns(rows.columns)
        if isinstance(roles, str):
            headed = Path(path).suffix.lower() == ".csv" and not columns
            raise buffer.error(1 if headed or not rows.lines else rows.lines[0], roles)
        _add_rows(rows, roles, buffer)
    if not buffer.confidence:
        empty = f" ({buffer.empty} rows are empty)" if buffer.empty else ""
        raise InputError(f"has no claims{empty}; expected at least one", file=buffer.file)
    return _claims(buffer)


def _add_rows(rows: Rows, roles: ClaimColumns, buffer: _ClaimBuffer) -> None:
    sources = _sources(rows, roles, buffer)
    _reliabilities(rows, roles, sources, buffer)
    _days(rows, roles, buffer)
    objects = _objects(rows, roles, buffer)
    confidence = _shares(rows, roles.confidence, "confidence", buffer)
    if roles.value is None and roles.probability is not None:
        _judgements(rows, roles.probability, objects, sources, buffer)
        return
    slots: Iterable[tuple[Sequence[str], Sequence[Any]]]
    if roles.value is not None:
        named = _texts(rows, roles.slot, "slot", buffer) if roles.slot else None
        slots = [(named or [roles.value] * len(objects), rows.column(roles.value))]
    else:
        slots = [([name] * len(objects), rows.column(name)) for name in roles.slots]
    for names, values in slots:
        _add(rows.lines, objects, names, sources, values, confidence, buffer)


def _add(
    lines: Sequence[int],
    objects: Sequence[str],
    slots: Sequence[str],
    sources: Sequence[str],
    values: Sequence[Any],
    confidence: Sequence[float],
    buffer: _ClaimBuffer,
) -> None:
    """Add one claim for each value; empty values are skipped."""
    kept: list[tuple[int, str]] = []
    for n, value in enumerate(values):
        if type(value) is str and value:
            kept.append((n, value))
            continue
        texts = _value_texts(value, lines[n], buffer)
        buffer.empty += not texts
        if isinstance(value, list):
            buffer.several.add(slots[n])
        kept += [(n, text) for text in texts]
    for role, names in (("object", objects), ("slot", slots), ("source", sources)):
        numbers = buffer.names[role]
        buffer.points[role] += [numbers.setdefault(names[n], len(numbers)) for n, _ in kept]
    numbers = buffer.names["value"]
    buffer.points["value"] += [numbers.setdefault(text, len(numbers)) for _, text in kept]
    buffer.points["line"] += [lines[n] for n, _ in kept]
    buffer.confidence += [confidence[n] for n, _ in kept]


def _value_texts(value: Any, line: int, buffer: _ClaimBuffer) -> list[str]:
    """Return the texts of a value: none if it is empty, several for a list."""
    if value is None or value == "":
        return []
    if isinstance(value, list):
        return [text for one in value for text in _value_texts(one, line, buffer)]
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, int | float | str):
        return [str(value)]
    raise buffer.error(line, f"value {json.dumps(value)[:40]} is neither a text nor a number")


def _judgements(
    rows: Rows, column: str, objects: Sequence[str], sources: Sequence[str], buffer: _ClaimBuffer
) -> None:
    """Turn P(same) = p into the likelier judgement, with confidence |2p − 1|."""
    shares = _shares(rows, column, "probability", buffer)
    values = ["same" if p >= 0.5 else "different" for p in shares]
    slots = ["same"] * len(values)
    _add(rows.lines, objects, slots, sources, values, [abs(2 * p - 1) for p in shares], buffer)


def _objects(rows: Rows, roles: ClaimColumns, buffer: _ClaimBuffer) -> list[str]:
    if roles.left is not None and roles.right is not None:
        left, right = (_texts(rows, name, name, buffer) for name in (roles.left, roles.right))
        _check_pairs(rows, roles, left, right, buffer)
        return [f"{a}{PAIR_SEPARATOR}{b}" for a, b in zip(left, right, strict=True)]
    return _texts(rows, roles.object or "", "object", buffer)


def _check_pairs(
    rows: Rows, roles: ClaimColumns, left: list[str], right: list[str], buffer: _ClaimBuffer
) -> None:
    """Raise an error for a pair of one thing, or a judgement that is not one."""
    for line, a, b in zip(rows.lines, left, right, strict=True):
        if a == b:
            raise buffer.error(line, f"judges {a} against itself")
    if roles.value is None or roles.slot is not None:
        return
    for line, value in zip(rows.lines, rows.column(roles.value), strict=True):
        for text in _value_texts(value, line, buffer):
            if says_same(text) is None:
                raise buffer.error(
                    line, f"judgement {shortened(repr(text))} is neither same nor different"
                )


def says_same(judgement: str) -> bool | None:
    """Return what a judgement of a pair says; None if it is not a judgement."""
    word = symbol(judgement)
    return True if word in SAME else False if word in DIFFERENT else None


def _sources(rows: Rows, roles: ClaimColumns, buffer: _ClaimBuffer) -> list[str]:
    if roles.source is None:
        return [Path(buffer.file).stem] * len(rows.lines)
    return _texts(rows, roles.source, "source", buffer)


def _texts(rows: Rows, column: str, what: str, buffer: _ClaimBuffer) -> list[str]:
    """Return the names in a column; an empty one is an error."""
    texts = [str(value).strip() if value is not None else "" for value in rows.column(column)]
    if "" in texts:
        raise buffer.error(rows.lines[texts.index("")], f"has no {what}")
    if found := first_too_long(texts, what):
        raise buffer.error(rows.lines[found[0]], found[1])
    return texts


def _shares(rows: Rows, column: str | None, what: str, buffer: _ClaimBuffer) -> list[float]:
    """Return numbers from 0 to 1; the default is 1."""
    if column is None:
        return [1.0] * len(rows.lines)
    return [
        1.0 if value in ("", None) else _share(value, what, line, buffer)
        for value, line in zip(rows.column(column), rows.lines, strict=True)
    ]


def _share(value: Any, what: str, line: int, buffer: _ClaimBuffer) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        raise buffer.error(line, f"{what} {shortened(str(value))} is not a number from 0 to 1")
    return number


def _reliabilities(
    rows: Rows, roles: ClaimColumns, sources: Sequence[str], buffer: _ClaimBuffer
) -> None:
    if roles.reliability is None:
        return
    values = rows.column(roles.reliability)
    for source, value, line in zip(sources, values, rows.lines, strict=True):
        if value in ("", None):
            continue
        number = _share(value, f"reliability of {source}", line, buffer)
        before = buffer.reliabilities.setdefault(source, number)
        if before != number:
            raise buffer.error(
                line, f"reliability of {source} is {number:g}, before it was {before:g}"
            )


def _days(rows: Rows, roles: ClaimColumns, buffer: _ClaimBuffer) -> None:
    """Read the days of the statements, by line; an empty one is unknown."""
    if roles.stated is None:
        return
    for value, line in zip(rows.column(roles.stated), rows.lines, strict=True):
        if value not in ("", None):
            buffer.days[line] = day_number(value, Place(buffer.file, line))


def day_number(value: Any, place: Place) -> int:
    """Return the number of a day that is written as 1996-03-12."""
    try:
        return date.fromisoformat(str(value).strip()[:10]).toordinal()
    except ValueError:
        shown = shortened(str(value))
        place.refuse(f"stated {shown} is not a day (expected a date such as 1996-03-12)")


def _claims(buffer: _ClaimBuffer) -> Claims:
    points = {name: np.array(numbers, dtype=np.int64) for name, numbers in buffer.points.items()}
    notes = (f"{buffer.file}: {buffer.empty:,} values are empty and are ignored",)
    return Claims(
        objects=list(buffer.names["object"]),
        slots=list(buffer.names["slot"]),
        sources=list(buffer.names["source"]),
        values=list(buffer.names["value"]),
        object=points["object"],
        slot=points["slot"],
        source=points["source"],
        value=points["value"],
        confidence=np.array(buffer.confidence),
        file=np.zeros(len(buffer.confidence), dtype=np.int64),
        line=points["line"],
        files=(buffer.file,),
        reliabilities=buffer.reliabilities,
        kinds=dict.fromkeys(sorted(buffer.several), "several"),
        notes=notes if buffer.empty else (),
        stated=np.array([buffer.days.get(n, 0) for n in buffer.points["line"]], dtype=np.int64)
        if buffer.days
        else None,
    )

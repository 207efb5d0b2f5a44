"""Read claims from files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from partita.errors import InputError
from partita.files.rows import Rows, csv_rows, jsonl_rows
from partita.files.text import Lines, opened
from partita.fusion.claims import Claims

SKIPPED = "-"
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
}


@dataclass(frozen=True, slots=True)
class ClaimColumns:
    """Which column plays which role (None: no column), and which are slots of records."""

    object: str | None
    source: str | None
    slot: str | None
    value: str | None
    confidence: str | None
    reliability: str | None
    left: str | None
    right: str | None
    probability: str | None
    slots: tuple[str, ...] = ()


def claim_columns(columns: Sequence[str]) -> ClaimColumns | str:
    """The roles of the columns, or what is wrong with them."""
    roles = {role: _found(columns, names) for role, names in ROLES.items()}
    pair = roles["left"] is not None and roles["right"] is not None
    taken = {name for name in roles.values() if name is not None}
    others = tuple(name for name in columns if name not in taken and name != SKIPPED)
    found = ", ".join(columns) or "nothing"
    if roles["object"] is None and not pair:
        return f"has no column object (or {_or('object')}, or left and right); found {found}"
    if roles["value"] is None and roles["probability"] is None and not others:
        return f"has no column value (or {_or('value')}) and no slots; found {found}"
    if (roles["value"] or roles["probability"]) and others:
        named = ", ".join(map(repr, others))
        return f"has unknown columns {named} beside {roles['value'] or 'probability'}"
    return ClaimColumns(**roles, slots=() if roles["value"] else others)


def _found(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """The column that has the first of the names; case does not matter."""
    lower = {column.lower(): column for column in reversed(columns)}
    return next((lower[name] for name in names if name in lower), None)


def _or(role: str) -> str:
    return ", ".join(ROLES[role][1:-1]) + " or " + ROLES[role][-1]


FORMS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".tsv": "tab", ".txt": "tab",
         ".tab": "tab", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow",
         ".feather": "arrow"}  # fmt: skip
KNOWN = {name for names in ROLES.values() for name in names}


def rows_of(path: str | Path, columns: Sequence[str] = ()) -> Iterator[Rows]:
    """The rows of a file; `columns` name those of a file that has no header."""
    form = FORMS.get(Path(path).suffix.lower(), "csv")
    with opened(path) as stream:
        lines = Lines(stream, str(path))
        if form == "tab":
            yield from _tab_rows(lines, tuple(columns))
        elif columns:
            yield from _headed(lines, tuple(columns))
        elif form == "parquet":
            from partita.linkage.frames import parquet_rows

            yield from parquet_rows(stream, str(path))
        elif form == "arrow":
            yield _arrow_rows(stream, str(path))
        else:
            yield from (csv_rows if form == "csv" else jsonl_rows)(lines)


def _arrow_rows(stream: BinaryIO, file: str) -> Rows:
    """The rows of an Arrow file, which is also what Feather is."""
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


def _headed(lines: Lines, columns: tuple[str, ...]) -> Iterator[Rows]:
    """A CSV without a header, a row in each line: the names come from elsewhere."""
    for block in lines.blocks():
        before = lines.read
        rows = list(csv.reader(lines.decoded(block), skipinitialspace=True))
        yield _squared(columns, rows, before + 1, lines.broken)


def _tab_rows(lines: Lines, columns: tuple[str, ...]) -> Iterator[Rows]:
    """Values between tabs; without names a first line that has none of ours is a row too."""
    for block in lines.blocks():
        before = lines.read
        texts = [line.rstrip("\r\n") for line in lines.decoded(block)]
        rows = [text.split("\t") if text.strip() else [] for text in texts]
        first = before + 1
        if not columns:
            blank = next((n for n, row in enumerate(rows) if row), len(rows))
            if blank == len(rows):
                continue
            columns, taken = _names(rows[blank], lines.file, first + blank)
            rows, first = rows[blank + taken :], first + blank + taken
        yield _squared(columns, rows, first, lines.broken)


def _names(row: Sequence[str], file: str, line: int) -> tuple[tuple[str, ...], int]:
    """The columns of a table, and how many lines they take; two without names are a truth each."""
    if any(name.strip().lower() in KNOWN for name in row):
        return tuple(name.strip() for name in row), 1
    if len(row) == 2:
        return ("object", "value"), 0
    problem = f"has no header; name its {len(row)} columns with --columns"
    raise InputError(problem, file=file, line=line)


def _squared(
    columns: tuple[str, ...],
    rows: list[list[str]],
    first: int,
    broken: dict[int, str] | None = None,
) -> Rows:
    """Columns of equal length; rows that are too short or too long become problems."""
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


BETWEEN = "_"  # what stands between the two sides of a pair
Names = dict[str, int]


@dataclass(slots=True)
class _Gathered:
    """What a file has said so far."""

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
    empty: int = 0

    def refuse(self, line: int, problem: str) -> InputError:
        return InputError(problem, file=self.file, line=line)


def read_claims(path: str | Path, columns: Sequence[str] = ()) -> Claims:
    """What a file claims; where it names no sources, the file is one."""
    found = _Gathered(str(path))
    for rows in rows_of(path, columns):
        if rows.problems:
            first = min(rows.problems)
            raise found.refuse(rows.lines[first], rows.problems[first])
        roles = claim_columns(rows.columns)
        if isinstance(roles, str):
            headed = Path(path).suffix.lower() == ".csv" and not columns
            raise found.refuse(1 if headed or not rows.lines else rows.lines[0], roles)
        _gather(rows, roles, found)
    if not found.confidence:
        said = f" ({found.empty} rows are empty)" if found.empty else ""
        raise InputError(f"has no claims{said}; expected at least one", file=found.file)
    return _claims(found)


def _gather(rows: Rows, roles: ClaimColumns, found: _Gathered) -> None:
    sources = _sources(rows, roles, found)
    _reliabilities(rows, roles, sources, found)
    objects = _objects(rows, roles, found)
    confidence = _shares(rows, roles.confidence, "confidence", found)
    if roles.value is None and roles.probability is not None:
        _judgements(rows, roles.probability, objects, sources, found)
        return
    slots: Iterable[tuple[Sequence[str], Sequence[Any]]]
    if roles.value is not None:
        named = _texts(rows, roles.slot, "slot", found) if roles.slot else None
        slots = [(named or [roles.value] * len(objects), rows.column(roles.value))]
    else:
        slots = [([name] * len(objects), rows.column(name)) for name in roles.slots]
    for names, values in slots:
        _add(rows.lines, objects, names, sources, values, confidence, found)


def _add(
    lines: Sequence[int],
    objects: Sequence[str],
    slots: Sequence[str],
    sources: Sequence[str],
    values: Sequence[Any],
    confidence: Sequence[float],
    found: _Gathered,
) -> None:
    """One claim for every value; an empty one says nothing."""
    kept: list[tuple[int, str]] = []
    for n, value in enumerate(values):
        if type(value) is str and value:
            kept.append((n, value))
            continue
        texts = _plain(value, lines[n], found)
        found.empty += not texts
        if isinstance(value, list):
            found.several.add(slots[n])
        kept += [(n, text) for text in texts]
    for role, given in (("object", objects), ("slot", slots), ("source", sources)):
        known = found.names[role]
        found.points[role] += [known.setdefault(given[n], len(known)) for n, _ in kept]
    known = found.names["value"]
    found.points["value"] += [known.setdefault(text, len(known)) for _, text in kept]
    found.points["line"] += [lines[n] for n, _ in kept]
    found.confidence += [confidence[n] for n, _ in kept]


def _plain(value: Any, line: int, found: _Gathered) -> list[str]:
    """The texts of a value: none where it is empty, several of a list."""
    if value is None or value == "":
        return []
    if isinstance(value, list):
        return [text for one in value for text in _plain(one, line, found)]
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, int | float | str):
        return [str(value)]
    raise found.refuse(line, f"value {json.dumps(value)[:40]} is neither a text nor a number")


def _judgements(
    rows: Rows, column: str, objects: Sequence[str], sources: Sequence[str], found: _Gathered
) -> None:
    """A probability of "same" is the likelier judgement, with |2p − 1| as its confidence."""
    shares = _shares(rows, column, "probability", found)
    values = ["same" if p >= 0.5 else "different" for p in shares]
    slots = ["same"] * len(values)
    _add(rows.lines, objects, slots, sources, values, [abs(2 * p - 1) for p in shares], found)


def _objects(rows: Rows, roles: ClaimColumns, found: _Gathered) -> list[str]:
    if roles.left is not None and roles.right is not None:
        left, right = (_texts(rows, name, name, found) for name in (roles.left, roles.right))
        return [f"{a}{BETWEEN}{b}" for a, b in zip(left, right, strict=True)]
    return _texts(rows, roles.object or "", "object", found)


def _sources(rows: Rows, roles: ClaimColumns, found: _Gathered) -> list[str]:
    if roles.source is None:
        return [Path(found.file).stem] * len(rows.lines)
    return _texts(rows, roles.source, "source", found)


def _texts(rows: Rows, column: str, what: str, found: _Gathered) -> list[str]:
    """Names that are there: whatever speaks or is spoken of must have one."""
    texts = [str(value).strip() if value is not None else "" for value in rows.column(column)]
    if "" in texts:
        raise found.refuse(rows.lines[texts.index("")], f"has no {what}")
    return texts


def _shares(rows: Rows, column: str | None, what: str, found: _Gathered) -> list[float]:
    """Numbers from 0 to 1; 1 where there is no column or nothing in it."""
    if column is None:
        return [1.0] * len(rows.lines)
    return [
        1.0 if value in ("", None) else _share(value, what, line, found)
        for value, line in zip(rows.column(column), rows.lines, strict=True)
    ]


def _share(value: Any, what: str, line: int, found: _Gathered) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        raise found.refuse(line, f"{what} {value} is not a number from 0 to 1")
    return number


def _reliabilities(
    rows: Rows, roles: ClaimColumns, sources: Sequence[str], found: _Gathered
) -> None:
    if roles.reliability is None:
        return
    values = rows.column(roles.reliability)
    for source, value, line in zip(sources, values, rows.lines, strict=True):
        if value in ("", None):
            continue
        number = _share(value, f"reliability of {source}", line, found)
        before = found.reliabilities.setdefault(source, number)
        if before != number:
            raise found.refuse(
                line, f"reliability of {source} is {number:g}, before it was {before:g}"
            )


def _claims(found: _Gathered) -> Claims:
    points = {name: np.array(numbers, dtype=np.int64) for name, numbers in found.points.items()}
    notes = (f"{found.file}: {found.empty:,} values are empty and are ignored",)
    return Claims(
        objects=list(found.names["object"]),
        slots=list(found.names["slot"]),
        sources=list(found.names["source"]),
        values=list(found.names["value"]),
        object=points["object"],
        slot=points["slot"],
        source=points["source"],
        value=points["value"],
        confidence=np.array(found.confidence),
        file=np.zeros(len(found.confidence), dtype=np.int64),
        line=points["line"],
        files=(found.file,),
        reliabilities=found.reliabilities,
        kinds=dict.fromkeys(sorted(found.several), "several"),
        notes=notes if found.empty else (),
    )

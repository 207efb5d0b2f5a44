"""Read claims from tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np

from partita.core import IntArray
from partita.errors import InputError
from partita.files.strict import Place, first_too_long, shortened
from partita.fusion.claims import Claims
from partita.tables import Table, read_table
from partita.tables.columns import ids_of
from partita.templates.slots import symbol

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


NO_HEADER = "; if the file has no header, name its columns with --columns"
KNOWN_COLUMNS = {name for names in ROLES.values() for name in names}
TUPLES = (("object", "source", "value"), ("object", "source", "slot", "value"))


def claim_table(
    source: Any, columns: Sequence[str] = (), headed: bool = True, name: str | None = None
) -> Table:
    """Read a table of claims, records or judgements; `columns` names those without a header.

    Text that is separated by tabs (.txt, or any unless it must be `headed`) may be without one: of
    two columns, they are an object and its true value.
    """
    table = read_table(source, "claims", name=name, columns=columns, tuples=TUPLES)
    tabs = table.separator == "\t" and not (headed and not table.name.endswith(".txt"))
    if columns or not tabs or table.find(*KNOWN_COLUMNS):
        return table
    if len(table.columns) != 2:
        problem = f"has no header; name its {len(table.columns)} columns with --columns"
        raise table.error(None, problem)
    values = [[n, *column] for n, column in zip(table.columns, table.values, strict=True)]
    lines = [table.header or 1, *table.lines]
    return replace(table, columns=("object", "value"), values=values, lines=lines, header=None)


SAME = frozenset(("SAME", "1", "YES", "TRUE", "MATCH"))
DIFFERENT = frozenset(("DIFFERENT", "0", "NO", "FALSE", "NON-MATCH"))
PAIR_SEPARATOR = "_"  # between the two sides of a pair


@dataclass(slots=True)
class _ClaimBuffer:
    """The claims of a table: what each says, and the row that has it."""

    table: Table
    objects: list[str] = field(default_factory=list)
    slots: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    confidence: list[float] = field(default_factory=list)
    reliabilities: dict[str, float] = field(default_factory=dict)
    several: set[str] = field(default_factory=set)
    days: dict[int, int] = field(default_factory=dict)
    empty: int = 0


def read_claims(source: Any, columns: Sequence[str] = (), headed: bool = True) -> Claims:
    """Read the claims of a table; without a source column, the table is the source."""
    table = claim_table(source, columns, headed)
    roles = claim_columns(table.columns)
    if isinstance(roles, str):
        raise table.error(None, roles)
    buffer = _ClaimBuffer(table)
    _add_rows(roles, buffer)
    if not buffer.confidence:
        empty = f" ({buffer.empty} rows are empty)" if buffer.empty else ""
        raise InputError(f"has no claims{empty}; expected at least one", file=table.name)
    return _claims(buffer)


def _add_rows(roles: ClaimColumns, buffer: _ClaimBuffer) -> None:
    table = buffer.table
    sources = _sources(table, roles)
    for row, value in enumerate(table.column(roles.reliability) if roles.reliability else ()):
        add_reliability(value, sources[row], buffer.reliabilities, table.place(row))
    _days(roles, buffer)
    objects = _objects(table, roles)
    confidence = _shares(table, roles.confidence, "confidence")
    if roles.value is None and roles.probability is not None:
        _judgements(roles.probability, objects, sources, buffer)
        return
    slots: Iterable[tuple[Sequence[str], Sequence[Any]]]
    if roles.value is not None:
        same = [roles.value] * len(objects)
        names = _texts(table, roles.slot, "slot") if roles.slot else same
        slots = [(names, table.column(roles.value))]
    else:
        slots = [([name] * len(objects), table.column(name)) for name in roles.slots]
    for slot_names, values in slots:
        _add(objects, slot_names, sources, values, confidence, buffer)


def _add(
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
        texts = _value_texts(value, n, buffer.table)
        buffer.empty += not texts
        if isinstance(value, list):
            buffer.several.add(slots[n])
        kept += [(n, text) for text in texts]
    buffer.values += [text for _, text in kept]
    buffer.rows += [n for n, _ in kept]
    for column, names in (
        (buffer.objects, objects),
        (buffer.slots, slots),
        (buffer.sources, sources),
    ):
        column += [names[n] for n, _ in kept]
    buffer.confidence += [confidence[n] for n, _ in kept]


def _value_texts(value: Any, row: int, table: Table) -> list[str]:
    """Return the texts of a value: none if it is empty, several for a list."""
    if value is None or value == "":
        return []
    if isinstance(value, list):
        return [text for one in value for text in _value_texts(one, row, table)]
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, int | float | str):
        return [str(value)]
    raise table.error(row, f"value {shortened(str(value))} is neither a text nor a number")


def _judgements(
    column: str, objects: Sequence[str], sources: Sequence[str], buffer: _ClaimBuffer
) -> None:
    """Turn P(same) = p into the likelier judgement, with confidence |2p − 1|."""
    shares = _shares(buffer.table, column, "probability")
    values = ["same" if p >= 0.5 else "different" for p in shares]
    slots = ["same"] * len(values)
    _add(objects, slots, sources, values, [abs(2 * p - 1) for p in shares], buffer)


def _objects(table: Table, roles: ClaimColumns) -> list[str]:
    if roles.left is not None and roles.right is not None:
        left, right = (_texts(table, name, name) for name in (roles.left, roles.right))
        _check_pairs(table, roles, left, right)
        return [f"{a}{PAIR_SEPARATOR}{b}" for a, b in zip(left, right, strict=True)]
    return _texts(table, roles.object or "", "object")


def _check_pairs(
    table: Table, roles: ClaimColumns, left: Sequence[str], right: Sequence[str]
) -> None:
    """Raise an error for a pair of one thing, or a judgement that is not one."""
    for row, (a, b) in enumerate(zip(left, right, strict=True)):
        if a == b:
            raise table.error(row, f"judges {a} against itself")
    if roles.value is None or roles.slot is not None:
        return
    for row, value in enumerate(table.column(roles.value)):
        for text in _value_texts(value, row, table):
            if says_same(text) is None:
                problem = f"judgement {shortened(repr(text))} is neither same nor different"
                raise table.error(row, problem)


def says_same(judgement: str) -> bool | None:
    """Return what a judgement of a pair says; None if it is not a judgement."""
    word = symbol(judgement)
    return True if word in SAME else False if word in DIFFERENT else None


def _sources(table: Table, roles: ClaimColumns) -> list[str]:
    if roles.source is None:
        return [table.source] * len(table)
    return _texts(table, roles.source, "source")


def _texts(table: Table, column: str, what: str) -> list[str]:
    """Return the names in a column; an empty one is an error."""
    texts = ids_of(table, column, what)
    if "" in texts:
        raise table.error(texts.index(""), f"has no {what}")
    if found := first_too_long(texts, what):
        raise table.error(*found)
    return texts


def _shares(table: Table, column: str | None, what: str) -> list[float]:
    """Return numbers from 0 to 1; the default is 1."""
    if column is None:
        return [1.0] * len(table)
    shares = (
        read_share(value, what, table.place(n)) for n, value in enumerate(table.column(column))
    )
    return [1.0 if number is None else number for number in shares]


def read_share(value: Any, what: str, place: Place) -> float | None:
    """Return a number from 0 to 1, None for a missing one."""
    if value in ("", None):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        place.refuse(f"{what} {shortened(str(value))} is not a number from 0 to 1")
    return number


def add_reliability(value: Any, source: str, reliabilities: dict[str, float], place: Place) -> None:
    """Set the reliability of a source, if there is one; another one than before is an error."""
    number = read_share(value, f"reliability of {source}", place)
    if number is not None and (before := reliabilities.setdefault(source, number)) != number:
        place.refuse(f"reliability of {source} is {number:g}, before it was {before:g}")


def _days(roles: ClaimColumns, buffer: _ClaimBuffer) -> None:
    """Read the days of the statements, by row; an empty one is unknown."""
    if roles.stated is None:
        return
    for row, value in enumerate(buffer.table.column(roles.stated)):
        if value not in ("", None):
            buffer.days[row] = day_number(value, buffer.table.place(row))


def day_number(value: Any, place: Place) -> int:
    """Return the number of a day that is written as 1996-03-12."""
    try:
        return date.fromisoformat(str(value).strip()[:10]).toordinal()
    except ValueError:
        shown = shortened(str(value))
        place.refuse(f"stated {shown} is not a day (expected a date such as 1996-03-12)")


def _claims(buffer: _ClaimBuffer) -> Claims:
    table, rows = buffer.table, buffer.rows
    empty = (f"{table.name}: {buffer.empty:,} values are empty and are ignored",)
    objects, object_ = _numbered(buffer.objects)
    slots, slot = _numbered(buffer.slots)
    sources, source = _numbered(buffer.sources)
    values, value = _numbered(buffer.values)
    return Claims(
        objects=objects,
        slots=slots,
        sources=sources,
        values=values,
        object=object_,
        slot=slot,
        source=source,
        value=value,
        confidence=np.array(buffer.confidence),
        file=np.zeros(len(rows), dtype=np.int64),
        line=np.array([table.lines[row] for row in rows], dtype=np.int64),
        files=(table.name,),
        units={table.name: table.unit},
        reliabilities=buffer.reliabilities,
        kinds=dict.fromkeys(sorted(buffer.several), "several"),
        notes=(*table.notes, *(empty if buffer.empty else ())),
        stated=np.array([buffer.days.get(row, 0) for row in rows], dtype=np.int64)
        if buffer.days
        else None,
    )


def _numbered(texts: list[str]) -> tuple[list[str], IntArray]:
    """Return the different texts by first appearance, and the number of each."""
    numbers: dict[str, int] = {}
    points = [numbers.setdefault(text, len(numbers)) for text in texts]
    return list(numbers), np.array(points, dtype=np.int64)

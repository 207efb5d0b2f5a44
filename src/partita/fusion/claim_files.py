"""Read claims from tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from partita.core import IntArray
from partita.errors import InputError
from partita.files.strict import Place, first_too_long, shortened
from partita.fusion.claims import Claims, coded_columns
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


def read_claims(source: Any, columns: Sequence[str] = (), headed: bool = True) -> Claims:
    """Read the claims of a table; without a source column, the table is the source."""
    table = claim_table(source, columns, headed)
    roles = claim_columns(table.columns)
    if isinstance(roles, str):
        raise table.error(None, roles)
    sources, reliabilities = _sources(table, roles), dict[str, float]()
    for row, value in enumerate(table.column(roles.reliability) if roles.reliability else ()):
        add_reliability(value, sources[row], reliabilities, table.place(row))
    days = _days(table, roles)
    objects = _objects(table, roles)
    rows: list[int] = []
    slots: list[str] = []
    texts: list[str] = []
    confidence: list[float] = []
    several, empty = set[str](), 0
    for names, values, shares in _statements(table, roles):
        for row, value in enumerate(values):
            found = _value_texts(value, row, table)
            empty += not found
            if isinstance(value, list):
                several.add(names[row])
            for text in found:
                rows.append(row)
                slots.append(names[row])
                texts.append(text)
                confidence.append(shares[row])
    if not rows:
        ignored = f" ({empty} rows are empty)" if empty else ""
        raise InputError(f"has no claims{ignored}; expected at least one", file=table.name)
    note = (f"{table.name}: {empty:,} values are empty and are ignored",) if empty else ()
    things, stating = ([names[row] for row in rows] for names in (objects, sources))
    return Claims(
        **coded_columns(things, slots, stating, texts),
        confidence=np.array(confidence),
        file=np.zeros(len(rows), dtype=np.int64),
        line=np.array(table.lines, dtype=np.int64)[rows],
        files=(table.name,),
        units={table.name: table.unit},
        reliabilities=reliabilities,
        kinds=dict.fromkeys(sorted(several), "several"),
        notes=(*table.notes, *note),
        stated=days[rows] if days.any() else None,
    )


def _statements(
    table: Table, roles: ClaimColumns
) -> Iterator[tuple[Sequence[str], Sequence[Any], Sequence[float]]]:
    """Yield slots, values and confidences by row, for every column of values.

    P(same) = p is the likelier judgement, with confidence |2p − 1|.
    """
    confidence = _shares(table, roles.confidence, "confidence")
    if roles.value is not None:
        names = _texts(table, roles.slot, "slot") if roles.slot else [roles.value] * len(table)
        yield names, table.column(roles.value), confidence
    elif roles.probability is not None:
        shares = _shares(table, roles.probability, "probability")
        values = ["same" if p >= 0.5 else "different" for p in shares]
        yield ["same"] * len(table), values, [abs(2 * p - 1) for p in shares]
    else:
        for name in roles.slots:
            yield [name] * len(table), table.column(name), confidence


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


def _days(table: Table, roles: ClaimColumns) -> IntArray:
    """Return the days of the statements by row; an empty one is unknown (0)."""
    column = [""] * len(table) if roles.stated is None else table.column(roles.stated)
    days = [0 if value in ("", None) else day_number(value, table.place(row))
            for row, value in enumerate(column)]  # fmt: skip
    return np.array(days, dtype=np.int64)


def day_number(value: Any, place: Place) -> int:
    """Return the number of a day that is written as 1996-03-12."""
    try:
        return date.fromisoformat(str(value).strip()[:10]).toordinal()
    except ValueError:
        shown = shortened(str(value))
        place.refuse(f"stated {shown} is not a day (expected a date such as 1996-03-12)")

"""Claims from files: tables of claims, records with slots, judgements on pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from partita.errors import InputError
from partita.formats.claim_columns import ClaimColumns, claim_columns
from partita.formats.claim_rows import rows_of
from partita.formats.rows import Rows
from partita.fusion.claims import Claims

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
        said = f" ({found.empty} rows say nothing)" if found.empty else ""
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
    notes = (f"{found.file}: {found.empty:,} values are empty and say nothing",)
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

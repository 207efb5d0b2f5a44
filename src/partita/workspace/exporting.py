"""What a run holds as a file: any table, its results, or its keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.errors import InputError
from partita.formats.keys import key_line
from partita.formats.results import VERSION
from partita.formats.writing import replacing
from partita.store import reading, runs
from partita.store.exporting import FORMS, export_table, table_named
from partita.store.store import Store
from partita.workspace.consensus import keyed_sets

if TYPE_CHECKING:
    from sqlalchemy import Connection

LINES = ("results", "keyed")  # as run writes results, and as train reads keys


def export(store: Store, run: str, table: str, form: str, out: Path) -> int:
    """How many rows or lines were written."""
    if form not in FORMS:
        raise InputError(f"{form!r} is no form of a file; expected {', '.join(FORMS)}")
    if table in LINES:
        if form != "jsonl":
            raise InputError(f"{table} cannot be {form}; expected jsonl")
    else:
        table_named(table)
    with store.reading() as connection:
        row = runs.read_run(connection, run)
        if table == "results":
            return _write(out, _results(connection, row))
        if table == "keyed":
            return _write(out, map(key_line, keyed_sets(connection, run).values()))
        return export_table(connection, run, table, form, out)


def results_text(store: Store, run: str) -> str:
    """The lines that `run --out` writes, one after another."""
    with store.reading() as connection:
        lines = _results(connection, runs.read_run(connection, run))
        return "".join(f"{line}\n" for line in lines)


def _write(out: Path, lines: Iterator[str]) -> int:
    count = 0
    with replacing(out) as stream:
        for line in lines:
            stream.write(f"{line}\n")
            count += 1
    return count


def _results(connection: Connection, row: dict[str, Any]) -> Iterator[str]:
    """The lines that `run --out` writes."""
    for stored in runs.stored(connection, row["run"]):
        if stored["error"]:
            continue
        found = reading.read_message(connection, row["run"], stored["message"])
        yield from map(_line, found["sets"])
        alone = {"version": VERSION, "message": found["message"], "singletons": found["singletons"]}
        yield _line(alone | {"run": {"text": found["text_hash"], **row["settings"]}})


def _line(told: dict[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

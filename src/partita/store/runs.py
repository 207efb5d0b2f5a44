"""Runs, their messages, models and keys in the store.

Each saved key is a row, and the newest of each author counts unless withdrawn. Lines of results,
templates and entities become rows of tables, and are made of them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, Table, func, select

from partita.errors import Unknown
from partita.files.strict import Place
from partita.results.result_lines import VERSION, template_json, template_of
from partita.store import tables
from partita.store.store import Store


def add_if_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row unless it exists; return whether it was inserted."""
    insert = _insert_of(connection)(table).values(**row).on_conflict_do_nothing()
    added = connection.execute(insert.returning(*table.primary_key.columns))
    return added.first() is not None


def _insert_of(connection: Connection) -> Any:
    """Return the dialect's insert, which supports ON CONFLICT."""
    from sqlalchemy.dialects import postgresql, sqlite

    return postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert


TOTALS = ("templates", "sets", "entities", "entropy_bits")


def only_row(connection: Connection, query: Select[Any], problem: str) -> Row:
    """Return the only row of a query; without one, the problem is raised."""
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise Unknown(problem)
    return dict(row)


def read_run(connection: Connection, name: str) -> Row:
    """Return the row of a run."""
    query = select(tables.runs).where(tables.runs.c.run == name)
    return only_row(connection, query, f"the store has no run {name}")


def list_runs(connection: Connection, name: str | None = None) -> list[Row]:
    """Return all runs with their sizes, in the order in which they were started."""
    at = tables.runs.c
    query = select(tables.runs).order_by(at.started, at.run)
    if name is not None:
        query = query.where(at.run == name)
    sizes, keyed = _sizes(connection, name), _keyed(connection)
    rows = connection.execute(query).mappings()
    return [
        dict(row)
        | sizes.get(row["run"], _none())
        | {"keyed": len(set().union(*(keyed.get(r, ()) for r in family(connection, row["run"]))))}
        for row in rows.all()
    ]


def _sizes(connection: Connection, name: str | None) -> dict[str, Row]:
    at = tables.messages.c
    totals = [func.sum(at[total]).label(total) for total in TOTALS]
    failed = func.count().filter(at.error != "").label("failed")
    query = select(at.run, func.count().label("messages"), failed, *totals).group_by(at.run)
    if name is not None:
        query = query.where(at.run == name)
    rows = connection.execute(query).mappings()
    return {row["run"]: {one: row[one] for one in _none()} for row in rows}


def _none() -> Row:
    return dict.fromkeys(("messages", "failed", *TOTALS), 0)


def _keyed(connection: Connection) -> dict[str, set[str]]:
    sets_by_run: dict[str, set[str]] = {}
    at = tables.keys.c
    query = select(at.run, at.set_name).where(at.withdrawn.is_(None)).distinct()
    for run, name in connection.execute(query):
        sets_by_run.setdefault(run, set()).add(name)
    return sets_by_run


def change_run(connection: Connection, name: str, **values: Any) -> None:
    connection.execute(tables.runs.update().where(tables.runs.c.run == name).values(**values))


def add_tables(connection: Connection, run: Row, contents: Mapping[str, str]) -> bool:
    """Insert a run that holds tables as its messages; return whether it was new."""
    if not add_if_new(connection, tables.runs, run):
        return False
    for position, (name, content) in enumerate(contents.items()):
        message: Row = {"message": name, "fields": {}, "error": "", "place": name, "text": content}
        message["text_hash"] = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
        message |= {"sets": [], "entities": [], "singletons": []}
        row = _message_row(message, run["run"], position)
        connection.execute(tables.messages.insert().values(**row))
    return True


def delete_run(connection: Connection, name: str) -> None:
    """Delete a run with its texts, answers and labels; runs that were trained from it stay."""
    at = tables.runs.c
    connection.execute(tables.runs.update().where(at.parent == name).values(parent=None))
    connection.execute(tables.keys.delete().where(tables.keys.c.run == name))
    connection.execute(tables.runs.delete().where(at.run == name))


STORED = ("message", "position", "text_hash", "error")
READ = ("message", "text", "place", "fields")


def message_rows(connection: Connection, run: str, columns: Sequence[str] = STORED) -> list[Row]:
    """Return some columns of the messages that a run has, in order."""
    at = tables.messages.c
    query = select(*(at[name] for name in columns)).where(at.run == run)
    rows = connection.execute(query.order_by(at.position, at.message))
    return [dict(row) for row in rows.mappings()]


def failed(connection: Connection, run: str) -> int:
    """Return how many messages of a run failed."""
    at = tables.messages.c
    query = select(func.count()).where(at.run == run, at.error != "")
    return connection.execute(query).scalar_one()


def model_of(connection: Connection, run: Mapping[str, Any]) -> Row | None:
    """Return the parameters of a run, or None for the uniform model."""
    name = run["model_id"]
    query = select(tables.models).where(tables.models.c.id == name)
    return only_row(connection, query, f"the store has no model {name}") if name else None


def model_kind(connection: Connection, name: str | None) -> str | None:
    """Return the kind of some parameters; None if there are none."""
    at = tables.models.c
    return connection.execute(select(at.kind).where(at.id == name)).scalar()


LONGEST = 120  # characters of a title


def write_message(store: Store, run: str, position: int, message: Object) -> bool:
    """Write a message; return whether it was new. A power cut may lose it.

    A message that failed before is replaced. `message` is an object as from `read_message`, with
    `place`, `text_hash` and `error`.
    """
    with store.writing(hurried=True) as connection:
        _forget_failed(connection, run, message["message"])
        if not add_if_new(connection, tables.messages, _message_row(message, run, position)):
            return False
        for table, rows in _rows(message, run).items():
            _insert(connection, table, rows)
        return True


def _forget_failed(connection: Connection, run: str, message: str) -> None:
    at = tables.messages.c
    connection.execute(
        tables.messages.delete().where(at.run == run, at.message == message, at.error != "")
    )


def _insert(connection: Connection, table: str, rows: list[Row]) -> None:
    if rows:
        connection.execute(tables.metadata.tables[table].insert(), rows)


def _message_row(message: Object, run: str, position: int) -> Row:
    sets = message["sets"]
    return {
        "run": run,
        "message": message["message"],
        "position": position,
        "title": title(message["text"], message["fields"]),
        "place": message["place"],
        "text_hash": message["text_hash"],
        "fields": dict(message["fields"]),
        "error": message["error"],
        "templates": len(_templates(message)),
        "sets": len(sets),
        "entities": len(message["entities"]),
        "entropy_bits": sum(one["entropy_bits"] or 0.0 for one in sets),
        "text": message["text"],
    }


def title(text: str, fields: Mapping[str, Any]) -> str:
    """Return the subject, or the first non-empty line."""
    lines = (line.strip() for line in text.splitlines())
    subject = str(fields.get("subject") or next(filter(None, lines), ""))
    words = " ".join(subject.split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _rows(message: Object, run: str) -> dict[str, list[Row]]:
    """Return the rows of each table, referenced tables first."""
    sets, entities, homes = message["sets"], message["entities"], _templates(message)
    set_of = {name: home for name, (home, _) in homes.items()}
    templates = sorted(
        (one for _, one in homes.values()), key=lambda one: (one.get("start", 0), one.get("end", 0))
    )
    name = message["message"]
    found = {
        "sets": [set_row(line, n, set_of) for n, line in enumerate(sets)],
        "templates": [
            row_of("templates", template_json(template_of(one, PLACE)), position=n, message=name)
            | {"set_name": set_of[one["id"]]}
            for n, one in enumerate(templates)
        ],
        "antecedents": [
            {"message": name, "template": one["id"], "rank": rank, "antecedent": other["id"]}
            | {"preferred": other.get("preferred", False)}
            for one in templates
            for rank, other in enumerate(one.get("antecedents", ()), 1)
        ],
        "pairs": [
            row_of("pairs", one, set_name=line["set"]) for line in sets for one in line["pairs"]
        ],
        "configurations": [
            row_of("configurations", one, set_name=line["set"], rank=rank)
            for line in sets
            for rank, one in enumerate(line["configurations"], 1)
        ],
        "entities": [
            row_of("entities", one, position=n, message=name)
            | {"set_name": set_of.get(one["templates"][0]), "denied": one.get("denied") or None}
            for n, one in enumerate(entities)
        ],
        "slot_values": [
            row_of("slot_values", value, position=n, message=name, entity=one["id"], slot=slot)
            | {"value": search_text(value["value"])}
            for one in entities
            for n, (slot, value) in enumerate(
                (slot, value) for slot, values in one["slots"].items() for value in values
            )
        ],
    }
    return {table: [{"run": run} | row for row in rows] for table, rows in found.items()}


def _templates(message: Object) -> dict[str, tuple[str | None, Object]]:
    """Return every template by its id, with the first set that holds it."""
    homes: dict[str, tuple[str | None, Object]] = {}
    for line in message["sets"]:
        for one in line["templates"]:
            homes.setdefault(one["id"], (line["set"], one))
    return homes | {one["id"]: (None, one) for one in message["singletons"]}


SHOWN = ("message", "templates", "cells", "alternatives", "author", "time", "based_on")


def family(connection: Connection, run: str) -> list[str]:
    """Return a run and its ancestors, whose keys are about the same templates."""
    runs_: list[str] = []
    at = tables.runs.c
    parent: str | None = run
    while parent is not None and parent not in runs_:
        runs_.append(parent)
        parent = connection.execute(select(at.parent).where(at.run == parent)).scalar()
    return runs_


def select_keys(connection: Connection, run: str, sets: Sequence[str] | None = None) -> list[Row]:
    """Return the keys, oldest first; `counts` marks the newest of each author, if not withdrawn."""
    table = tables.keys
    query = select(table).where(table.c.run.in_(family(connection, run))).order_by(table.c.id)
    if sets is not None:
        query = query.where(table.c.set_name.in_(sets))
    rows = list(connection.execute(query).mappings())
    newest = {(row["set_name"], row["author"]): row["id"] for row in rows}
    counting_ids = set(newest.values())
    return [
        {"key": row["id"], "run": row["run"], "set": row["set_name"]}
        | {name: row[name] for name in (*SHOWN, "withdrawn")}
        | {"counts": row["id"] in counting_ids and row["withdrawn"] is None}
        for row in rows
    ]


def counting(keys: Iterable[Row]) -> list[Row]:
    """Return the newest key of each author, oldest first."""
    return [key for key in keys if key["counts"]]


def insert_key(connection: Connection, run: str, key: Mapping[str, Any]) -> tuple[int, list[Row]]:
    """Add a key; return its number and the keys of others that its author has not seen."""
    _lock(connection, run, key["set_name"])
    current = counting(select_keys(connection, run, [key["set_name"]]))
    written = connection.execute(tables.keys.insert().values(run=run, **key))
    (number,) = written.inserted_primary_key or (0,)
    last_seen = key["based_on"] or 0
    unseen = [
        other for other in current if other["key"] > last_seen and other["author"] != key["author"]
    ]
    return int(number), unseen


def mark_withdrawn(connection: Connection, run: str, name: str, author: str, time: str) -> int:
    """Mark the keys of an author for a set as withdrawn; return how many counted until now."""
    _lock(connection, run, name)
    table = tables.keys
    where = (
        table.c.run.in_(family(connection, run)),
        table.c.set_name == name,
        table.c.author == author,
        table.c.withdrawn.is_(None),
    )
    return connection.execute(table.update().where(*where).values(withdrawn=time)).rowcount


def _lock(connection: Connection, run: str, name: str) -> None:
    """Lock the set, so that another author waits and then sees this key."""
    at = tables.sets.c
    query = select(at.set_name).where(at.run == run, at.set_name == name).with_for_update()
    if connection.execute(query).scalar() is None:
        raise Unknown(f"run {run} has no set {name}")


Row = dict[str, Any]
Object = Mapping[str, Any]

PLACE = Place("the store")
FIGURES = ("count", "log2_count", "entropy_bits", "log_normaliser", "conflict")
MADE = ("model", "method", "reason", "seed")
TEXTS = ("text", "region", "sentence", "sort", "head", "number", "form", "slots", "rule", "context")
REMAINDER = ("count", "log2_count", "probability")


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


# the fields of objects in lines of results, in order, and their columns; an interval has two
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "sets": {"message": "message", "set": "set_name", **_same("incompatible", *FIGURES, *MADE)},
    "templates": {"id": "template", "start": "start_at", "end": "end_at", **_same(*TEXTS)},
    "pairs": {"left": "left_template", "right": "right_template"}
    | _same("probability", "marginal", "interval"),
    "configurations": _same("cells", "probability", "interval"),
    "entities": {"id": "entity"}
    | _same("sort", "templates", "anchor", "name", "descriptions", "probability", "interval")
    | _same("error"),
    "slot_values": {"value": "value_json"}
    | _same("probability", "interval", "error", "templates", "status"),
}
# what some rows lack: those of messages that have less, and of earlier versions
MISSING = {"name": "", "anchor": "", "descriptions": [], "status": "asserted"}
# the fields of a line of results, in its order
ORDER = (
    *("version", "message", "set", "templates", "incompatible", "must", "unlisted", "pairs"),
    *("configurations", "partial", "remainder", "excluded", "count", "log2_count"),
    *("log2_count_interval", "entropy_bits", "entropy_bits_interval"),
    *("log_normaliser", "log_normaliser_interval", "conflict", "model", "method"),
    *("converged", "error", "optimal", "gap", "reason", "seed", "entities"),
)
# what most sets have in these fields; the store keeps only what differs
USUAL: dict[str, Any] = {
    "must": [], "unlisted": None, "partial": None, "excluded": 0.0, "log2_count_interval": None,
    "entropy_bits_interval": None, "log_normaliser_interval": None, "converged": None,
    "error": None, "optimal": True, "gap": 0.0,
}  # fmt: skip
APART = {"version", "templates", "pairs", "configurations", "remainder", "entities"}
APART |= {*COLUMNS["sets"]}


def row_of(table: str, document: Object, **more: Any) -> Row:
    """Return the row of an object in a line of results, with `more` columns."""
    row = {column: document.get(name, MISSING.get(name)) for name, column in COLUMNS[table].items()}
    if "interval" in row:
        row["low"], row["high"] = row.pop("interval") or (None, None)
    return row | more


def object_of(table: str, row: Object) -> Row:
    """Return the object of which a row was made."""
    row = dict(row)
    if "low" in row:
        row["interval"] = None if row["low"] is None else [row["low"], row["high"]]
    return {
        name: MISSING.get(name) if row[column] is None else row[column]
        for name, column in COLUMNS[table].items()
    }


def set_row(line: Object, position: int, homes: Mapping[str, str | None]) -> Row:
    """Return the row of a set: figures as columns, rare fields in `more`.

    Its templates whose home is an earlier window of the message are named there, in `again`.
    """
    remainder = line["remainder"]
    more = {name: value for name, value in line.items() if name not in APART}
    more = {name: value for name, value in more.items() if value != USUAL.get(name, "")}
    if again := [one["id"] for one in line["templates"] if homes[one["id"]] != line["set"]]:
        more["again"] = again
    if remainder.get("interval") is not None:
        more["remainder_interval"] = remainder["interval"]
    rest = {f"remainder_{name}": remainder[name] for name in REMAINDER}
    return row_of("sets", line, position=position, more=more, **rest)


def set_object(row: Object, inside: Mapping[str, list[Row]]) -> Row:
    """Return the line of results of a set; `inside` are its templates, pairs and so on."""
    more = dict(row["more"])
    more.pop("again", None)
    remainder = {name: row[f"remainder_{name}"] for name in REMAINDER}
    remainder["interval"] = more.pop("remainder_interval", None)
    made = {"version": VERSION, "remainder": remainder, **object_of("sets", row)}
    document = {**made, **USUAL, **more, **inside}
    return {name: document[name] for name in ORDER}


def template_again(row: Object, antecedents: Sequence[Object]) -> Row:
    """Return every field of a template."""
    listed = [{"id": one["antecedent"], "preferred": one["preferred"]} for one in antecedents]
    document = object_of("templates", row) | {"antecedents": listed}
    return template_json(template_of(document, PLACE))


def pair_objects(rows: Iterable[Object], templates: Sequence[Row]) -> list[Row]:
    """Return the pairs in text order."""
    place = {template["id"]: n for n, template in enumerate(templates)}
    pairs = [object_of("pairs", row) for row in rows]
    return sorted(pairs, key=lambda one: (place[one["left"]], place[one["right"]]))


def entity_object(row: Object, values: Iterable[Object]) -> Row:
    """Return an entity with the values of its slots."""
    slots: dict[str, list[Row]] = {}
    for one in values:
        slots.setdefault(one["slot"], []).append(object_of("slot_values", one))
    return object_of("entities", row) | {"slots": slots, "denied": row["denied"] or []}


def search_text(value: object) -> str | None:
    """Return a value as text for searching."""
    if value is None:
        return None
    return " & ".join(map(str, value)) if isinstance(value, list) else str(value)

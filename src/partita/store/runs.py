"""Runs, their messages, models and keys in the store.

Each saved key is a row, and the newest of each author counts unless withdrawn. Lines of results,
templates and entities become rows of tables, and are made of them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def write_message(
    store: Store, run: str, position: int, message: Object, *, durable: bool = False
) -> bool:
    """Write a message; return whether it was new. If `durable`, wait for the disk.

    A message that failed before is replaced. `message` is an object as from `read_message`, with
    `place`, `text_hash` and `error`.
    """
    with store.writing(hurried=not durable) as connection:
        _forget_failed(connection, run, message["message"])
        if not add_if_new(connection, tables.messages, _message_row(message, run, position)):
            return False
        for table, rows in _rows(message).items():
            _insert(connection, table, run, message["message"], rows)
        return True


def _forget_failed(connection: Connection, run: str, message: str) -> None:
    at = tables.messages.c
    connection.execute(
        tables.messages.delete().where(at.run == run, at.message == message, at.error != "")
    )


def _insert(connection: Connection, table: str, run: str, message: str, rows: list[Row]) -> None:
    if rows:
        columns = tables.metadata.tables[table].c
        common = {"run": run} | ({"message": message} if "message" in columns else {})
        connection.execute(tables.metadata.tables[table].insert(), [common | row for row in rows])


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


def _rows(message: Object) -> dict[str, list[Row]]:
    """Return the rows of each table, referenced tables first."""
    sets, entities, homes = message["sets"], message["entities"], _templates(message)
    set_of = {name: home for name, (home, _) in homes.items()}
    templates = sorted(
        (one for _, one in homes.values()), key=lambda one: (one.get("start", 0), one.get("end", 0))
    )
    return {
        "sets": [set_row(line, n, set_of) for n, line in enumerate(sets)],
        "templates": [template_row(one, n, set_of[one["id"]]) for n, one in enumerate(templates)],
        "antecedents": [row for one in templates for row in antecedent_rows(one)],
        "pairs": [
            {"set_name": line["set"], **pair_row(one)} for line in sets for one in line["pairs"]
        ],
        "configurations": [
            {"set_name": line["set"], **configuration_row(one, rank)}
            for line in sets
            for rank, one in enumerate(line["configurations"], 1)
        ],
        "entities": [
            entity_row(one, n, set_of.get(one["templates"][0])) for n, one in enumerate(entities)
        ],
        "slot_values": [row for one in entities for row in value_rows(one)],
    }


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
# the fields of a line of results, in its order
ORDER = (
    *("version", "message", "set", "templates", "incompatible", "must", "unlisted", "pairs"),
    *(
        "configurations",
        "partial",
        "remainder",
        "excluded",
        "count",
        "log2_count",
        "log2_count_interval",
    ),
    *("entropy_bits", "entropy_bits_interval"),
    *("log_normaliser", "log_normaliser_interval", "conflict", "model", "method"),
    *("converged", "error", "optimal", "gap", "reason", "seed", "entities"),
)
# what most sets have in these fields; the store keeps only what differs
USUAL: dict[str, Any] = {
    "must": [], "unlisted": None, "partial": None, "excluded": 0.0, "log2_count_interval": None,
    "entropy_bits_interval": None, "log_normaliser_interval": None, "converged": None,
    "error": None, "optimal": True, "gap": 0.0,
}  # fmt: skip
APART = {"version", "message", "set", "templates", "incompatible", "pairs", "configurations"}
APART |= {"remainder", "entities", *FIGURES, *MADE}


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
    return {
        "set_name": line["set"],
        "position": position,
        "remainder_count": remainder["count"],
        "remainder_log2_count": remainder["log2_count"],
        "remainder_probability": remainder["probability"],
        "incompatible": line["incompatible"],
        "more": more,
        **{name: line.get(name) for name in (*FIGURES, *MADE)},
    }


def set_object(row: Object, inside: Mapping[str, list[Row]]) -> Row:
    """Return the line of results of a set; `inside` are its templates, pairs and so on."""
    more = dict(row["more"])
    more.pop("again", None)
    interval = more.pop("remainder_interval", None)
    remainder = {
        name: row[f"remainder_{name}"] for name in ("count", "log2_count", "probability")
    } | {"interval": interval}
    document = {
        "version": VERSION,
        "message": row["message"],
        "set": row["set_name"],
        "incompatible": row["incompatible"],
        "remainder": remainder,
        **{name: row[name] for name in (*FIGURES, *MADE)},
        **USUAL,
        **more,
        **inside,
    }
    return {name: document[name] for name in ORDER}


def template_row(template: Object, position: int, set_name: str | None) -> Row:
    read = template_of(template, PLACE)
    fields = template_json(read)
    return {
        "template": read.id,
        "position": position,
        "set_name": set_name,
        "start_at": read.start,
        "end_at": read.end,
        **{name: fields[name] for name in TEXTS},
    }


def template_again(row: Object, antecedents: Sequence[Object]) -> Row:
    """Return every field of a template."""
    document = {name: row[name] for name in TEXTS}
    document |= {"id": row["template"], "start": row["start_at"], "end": row["end_at"]}
    document["antecedents"] = [
        {"id": one["antecedent"], "preferred": one["preferred"]} for one in antecedents
    ]
    return template_json(template_of(document, PLACE))


def antecedent_rows(template: Object) -> Iterator[Row]:
    for rank, one in enumerate(template.get("antecedents", ()), 1):
        preferred = one.get("preferred", False)
        ids = {"template": template["id"], "rank": rank}
        yield ids | {"antecedent": one["id"], "preferred": preferred}


def pair_row(pair: Object) -> Row:
    ends = {"left_template": pair["left"], "right_template": pair["right"]}
    return ends | {name: pair[name] for name in ("probability", "marginal")} | _spread(pair)


def pair_objects(rows: Iterable[Object], templates: Sequence[Row]) -> list[Row]:
    """Return the pairs in text order."""
    place = {template["id"]: n for n, template in enumerate(templates)}
    pairs = [
        {
            "left": row["left_template"],
            "right": row["right_template"],
            "probability": row["probability"],
            "marginal": row["marginal"],
        }
        | _interval(row)
        for row in rows
    ]
    return sorted(pairs, key=lambda one: (place[one["left"]], place[one["right"]]))


def configuration_row(listed: Object, rank: int) -> Row:
    document = {"rank": rank, "cells": listed["cells"], "probability": listed["probability"]}
    return document | _spread(listed)


def configuration_object(row: Object) -> Row:
    return {"cells": row["cells"], "probability": row["probability"]} | _interval(row)


def entity_row(entity: Object, position: int, set_name: str | None) -> Row:
    return {
        "entity": entity["id"],
        "position": position,
        "set_name": set_name,
        "sort": entity["sort"],
        "name": entity.get("name", ""),
        "anchor": entity.get("anchor", ""),
        "templates": entity["templates"],
        "descriptions": entity.get("descriptions", []),
        "denied": entity.get("denied") or None,
        **_figure(entity),
    }


def entity_object(row: Object, values: Iterable[Object]) -> Row:
    document: Row = {"id": row["entity"], "sort": row["sort"], "templates": row["templates"]}
    document["anchor"] = row["anchor"]
    document |= {name: row[name] for name in ("name", "descriptions")}
    document |= _figure_again(row)
    slots: dict[str, list[Row]] = {}
    for one in values:
        value = {"value": one["value_json"], **_figure_again(one), "templates": one["templates"]}
        slots.setdefault(one["slot"], []).append(value | {"status": one["status"] or "asserted"})
    return document | {"slots": slots, "denied": row["denied"] or []}


def value_rows(entity: Object) -> Iterator[Row]:
    """Yield all values of all slots, in order."""
    values_ = [(slot, one) for slot, values in entity["slots"].items() for one in values]
    for position, (slot, one) in enumerate(values_):
        yield {
            "entity": entity["id"],
            "position": position,
            "slot": slot,
            "value": search_text(one["value"]),
            "value_json": one["value"],
            "templates": one["templates"],
            "status": one.get("status", "asserted"),
            **_figure(one),
        }


def search_text(value: object) -> str | None:
    """Return a value as text for searching."""
    if value is None:
        return None
    return " & ".join(map(str, value)) if isinstance(value, list) else str(value)


def _spread(figure: Object) -> Row:
    low, high = figure.get("interval") or (None, None)
    return {"low": low, "high": high}


def _interval(row: Object) -> Row:
    return {"interval": None if row["low"] is None else [row["low"], row["high"]]}


def _figure(figure: Object) -> Row:
    probability = {"probability": figure["probability"]}
    return probability | _spread(figure) | {"error": figure.get("error")}


def _figure_again(row: Object) -> Row:
    return {"probability": row["probability"]} | _interval(row) | {"error": row["error"]}

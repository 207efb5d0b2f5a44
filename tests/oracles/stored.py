"""Messages as a store is given them, made without resolving anything; and what a store holds."""

from __future__ import annotations

from typing import Any

from partita.store import runs, tables
from partita.store.store import Store
from partita.store.tables import metadata

TIMES = {"started", "finished", "made", "time"}


def message(name: str = "m", sets: int = 1, **more: Any) -> dict[str, Any]:
    """A message with sets of two templates, one template alone, and an entity for each cell."""
    lines = [line(name, n) for n in range(1, sets + 1)]
    alone = template("S", 900, antecedents=[{"id": "A1", "preferred": True}])
    told = {
        "message": name,
        "place": f"{name}.txt",
        "text": f"Subj: {name}\n\nA depot. The depot.\n",
        "text_hash": f"hash of {name}",
        "fields": {"subject": name, "from": "somebody"},
        "error": "",
        "sets": lines,
        "singletons": [alone],
        "entities": [entity for one in lines for entity in one["entities"]] + [entity("ES", ["S"])],
    }
    return told | more


def template(name: str, start: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "text": f"the {name}",
        "start": start,
        "end": start + 5,
        "region": "text",
        "sentence": 0,
        "sort": "DEPOT",
        "head": "",
        "number": None,
        "form": "",
        "slots": {"NUMBER": 1, "USE": ["FUEL", "RAIL"]},
        "rule": "",
        "antecedents": [],
        "context": {},
    } | more


def entity(name: str, templates: list[str], **more: Any) -> dict[str, Any]:
    values = [value("KINSTON", 0.75, templates[:1]), value(None, 0.25, [])]
    return {
        "id": name,
        "sort": "DEPOT",
        "templates": templates,
        "anchor": templates[0],
        "name": "",
        "descriptions": [],
        **exactly(0.5),
        "slots": {"LOCATION": values, "NUMBER": [value(1, 1.0, [])]},
        "denied": [],
    } | more


def value(said: Any, probability: float, templates: list[str]) -> dict[str, Any]:
    figure = exactly(probability)
    return {"value": said, **figure, "templates": templates, "status": "asserted"}


def exactly(probability: float) -> dict[str, Any]:
    return {"probability": probability, "interval": None, "error": None}


def line(message: str, n: int) -> dict[str, Any]:
    """A line of results, in the order of its fields."""
    ids = [f"A{n}", f"B{n}"]
    return {
        "version": 1,
        "message": message,
        "set": f"{message}.{n}",
        "templates": [template(name, 10 * n + k) for k, name in enumerate(ids)],
        "incompatible": [],
        "must": [],
        "unlisted": None,
        "pairs": [
            {
                "left": ids[0],
                "right": ids[1],
                "probability": 0.7,
                "marginal": 0.6,
                "interval": None,
            }
        ],
        "configurations": [
            {"cells": [ids], "probability": 0.6, "interval": None},
            {"cells": [[ids[0]], [ids[1]]], "probability": 0.4, "interval": None},
        ],
        "partial": None,
        "remainder": {"count": "0", "log2_count": None, "probability": 0.0, "interval": None},
        "excluded": 0.0,
        "count": "2",
        "log2_count": 1.0,
        "log2_count_interval": None,
        "entropy_bits": 0.97,
        "entropy_bits_interval": None,
        "log_normaliser": None,
        "log_normaliser_interval": None,
        "conflict": 0.0,
        "model": "evidential",
        "method": "exact",
        "converged": None,
        "error": None,
        "optimal": True,
        "gap": 0.0,
        "reason": "exact by enumeration",
        "seed": 0,
        "entities": [entity(f"E{n}", ids)],
    }


def begin(store: Store, run: str = "r", **more: Any) -> str:
    """A run that messages can be written into."""
    row = {
        "run": run,
        "domain": "depots",
        "model": "evidential",
        "settings": {},
        "asked": {},
        "inputs": [],
        "versions": {},
        "started": "2001-01-01T00:00:00",
        "outcome": "",
    }
    with store.writing() as connection:
        runs.add_if_new(connection, tables.runs, row | more)
    return run


def rows(store: Store) -> dict[str, list[Any]]:
    """Every row of every table, without times."""
    found = {}
    with store.reading() as connection:
        for table in metadata.sorted_tables:
            columns = [column for column in table.columns if column.name not in TIMES]
            query = table.select().with_only_columns(*columns).order_by(*table.primary_key.columns)
            held = [dict(row) for row in connection.execute(query).mappings()]
            found[table.name] = sorted(held, key=repr)
    return found

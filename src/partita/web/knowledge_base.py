"""Pages of a knowledge base: its entities in a table, and one entity with everything about it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from partita.errors import InputError, Unknown

Row = dict[str, Any]
ORDERS = {"name": False, "type": False, "mentions": True, "documents": True}  # whether descending
MAX_MENTIONS = 500  # of an entity that are shown
ABOUT = ("names", "values", "contradictions", "alternatives")


def overview(folder: str) -> Row:
    """Return the sizes of a knowledge base and the types of its entities."""
    tables = _tables(folder)
    types = sorted({row["type"] for row in tables["entities"] if row["type"]})
    return {
        "name": Path(folder).name,
        "documents": len(tables["documents"]),
        "entities": len(tables["entities"]),
        "types": types,
    }


def entities(folder: str, search: str, sort: str, order: str, offset: int, limit: int) -> Row:
    """Return a page of the entities of a type whose names have all words, and their number."""
    words = search.lower().split()
    rows = [
        row
        for row in _tables(folder)["entities"]
        if sort in ("", row["type"])
        and all(word in " ".join([row["name"], *row["aliases"]]).lower() for word in words)
    ]
    column = order if order in ORDERS else "documents"
    rows.sort(key=lambda row: str(row[column]).lower() if not ORDERS[column] else -row[column])
    return {"total": len(rows), "entities": rows[offset : offset + limit]}


def entity(folder: str, name: str) -> Row:
    """Return an entity with its names, values, mentions, relations, contradictions and doubts."""
    tables = _tables(folder)
    found = next((row for row in tables["entities"] if row["entity"] == name), None)
    if found is None:
        raise Unknown(f"the knowledge base has no entity {name}")
    about = {part: [row for row in tables[part] if row["entity"] == name] for part in ABOUT}
    about["values"].sort(key=lambda row: (row["slot"], -row["probability"]))
    mentions = [row for row in tables["mentions"] if row["entity"] == name]
    called = {row["entity"]: row["name"] for row in tables["entities"]}
    relations = [
        row | {"source_name": called[row["source"]], "target_name": called[row["target"]]}
        for row in tables["relations"]
        if name in (row["source"], row["target"])
    ]
    home = {row["record"]: row["entity"] for row in tables["records"]}
    similar = [
        row | {"left_entity": home.get(row["left"]), "right_entity": home.get(row["right"])}
        for row in tables["review"]
        if name in (home.get(row["left"]), home.get(row["right"]))
    ]
    return (
        found
        | about
        | {"mentions": mentions[:MAX_MENTIONS], "relations": relations, "similar": similar}
    )


def _tables(folder: str) -> dict[str, list[Row]]:
    """Return the tables; they are read again after a new build."""
    path = Path(folder) / "entities.parquet"
    if not path.exists():
        raise InputError("is no knowledge base; expected a folder of partita build", file=folder)
    return _read(folder, path.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _read(folder: str, _changed: int) -> dict[str, list[Row]]:
    from partita.core.tabular import optional

    optional("pyarrow", "a knowledge base")
    from pyarrow.parquet import read_table

    names = ("documents", "entities", "mentions", "relations", "records", "review", *ABOUT)
    return {name: read_table(Path(folder) / f"{name}.parquet").to_pylist() for name in names}

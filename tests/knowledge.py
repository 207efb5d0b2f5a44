"""A small knowledge base, as `partita build` writes its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.parquet import write_table

HOSTILE = "<img src=x onerror=window.boom=1>"


def row(**values: Any) -> dict[str, Any]:
    return values


def entity(name: str, called: str, kind: str, documents: int, aliases: list[str]) -> dict[str, Any]:
    sizes = row(records=documents, documents=documents, mentions=2 * documents, certainty=0.97)
    return row(entity=name, name=called, type=kind, aliases=aliases, description="") | sizes


TABLES: dict[str, list[dict[str, Any]]] = {
    "documents": [row(document=f"report-{n}", title=f"Report {n}") for n in range(3)],
    "entities": [
        entity("e1", "Maria Lopez", "person", 3, ["Lopez", "M. Lopez"]),
        entity("e2", "Acme Corp.", "organization", 2, ["Acme"]),
        entity("e3", "M. Lopes", "person", 1, []),
        entity("e4", HOSTILE, "person", 1, []),
    ],
    "mentions": [
        row(entity="e1", document="report-0", text="Maria Lopez", sentence=0),
        row(entity="e1", document="report-1", text="she", sentence=2),
    ],
    "records": [row(record=f"r{n}", entity=f"e{n}") for n in range(1, 5)],
    "names": [
        row(entity="e1", name="Maria Lopez", records=2),
        row(entity="e1", name="Lopez", records=1),
    ],
    "values": [
        row(
            entity="e1",
            slot="ROLE",
            value="director",
            probability=0.9,
            documents=2,
            status="asserted",
        ),
        row(
            entity="e1",
            slot="NATIONALITY",
            value="Spain",
            probability=0.6,
            documents=1,
            status="asserted",
        ),
    ],
    "relations": [row(source="e1", target="e2", relation="leads", document="report-0", weight=1.0)],
    "contradictions": [
        row(
            entity="e1",
            slot="NATIONALITY",
            values=["Chile", "Spain"],
            documents=["report-0", "report-2"],
        )
    ],
    "alternatives": [row(entity="e1", kind="merge", other="e3", probability=0.4)],
    "review": [
        row(
            left="r1",
            right="r3",
            left_name="Maria Lopez",
            right_name="M. Lopes",
            probability=0.4,
            bits=0.97,
        )
        | {"for": "similar names", "against": "other documents"}
    ],
}


def write_knowledge_base(folder: Path) -> Path:
    """Write the tables into a new folder."""
    folder.mkdir()
    for name, rows in TABLES.items():
        write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
    return folder

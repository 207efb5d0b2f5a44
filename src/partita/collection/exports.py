"""A knowledge base for other systems: GraphRAG, Neo4j, JSON-LD, FollowTheMoney, GraphML.

Every id that came in goes out again: with the entity that it belongs to and how surely.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from partita.collection.knowledge import Knowledge, stated_relation
from partita.errors import InputError
from partita.files.writing import write_atomically, write_errors
from partita.tables.writing import csv_text, write_table

# types of the domains as schemata of FollowTheMoney; any other is a thing to be described
SCHEMATA = {
    "person": "Person",
    "organization": "Organization",
    "place": "Address",
    "event": "Event",
}
OTHER_SCHEMA = "LegalEntity"

Edge = tuple[str, str, str]
NODE_FIELDS = ("name", "type", "aliases", "documents", "certainty", "description", "source_ids")
SCHEMA_ORG = {"person": "Person", "organization": "Organization", "place": "Place",
              "event": "Event"}  # fmt: skip


def export(kb: Knowledge, form: str, folder: Path) -> None:
    """Write a knowledge base into a folder, in one of the forms."""
    if form not in FORMS:
        raise InputError(f"unknown format {form!r} (expected {', '.join(FORMS)})")
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    FORMS[form](kb, folder)
    if any(one.source_ids for one in kb.records):
        write_table(folder / "resolved.csv", resolved_ids(kb))


def resolved_ids(kb: Knowledge) -> dict[str, list[Any]]:
    """Return the entities of every id that came in, all of them if it was split, and how surely."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for n, one in enumerate(kb.records):
        for name in one.source_ids:
            found[name, kb.entity[n]].append(float(kb.membership[n]))
    rows = [(name, entity, sum(p) / len(p), len(p)) for (name, entity), p in found.items()]
    names = ("entity_id", "resolved_id", "membership", "records")
    return {name: [row[n] for row in rows] for n, name in enumerate(names)}


def edges_of(kb: Knowledge) -> dict[Edge, list[Any]]:
    """Return relations between entities: their documents, their weight, their ids."""
    table = kb.table("relations")
    found: dict[Edge, list[Any]] = {}
    names = ("source", "target", "relation", "status", "document", "weight", "source_ids")
    for source, target, relation, status, home, weight, ids in zip(
        *(table[name] for name in names), strict=True
    ):
        one = found.setdefault((source, target, stated_relation(relation, status)), [set(), 0, []])
        one[0].add(home)
        one[1] += weight
        one[2] += ids
    return found


def entity_rows(kb: Knowledge) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table of entities, each with the ids that came in for it."""
    table = kb.table("entities")
    for values in zip(*table.values(), strict=True):
        row = dict(zip(table, values, strict=True))
        own = (kb.records[n] for n in kb.members[row["entity"]])
        yield row | {"source_ids": sorted({name for one in own for name in one.source_ids})}


def _graphrag(kb: Knowledge, folder: Path) -> None:
    """Write GraphRAG's tables; titles are made unique, since its relations name titles."""
    rows = list(entity_rows(kb))
    often = Counter(row["name"] for row in rows)
    title = {row["entity"]: row["name"] if often[row["name"]] == 1 else
             f"{row['name']} ({row['entity']})" for row in rows}  # fmt: skip
    degree: Counter[str] = Counter()
    edges = edges_of(kb)
    for source, target, _ in edges:
        degree.update((source, target))
    units = {name: sorted({kb.records[n].document for n in places})
             for name, places in kb.members.items()}  # fmt: skip
    write_table(folder / "entities.parquet", {
        "id": [row["entity"] for row in rows],
        "human_readable_id": list(range(len(rows))),
        "title": [title[row["entity"]] for row in rows],
        "type": [row["type"] for row in rows],
        "description": [row["description"] for row in rows],
        "text_unit_ids": [units[row["entity"]] for row in rows],
        "frequency": [row["records"] for row in rows],
        "degree": [degree[row["entity"]] for row in rows],
        "membership": [row["certainty"] for row in rows],
        "source_ids": [row["source_ids"] for row in rows],
    })  # fmt: skip
    write_table(folder / "relationships.parquet", {
        "id": [f"{n}" for n in range(len(edges))],
        "human_readable_id": list(range(len(edges))),
        "source": [title[one[0]] for one in edges],
        "target": [title[one[1]] for one in edges],
        "description": [one[2] for one in edges],
        "weight": [found[1] for found in edges.values()],
        "combined_degree": [degree[one[0]] + degree[one[1]] for one in edges],
        "text_unit_ids": [sorted(found[0] - {""}) for found in edges.values()],
        "source_ids": [sorted(found[2]) for found in edges.values()],
    })  # fmt: skip


def _neo4j(kb: Knowledge, folder: Path) -> None:
    """Write CSV files for `neo4j-admin database import`."""
    header = ["entityId:ID", "name", "aliases:string[]", "documents:int", "certainty:float",
              "sourceIds:string[]", ":LABEL"]  # fmt: skip
    rows: list[list[Any]] = [header]
    for row in entity_rows(kb):
        label = f"Entity;{row['type'].title()}" if row["type"] else "Entity"
        rows.append([row["entity"], row["name"], _array(row["aliases"]), row["documents"],
                     f"{row['certainty']:.6g}", _array(row["source_ids"]), label])  # fmt: skip
    write_atomically(folder / "nodes.csv", csv_text(rows))
    rows = [[":START_ID", ":END_ID", "weight:float", "relation", "sourceIds:string[]", ":TYPE"]]
    for (source, target, kind), (_, weight, ids) in edges_of(kb).items():
        rows.append([source, target, f"{weight:.6g}", kind, _array(ids), _label(kind)])
    write_atomically(folder / "relations.csv", csv_text(rows))


def _array(values: Iterable[str]) -> str:
    return ";".join(one.replace(";", ",") for one in values)


def _label(kind: str) -> str:
    plain = "".join(one if one.isalnum() else "_" for one in kind.upper())[:40].strip("_")
    return plain or "RELATED"


def _jsonld(kb: Knowledge, folder: Path) -> None:
    edges: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for (source, target, kind), (_, weight, _ids) in edges_of(kb).items():
        edges[source].append({"@id": f"#{target}", "roleName": kind, "weight": weight})
    graph = []
    for row in entity_rows(kb):
        members = [{"@id": f"#record-{kb.records[n].id}", "document": kb.records[n].document,
                    "membership": float(kb.membership[n]),
                    "identifier": list(kb.records[n].source_ids)}
                   for n in kb.members[row["entity"]]]  # fmt: skip
        graph.append({
            "@id": f"#{row['entity']}", "@type": SCHEMA_ORG.get(row["type"], "Thing"),
            "name": row["name"], "alternateName": row["aliases"],
            "description": row["description"], "certainty": row["certainty"],
            "records": members, "related": edges.get(row["entity"], []),
        })  # fmt: skip
    own = "https://example.org/partita#"
    names = ("certainty", "records", "document", "membership", "related", "weight")
    context = ["https://schema.org/", {name: f"{own}{name}" for name in names}]
    text = json.dumps({"@context": context, "@graph": graph}, ensure_ascii=False, indent=1)
    write_atomically(folder / "entities.jsonld", text + "\n")


def _ftm(kb: Knowledge, folder: Path) -> None:
    """Write entities of FollowTheMoney, a line of JSON for each."""
    lines = []
    for row in entity_rows(kb):
        records = [kb.records[n].id for n in kb.members[row["entity"]]]
        notes = [f"certainty {row['certainty']:.3f}"]
        said = [row["description"]] if row["description"] else []
        given = {"name": [row["name"]], "alias": row["aliases"], "notes": notes, "summary": said}
        lines.append({
            "id": row["entity"], "schema": SCHEMATA.get(row["type"], OTHER_SCHEMA),
            "properties": {name: values for name, values in given.items() if values},
            "referents": sorted({*row["source_ids"], *records}),
        })  # fmt: skip
    for n, ((source, target, kind), (_, weight, _ids)) in enumerate(edges_of(kb).items(), 1):
        lines.append({
            "id": f"R{n}", "schema": "UnknownLink",
            "properties": {"subject": [source], "object": [target], "role": [kind or "related"],
                           "notes": [f"weight {weight:g}"]},
        })  # fmt: skip
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)
    write_atomically(folder / "entities.ftm.json", text)


def _graphml(kb: Knowledge, folder: Path) -> None:
    write_atomically(folder / "graph.graphml", "\n".join(_graphml_lines(kb)) + "\n")


def _graphml_lines(kb: Knowledge) -> Iterator[str]:
    kinds = {"documents": "int", "certainty": "double", "weight": "double"}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name in NODE_FIELDS:
        kind = kinds.get(name, "string")
        yield f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>'
    for name in ("relation", "weight"):
        kind = kinds.get(name, "string")
        yield f'<key id="{name}" for="edge" attr.name="{name}" attr.type="{kind}"/>'
    yield '<graph edgedefault="directed">'
    for row in entity_rows(kb):
        values = {name: row[name] for name in NODE_FIELDS}
        yield f"<node id={quoteattr(row['entity'])}>{_data(values)}</node>"
    for (source, target, kind), (_, weight, _ids) in edges_of(kb).items():
        ends = f"source={quoteattr(source)} target={quoteattr(target)}"
        yield f"<edge {ends}>{_data({'relation': kind, 'weight': weight})}</edge>"
    yield "</graph>"
    yield "</graphml>"


def _data(values: Mapping[str, Any]) -> str:
    shown = {k: "; ".join(v) if isinstance(v, list) else str(v) for k, v in values.items()}
    return "".join(f'<data key="{name}">{_xml_text(text)}</data>' for name, text in shown.items())


FORMS: Mapping[str, Callable[[Knowledge, Path], None]] = {
    "graphrag": _graphrag, "neo4j": _neo4j, "jsonld": _jsonld, "ftm": _ftm, "graphml": _graphml,
}  # fmt: skip


def _xml_text(value: str) -> str:
    """Escape text; characters that XML cannot hold are replaced."""
    shown = "".join(one if one >= " " or one in "\t\n\r" else "\ufffd" for one in value)
    return escape(shown)

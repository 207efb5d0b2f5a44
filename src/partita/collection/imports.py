"""Entities and relations that another system extracted, as documents with records.

An entity becomes a record for each document (or text unit) that it was found in, so that equal
titles of different things can be told apart by their texts. Every id is kept in `source_ids`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError, XMLParser

from partita.collection.documents import (
    FUNCTION_WORDS,
    EntityRecord,
    Relation,
    SourceDocument,
    plain_name,
    words_in,
)
from partita.errors import InputError
from partita.tables import Table, read_table
from partita.tables.columns import is_blank
from partita.text.given_names import shipped_names
from partita.text.words import shipped_words

IDS = ("id", "entity_id", "node_id", "_id", ":id")
NAMES = ("name", "title", "entity_name", "label", "entity")
TYPES = ("type", "entity_type", "category", "kind", ":label", "labels", "sort")
DESCRIPTIONS = ("description", "summary", "text", "context")
UNITS = ("text_unit_ids", "text_units", "text_unit_id", "source_id", "chunk_ids", "chunk_id",
         "chunk", "document_ids", "document_id", "document", "doc_id", "file_path",
         "source")  # fmt: skip
ENDS = (("source", "target"), ("src_id", "tgt_id"), ("start", "end"), ("subject", "object"),
        ("from", "to"), ("head", "tail"), ("source_id", "target_id"),
        (":start_id", ":end_id"))  # fmt: skip
RELATIONS = ("relation", "type", "predicate", "label", "keywords", ":type", "description")
WEIGHTS = ("weight", "confidence", "score", "strength")
SEPARATOR = "<SEP>"  # of LightRAG, between the ids of chunks
KINDS = {"people": "person", "human": "person", "org": "organization", "company": "organization",
         "organisation": "organization", "geo": "place", "location": "place", "country": "place",
         "city": "place", "date": "time"}  # fmt: skip
TYPED = frozenset(("person", "organization", "place", "event", "object", "time"))
FAR = 12  # words around a name in its text unit that count as near


@dataclass(slots=True)
class Imported:
    """Documents with records, and relations between records.

    `homes` has the records of each id; `texts` are those of text units, by id.
    """

    texts: dict[str, str] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)  # the document of a text unit
    records: dict[str, list[EntityRecord]] = field(default_factory=lambda: defaultdict(list))
    homes: dict[str, list[str]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)

    def documents(self) -> list[SourceDocument]:
        """Return the documents, with the words of their text units or of their entities."""
        units: dict[str, list[str]] = defaultdict(list)
        for unit, text in self.texts.items():
            units[self.parents.get(unit, unit)].append(text)
        found = []
        for name, records in self.records.items():
            text = "\n".join(units.get(name, [])) or " ".join(
                f"{' '.join(one.names)} {one.description}" for one in records
            )
            found.append(SourceDocument(name, words=tuple(words_in(text)), records=tuple(records)))
        return found


def read_system(system: str, paths: Sequence[Path]) -> Imported:
    """Read what a system wrote: a folder of GraphRAG or LightRAG, two CSV files of Neo4j."""
    if system == "neo4j":
        if len(paths) != 2:
            raise InputError("--from neo4j needs two files: NODES.csv RELATIONS.csv")
        return read_entities(paths[0], paths[1])
    if len(paths) != 1 or not paths[0].is_dir():
        raise InputError(f"--from {system} needs one folder, its output",
                         file=str(paths[0]) if paths else None)  # fmt: skip
    return _graphrag(paths[0]) if system == "graphrag" else _lightrag(paths[0])


def read_entities(entities: Any, relations: Any = None, into: Imported | None = None) -> Imported:
    """Read tables of entities and relations, whose columns are known by their names."""
    found = into or Imported()
    table = read_table(entities, "entities").filled("a row for each entity")
    ids, names = _column(table, IDS), _column(table, NAMES)
    if names is None:
        raise table.error(None, f"has no column {' or '.join(NAMES)}; found {table.found}")
    kinds, words, units = (_column(table, one) for one in (TYPES, DESCRIPTIONS, UNITS))
    titles: dict[str, list[str]] = defaultdict(list)
    for row, name in enumerate(names):
        if is_blank(name):
            raise table.error(row, "has no name")
        key = str(ids[row]) if ids is not None and not is_blank(ids[row]) else str(name)
        if key in found.homes:
            raise table.error(row, f"lists the id {key} again")
        kind = _kind(kinds[row]) if kinds is not None else ""
        text = str(words[row]) if words is not None and not is_blank(words[row]) else ""
        listed = _listed(units[row]) if units is not None else []
        _add_entity(found, key, str(name), kind, text, listed)
        titles[str(name)].append(key)
    if relations is not None:
        _add_relations(found, read_table(relations, "relations"), titles)
    return found


def _column(table: Table, names: Iterable[str]) -> Sequence[Any] | None:
    """Return the first column with one of these names; Neo4j's have types after a colon."""
    plain: dict[str, str] = {}
    for column in table.columns:
        name = column.strip().lower().split("(")[0]
        plain.setdefault(name, column)
        head, mark, kind = name.partition(":")
        if mark and kind in ("id", "label", "start_id", "end_id", "type"):
            plain.setdefault(f":{kind}", column)
        elif mark:
            plain.setdefault(head, column)
    return next((table.column(plain[name]) for name in names if name in plain), None)


def _kind(value: Any) -> str:
    text = "" if is_blank(value) else str(value).strip().strip('"').lower().split(";")[0]
    return KINDS.get(text, text)


def _listed(value: Any) -> list[str]:
    """Return the ids of a cell: a list, or a text with separators."""
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    if value is None or is_blank(value):
        return []
    text = str(value).strip()
    if text.startswith("["):
        try:
            return [str(one) for one in json.loads(text.replace("'", '"'))]
        except ValueError:
            text = text.strip("[]")
    mark = SEPARATOR if SEPARATOR in text else "|" if "|" in text else ";"
    return [one.strip() for one in text.split(mark) if one.strip()]


def _add_entity(
    found: Imported,
    key: str,
    name: str,
    kind: str,
    text: str,
    units: Sequence[str],
) -> None:
    """Add a record of an entity to each of its documents; without any, to one of its own."""
    by_home: dict[str, list[str]] = defaultdict(list)
    for unit in dict.fromkeys(units):
        by_home[found.parents.get(unit, unit)].append(unit)
    found.homes[key] = []
    own = name.strip().strip('"')
    shown = " ".join(map(_cased, own.split())) if own.isupper() and len(own) > 5 else own
    names = tuple(dict.fromkeys((plain_name(shown, kind), shown)))
    for home, parts in (by_home or {f"entity {key}": []}).items():
        near = [word for unit in parts for word in _around(found.texts.get(unit, ""), own)]
        said, head = words_in(text), tuple((words_in(own) or [own.lower()])[-1:])
        record = EntityRecord(
            f"{home}:{key}", home, kind, {kind: 1.0} if kind in TYPED else {},
            names, head,
            tuple(dict.fromkeys(words_in(own))), (), tuple(dict.fromkeys([*near, *said])),
            description=text, source_ids=(key,),
        )  # fmt: skip
        found.records[home].append(record)
        found.homes[key].append(record.id)


def _cased(word: str) -> str:
    """Return a word of a name in capitals as names are written, but for IBM, II and their kin."""
    plain = word.lower()
    known = shipped_words().noun_classes(plain) or plain in shipped_names().given
    return word if len(word) < 4 and not known and plain not in FUNCTION_WORDS else word.title()


def _around(text: str, name: str) -> list[str]:
    """Return the words of a text near a name."""
    words, own = words_in(text), set(words_in(name))
    places = [n for n, word in enumerate(words) if word in own]
    near = sorted({n for place in places for n in range(place - FAR, place + FAR + 1)})
    return [words[n] for n in near if 0 <= n < len(words) and words[n] not in own]


def _add_relations(found: Imported, table: Table, titles: Mapping[str, Sequence[str]]) -> None:
    """Add relations; their ends are ids, or titles as in GraphRAG."""
    left, right = next(
        ((a, b) for a, b in ((_column(table, (one,)), _column(table, (two,))) for one, two in ENDS)
         if a is not None and b is not None), (None, None))  # fmt: skip
    if left is None or right is None:
        expected = " or ".join(",".join(one) for one in ENDS[:3])
        raise table.error(None, f"has no columns {expected}; found {table.found}")
    ids, kinds, weights, units = (
        _column(table, one) for one in (IDS, RELATIONS, WEIGHTS, UNITS[:11])
    )
    for row, (source, target) in enumerate(zip(left, right, strict=True)):
        ends = []
        for end in (str(source), str(target)):
            known = [end] if end in found.homes else titles.get(end, ())
            if not known:
                raise table.error(row, f"names {end}, which is not one of the entities")
            ends.append([record for key in known for record in found.homes[key]])
        name = str(ids[row]) if ids is not None and not is_blank(ids[row]) else f"r{row + 1}"
        kind = "" if kinds is None or is_blank(kinds[row]) else str(kinds[row])
        places = _listed(units[row]) if units is not None else []
        homes = [found.parents.get(one, one) for one in places]
        for a, b, home in _met(ends[0], ends[1], dict.fromkeys(homes)):
            found.relations.append(Relation(name, a, b, kind, home, _number(weights, row, table)))


def _met(
    sources: Sequence[str], targets: Sequence[str], homes: Iterable[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the records that a relation joins: those of its documents, or else the first."""
    some = False
    for home in homes:
        a = next((one for one in sources if one.startswith(f"{home}:")), None)
        b = next((one for one in targets if one.startswith(f"{home}:")), None)
        if a and b:
            some = True
            yield a, b, home
    if not some:
        yield sources[0], targets[0], ""


def _number(column: Sequence[Any] | None, row: int, table: Table) -> float:
    if column is None or is_blank(column[row]):
        return 1.0
    try:
        return float(column[row])
    except (TypeError, ValueError):
        raise table.error(row, f"has the weight {column[row]!r}; expected a number") from None


def _graphrag(folder: Path) -> Imported:
    """Read a folder of GraphRAG; older versions call the tables create_final_*."""
    found = Imported()
    if (units := _table_file(folder, "text_units")) is not None:
        table = read_table(units, "text units")
        documents = _column(table, ("document_ids", "document_id"))
        for row, (key, text) in enumerate(
            zip(
                table.column(table.needed(["id"])),
                table.column(table.needed(["text"])),
                strict=True,
            )
        ):
            found.texts[str(key)] = "" if is_blank(text) else str(text)
            if documents is not None and (parents := _listed(documents[row])):
                found.parents[str(key)] = parents[0]
    entities = _table_file(folder, "entities")
    if entities is None:
        raise InputError("has no entities.parquet; expected the output of GraphRAG",
                         file=str(folder))  # fmt: skip
    return read_entities(entities, _table_file(folder, "relationships"), found)


def _table_file(folder: Path, name: str) -> Path | None:
    names = (f"{name}.parquet", f"create_final_{name}.parquet", f"{name}.csv")
    return next((folder / one for one in names if (folder / one).exists()), None)


def _lightrag(folder: Path) -> Imported:
    """Read the working folder of LightRAG: its graph and its chunks."""
    graph = folder / "graph_chunk_entity_relation.graphml"
    if not graph.exists():
        raise InputError(f"has no {graph.name}; expected the working folder of LightRAG",
                         file=str(folder))  # fmt: skip
    found = Imported()
    chunks = folder / "kv_store_text_chunks.json"
    if chunks.exists():
        try:
            for key, one in json.loads(chunks.read_text("utf-8")).items():
                found.texts[key] = str(one["content"])
                if one.get("full_doc_id"):
                    found.parents[key] = str(one["full_doc_id"])
        except (ValueError, AttributeError, KeyError, TypeError):
            raise InputError("is not LightRAG's JSON of chunks", file=str(chunks)) from None
    nodes, edges = _graphml_rows(graph)
    rows = [{"id": key, "name": data.pop("entity_id", "") or key, **data} for key, data in nodes]
    links = [{"chunk_ids": data.pop("source_id", ""), **data, "source": a, "target": b}
             for a, b, data in edges]  # fmt: skip
    return read_entities(rows, links or None, found)


def _graphml_rows(
    path: Path,
) -> tuple[list[tuple[str, dict[str, str]]], list[tuple[str, str, dict[str, str]]]]:
    """Return the nodes and edges of a GraphML file with their attributes by name."""
    from xml.etree.ElementTree import parse

    if b"<!DOCTYPE" in path.read_bytes()[:4096] or b"<!ENTITY" in path.read_bytes():
        raise InputError("has a document type, which GraphML does not need", file=str(path))
    try:
        root = parse(path, XMLParser()).getroot()
    except ParseError as error:
        raise InputError(f"is not GraphML ({error})", file=str(path)) from None
    mark = root.tag.split("}")[0] + "}" if root.tag.startswith("{") else ""
    names = {one.get("id", ""): one.get("attr.name", "") for one in root.iter(f"{mark}key")}

    def data(element: Any) -> dict[str, str]:
        return {names.get(one.get("key"), one.get("key")): one.text or ""
                for one in element.iter(f"{mark}data")}  # fmt: skip

    nodes = [(one.get("id", ""), data(one)) for one in root.iter(f"{mark}node")]
    edges = [(one.get("source", ""), one.get("target", ""), data(one))
             for one in root.iter(f"{mark}edge")]  # fmt: skip
    return nodes, edges

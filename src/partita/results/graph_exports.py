"""Export resolved messages for other tools: GraphML, and statements of FollowTheMoney."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from partita.tables.writing import csv_text

Message = Mapping[str, Any]

NODE_FIELDS = ("message", "text", "sort", "entity", "name")
EDGE_FIELDS = ("probability", "marginal")
MIN_EDGE_MARGINAL = 0.001  # marginal from which a pair is an edge
STATEMENT_COLUMNS = (
    *("canonical_id", "entity_id", "prop", "prop_type", "schema", "value", "dataset", "origin"),
    *("lang", "original_value", "external", "first_seen", "last_seen", "id", "probability"),
)
# types of the domains as schemata of FollowTheMoney; any other is a thing to be described
SCHEMATA = {
    "person": "Person",
    "organization": "Organization",
    "place": "Address",
    "event": "Event",
}
OTHER_SCHEMA = "LegalEntity"


def graphml(messages: Iterable[Message]) -> Iterator[str]:
    """Yield GraphML: a node for every mention, an edge for every pair that may corefer."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name in NODE_FIELDS:
        yield f'<key id="{name}" for="node" attr.name="{name}" attr.type="string"/>'
    for name in EDGE_FIELDS:
        yield f'<key id="{name}" for="edge" attr.name="{name}" attr.type="double"/>'
    yield '<graph edgedefault="undirected">'
    for message in messages:
        yield from _nodes(message)
        yield from _edges(message)
    yield "</graph>"
    yield "</graphml>"


def _node_id(message: Message, template: str) -> str:
    return quoteattr(f"{message['message']}/{template}")


def _nodes(message: Message) -> Iterator[str]:
    home = {one: entity for entity in message["entities"] for one in entity["templates"]}
    sets = [one for line in message["sets"] for one in line["templates"]]
    for template in {one["id"]: one for one in (*sets, *message["singletons"])}.values():
        entity = home.get(template["id"], {})
        values = (
            message["message"],
            template.get("text", ""),
            template.get("sort", ""),
            entity.get("id", ""),
            entity.get("name", ""),
        )
        fields = zip(NODE_FIELDS, values, strict=True)
        data = "".join(f'<data key="{key}">{_text(value)}</data>' for key, value in fields)
        yield f"<node id={_node_id(message, template['id'])}>{data}</node>"


def _edges(message: Message) -> Iterator[str]:
    edges: dict[tuple[str, str], Mapping[str, Any]] = {}  # windows share some pairs
    for line in message["sets"]:
        for pair in line["pairs"]:
            edges.setdefault((pair["left"], pair["right"]), pair)
    for pair in edges.values():
        if pair["marginal"] >= MIN_EDGE_MARGINAL:
            ends = f"source={_node_id(message, pair['left'])}"
            ends += f" target={_node_id(message, pair['right'])}"
            data = "".join(f'<data key="{key}">{pair[key]!r}</data>' for key in EDGE_FIELDS)
            yield f"<edge {ends}>{data}</edge>"


def _text(value: str) -> str:
    """Escape text; characters that XML cannot hold are replaced."""
    shown = "".join(one if one >= " " or one in "\t\n\r" else "\ufffd" for one in value)
    return escape(shown)


def statement_rows(
    messages: Iterable[Message], dataset: str, excel_safe: bool = False
) -> Iterator[str]:
    """Yield statements of FollowTheMoney as CSV: entity, property, value, dataset, probability.

    Names become `name`, other expressions `weakAlias`, slots `notes` such as "LOCATION: KINSTON".
    """
    yield ",".join(STATEMENT_COLUMNS)
    for message in messages:
        for entity in message["entities"]:
            key = f"{dataset}/{message['message']}/{entity['id']}"
            schema = SCHEMATA.get(entity["sort"].lower(), OTHER_SCHEMA)
            for prop, kind, value, probability in _properties(entity):
                yield _statement(key, schema, (prop, kind, value), dataset, probability, excel_safe)


def _properties(entity: Mapping[str, Any]) -> Iterator[tuple[str, str, str, float]]:
    descriptions = [one for one in entity.get("descriptions", ()) if one != entity.get("name")]
    name = entity.get("name") or next(iter(descriptions), "") or " ".join(entity["templates"])
    yield "name", "name", name, entity["probability"]
    for text in descriptions:
        if text != name:
            yield "weakAlias", "name", text, entity["probability"]
    for slot, values in entity["slots"].items():
        for value in values:
            if value["value"] is not None:
                listed = value["value"] if isinstance(value["value"], list) else [value["value"]]
                text = f"{slot}: {' & '.join(map(str, listed))}"
                yield "notes", "text", text, value["probability"]


def _statement(
    entity: str,
    schema: str,
    claim: tuple[str, str, str],
    dataset: str,
    probability: float,
    excel_safe: bool,
) -> str:
    prop, kind, text = claim
    value = " ".join(text.split())
    key = hashlib.sha1(
        f"{dataset}.{entity}.{prop}.{value}".encode(), usedforsecurity=False
    ).hexdigest()
    row = (entity, entity, prop, kind, schema, value, dataset, "partita", "", "", "f", "", "", key)
    return csv_text([(*row, probability)], excel_safe).rstrip("\n")

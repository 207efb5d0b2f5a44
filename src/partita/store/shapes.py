"""Convert results (lines, templates, entities) to rows of tables and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from partita.files.strict import Place
from partita.results.result_lines import VERSION, template_json, template_of

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

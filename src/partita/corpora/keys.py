"""Read and write keys (gold labels) as JSONL, and match mentions found in a text with them."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from partita.core import Configuration, IntArray, Template
from partita.core.templates import Alternative, Key
from partita.errors import InputError
from partita.files.strict import Place, fields, list_of, number_of, parsed, text_of
from partita.files.text import whole_bytes
from partita.files.writing import write_atomically
from partita.results.result_lines import template_json, template_of

VERSION = 1
NEEDED = ("version", "message", "templates", "cells", "author", "time")


def read_keys(path: str | Path) -> list[Key]:
    """Return the keys of a file, in its order."""
    return [key for _, key in numbered_keys(path)]


def numbered_keys(path: str | Path) -> Iterator[tuple[int, Key]]:
    """Return the keys of a file, each with its line."""
    return _keys(whole_bytes(path).removeprefix(codecs.BOM_UTF8), str(path))


def write_keys(path: str | Path, keys: Iterable[Key]) -> None:
    """Write the file atomically: it is replaced, or left as it was."""
    write_atomically(path, "".join(f"{key_line(key)}\n" for key in keys))


def key_line(key: Key) -> str:
    """Return one key as one line of JSON."""
    written: dict[str, Any] = {
        "version": VERSION,
        "message": key.message,
        "templates": [template_json(template) for template in key.templates],
        "cells": [list(cell) for cell in key.configuration],
        "author": key.author,
        "time": key.time,
    }
    if key.alternatives:
        written["alternatives"] = [
            {
                "cells": [list(cell) for cell in alternative.configuration],
                "weight": alternative.weight,
            }
            for alternative in key.alternatives
        ]
    return json.dumps(written, ensure_ascii=False, allow_nan=False)


def parse_key(line: str, place: Place) -> Key:
    """Return the key in one line."""
    value = parsed(line, place)
    content = fields(value, "the key", place, needed=NEEDED, allowed=("alternatives",))
    if type(content["version"]) is not int or content["version"] != VERSION:
        place.refuse(f"version is {content['version']!r}; this release reads version {VERSION}")
    templates = _templates(content["templates"], place)
    ids = [template.id for template in templates]
    return Key(
        text_of(content["message"], "message", place),
        templates,
        configuration_of(content["cells"], ids, place),
        text_of(content["author"], "author", place),
        _time(content["time"], place),
        tuple(
            alternative_of(item, ids, place)
            for item in list_of(content.get("alternatives", []), "alternatives", place)
        ),
    )


def _keys(data: bytes, file: str) -> Iterator[tuple[int, Key]]:
    for number, raw in enumerate(data.split(b"\n"), 1):
        place = Place(file, number)
        if line := _decoded(raw, place).strip():
            yield number, parse_key(line, place)


def _decoded(raw: bytes, place: Place) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        place.refuse(f"is not UTF-8 (byte {error.start + 1} of the line)")


def _templates(value: Any, place: Place) -> tuple[Template, ...]:
    templates = tuple(template_of(item, place) for item in list_of(value, "templates", place))
    seen: set[str] = set()
    for template in templates:
        if template.id in seen:
            place.refuse(f"template {template.id} appears twice in the templates")
        seen.add(template.id)
    return templates


def configuration_of(
    value: Any, ids: Sequence[str], place: Place, whole: str = "this key"
) -> Configuration:
    """Parse cells; each of the templates must be in exactly one of them."""
    cells = [
        [text_of(member, "a member of a cell", place) for member in list_of(cell, "a cell", place)]
        for cell in list_of(value, "cells", place)
    ]
    if not all(cells):
        place.refuse("a cell is empty; expected templates in each")
    members = [member for cell in cells for member in cell]
    if unknown := [member for member in members if member not in ids]:
        place.refuse(f"cells name {unknown[0]}; expected templates of {whole}: {', '.join(ids)}")
    if missing := [name for name in ids if name not in members]:
        place.refuse(f"template {missing[0]} is in no cell (expected every template in one cell)")
    try:
        return Configuration(cells)
    except InputError as error:
        place.refuse(error.problem)


def alternative_of(
    value: Any, ids: Sequence[str], place: Place, whole: str = "this key"
) -> Alternative:
    """Parse a configuration that the author of a key also considers possible."""
    content = fields(value, "an alternative", place, needed=("cells", "weight"))
    weight = number_of(content["weight"], "weight", place)
    if weight <= 0:
        place.refuse(f"weight of an alternative is {weight}; expected more than 0")
    return Alternative(configuration_of(content["cells"], ids, place, whole), weight)


def _time(value: Any, place: Place) -> str:
    time = text_of(value, "time", place)
    try:
        datetime.fromisoformat(time)
    except ValueError:
        place.refuse(f"time is {time!r}; expected a date and time as in 1997-08-01T12:00:00")
    return time


def match_mentions(gold: Sequence[Template], found: Sequence[Template]) -> IntArray:
    """Return, for each found mention, the gold mention with the same head, -1 for none.

    Heads are the same if they share a character. Of several mentions with one head, equal spans
    are matched first, then those that share most. Every mention is matched at most once.
    """
    matched, by_head = np.full(len(found), -1), _by_character(gold)
    pairs = [
        (-_likeness(gold[g], template), g, n)
        for n, template in enumerate(found)
        for g in sorted({g for place in range(*_head(template)) for g in by_head.get(place, ())})
    ]
    taken: set[int] = set()
    for _, g, n in sorted(pairs):
        if g not in taken and matched[n] < 0:
            matched[n] = g
            taken.add(g)
    return matched


def match_by_id_or_place(
    gold: Sequence[Template], found: Mapping[str, Template | None]
) -> tuple[dict[str, str], int]:
    """Return the gold id of each found id, and how many were matched by their place in the text.

    The same id is the same mention, unless both are at places that have nothing in common. Other
    mentions are matched by place if they share a word. None stands for a mention of which only the
    id is known.
    """
    known = {template.id: template for template in gold}
    ids = {name: name for name, one in found.items() if name in known and _meet(one, known[name])}
    left = [one for one in gold if one.id not in ids and _is_placed(one)]
    others = [one for name, one in found.items() if name not in ids and one and _is_placed(one)]
    places = {
        template.id: left[g].id
        for template, g in zip(others, match_mentions(left, others).tolist(), strict=True)
        if g >= 0 and not _words(template).isdisjoint(_words(left[g]))
    }
    return ids | places, len(places)


def _meet(found: Template | None, gold: Template) -> bool:
    if found is None or not _is_placed(found) or not _is_placed(gold):
        return True
    return max(found.start, gold.start) < min(found.end, gold.end)


def _is_placed(template: Template) -> bool:
    return template.end > template.start


def _words(template: Template) -> set[str]:
    return set(template.text.casefold().split())


def _head(template: Template) -> tuple[int, int]:
    """Return the span of the head; that of the whole mention where the head is not known."""
    start, end = template.context.get("HEAD_SPAN", (template.start, template.end))
    return int(start), int(end)


def _by_character(templates: Sequence[Template]) -> dict[int, list[int]]:
    """Return the templates whose heads hold each character."""
    places: dict[int, list[int]] = {}
    for number, template in enumerate(templates):
        for place in range(*_head(template)):
            places.setdefault(place, []).append(number)
    return places


def _likeness(gold: Template, found: Template) -> float:
    """Return the share of characters that two spans have in common, 1 if they are equal."""
    shared = min(gold.end, found.end) - max(gold.start, found.start)
    return max(0, shared) / max(1, max(gold.end, found.end) - min(gold.start, found.start))

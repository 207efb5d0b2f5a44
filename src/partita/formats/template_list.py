"""Templates in text order from a second file, CSV or JSONL with an `id` in every row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from partita.errors import InputError
from partita.formats.grouping import TemplateList
from partita.formats.pairs import opened
from partita.formats.rows import Rows, csv_rows, jsonl_rows
from partita.formats.strict import Place
from partita.formats.template_json import INTEGERS, template_of
from partita.formats.text import Lines
from partita.records import Template


def read_templates(path: str | Path) -> TemplateList:
    """The templates of a file; in a CSV every other column must be a field of a template."""
    form = jsonl_rows if Path(path).suffix.lower() in (".jsonl", ".ndjson") else csv_rows
    with opened(path) as stream:
        found = dict(_templates(form(Lines(stream, str(path))), str(path)))
    if not found:
        raise InputError("has no rows; expected at least one template", file=str(path))
    return TemplateList(str(path), tuple(found.values()))


def _templates(blocks: Iterable[Rows], file: str) -> Iterator[tuple[str, Template]]:
    seen: set[str] = set()
    for rows in blocks:
        for n, line in enumerate(rows.lines):
            template = _template(rows, n, Place(file, line))
            if template.id in seen:
                Place(file, line).refuse(f"lists template {template.id} again")
            seen.add(template.id)
            yield template.id, template


def _template(rows: Rows, n: int, place: Place) -> Template:
    if n in rows.problems:
        place.refuse(rows.problems[n])
    given = dict(zip(rows.columns, (column[n] for column in rows.values), strict=True))
    return template_of(_typed(given), place)


def _typed(given: dict[str, Any]) -> dict[str, Any]:
    """A CSV knows only text: blanks say nothing, digits are whole numbers where one is expected."""
    said = {name: value for name, value in given.items() if value != ""}
    for name in (*INTEGERS, "number"):
        if isinstance(value := said.get(name), str) and value.strip().isdecimal():
            said[name] = int(value)
    if isinstance(said.get("id"), str):
        said["id"] = said["id"].strip()
    return said

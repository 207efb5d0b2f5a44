"""Parse JSON strictly: expected fields only, with errors that name them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from partita.errors import InputError, Unit
from partita.files.text import numbered_lines

LONGEST_ID = 10_000  # characters
MAX_FLOAT = sys.float_info.max  # an integer may be larger


def first_too_long(texts: Sequence[str], what: str) -> tuple[int, str] | None:
    """Return the number of the first text that is too long for an id, and an error about it."""
    if max(map(len, texts), default=0) <= LONGEST_ID:
        return None
    n = next(n for n, text in enumerate(texts) if len(text) > LONGEST_ID)
    return n, f"{what} has {len(texts[n]):,} characters; expected at most {LONGEST_ID:,}"


@dataclass(frozen=True, slots=True)
class Place:
    """The file and line (or row) of a value, for error messages."""

    file: str
    line: int | None = None
    unit: Unit = "line"

    def refuse(self, problem: str) -> NoReturn:
        """Raise an error about this place."""
        raise InputError(problem, file=self.file, line=self.line, unit=self.unit)


def parsed(text: str, place: Place) -> Any:
    """Parse JSON; NaN, infinities and repeated fields are errors."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=unique_fields)
    except (ValueError, RecursionError) as error:
        inner = error.lineno if isinstance(error, json.JSONDecodeError) else None
        line = inner if place.line is None else place.line
        raise InputError(json_problem(error), file=place.file, line=line) from error


def json_lines(path: str | Path, content: bytes | None = None) -> Iterator[tuple[Place, Any]]:
    """Yield the values of a file, or of its content, with one in each line, and their places."""
    for number, text in numbered_lines(path, content):
        if text.strip():
            place = Place(str(path), number)
            yield place, parsed(text, place)


def json_problem(error: ValueError | RecursionError) -> str:
    """Describe why a text could not be parsed as JSON."""
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg} (column {error.colno})"
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if "integer string conversion" in str(error):
        return "holds an integer with too many digits"
    return str(error)


def figures_of(value: Any, place: Place) -> dict[str, float]:
    """Return the figures of a model by name."""
    if not isinstance(value, dict):
        place.refuse("figures are not an object; expected a number for each name")
    return {name: number_of(figure, name, place) for name, figure in value.items()}


def origin_of(value: Any, place: Place) -> tuple[str, str]:
    """Return what a model was learned from: a description, and the hash of the data."""
    source = fields(value, "learned_from", place, needed=("description", "sha256"))
    digest = text_of(source["sha256"], "sha256", place)
    if not re.fullmatch("[0-9a-f]{64}", digest):
        place.refuse("sha256 is not a hash; expected 64 digits from 0 to f")
    return text_of(source["description"], "description", place), digest


def refuse_other_version(content: Any, version: int, place: Place) -> None:
    """Refuse an object of another version than this release reads."""
    found = content.get("version", version) if isinstance(content, dict) else version
    if type(found) is not int or found != version:
        place.refuse(f"version is {found!r}; this release reads version {version}")


def fields(
    value: Any, what: str, place: Place, *, needed: Sequence[str], allowed: Sequence[str] = ()
) -> Mapping[str, Any]:
    """Return an object with the needed fields and only allowed ones beyond them."""
    if not isinstance(value, dict):
        place.refuse(f"{what} is {_shown(value)}; expected an object")
    for name in needed:
        if name not in value:
            place.refuse(f"{what} has no field {name!r}; expected {', '.join(needed)}")
    for name in value:
        if name not in needed and name not in allowed:
            place.refuse(f"{what} has a field {name!r}; expected {', '.join((*needed, *allowed))}")
    return value


def text_of(value: Any, what: str, place: Place) -> str:
    if not isinstance(value, str):
        place.refuse(f"{what} is {_shown(value)}; expected a text")
    return value


def number_of(value: Any, what: str, place: Place) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        place.refuse(f"{what} is {_shown(value)}; expected a number")
    if not -MAX_FLOAT <= value <= MAX_FLOAT:
        place.refuse(f"{what} is not a finite number")
    return value


def integer_of(value: Any, what: str, place: Place) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        place.refuse(f"{what} is {_shown(value)}; expected a non-negative integer")
    return value


def list_of(value: Any, what: str, place: Place) -> list[Any]:
    if not isinstance(value, list):
        place.refuse(f"{what} is {_shown(value)}; expected a list")
    return value


def _shown(value: Any) -> str:
    return shortened(json.dumps(value, ensure_ascii=False))


def shortened(text: str) -> str:
    """Return a value of a file for an error message: the beginning of a long one."""
    return text if len(text) <= 40 else f"{text[:37]}..."


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that JSON has")


def unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these fields; a field that appears twice is an error."""
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        raise ValueError(f"field {twice!r} appears twice in one object")
    return document

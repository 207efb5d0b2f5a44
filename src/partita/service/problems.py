"""Whatever goes wrong becomes a status and one clear line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from partita.errors import PartitaError, StoreTrouble, Unknown

Headers = Mapping[str, str]


class Refusal(Exception):
    """A request that gets a status and a line instead of an answer."""

    def __init__(self, status: int, line: str, headers: Headers | None = None) -> None:
        self.status, self.line, self.headers = status, line, dict(headers or {})
        super().__init__(line)


def told(line: str) -> bytes:
    """The body of every error."""
    return written({"error": " ".join(line.split())})


def written(value: Any) -> bytes:
    """JSON as bytes; half a surrogate pair, which is no character, is written as its escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def refused(error: Exception) -> Refusal:
    """The status that fits what the workspace, or the reader of a body, says."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, ValidationError):
        return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, first_problem(error.errors()))
    if isinstance(error, PartitaError):
        return Refusal(_status(error), str(error))
    if isinstance(error, OSError) and error.strerror:
        return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"the machine refuses: {error.strerror}")
    if isinstance(error, MemoryError):
        return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "there is not enough memory for this")
    name = type(error).__name__
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, f"a fault of Partita ({name})")


def _status(error: PartitaError) -> int:
    if isinstance(error, Unknown):
        return HTTPStatus.NOT_FOUND
    if isinstance(error, StoreTrouble):
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.UNPROCESSABLE_ENTITY


def first_problem(problems: list[Any]) -> str:
    """Where the first one is and what was expected, and how many there are besides."""
    first = problems[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    said = str(first["msg"]).removeprefix("Value error, ")
    return f"{where}: {said}{more}" if where else f"{said}{more}"

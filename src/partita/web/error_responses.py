"""Errors as HTTP answers: a status and one clear line."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from traceback import format_exception
from typing import Any

from pydantic import ValidationError

from partita.errors import PartitaError, StoreTrouble, Unknown

Headers = Mapping[str, str]

_log = logging.getLogger(__name__)


class RequestError(Exception):
    """An error answer to a request: a status, one line and optional headers."""

    def __init__(self, status: int, line: str, headers: Headers | None = None) -> None:
        self.status, self.line, self.headers = status, line, dict(headers or {})
        super().__init__(line)


def error_body(line: str) -> bytes:
    """Return the JSON body of an error answer."""
    return json_bytes({"error": " ".join(line.split())})


def json_bytes(value: Any) -> bytes:
    """Return `value` as compact JSON; a lone surrogate is written as its escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def request_error(error: Exception) -> RequestError:
    """Return `error` with the HTTP status that fits it."""
    if isinstance(error, RequestError):
        return error
    if isinstance(error, ValidationError):
        return RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, first_problem(error.errors()))
    if isinstance(error, PartitaError):
        return RequestError(_status(error), str(error))
    if isinstance(error, OSError) and error.strerror:
        return RequestError(HTTPStatus.SERVICE_UNAVAILABLE, f"system error: {error.strerror}")
    if isinstance(error, MemoryError):
        return RequestError(HTTPStatus.SERVICE_UNAVAILABLE, "not enough memory for this request")
    line = f"internal error in Partita ({type(error).__name__}); fault {_log_fault(error)}"
    return RequestError(HTTPStatus.INTERNAL_SERVER_ERROR, line)


def _log_fault(error: Exception) -> str:
    """Log an unexpected error with its traceback; return the id that the caller gets."""
    trace = "".join(format_exception(error))
    fault = hashlib.sha256(trace.encode("utf-8", "replace")).hexdigest()[:12]
    _log.error("fault %s\n%s", fault, trace)
    return fault


def _status(error: PartitaError) -> int:
    if isinstance(error, Unknown):
        return HTTPStatus.NOT_FOUND
    if isinstance(error, StoreTrouble):
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.UNPROCESSABLE_ENTITY


def first_problem(problems: list[Any]) -> str:
    """Return the first validation problem with its field, and the number of further ones."""
    first = problems[0]
    field = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    problem = str(first["msg"]).removeprefix("Value error, ")
    return f"{field}: {problem}{more}" if field else f"{problem}{more}"

"""Errors as HTTP answers: problem details (RFC 9457) with one clear line and a trace id."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from http import HTTPStatus
from traceback import format_exception
from typing import Any

from pydantic import ValidationError

from partita.errors import PartitaError, StoreTrouble, Unknown

Headers = Mapping[str, str]
Problems = Sequence[Mapping[str, str]]
PROBLEM_JSON = "application/problem+json"
TRACE: ContextVar[str] = ContextVar("trace", default="")  # the id of the request in hand

_log = logging.getLogger(__name__)


class RequestError(Exception):
    """An error answer: a status, one line, optional headers, and every problem with its field."""

    def __init__(
        self, status: int, line: str, headers: Headers | None = None, problems: Problems = ()
    ) -> None:
        self.status, self.line, self.headers = status, line, dict(headers or {})
        self.problems = list(problems)
        super().__init__(line)


def new_trace() -> str:
    """Return the id of a request, by which its error is found in the log."""
    return secrets.token_hex(6)


def error_body(error: RequestError) -> bytes:
    """Return the JSON body of an error answer."""
    line = " ".join(error.line.split())
    problems = error.problems or [{"field": "", "problem": line}]
    return json_bytes(
        {
            "type": "about:blank",
            "title": title_of(error.status),
            "status": int(error.status),
            "detail": line,
            "errors": problems,
            "trace": TRACE.get() or new_trace(),
        }
    )


def title_of(status: int) -> str:
    """Return the name of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def json_bytes(value: Any) -> bytes:
    """Return `value` as compact JSON; a lone surrogate is written as its escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def request_error(error: Exception) -> RequestError:
    """Return `error` with the HTTP status that fits it."""
    if isinstance(error, RequestError):
        return error
    if isinstance(error, ValidationError):
        return invalid_request(error.errors())
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
    if TRACE.get():
        _log.error("fault %s was in request %s", fault, TRACE.get())
    return fault


def _status(error: PartitaError) -> int:
    if isinstance(error, Unknown):
        return HTTPStatus.NOT_FOUND
    if isinstance(error, StoreTrouble):
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.UNPROCESSABLE_ENTITY


def invalid_request(found: Sequence[Any]) -> RequestError:
    """Return the validation problems of a request: the first in the line, all in the list."""
    problems = []
    for one in found:
        parts = (str(part) for part in one["loc"] if part not in ("body", "query", "path"))
        problem = str(one["msg"]).removeprefix("Value error, ")
        problems.append({"field": ".".join(parts), "problem": problem})
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    line = f"{first['field']}: {first['problem']}" if first["field"] else first["problem"]
    return RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, f"{line}{more}", problems=problems)

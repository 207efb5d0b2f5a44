"""What every request passes, and what every answer says."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

from partita.service.admission import admit
from partita.service.bodies import whole_body
from partita.service.metrics import Metrics
from partita.service.problems import Refusal, refused, told
from partita.service.terms import Terms

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
ALWAYS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
MOST = 500  # requests at once

_log = logging.getLogger("partita.service")


class Gate:
    """Around the application: nothing reaches it that is not admitted, nothing leaves it bare."""

    def __init__(self, app: App, terms: Terms, metrics: Metrics) -> None:
        self._app, self._terms, self._metrics = app, terms, metrics
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, answer = time.perf_counter(), _Answer(send)
        self._inside += 1
        try:
            await self._pass(scope, receive, answer)
        except Exception as error:
            await _refuse(error, answer)
        finally:
            self._inside -= 1
            self._count(scope, answer.status, time.perf_counter() - began)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._inside > MOST:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests at once; try again")
        admit(scope, self._terms)
        # cut at its slashes before it is decoded, so that a name may hold anything
        scope["path"] = scope["raw_path"].decode("ascii", "replace")
        if scope["method"] == "POST":
            body = await whole_body(scope, receive, self._terms)
            receive = _replayed(body, receive)
        await self._app(scope, receive, send)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        route = getattr(scope.get("route"), "path", "none")
        self._metrics.count(method, route, status, seconds)


class _Answer:
    """Passes an answer on with the headers that all have; keeps its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = _with_headers(message.get("headers", []))
        await self._send(message)


def _with_headers(given: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What an answer says itself stays as it is."""
    said = {name for name, _ in given}
    return [*given, *(one for one in _ALWAYS if one[0] not in said)]


_ALWAYS = [(name.encode(), value.encode()) for name, value in ALWAYS.items()]


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body once, then whatever else comes."""
    once = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return once.pop() if once else await receive()

    return replay


async def _refuse(error: Exception, answer: _Answer) -> None:
    found = refused(error)
    if found.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.error("a request failed", exc_info=error)
    if answer.status:  # too late to say anything else
        return
    body = told(found.line)
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **found.headers,
    }
    await answer(
        {
            "type": "http.response.start",
            "status": found.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await answer({"type": "http.response.body", "body": body})

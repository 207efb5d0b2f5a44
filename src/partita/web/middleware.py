"""What every request passes: access checks, limits and security headers."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from partita.web.config import LOOPBACK, ServiceConfig
from partita.web.error_responses import (
    PROBLEM_JSON,
    TRACE,
    RequestError,
    error_body,
    new_trace,
    request_error,
)

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

CONTENT_POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
DEFAULT_HEADERS = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
SAFE_METHODS = ("GET", "HEAD")
NO_TOKEN = ("/api/health",)  # for monitoring
MAX_CONCURRENT = 500  # requests
MAX_DISCARDED = 100_000_000  # bytes that are read of a body that is too large
CLOSE = {"connection": "close"}

_log = logging.getLogger(__name__)


class Middleware:
    """Wrap the application: check each request, limit its body, complete each answer."""

    def __init__(self, app: App, config: ServiceConfig) -> None:
        self._app, self._config = app, config
        self._open_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        TRACE.set(new_trace())
        answer = _Answer(send, scope["method"] == "HEAD")
        self._open_requests += 1
        try:
            await self._handle(scope, receive, answer)
        except Exception as error:
            response = error_response(error)
            if response.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
                _log.error("a request failed", exc_info=error)
            if not answer.status:  # else the answer has begun already
                await response(scope, receive, answer)
        finally:
            self._open_requests -= 1

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._open_requests > MAX_CONCURRENT and scope["path"] not in NO_TOKEN:
            line = "too many concurrent requests; try again"
            raise RequestError(HTTPStatus.SERVICE_UNAVAILABLE, line)
        check_access(scope, self._config)
        if scope["method"] == "HEAD":  # answered as GET is, without the body
            scope = {**scope, "method": "GET"}
        # split at its slashes before it is decoded, so that a name may contain any character
        scope["path"] = scope["raw_path"].decode("ascii", "replace")
        if scope["method"] == "POST":
            body = await _read_body(scope, receive, self._config)
            receive = _replay(body, receive)
        await self._app(scope, receive, send)


class _Answer:
    """Pass an answer on with the default headers, and keep its status; `bare` omits the body."""

    def __init__(self, send: Send, bare: bool = False) -> None:
        self._send, self._bare = send, bare
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            trace = (b"x-trace-id", TRACE.get().encode())
            message["headers"] = [*_with_defaults(message.get("headers", [])), trace]
        elif self._bare:
            message = {**message, "body": b""}
        await self._send(message)


def _with_defaults(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Add the default headers that the answer does not set itself."""
    names = {name for name, _ in headers}
    return [*headers, *(header for header in DEFAULT_HEADERS if header[0] not in names)]


def error_response(error: Exception) -> Response:
    """Return the answer for an error, as problem details."""
    problem = request_error(error)
    return Response(error_body(problem), problem.status, problem.headers, PROBLEM_JSON)


# --- access ---


def check_access(scope: Scope, config: ServiceConfig) -> None:
    """Raise `RequestError` for a foreign Host header, a write from another site, a wrong token."""
    headers = scope["headers"]
    host = _single_header(headers, b"host")
    if config.loopback and _host_name(host) not in LOOPBACK:  # DNS rebinding
        line = f"the Host header is {host or 'empty'}; expected 127.0.0.1 or localhost"
        raise RequestError(HTTPStatus.MISDIRECTED_REQUEST, line)
    if scope["method"] not in SAFE_METHODS:
        _check_origin(headers, host)
    if config.token and _needs_token(scope["path"]):
        _check_token(_single_header(headers, b"authorization"), config.token)


def _needs_token(path: str) -> bool:
    """Tell whether `path` is of the API, except `NO_TOKEN`; the page's files need no token."""
    return (path == "/api" or path.startswith("/api/")) and path not in NO_TOKEN


def _check_origin(headers: Headers, host: str) -> None:
    """Allow writes from this service's own page, or from a client that is no page."""
    origin = _single_header(headers, b"origin")
    site = _single_header(headers, b"sec-fetch-site")
    foreign = origin and origin.partition("://")[2] != host
    if foreign or site in ("cross-site", "same-site"):
        line = "requests from pages of other sites are not allowed to write"
        raise RequestError(HTTPStatus.FORBIDDEN, line)


def _check_token(authorization: str, token: str) -> None:
    scheme, _, sent = authorization.partition(" ")
    correct = hmac.compare_digest(sent.strip().encode(), token.encode())
    if scheme.lower() != "bearer" or not correct:
        problem = "the token is wrong" if sent else "a token is required"
        line = f"{problem}; send Authorization: Bearer TOKEN, or open the page with /#token=TOKEN"
        raise RequestError(HTTPStatus.UNAUTHORIZED, line, {"www-authenticate": "Bearer"})


def _single_header(headers: Headers, name: bytes) -> str:
    """Return a header that may occur once; empty if it is missing."""
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        line = f"header {name.decode()} occurs {len(values)} times; expected once"
        raise RequestError(HTTPStatus.BAD_REQUEST, line)
    return values[0].decode("latin-1") if values else ""


def _host_name(host: str) -> str:
    """Return the host without its port and without the brackets of an IPv6 address."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


# --- bodies ---


async def _read_body(scope: Scope, receive: Receive, config: ServiceConfig) -> bytes:
    """Return the whole body; raise `RequestError` if it is too large, too slow or not JSON."""
    headers = dict(scope["headers"])
    try:
        async with asyncio.timeout(config.upload_timeout):
            body = await _receive_body(headers, receive, config.max_bytes)
    except TimeoutError as error:
        line = f"the request did not arrive within {config.upload_timeout:g} seconds"
        raise RequestError(HTTPStatus.REQUEST_TIMEOUT, line, CLOSE) from error
    if body is None:
        if b"expect" not in headers:
            await _discard_body(receive, config.upload_timeout)
        line = f"the request is larger than {config.max_bytes:,} bytes; raise --largest"
        raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, line, CLOSE)
    _check_media_type(headers, body)
    return body


async def _receive_body(
    headers: dict[bytes, bytes], receive: Receive, max_bytes: int
) -> bytes | None:
    """Return the body, or None as soon as it is known to be too large."""
    if int(headers.get(b"content-length", b"0")) > max_bytes:
        return None
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestError(HTTPStatus.BAD_REQUEST, "the request body is incomplete")
        body += message.get("body", b"")
        if len(body) > max_bytes:
            return None
        more = message.get("more_body", False)
    return bytes(body)


async def _discard_body(receive: Receive, timeout: float) -> None:
    """Read the rest, within bounds: many clients do not listen before they have sent it all."""
    size, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            while more and size < MAX_DISCARDED:
                message = await receive()
                size += len(message.get("body", b""))
                more = message.get("more_body", False)


def _check_media_type(headers: dict[bytes, bytes], body: bytes) -> None:
    """Require JSON: a form on any site can send text, only this service's page can send JSON."""
    media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if body and media_type != b"application/json":
        shown = media_type.decode("latin-1") or "missing"
        line = f"the content type is {shown}; expected application/json"
        raise RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, line)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that yields the body that was read, then what else arrives."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay

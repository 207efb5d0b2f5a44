"""The body of a request: of a size that is allowed, in a time that is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

from partita.service.problems import Refusal
from partita.service.terms import Terms

SWALLOWED = 100_000_000  # bytes of a request that is too large: one who still sends hears no answer
CLOSE = {"connection": "close"}

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


async def whole_body(scope: MutableMapping[str, Any], receive: Receive, terms: Terms) -> bytes:
    """All of it, in memory; whoever sends too much, too slowly or something else is refused."""
    headers = dict(scope["headers"])
    try:
        async with asyncio.timeout(terms.slow):
            body = await _received(headers, receive, terms.largest)
    except TimeoutError as error:
        line = f"the request did not arrive within {terms.slow:g} seconds"
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, line, CLOSE) from error
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if body and kind != b"application/json":
        said = kind.decode("latin-1") or "nothing"
        line = f"the content type is {said}; expected application/json"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, line)
    return body


async def _received(headers: dict[bytes, bytes], receive: Receive, largest: int) -> bytes:
    length = int(headers.get(b"content-length", b"0"))
    if length > largest and b"expect" in headers:
        raise _too_large(largest)
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(HTTPStatus.BAD_REQUEST, "the request ended before it was whole")
        more = message.get("more_body", False)
        size += len(message.get("body", b""))
        if size <= largest:
            parts.append(message.get("body", b""))
        elif size > SWALLOWED:
            break
    if size > largest:
        raise _too_large(largest)
    return b"".join(parts)


def _too_large(largest: int) -> Refusal:
    line = f"the request is larger than {largest:,} bytes; start the service with --largest"
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, line, CLOSE)

"""The body of a request: of a size that is allowed, in a time that is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from partita.service.problems import Refusal
from partita.service.terms import Terms

SWALLOWED = 100_000_000  # bytes of a request that is too large
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
    if body is None:
        if b"expect" not in headers:
            await _swallow(receive, terms.slow)
        line = f"the request is larger than {terms.largest:,} bytes; the service can be started"
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{line} with --largest", CLOSE)
    _refuse_other_kinds(headers, body)
    return body


async def _received(headers: dict[bytes, bytes], receive: Receive, largest: int) -> bytes | None:
    """Nothing if it is too large, as soon as that is known."""
    if int(headers.get(b"content-length", b"0")) > largest:
        return None
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(HTTPStatus.BAD_REQUEST, "the request ended before it was whole")
        body += message.get("body", b"")
        if len(body) > largest:
            return None
        more = message.get("more_body", False)
    return bytes(body)


async def _swallow(receive: Receive, seconds: float) -> None:
    """Takes the rest, within bounds: many clients do not listen before they have sent it all."""
    size, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while more and size < SWALLOWED:
                message = await receive()
                size += len(message.get("body", b""))
                more = message.get("more_body", False)


def _refuse_other_kinds(headers: dict[bytes, bytes], body: bytes) -> None:
    """A form of any site can send text; only a page of this service can send JSON."""
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if body and kind != b"application/json":
        said = kind.decode("latin-1") or "nothing"
        line = f"the content type is {said}; expected application/json"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, line)

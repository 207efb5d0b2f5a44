"""Many clients at once, bounded in count and time: what they ask and what they hear."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

KINDS = (
    "runs",
    "messages",
    "message",
    "set",
    "entities",
    "solve",
    "keys",
    "key",
    "health",
    "resolve",
)
PAIRS = [["A", "B", 0.671], ["A", "C", 0.0], ["B", "C", 0.3], ["A", "D", 0.505]]
SLOWEST = 120.0  # seconds: a client that waits longer counts as a time-out


@dataclass(frozen=True)
class Ask:
    kind: str
    path: str
    body: Any = None


@dataclass(frozen=True)
class Heard:
    ask: Ask
    status: int
    seconds: float


def mixed(count: int, run: str, sets: Sequence[Mapping[str, Any]]) -> list[Ask]:
    """Requests of all kinds in turn, over these sets (as results have them) and their messages."""
    return [_asks(run, sets[n // len(KINDS) % len(sets)])[n % len(KINDS)] for n in range(count)]


def _asks(run: str, one: Mapping[str, Any]) -> list[Ask]:
    at = f"/api/runs/{quote(run, safe='')}"
    message, of_set = f"{at}/messages/{_part(one['message'])}", f"{at}/sets/{_part(one['set'])}"
    cells = [[template["id"]] for template in one["templates"]]
    asked: dict[str, tuple[str, Any]] = {
        "runs": ("/api/runs", None),
        "messages": (f"{at}/messages?limit=20", None),
        "message": (message, None),
        "set": (of_set, None),
        "entities": (f"{at}/entities?limit=20&search=depot", None),
        "solve": ("/api/solve", {"pairs": PAIRS}),
        "keys": (f"{of_set}/keys", None),
        "key": (f"{of_set}/keys", {"cells": cells, "author": "load"}),
        "health": ("/api/health", None),
        "resolve": (
            "/api/resolve",
            {"text": "A depot was found. The depot is empty.", "domain": "depots"},
        ),
    }
    return [Ask(kind, *asked[kind]) for kind in KINDS]


def _part(name: str) -> str:
    return quote(name, safe="")


def heard(address: str, asks: Sequence[Ask], clients: int, slowest: float = SLOWEST) -> list[Heard]:
    """The answers, in the order in which they came."""
    return asyncio.run(_all(address, iter(asks), clients, slowest))


async def _all(address: str, asks: Iterator[Ask], clients: int, slowest: float) -> list[Heard]:
    found: list[Heard] = []
    await asyncio.gather(*(_client(address, asks, found, slowest) for _ in range(clients)))
    return found


async def _client(address: str, asks: Iterator[Ask], found: list[Heard], slowest: float) -> None:
    """One connection, one request after the other, for as long as there are any."""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    for ask in asks:
        began = time.perf_counter()
        writer.write(_request(ask, place.netloc))
        async with asyncio.timeout(slowest):
            status = await _answer(reader)
        found.append(Heard(ask, status, time.perf_counter() - began))
    writer.close()
    await writer.wait_closed()


def _request(ask: Ask, host: str) -> bytes:
    body = b"" if ask.body is None else json.dumps(ask.body).encode()
    head = [
        f"{'POST' if body else 'GET'} {ask.path} HTTP/1.1",
        f"host: {host}",
        f"content-length: {len(body)}",
        "content-type: application/json",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


async def _answer(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].split()[0])
    await reader.readexactly(length)
    return int(head.split()[1])

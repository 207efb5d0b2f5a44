"""What a service is told when it starts: where the store is, and what it allows."""

from __future__ import annotations

import os
from dataclasses import dataclass

LARGEST = 1 << 21  # bytes of a request
SECONDS = 60.0  # for an answer
WAITING = 256  # questions that may wait for a process
PORT = 8765
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN = 16  # characters: a shorter one can be tried out over a network


def usual_workers() -> int:
    """One process keeps a core busy; those that read the store are as many again."""
    return max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True, slots=True)
class Terms:
    """An empty `token` asks for none; `slow` is how long a client may take to send a request;
    processes that are not `eager` start when they are first asked."""

    store: str = ""
    token: str = ""
    loopback: bool = True
    largest: int = LARGEST
    seconds: float = SECONDS
    waiting: int = WAITING
    workers: int = 1
    slow: float = 20.0
    eager: bool = True

"""The configuration of a service: its store, its token and its limits."""

from __future__ import annotations

import os
from dataclasses import dataclass

MAX_REQUEST_BYTES = 1 << 21
TIMEOUT = 60.0  # seconds for one answer
MAX_QUEUED = 256  # requests that may wait for a process
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MIN_TOKEN_LENGTH = 16  # characters: a shorter token can be guessed over a network


def default_workers() -> int:
    """Return the number of worker processes: one per core, at most four."""
    return max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """The settings of a service; with an empty `token`, none is required.

    `knowledge_base` is a folder of `partita build`, empty if there is none.

    `upload_timeout` limits how long a client may take to send a request body. Without `eager`,
    worker processes start on first use.
    """

    store: str = ""
    knowledge_base: str = ""
    token: str = ""
    loopback: bool = True
    max_request_bytes: int = MAX_REQUEST_BYTES
    timeout: float = TIMEOUT
    max_queued: int = MAX_QUEUED
    workers: int = 1
    upload_timeout: float = 20.0
    eager: bool = True

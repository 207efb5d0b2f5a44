"""The configuration of a service: its store, its token and its limits."""

import os
from dataclasses import dataclass
from pathlib import Path

from partita.options import (
    STORE,
    Options,
    argument,
    in_python,
    memory_size,
    option,
    positive,
    size_of,
)

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MIN_TOKEN_LENGTH = 16  # characters: a shorter token can be guessed over a network


@dataclass(frozen=True, kw_only=True)
class ServiceConfig(Options):
    """The settings of a service, those of `partita serve` among them."""

    knowledge_base: Path | None = argument(
        "Folder of partita build, shown under Collection", "KB", default=None
    )
    store: str | None = option(STORE)
    token: str = option(
        "Clients must send this token; generated if one is needed",
        "",
        metavar="T",
        envvar="PARTITA_TOKEN",
    )
    largest: str = option(
        "Maximum request size, such as 10M", "20M", metavar="M", check=memory_size
    )
    seconds: float = option("Time limit per request", 60.0, metavar="S", check=positive)
    waiting: int = option(
        "Maximum queued requests; further ones are rejected", 256, metavar="N", min=1
    )
    workers: int | None = option(
        "Number of worker processes", metavar="N", min=1, shown="one per core, at most 4"
    )
    loopback: bool = in_python("Whether only names of this machine are answered", True)
    upload_timeout: float = in_python("Seconds that a client may take to send a body", 20.0)
    eager: bool = in_python("Whether processes start with the service, not on first use", True)

    @property
    def place(self) -> str:
        """The store, by default the usual one."""
        from partita.store.store import default_store

        return self.store or default_store()

    @property
    def base_name(self) -> str:
        """The name of the knowledge base, empty if there is none."""
        return "" if self.knowledge_base is None else self.knowledge_base.name

    @property
    def processes(self) -> int:
        """The number of worker processes."""
        return self.workers or max(1, min(4, os.cpu_count() or 1))

    @property
    def max_bytes(self) -> int:
        """The largest size of a request."""
        return size_of(self.largest)

"""A service on a port: until it is stopped, or in a thread while a block lasts."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from uvicorn import Config, Server

from partita.errors import InputError, PartitaError
from partita.service.app import create_app
from partita.service.protocol import PatientProtocol
from partita.service.terms import Terms
from partita.workspace.desk import open_workspace

KEEP = 15  # seconds that an idle connection is kept
GRACE = 5  # seconds that requests may still take when the service stops
STARTING = 60.0
BACKLOG = 1024


def serve(server: Server, bound: socket.socket) -> None:
    """Answers until Ctrl-C, which is how a service ends."""
    with suppress(KeyboardInterrupt):
        server.run([bound])


@contextmanager
def running(terms: Terms | None = None, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """The address of a service that runs in a thread while the block does."""
    with listening(host, port) as bound:
        server = prepared(terms or Terms())
        thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
        thread.start()
        try:
            _wait_for(server, thread)
            yield address(bound)
        finally:
            server.should_exit = True
            thread.join()


def listening(host: str, port: int) -> socket.socket:
    """A socket that clients can connect to at once, and wait there to be answered."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        family, kind, protocol, _, place = found[0]
        bound = socket.socket(family, kind, protocol)  # without it answers wait for one another
        return _bound(bound, place)
    except OSError as error:
        problem = f"cannot listen on {host}, port {port}: {error.strerror or error}"
        raise InputError(f"{problem}; try --port with another number") from error


def _bound(bound: socket.socket, place: tuple[Any, ...]) -> socket.socket:
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


def address(bound: socket.socket) -> str:
    host, port, *_ = bound.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def prepared(terms: Terms) -> Server:
    """Everything but the port."""
    open_workspace(terms.store).close()  # what is wrong with it is told before anybody asks
    app: Any = create_app(terms)
    config = Config(
        app,
        http=PatientProtocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP,
        timeout_graceful_shutdown=GRACE,
    )
    return Server(config)


def _wait_for(server: Server, thread: threading.Thread) -> None:
    end = time.monotonic() + STARTING
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise PartitaError("the service did not start")
        time.sleep(0.01)

"""Run the service on a port, until Ctrl-C or in a thread; slow clients are disconnected."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from partita.app.workspace import open_workspace
from partita.errors import InputError, PartitaError
from partita.web.app import create_app
from partita.web.config import ServiceConfig
from partita.web.error_responses import PROBLEM_JSON, RequestError, error_body

KEEP_ALIVE = 15  # seconds that an idle connection stays open
SHUTDOWN_GRACE = 5  # seconds that open requests may take when the service stops
START_TIMEOUT = 60.0
BACKLOG = 1024
HEADER_TIMEOUT = 15.0  # seconds for a request's headers
WRITE_TIMEOUT = 30.0  # seconds within which a client must read some of its answer
MAX_CONNECTIONS = 800  # below the usual limit of open files per process


def serve(server: Server, listener: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        server.run([listener])


@contextmanager
def running(
    config: ServiceConfig | None = None, host: str = "127.0.0.1", port: int = 0
) -> Iterator[str]:
    """Run a service in a thread while the block runs; yields its address."""
    with listen(host, port) as listener:
        server = create_server(config or ServiceConfig())
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            _wait_until_started(server, thread)
            yield address(listener)
        finally:
            server.should_exit = True
            thread.join()


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; clients can connect to it before the server runs."""
    try:
        candidates = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
        # asyncio sets TCP_NODELAY only on a socket whose protocol is given as TCP
        family, kind, protocol, _, socket_address = candidates[0]
        return _bind(socket.socket(family, kind, protocol), socket_address)
    except OSError as error:
        problem = f"cannot listen on {host}, port {port}: {error.strerror or error}"
        raise InputError(f"{problem}; try another --port") from error


def _bind(listener: socket.socket, socket_address: tuple[Any, ...]) -> socket.socket:
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(socket_address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def address(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def create_server(config: ServiceConfig) -> Server:
    """Return a server that is ready to run on a listening socket."""
    workspace = open_workspace(config.store)  # report a broken store before the first request
    app: Any = create_app(config, workspace.open_jobs())
    workspace.close()
    uvicorn_config = Config(
        app,
        http=TimeLimitedProtocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=SHUTDOWN_GRACE,
    )
    return Server(uvicorn_config)


def _wait_until_started(server: Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise PartitaError("the service did not start")
        time.sleep(0.01)


class TimeLimitedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with time limits for clients and a limit of connections."""

    _header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            self._send_error(503, "too many connections; try again")
            return
        self._start_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_header_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._start_header_timer()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_header_timer()
        super().on_headers_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; the client has limited time to read what was written."""
        super().timeout_keep_alive_handler()
        self._check_writing()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._check_writing()

    def resume_writing(self) -> None:
        self._stop_write_timer()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._send_error(400, msg)

    def _start_header_timer(self) -> None:
        self._stop_header_timer()
        line = f"no request within {HEADER_TIMEOUT:g} seconds"
        self._header_timer = self.loop.call_later(HEADER_TIMEOUT, self._send_error, 408, line)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _check_writing(self, previous: float = float("inf")) -> None:
        """Disconnect a client that has read nothing since the last check."""
        self._stop_write_timer()
        unsent = self.transport.get_write_buffer_size()
        if unsent >= previous:
            self.transport.abort()
        elif unsent:
            self._write_timer = self.loop.call_later(WRITE_TIMEOUT, self._check_writing, unsent)

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _send_error(self, status: int, line: str) -> None:
        if self.transport.is_closing():
            return
        body = error_body(RequestError(status, line))
        head = f"content-type: {PROBLEM_JSON}\r\ncontent-length: {len(body)}\r\n"
        end = b"connection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head.encode() + end + body)
        self.transport.close()
        self._check_writing()

"""The ASGI application (routes, page, errors), and its server, which disconnects slow clients."""

from __future__ import annotations

import asyncio
import hashlib
import re
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from partita.app.workspace import open_workspace
from partita.errors import InputError, PartitaError
from partita.web import routes
from partita.web.backend import SMALL_PROCESSES, SMALL_TIMEOUT, Backend, JobQueue
from partita.web.config import ServiceConfig
from partita.web.error_responses import (
    PROBLEM_JSON,
    RequestError,
    error_body,
    invalid_request,
    request_error,
)
from partita.web.middleware import Metrics, Middleware
from partita.web.process_pool import ProcessPool

DESCRIPTION = """\
Resolve coreference in messages, with a probability distribution over the alternatives.

Every error is `application/problem+json` (RFC 9457) with one line in `detail`, all problems in
`errors` and the id of the request in `trace`. Names in paths are URL-encoded.
Every figure states how it was obtained. Counts are strings, because they can exceed the integers
of JavaScript.
"""
# only described here: the middleware checks the token
BEARER = HTTPBearer(auto_error=False, description="The token of the service, if it has one.")
PAGE_FOLDER = Path(__file__).parent / "page"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
REVALIDATE = "no-cache"  # browsers may keep the file, but check that it is current
FOREVER = "public, max-age=31536000, immutable"  # of files whose address has their hash
VERSIONED = re.compile(r"v-([0-9a-f]{16})/(.+)")
COMPRESSED_FROM, COMPRESSION = 1024, 4  # bytes; level
TAGS = {
    "Service": "The service itself.",
    "Runs": "What the store holds.",
    "Keys and training": "Gold labels, what to label next, and training.",
    "Computing": "Resolve, solve, explain and fuse.",
}


def create_app(config: ServiceConfig, jobs: Iterable[Mapping[str, Any]] = ()) -> Middleware:
    """Return the application for an ASGI server; `jobs` are those that have not ended."""
    metrics = Metrics()
    readers, workers = ProcessPool("reading", config), ProcessPool("working", config)
    writer = ProcessPool("writing", replace(config, workers=1))
    short = min(SMALL_TIMEOUT, config.timeout)
    processes = min(SMALL_PROCESSES, config.workers)
    small = ProcessPool("small", replace(config, workers=processes), short)
    queue = JobQueue(config.store, readers, writer, jobs)
    backend = Backend(config, metrics, readers, writer, small, workers, queue)
    app = FastAPI(
        title="Partita",
        version=version("partita"),
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from other sites; /docs is our own
        redoc_url=None,
        lifespan=backend.lifespan,
        redirect_slashes=False,
        openapi_tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        dependencies=[Depends(routes.refuse_unknown_parameters), Depends(BEARER)],
    )
    app.state.backend = backend
    routes.add_to(app)
    app.add_api_route(
        "/{name:path}", page_file, methods=["GET", "HEAD"], include_in_schema=False, name="page"
    )
    handled = (RequestError, PartitaError, ValidationError, RequestValidationError, HTTPException)
    for error_type in (*handled, Exception):
        app.add_exception_handler(error_type, _on_error)
    compressed = GZipMiddleware(app, COMPRESSED_FROM, COMPRESSION)
    return Middleware(compressed, config, metrics)


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page with its type and tag."""

    content: bytes
    media_type: str
    tag: str


async def page_file(request: Request, name: str) -> Response:
    """Return a file of the web page; index.html for /, and the API's description for /docs."""
    path = {"": "index.html", "docs": "docs.html"}.get(unquote(name), unquote(name))
    versioned = VERSIONED.fullmatch(path)
    file = page_files().get(versioned[2] if versioned else path)
    if file is None:
        raise RequestError(HTTPStatus.NOT_FOUND, f"no page at /{path}")
    current = versioned is not None and versioned[1] == page_version()
    headers = {"etag": file.tag, "cache-control": FOREVER if current else REVALIDATE}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


@cache
def page_files() -> dict[str, PageFile]:
    """Return the files of the page by name; a request is never turned into a path."""
    files = {name: _prepared(name, content) for name, content in _page_contents().items()}
    return {
        name: PageFile(
            content,
            MEDIA_TYPES[Path(name).suffix],
            f'"{hashlib.sha256(content).hexdigest()[:16]}"',
        )
        for name, content in files.items()
    }


@cache
def _page_contents() -> dict[str, bytes]:
    paths = (path for path in sorted(PAGE_FOLDER.rglob("*")) if path.suffix in MEDIA_TYPES)
    return {path.relative_to(PAGE_FOLDER).as_posix(): path.read_bytes() for path in paths}


@cache
def page_version() -> str:
    """Return a hash of all files of the page."""
    digest = hashlib.sha256()
    for name, content in _page_contents().items():
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def _prepared(name: str, content: bytes) -> bytes:
    """Return a file as it is sent: a document names versioned files and preloads all modules."""
    if not name.endswith(".html"):
        return content
    folder = f"v-{page_version()}"
    modules = (file for file in _page_contents() if file.endswith(".js"))
    links = (f'    <link rel="modulepreload" href="{folder}/{file}">' for file in modules)
    text = content.decode().replace("<!-- modules -->", "\n".join(links).strip())
    return re.sub(r'((?:src|href)=")(?=[\w/]+\.(?:css|js)")', rf"\1{folder}/", text).encode()


async def _on_error(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):  # of the router: an unknown path or method
        line = f"{request.method} {request.url.path}: {error.detail}"
        problem = RequestError(error.status_code, line, error.headers)
    elif isinstance(error, RequestValidationError):
        problem = invalid_request(error.errors())
    else:
        problem = request_error(error)
    return Response(error_body(problem), problem.status, problem.headers, PROBLEM_JSON)


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

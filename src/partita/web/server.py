"""The ASGI application (routes, page, errors), and its server, which disconnects slow clients."""

from __future__ import annotations

import asyncio
import hashlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from inspect import Parameter, Signature
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.security import HTTPBearer
from pydantic import AfterValidator, ValidationError
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from partita.configurations import MODELS
from partita.domains import describe_domains
from partita.errors import InputError, PartitaError
from partita.results.result_lines import schema
from partita.store.store import open_store
from partita.web import schemas
from partita.web.backend import (
    JSON,
    Backend,
    until_disconnected,
)
from partita.web.config import ServiceConfig
from partita.web.error_responses import (
    PROBLEM_JSON,
    RequestError,
    error_body,
    invalid_request,
    json_bytes,
)
from partita.web.middleware import Middleware, error_response
from partita.web.process_pool import request_frame

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


def create_app(config: ServiceConfig) -> Middleware:
    """Return the application for an ASGI server."""
    backend = Backend.of(config)
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
        dependencies=[Depends(refuse_unknown_parameters), Depends(BEARER)],
    )
    app.state.backend = backend
    add_to(app)
    app.add_api_route(
        "/{name:path}", page_file, methods=["GET", "HEAD"], include_in_schema=False, name="page"
    )
    handled = (RequestError, PartitaError, ValidationError, RequestValidationError, HTTPException)
    for error_type in (*handled, Exception):
        app.add_exception_handler(error_type, _on_error)
    compressed = GZipMiddleware(app, COMPRESSED_FROM, COMPRESSION)
    return Middleware(compressed, config)


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
        error = RequestError(error.status_code, line, error.headers)
    elif isinstance(error, RequestValidationError):
        error = invalid_request(error.errors())
    return error_response(error)


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
    open_store(config.store).close()  # report a broken store before the first request
    app: Any = create_app(config)
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


SOLVE_SHARE = 0.7  # of the time for an answer that solving may take
MAX_SMALL_SET = 14  # records or templates of a set that is always solved in a moment
EXPORT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
ERRORS = {
    400: "The request is not valid HTTP or JSON.",
    401: "The token is wrong or missing.",
    404: "Not found.",
    413: "The request is too large.",
    422: "A value in the request is invalid.",
    429: "Too many requests are queued.",
    503: "The store or the worker processes are not available.",
    504: "The answer took too long.",
}


# --- parameters ---


def _decode(text: str) -> str:
    """Decode a name in a path; it may contain slashes."""
    return schemas.without_nul(unquote(text, errors="strict"))


def _path_name(description: str) -> Any:
    return PathParameter(
        description=f"{description}, URL-encoded (a slash is %2F).", max_length=3000
    )


async def _backend(request: Request) -> Backend:
    backend: Backend = request.app.state.backend
    return backend


Here = Annotated[Backend, Depends(_backend)]
Run = Annotated[str, _path_name("The name of a run"), AfterValidator(_decode)]
MessageId = Annotated[str, _path_name("The id of a message"), AfterValidator(_decode)]
SetName = Annotated[str, _path_name("The name of a coreference set"), AfterValidator(_decode)]
Table = Annotated[str, _path_name("The name of a table"), AfterValidator(_decode)]
Search = Annotated[
    str,
    Query(description="Return only what contains these words.", max_length=500),
    AfterValidator(schemas.without_nul),
]
Word = Annotated[str, Query(max_length=500), AfterValidator(schemas.without_nul)]
Offset = Annotated[int, Query(ge=0, le=10**9, description="Number of items to skip.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Maximum number of items.")]
Order = Annotated[
    Literal["text", "uncertain"],
    Query(description="Input order, or the least certain first."),
]
EntityOrder = Annotated[
    Literal["text", "name", "type", "mentions"],
    Query(description="Order of the text, of names, of types, or the most mentions first."),
]
KnowledgeOrder = Annotated[
    Literal["documents", "mentions", "name", "type"],
    Query(description="By documents or mentions, the most first, or by name or type."),
]
Other = Annotated[Word, Query(description="Another run of the same texts.")]
Documents = Annotated[Word, Query(description="A run whose texts are the documents.")]
EntityName = Annotated[str, _path_name("The id of an entity"), AfterValidator(_decode)]
Left = Annotated[Word, Query(description="A template of the set.")]
Right = Annotated[Word, Query(description="Another template of the set.")]
Author = Annotated[Word, Query(description="Whose keys.")]
ExportFormat = Literal["csv", "jsonl", "parquet"]


# --- registration ---

RUN, SET = "/api/runs/{run}", "/api/runs/{run}/sets/{set}"
OF_RUN: dict[str, Any] = {"run": Run}
OF_SET: dict[str, Any] = {"run": Run, "set": SetName}
OF_TEXTS: dict[str, Any] = {"run": (Documents, "")}
PAGE: dict[str, Any] = {"offset": (Offset, 0), "limit": (Limit, 100)}


@dataclass(frozen=True, slots=True)
class PassedOn:
    """A route whose request a worker process answers.

    `takes` are its parameters with their types, or their types and defaults; `call` is what the
    process is asked for, by default the name of the route.
    """

    name: str
    way: Literal["read", "write", "compute", "known"]
    path: str
    help: str
    description: str
    answer: Mapping[str, Any]
    takes: Mapping[str, Any] = field(default_factory=dict)
    body: type[schemas.RequestModel] | None = None
    call: str = ""
    method: str = ""
    status: int = HTTPStatus.OK

    def endpoint(self) -> Callable[..., Any]:
        """Return the function that FastAPI calls, with the signature that it reads."""

        async def endpoint(backend: Backend, request: Request, **arguments: Any) -> Response:
            call, body = self.call or self.name, b""
            if self.way == "known":
                return await _known(backend, call, **arguments)
            if self.way == "read":
                return await backend.read(call, **arguments)
            if self.body is not None:
                body = await request.body()
                schemas.check(self.body, body)
            if self.way == "write":
                return await backend.write(call, body, status=self.status, **arguments)
            answer = backend.compute(call, body, status=self.status, **arguments)
            return await (until_disconnected(request, answer) if self.body else answer)

        endpoint.__name__, endpoint.__doc__ = self.name, self.help
        given = {"backend": Here, "request": Request, **self.takes}
        endpoint.__dict__["__signature__"] = Signature(list(starmap(_parameter, given.items())))
        return endpoint


def _parameter(name: str, kind: Any) -> Parameter:
    kind, default = kind if isinstance(kind, tuple) else (kind, Parameter.empty)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


RUNS = (
    PassedOn("all_runs", "read", "/api/runs", "List the runs of the store.",
             "All runs of the store.", schemas.RUNS, call="runs"),
    PassedOn("one_run", "read", RUN,
             "Return a run: its domain, model, settings, inputs and outcome.",
             "The settings, inputs, times and outcome of the run.", schemas.RUN, OF_RUN,
             call="run"),
    PassedOn("delete_run", "write", RUN, "Delete a run with its texts, answers and keys.",
             "The name of the run.", schemas.DELETED_RUN, OF_RUN, call="delete", method="DELETE"),
    PassedOn("messages", "read", f"{RUN}/messages",
             "List the messages of a run with the uncertainty of each.",
             "The total and one page of messages.", schemas.MESSAGES,
             {"run": Run, "search": (Search, ""), "order": (Order, "text"), **PAGE}),
    PassedOn("message", "read", f"{RUN}/messages/{{message}}",
             "Return a message with its text, coreference sets, single templates, entities and "
             "keys.",
             "The text, sets and entities.", schemas.MESSAGE,
             {"run": Run, "message": MessageId}),
    PassedOn("one_set", "read", SET,
             "Return a coreference set with its distribution, as in a line of a results file.",
             "A result.", schemas.RESULT, OF_SET, call="set"),
    PassedOn("entities", "read", f"{RUN}/entities",
             "List the merged entities of a run with their slot values and probabilities.",
             "The total and one page of entities.", schemas.ENTITIES,
             {"run": Run, "search": (Search, ""), "sort": (Word, ""),
              "order": (EntityOrder, "text"), **PAGE}),
    PassedOn("compare", "read", f"{RUN}/compare",
             "List the mentions that this run puts together and another keeps apart, or the "
             "reverse.",
             "The total and one page of differences.", schemas.OBJECT,
             {"run": Run, "other": Other, **PAGE}),
)  # fmt: skip
KEYS = (
    PassedOn("keys", "read", f"{SET}/keys",
             "List the keys (gold labels) of a set. The newest key of each author counts.",
             "All keys of the set.", schemas.KEYS, OF_SET),
    PassedOn("write_key", "write", f"{SET}/keys",
             "Save a key. Nothing is overwritten: earlier keys are kept. A key that contradicts "
             "what is\nknown of its templates is refused unless it has `override`.",
             "The id of the key, and newer keys of others that the author had not seen.",
             schemas.SAVED_KEY, OF_SET, schemas.KeyRequest, "key", status=HTTPStatus.CREATED),
    PassedOn("withdraw_key", "write", f"{SET}/keys",
             "Withdraw the keys of an author for a set. They are kept and no longer count.",
             "How many keys.", schemas.WITHDRAWN, {**OF_SET, "author": Author},
             call="withdraw", method="DELETE"),
    PassedOn("agreement", "read", f"{SET}/agreement",
             "Return how the authors of a set agree. The configuration with most votes is used "
             "for\ntraining and evaluation; equal ones have equal weight.",
             "Each configuration with its votes.", schemas.AGREEMENT, OF_SET),
    PassedOn("next_sets", "compute", f"{RUN}/next",
             "List the sets to key next, by the expected gain for the model.",
             "Sets, the most informative first.", schemas.NEXT_SETS,
             {"run": Run, "limit": (Limit, 10)}, call="next"),
)  # fmt: skip
EXPLAINED = "The contribution of each feature and of the other templates."
COMPUTED = (
    PassedOn("resolve", "compute", "/api/resolve",
             "Resolve a message, from text to entities, without storing it.", "The message.",
             schemas.MESSAGE, body=schemas.ResolveRequest),
    PassedOn("fuse", "compute", "/api/fuse",
             "Fuse sources, which may contradict each other, into values with probabilities.",
             "Values, claims, trust.", schemas.OBJECT, body=schemas.FuseRequest),
    PassedOn("cluster", "compute", "/api/cluster",
             "Cluster records by the scores of their pairs, or compare clusters with them; the "
             "most\nuncertain sets come first.",
             "Sets.", schemas.REVIEW, body=schemas.ClusterRequest),
    PassedOn("ingest", "compute", f"{RUN}/messages",
             "Resolve a message and add it to a run; with a domain, a missing run is created.",
             "The message as stored.", schemas.MESSAGE, OF_RUN, schemas.NewMessageRequest,
             status=HTTPStatus.CREATED),
    PassedOn("add_tables", "write", f"{RUN}/tables",
             "Store tables of records, pair scores, clusters or claims as a new run.",
             "The run that holds the tables.", schemas.RUN, OF_RUN, schemas.NewTableRequest,
             status=HTTPStatus.CREATED),
    PassedOn("why", "compute", f"{SET}/why",
             "Explain the probability that two templates of a set corefer.", EXPLAINED,
             schemas.EXPLANATION, {**OF_SET, "left": Left, "right": Right}, call="explain"),
)  # fmt: skip
KNOWLEDGE = (
    PassedOn("knowledge", "known", "/api/knowledge",
             "Return the sizes of the knowledge base of the service, or of one of a run.",
             "The sizes and the types.", schemas.KNOWLEDGE, OF_TEXTS, call="overview"),
    PassedOn("knowledge_entities", "known", "/api/knowledge/entities",
             "List the entities of the knowledge base.", "The total and a page.",
             schemas.KNOWN_ENTITIES,
             {"search": (Search, ""), "sort": (Word, ""), "order": (KnowledgeOrder, "documents"),
              **PAGE, **OF_TEXTS}, call="entities"),
    PassedOn("knowledge_entity", "known", "/api/knowledge/entities/{entity}",
             "Return an entity with its names, values, mentions, relations, contradictions and "
             "doubts.",
             "The entity.", schemas.OBJECT, {"entity": EntityName, **OF_TEXTS}, call="entity"),
)  # fmt: skip
PASSED = {
    "Runs": RUNS, "Keys and training": KEYS, "Computing": COMPUTED, "Knowledge base": KNOWLEDGE,
}  # fmt: skip


def add_to(app: FastAPI) -> None:
    """Add all routes."""
    add = _adder(app, "Service")
    add("/api/health", health, "The service is up.", schemas.HEALTH)
    add("/api/domains", domains, "The domains and models.", schemas.INSTALLED)
    add("/api/schema", result_schema, "The JSON Schema of a result.", schemas.OBJECT)
    for tag, passed in PASSED.items():
        add = _adder(app, tag)
        for one in passed:
            add(
                one.path, one.endpoint(), one.description, one.answer,
                method=one.method, status=one.status, body=one.body,
            )  # fmt: skip
    add = _adder(app, "Runs")
    add(f"{RUN}/export/{{table}}.{{form}}", export, "The table.", media_type="text/csv")
    add, posted = _adder(app, "Keys and training"), {"method": "POST", "status": 201}
    add(f"{RUN}/train", train, "The new model and run, and a report.", schemas.TRAINED, **posted)
    add = _adder(app, "Computing")
    add("/api/solve", solve, "A result.", schemas.RESULT, body=schemas.SolveRequest)


def _adder(app: FastAPI, tag: str) -> Callable[..., None]:
    """Return a function that adds a route: GET, or POST if it has a body."""

    def add(
        path: str,
        endpoint: Callable[..., Any],
        description: str,
        answer: Mapping[str, Any] = schemas.TEXT,
        *,
        method: str = "",
        status: int = 200,
        media_type: str = JSON,
        body: type[schemas.RequestModel] | None = None,
    ) -> None:
        app.add_api_route(
            path,
            endpoint,
            methods=[method or ("POST" if body else "GET")],
            status_code=status,
            tags=[tag],
            operation_id=endpoint.__name__,
            responses=_responses(description, status, media_type, answer),
            openapi_extra=schemas.openapi_body(body) if body else None,
        )

    return add


def _responses(
    description: str, status: int, media_type: str, answer: Mapping[str, Any]
) -> dict[int | str, dict[str, Any]]:
    """Describe the answer and the errors of a route."""
    content = {media_type: {"schema": answer}}
    problem = {PROBLEM_JSON: {"schema": schemas.PROBLEM}}
    errors: dict[int | str, dict[str, Any]] = {
        code: {"description": text, "content": problem} for code, text in ERRORS.items()
    }
    return {status: {"description": description, "content": content}, **errors}


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse query parameters that a route of the API does not have."""
    route = request.scope["route"]
    if not route.path.startswith("/api/"):
        return
    known = [parameter.alias for parameter in route.dependant.query_params]
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        expected = f"expected {', '.join(known)}" if known else "expected none"
        problem = f"unknown query parameter; {expected}"
        line = f"{unknown[0]}: {problem}"
        problems = [{"field": name, "problem": problem} for name in unknown]
        raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, line, problems=problems)


# --- the service itself ---


async def health(backend: Here) -> Response:
    """Report that the service is up, and the load of its processes. Needs no token."""
    found: dict[str, Any] = {"status": "ok", "version": version("partita")}
    for name in ("busy", "waiting"):
        found[name] = {role: getattr(pool, name) for role, pool in backend.pools.items()}
    return _json(found)


async def domains(backend: Here) -> Response:
    """List the available domains and models; name the store and the largest request in bytes."""
    about = {row["name"]: row["error"] or row["description"] for row in describe_domains()}
    found: dict[str, Any] = {"domains": list(about), "models": list(MODELS), "about": about}
    store = backend.config.place.split("@")[-1].rpartition("/")[2]
    found["knowledge_base"] = backend.config.base_name
    return _json(found | {"store": store, "largest": backend.config.max_bytes})


async def result_schema() -> Response:
    """Return the JSON Schema of a coreference set in this API."""
    return _json(schema())


async def train(backend: Here, run: Run) -> Response:
    """Train on the keys of a run, and resolve its messages again as a new run.

    If this is interrupted, the next request goes on from there.
    """
    return await backend.train(run)


def _json(value: Any) -> Response:
    return Response(json_bytes(value), media_type=JSON)


# --- the knowledge base ---


async def _known(backend: Backend, call: str, run: str, **arguments: Any) -> Response:
    """Return a part of the knowledge base of the service, or of one of the texts of a run."""
    folder = backend.config.knowledge_base
    if run:
        return await backend.compute("knowledge", part=call, run=run, **arguments)
    if folder is None:
        line = "the service was started without a knowledge base; use partita serve FOLDER"
        raise RequestError(HTTPStatus.NOT_FOUND, line)
    return await backend.read("knowledge", part=call, folder=str(folder), **arguments)


# --- computations ---


async def solve(backend: Here, request: Request) -> Response:
    """Return the distribution over configurations for pair probabilities."""
    body = await request.body()
    pairs = schemas.check(schemas.SolveRequest, body)
    large = pairs is None or pairs.size > MAX_SMALL_SET
    seconds = SOLVE_SHARE * backend.config.seconds
    answer = backend.compute("solve", body, large=large, seconds=seconds)
    return await until_disconnected(request, answer)


async def export(backend: Here, run: Run, table: Table, form: ExportFormat) -> Response:
    """Export a table of a run as a file."""
    request = request_frame("export", {"run": run, "table": table, "form": form})
    path = Path((await backend.workers.call(request)).decode())
    return FileResponse(path, media_type=EXPORT_TYPES[form], background=BackgroundTask(path.unlink))

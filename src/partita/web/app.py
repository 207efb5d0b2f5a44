"""The ASGI application: API routes, the files of the web page, and errors as problem details."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
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

from partita.errors import PartitaError
from partita.web import routes
from partita.web.backend import SMALL_PROCESSES, SMALL_TIMEOUT, Backend
from partita.web.config import ServiceConfig
from partita.web.error_responses import (
    PROBLEM_JSON,
    RequestError,
    error_body,
    invalid_request,
    request_error,
)
from partita.web.jobs import JobQueue
from partita.web.metrics import Metrics
from partita.web.middleware import Middleware
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
    for error_type in (RequestError, PartitaError, ValidationError, Exception):
        app.add_exception_handler(error_type, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_routing_error)
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


async def _on_error(_request: Request, error: Exception) -> Response:
    return _error_response(request_error(error))


async def _on_invalid_request(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _error_response(invalid_request(list(error.errors())))


async def _on_routing_error(request: Request, error: Exception) -> Response:
    """Handle what the router rejects itself: an unknown path or method."""
    assert isinstance(error, HTTPException)
    line = f"{request.method} {request.url.path}: {error.detail}"
    return _error_response(RequestError(error.status_code, line, error.headers))


def _error_response(error: RequestError) -> Response:
    return Response(error_body(error), error.status, error.headers, PROBLEM_JSON)

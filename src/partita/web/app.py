"""The ASGI application: API routes, the files of the web page, and errors as JSON."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from partita.errors import PartitaError
from partita.web import routes
from partita.web.backend import JSON, Backend
from partita.web.config import ServiceConfig
from partita.web.error_responses import RequestError, error_body, first_problem, request_error
from partita.web.jobs import JobQueue
from partita.web.metrics import Metrics
from partita.web.middleware import Middleware
from partita.web.process_pool import ProcessPool

DESCRIPTION = """\
Resolve coreference in messages, with a probability distribution over the alternatives.

Every error is `{"error": "one line"}` with a fitting status. Names in paths are URL-encoded.
Every figure states how it was obtained. Counts are strings, because they can exceed the integers
of JavaScript.
"""
PAGE_FOLDER = Path(__file__).parent / "page"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
REVALIDATE = "no-cache"  # browsers may keep the file, but check that it is current


def create_app(config: ServiceConfig) -> Middleware:
    """Return the application for an ASGI server."""
    metrics = Metrics()
    readers, workers = ProcessPool("reading", config), ProcessPool("working", config)
    writer = ProcessPool("writing", replace(config, workers=1))
    backend = Backend(config, metrics, readers, writer, workers, JobQueue(config.store))
    app = FastAPI(
        title="Partita",
        version=version("partita"),
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from other sites
        redoc_url=None,
        lifespan=backend.lifespan,
        redirect_slashes=False,
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
    return Middleware(app, config, metrics)


async def page_file(request: Request, name: str) -> Response:
    """Return a file of the web page; index.html for /."""
    path = unquote(name) or "index.html"
    file = await asyncio.to_thread(_read_page_file, path)
    if file is None:
        raise RequestError(HTTPStatus.NOT_FOUND, f"no page at /{path}")
    content, media_type = file
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": REVALIDATE}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


def _read_page_file(name: str) -> tuple[bytes, str] | None:
    """Look `name` up in the list of all files: it is never turned into a path."""
    for path in PAGE_FOLDER.rglob("*"):
        if path.relative_to(PAGE_FOLDER).as_posix() == name and path.suffix in MEDIA_TYPES:
            return path.read_bytes(), MEDIA_TYPES[path.suffix]
    return None


async def _on_error(_request: Request, error: Exception) -> Response:
    problem = request_error(error)
    return Response(error_body(problem.line), problem.status, problem.headers, JSON)


async def _on_invalid_request(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    line = first_problem(list(error.errors()))
    return Response(error_body(line), HTTPStatus.UNPROCESSABLE_ENTITY, media_type=JSON)


async def _on_routing_error(request: Request, error: Exception) -> Response:
    """Handle what the router rejects itself: an unknown path or method."""
    assert isinstance(error, HTTPException)
    line = f"{request.method} {request.url.path}: {error.detail}"
    return Response(error_body(line), error.status_code, error.headers, JSON)

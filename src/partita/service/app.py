"""The application: routes, errors as JSON, and the gate around it all."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from importlib.metadata import version

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from partita.errors import PartitaError
from partita.service import page, read_routes, state_routes, work_routes
from partita.service.desk import JSON, Desk
from partita.service.gate import Gate
from partita.service.jobs import Jobs
from partita.service.metrics import Metrics
from partita.service.problems import Refusal, first_problem, refused, told
from partita.service.terms import Terms
from partita.service.workers import Workers

ABOUT = """\
Says who is who in messages, with a probability distribution over the alternatives.

Every error is `{"error": "one line"}` with the status that fits. Names in paths are URL-encoded.
Numbers say how they were obtained; counts are strings, for they outgrow what JavaScript holds.
"""


def create_app(terms: Terms) -> Gate:
    """For any server of ASGI."""
    metrics = Metrics()
    jobs = Jobs(terms.store)
    readers, workers = Workers("reading", terms), Workers("working", terms)
    writer = Workers("writing", replace(terms, workers=1))
    desk = Desk(terms, metrics, readers, writer, workers, jobs)
    app = FastAPI(
        title="Partita",
        version=version("partita"),
        description=ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        lifespan=desk.open,
        redirect_slashes=False,
    )
    app.state.desk = desk
    for routes in (state_routes, read_routes, work_routes, page):
        routes.add_to(app)
    for kind in (Refusal, PartitaError, ValidationError, Exception):
        app.add_exception_handler(kind, _refusal)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    return Gate(app, terms, metrics)


async def _refusal(_request: Request, error: Exception) -> Response:
    found = refused(error)
    return Response(told(found.line), found.status, found.headers, JSON)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    line = first_problem(list(error.errors()))
    return Response(told(line), HTTPStatus.UNPROCESSABLE_ENTITY, media_type=JSON)


async def _plain(request: Request, error: Exception) -> Response:
    """What the router itself refuses: a path or a method that nobody has."""
    assert isinstance(error, HTTPException)
    line = f"{request.method} {request.url.path}: {error.detail}"
    return Response(told(line), error.status_code, error.headers, JSON)

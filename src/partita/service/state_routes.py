"""The routes about the service itself: health, metrics, domains, training jobs."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import FastAPI, Path, Request, Response

from partita.formats.results import schema
from partita.formats.rules import shipped
from partita.service import asking
from partita.service.answers import Here, Run, answers
from partita.service.desk import JSON, Desk
from partita.service.jobs import State
from partita.service.problems import written
from partita.workspace.running import MODELS

TEXT = "text/plain; version=0.0.4; charset=utf-8"
STATES: tuple[State, ...] = ("waiting", "running", "done", "failed")

Gauges = Mapping[str, tuple[str, Mapping[str, int]]]
JobName = Annotated[str, Path(description="What train has answered.", max_length=100)]


def add_to(app: FastAPI) -> None:
    get = app.get
    like = {"status": "ok", "version": "0.1.0"}
    get("/api/health", **answers("It is up.", like=like))(health)
    get("/api/metrics", **answers("Prometheus' text.", kind="text/plain"))(metrics)
    get("/api/domains", **answers("Names that resolve takes."))(domains)
    get("/api/schema", **answers("The JSON Schema of a result."))(result_schema)
    get(
        "/api/jobs/{job}",
        **answers("Its state (waiting, running, done, failed), progress, result, error."),
    )(job)
    app.post(
        "/api/runs/{run}/train",
        **answers("The job's name.", 202, like={"job": "5e2a9c01-1"}),
        openapi_extra=asking.described(asking.Train),
    )(train)


async def health() -> Response:
    """Whether the service is up. Asks for no token."""
    return _json({"status": "ok", "version": version("partita")})


async def metrics(desk: Here) -> Response:
    """Requests by route and status, durations, questions that wait, jobs by state."""
    return Response(desk.metrics.text(_gauges(desk)), media_type=TEXT)


async def domains() -> Response:
    """The domains and the models that can be asked for."""
    return _json({"domains": shipped(), "models": list(MODELS)})


async def result_schema() -> Response:
    """What a coreference set looks like, everywhere in this service."""
    return _json(schema())


async def job(desk: Here, job: JobName) -> Response:
    """How far a training job is. One from before a restart is told to be lost."""
    return _json(desk.jobs.get(job).told())


async def train(desk: Here, request: Request, run: Run) -> Response:
    """Learns from the keys of a run in the background; ask for the job to see how far it is."""
    body = await request.body()
    asking.read(asking.Train, body)
    await desk.read("run", name=run)  # an unknown run is told at once
    begun = desk.jobs.begin(run, body)
    return _json({"job": begun.id}, HTTPStatus.ACCEPTED)


def _gauges(desk: Desk) -> Gauges:
    all_ = {"reading": desk.readers, "writing": desk.writer, "working": desk.workers}
    waiting = {f'{{for="{role}"}}': some.waiting for role, some in all_.items()}
    busy = {f'{{for="{role}"}}': some.busy for role, some in all_.items()}
    states = desk.jobs.states()
    return {
        "partita_waiting": ("Questions that wait for a process.", waiting),
        "partita_busy_processes": ("Processes that work.", busy),
        "partita_jobs": (
            "Training jobs by state.",
            {f'{{state="{state}"}}': states[state] for state in STATES},
        ),
    }


def _json(value: Any, status: int = 200) -> Response:
    return Response(written(value), status, media_type=JSON)

"""The routes of the API and their descriptions in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal
from urllib.parse import unquote

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator

from partita.configurations import MODELS
from partita.domains import describe_domains
from partita.results.result_lines import schema
from partita.web import request_models as models
from partita.web.backend import JSON, Backend, until_disconnected
from partita.web.error_responses import json_bytes
from partita.web.jobs import State
from partita.web.wire_format import request_frame

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
STATES: tuple[State, ...] = ("waiting", "running", "done", "failed")
CHUNK = 1 << 18  # bytes
SOLVE_SHARE = 0.7  # of the time for an answer that solving may take
EXPORT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
# a report is one file with its own styles and no scripts
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
ERROR_SCHEMA = {
    "type": "object",
    "properties": {"error": {"type": "string"}},
    "required": ["error"],
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
    return _without_nul(unquote(text, errors="strict"))


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("contains a NUL character")
    return text


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
JobId = Annotated[str, PathParameter(description="The id that train answered.", max_length=100)]
Search = Annotated[
    str,
    Query(description="Return only what contains these words.", max_length=500),
    AfterValidator(_without_nul),
]
Word = Annotated[str, Query(max_length=500), AfterValidator(_without_nul)]
Offset = Annotated[int, Query(ge=0, le=10**9, description="Number of items to skip.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Maximum number of items.")]
Order = Annotated[
    Literal["text", "uncertain"],
    Query(description="Input order, or the least certain first."),
]
Left = Annotated[Word, Query(description="A template of the set.")]
Right = Annotated[Word, Query(description="Another template of the set.")]
ExportFormat = Literal["csv", "jsonl", "parquet"]


# --- registration ---


def add_to(app: FastAPI) -> None:
    """Add all routes."""
    _add_service_routes(app)
    _add_store_routes(app)
    _add_computing_routes(app)


def _add_service_routes(app: FastAPI) -> None:
    get = app.get
    example = {"status": "ok", "version": "0.1.0"}
    get("/api/health", **_answers("The service is up.", example=example))(health)
    get("/api/metrics", **_answers("Metrics for Prometheus.", media_type="text/plain"))(metrics)
    get("/api/domains", **_answers("The domains and models."))(domains)
    get("/api/schema", **_answers("The JSON Schema of a result."))(result_schema)
    get(
        "/api/jobs/{job}",
        **_answers("The state (waiting, running, done, failed), progress, result and error."),
    )(job)
    app.post(
        "/api/runs/{run}/train",
        **_answers("The id of the job.", 202, example={"job": "5e2a9c01-1"}),
        openapi_extra=models.openapi_body(models.TrainRequest),
    )(train)


def _add_store_routes(app: FastAPI) -> None:
    get, run = app.get, "/api/runs/{run}"
    get("/api/runs", **_answers("All runs of the store.", example=[]))(all_runs)
    get(run, **_answers("The settings, inputs, times and outcome of the run."))(one_run)
    get(f"{run}/messages", **_answers("The total and one page of messages."))(messages)
    get(
        f"{run}/messages/{{message}}",
        **_answers("The text, sets, templates, entities and keys."),
    )(message)
    get(f"{run}/sets/{{set}}", **_answers("A result: templates, pairs, configurations."))(one_set)
    get(f"{run}/sets/{{set}}/keys", **_answers("All keys of the set.", example=[]))(keys)
    get(f"{run}/entities", **_answers("The total and one page of entities."))(entities)
    app.post(
        f"{run}/sets/{{set}}/keys",
        **_answers(
            "The id of the key, and newer keys of others that the author had not seen.", 201
        ),
        openapi_extra=models.openapi_body(models.KeyRequest),
    )(write_key)


def _add_computing_routes(app: FastAPI) -> None:
    get, post, run = app.get, app.post, "/api/runs/{run}"
    post(
        "/api/resolve",
        **_answers("The message with its sets, templates and entities."),
        openapi_extra=models.openapi_body(models.ResolveRequest),
    )(resolve)
    post(
        "/api/why",
        **_answers("The contribution of each feature and of the other templates."),
        openapi_extra=models.openapi_body(models.WhyRequest),
    )(why_text)
    post(
        "/api/solve",
        **_answers("A result: templates, pairs, configurations."),
        openapi_extra=models.openapi_body(models.SolveRequest),
    )(solve)
    post(
        "/api/fuse",
        **_answers("Things or objects with values, their claims, and the trust in each source."),
        openapi_extra=models.openapi_body(models.FuseRequest),
    )(fuse)
    post(
        f"{run}/messages",
        **_answers("The message as stored in the run.", 201),
        openapi_extra=models.openapi_body(models.NewMessageRequest),
    )(ingest)
    get(
        f"{run}/sets/{{set}}/why",
        **_answers("The contribution of each feature and of the other templates."),
    )(why)
    get(f"{run}/next", **_answers("Sets, the most informative first.", example=[]))(next_sets)
    get(
        f"{run}/curve",
        **_answers("Bits by number of keys; calibration before and after training."),
    )(curve)
    get(f"{run}/evaluation", **_answers("The run scored against its keys."))(evaluation)
    get(f"{run}/export/{{table}}.{{form}}", **_answers("The table.", media_type="text/csv"))(export)
    get(f"{run}/report.html", **_answers("The report.", media_type="text/html"))(report)


def _answers(
    description: str, status: int = 200, media_type: str = JSON, example: Any = None
) -> dict[str, Any]:
    """Return the arguments of a route that describe its answers and errors."""
    content = {"schema": {"type": "string" if media_type != JSON else "object"}}
    if example is not None:
        content["example"] = example
        content["schema"] = {"type": "array" if isinstance(example, list) else "object"}
    errors: dict[int | str, dict[str, Any]] = {
        code: {"description": text, "content": {JSON: {"schema": ERROR_SCHEMA}}}
        for code, text in ERRORS.items()
    }
    success: dict[int | str, dict[str, Any]] = {
        status: {"description": description, "content": {media_type: content}}
    }
    return {"status_code": status, "responses": success | errors}


# --- the service itself ---


async def health() -> Response:
    """Report that the service is up. Needs no token."""
    return _json({"status": "ok", "version": version("partita")})


async def metrics(backend: Here) -> Response:
    """Report requests by route and status, durations, queued requests, and jobs by state."""
    return Response(backend.metrics.text(_gauges(backend)), media_type=PROMETHEUS)


async def domains() -> Response:
    """List the available domains and models."""
    about = {row["name"]: row["error"] or row["description"] for row in describe_domains()}
    return _json({"domains": list(about), "models": list(MODELS), "about": about})


async def result_schema() -> Response:
    """Return the JSON Schema of a coreference set in this API."""
    return _json(schema())


async def job(backend: Here, job: JobId) -> Response:
    """Report the state of a training job. A job from before a restart is reported as lost."""
    return _json(backend.jobs.get(job).to_json())


async def train(backend: Here, request: Request, run: Run) -> Response:
    """Train on the keys of a run in the background. Poll the job for its progress."""
    body = await request.body()
    models.parse(models.TrainRequest, body)
    await backend.read("run", name=run)  # report an unknown run at once
    queued = backend.jobs.add(run, body)
    return _json({"job": queued.id}, HTTPStatus.ACCEPTED)


def _gauges(backend: Backend) -> Mapping[str, tuple[str, Mapping[str, int]]]:
    pools = {"reading": backend.readers, "writing": backend.writer, "working": backend.workers}
    waiting = {f'{{for="{role}"}}': pool.waiting for role, pool in pools.items()}
    busy = {f'{{for="{role}"}}': pool.busy for role, pool in pools.items()}
    states = backend.jobs.states()
    return {
        "partita_waiting": ("Requests that wait for a process.", waiting),
        "partita_busy_processes": ("Busy processes.", busy),
        "partita_jobs": (
            "Training jobs by state.",
            {f'{{state="{state}"}}': states[state] for state in STATES},
        ),
    }


def _json(value: Any, status: int = 200) -> Response:
    return Response(json_bytes(value), status, media_type=JSON)


# --- the store ---


async def all_runs(backend: Here) -> Response:
    """List the runs of the store."""
    return await backend.read("runs")


async def one_run(backend: Here, run: Run) -> Response:
    """Return a run: its domain, model, settings, inputs and outcome."""
    return await backend.read("run", name=run)


async def messages(
    backend: Here,
    run: Run,
    search: Search = "",
    order: Order = "text",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Response:
    """List the messages of a run with the uncertainty of each."""
    return await backend.read(
        "messages", run=run, search=search, order=order, offset=offset, limit=limit
    )


async def message(backend: Here, run: Run, message: MessageId) -> Response:
    """Return a message with its text, coreference sets, single templates, entities and keys."""
    return await backend.read("message", run=run, message=message)


async def one_set(backend: Here, run: Run, set: SetName) -> Response:  # noqa: A002
    """Return a coreference set with its distribution, as in a line of a results file."""
    return await backend.read("set", run=run, name=set)


async def entities(
    backend: Here,
    run: Run,
    search: Search = "",
    sort: Word = "",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Response:
    """List the merged entities of a run with their slot values and probabilities."""
    return await backend.read(
        "entities", run=run, search=search, sort=sort, offset=offset, limit=limit
    )


async def keys(backend: Here, run: Run, set: SetName) -> Response:  # noqa: A002
    """List the keys (gold labels) of a set. The newest key of each author counts."""
    return await backend.read("keys", run=run, set=set)


async def write_key(backend: Here, request: Request, run: Run, set: SetName) -> Response:  # noqa: A002
    """Save a key. Nothing is overwritten: earlier keys are kept."""
    body = await request.body()
    models.check(models.KeyRequest, body)
    return await backend.write("key", body, run=run, set=set)


# --- computations ---


async def resolve(backend: Here, request: Request) -> Response:
    """Resolve a message, from text to entities, without storing it."""
    body = await request.body()
    models.check(models.ResolveRequest, body)
    return await until_disconnected(request, backend.compute("resolve", body))


async def why_text(backend: Here, request: Request) -> Response:
    """Explain two templates of a message without storing it."""
    body = await request.body()
    models.check(models.WhyRequest, body)
    return await until_disconnected(request, backend.compute("why_text", body))


async def solve(backend: Here, request: Request) -> Response:
    """Return the distribution over configurations for pair probabilities."""
    body = await request.body()
    models.check(models.SolveRequest, body)
    seconds = SOLVE_SHARE * backend.config.timeout
    return await until_disconnected(request, backend.compute("solve", body, seconds=seconds))


async def fuse(backend: Here, request: Request) -> Response:
    """Fuse sources, which may contradict each other, into values with probabilities."""
    body = await request.body()
    models.check(models.FuseRequest, body)
    return await until_disconnected(request, backend.compute("fuse", body))


async def ingest(backend: Here, request: Request, run: Run) -> Response:
    """Resolve a message with the settings of a run and add it to the run."""
    body = await request.body()
    models.check(models.NewMessageRequest, body)
    return await backend.compute("ingest", body, run=run, status=HTTPStatus.CREATED)


async def why(backend: Here, run: Run, set: SetName, left: Left, right: Right) -> Response:  # noqa: A002
    """Explain the probability that two templates of a set corefer."""
    return await backend.compute("why", run=run, set=set, left=left, right=right)


async def next_sets(backend: Here, run: Run, limit: Limit = 10) -> Response:
    """List the sets to key next, by the expected gain for the model."""
    return await backend.compute("next", run=run, limit=limit)


async def curve(backend: Here, run: Run) -> Response:
    """Return the learning curve over the keys of a run."""
    return await backend.compute("curve", run=run)


async def evaluation(backend: Here, run: Run) -> Response:
    """Score a run against its keys."""
    return await backend.compute("evaluation", run=run)


async def report(backend: Here, run: Run) -> Response:
    """Return the report of a run as one self-contained HTML file."""
    response = await backend.compute("report", run=run, media_type="text/html; charset=utf-8")
    response.headers["content-security-policy"] = REPORT_POLICY
    return response


async def export(backend: Here, run: Run, table: Table, form: ExportFormat) -> Response:
    """Export a table of a run as a file."""
    request = request_frame("export", {"run": run, "table": table, "form": form})
    path = Path((await backend.workers.call(request)).decode())
    file = path.open("rb")
    path.unlink()  # the open file stays readable
    return StreamingResponse(_chunks(file), media_type=EXPORT_TYPES[form])


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk

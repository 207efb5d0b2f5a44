"""The routes whose answers take work: they are asked of the processes."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import StreamingResponse

from partita.service import asking
from partita.service.answers import Here, Limit, Run, SetName, Table, Word, answers
from partita.service.frames import question

CHUNK = 1 << 18
SHARE = 0.7  # of the time for an answer that solving may take
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
# a report is one file with its own styles; whatever is in it, none of it runs
REPORT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

Form = Literal["csv", "jsonl", "parquet"]
Left = Annotated[Word, Query(description="A template of the set.")]
Right = Annotated[Word, Query(description="Another one.")]


def add_to(app: FastAPI) -> None:
    get, post, runs = app.get, app.post, "/api/runs/{run}"
    post(
        "/api/resolve",
        **answers("The message with its sets, templates and entities."),
        openapi_extra=asking.described(asking.Resolve),
    )(resolve)
    post(
        "/api/solve",
        **answers("A result: templates, pairs, configurations."),
        openapi_extra=asking.described(asking.Solve),
    )(solve)
    post(
        "/api/fuse",
        **answers("Things or objects with values, who said what, trust in every source."),
        openapi_extra=asking.described(asking.Fuse),
    )(fuse)
    post(
        f"{runs}/messages",
        **answers("The message as the run has it now.", 201),
        openapi_extra=asking.described(asking.NewMessage),
    )(ingest)
    get(f"{runs}/sets/{{set}}/why", **answers("Each feature's push, and the other templates'."))(
        why
    )
    get(f"{runs}/next", **answers("Sets, the most instructive first.", like=[]))(next_sets)
    get(f"{runs}/curve", **answers("Bits by number of keys; reliability before, after."))(curve)
    get(f"{runs}/evaluation", **answers("The run measured against its keys."))(evaluation)
    get(f"{runs}/export/{{table}}.{{form}}", **answers("The table.", kind="text/csv"))(export)
    get(f"{runs}/report.html", **answers("One file to read.", kind="text/html"))(report)


async def resolve(desk: Here, request: Request) -> Response:
    """Resolves a message, from text to entities, and does not keep it."""
    body = await request.body()
    asking.check(asking.Resolve, body)
    return await desk.work("resolve", body)


async def solve(desk: Here, request: Request) -> Response:
    """A distribution over configurations from pair probabilities alone."""
    body = await request.body()
    asking.check(asking.Solve, body)
    return await desk.work("solve", body, seconds=SHARE * desk.terms.seconds)


async def fuse(desk: Here, request: Request) -> Response:
    """What several sources say, contradictory or not, as one belief."""
    body = await request.body()
    asking.check(asking.Fuse, body)
    return await desk.work("fuse", body)


async def ingest(desk: Here, request: Request, run: Run) -> Response:
    """Resolves a message with the settings of a run and keeps it there."""
    body = await request.body()
    asking.check(asking.NewMessage, body)
    return await desk.work("ingest", body, run=run, status=HTTPStatus.CREATED)


async def why(desk: Here, run: Run, set: SetName, left: Left, right: Right) -> Response:  # noqa: A002
    """Why two templates of a set were (not) thought to be the same."""
    return await desk.work("why", run=run, set=set, left=left, right=right)


async def next_sets(desk: Here, run: Run, limit: Limit = 10) -> Response:
    """Which set to key next: the expected gain of each for the model."""
    return await desk.work("next", run=run, limit=limit)


async def curve(desk: Here, run: Run) -> Response:
    """How much the keys have taught so far."""
    return await desk.work("curve", run=run)


async def evaluation(desk: Here, run: Run) -> Response:
    """A run measured against its keys."""
    return await desk.work("evaluation", run=run)


async def report(desk: Here, run: Run) -> Response:
    """A run as one HTML file that needs nothing else."""
    found = await desk.work("report", run=run, kind="text/html; charset=utf-8")
    found.headers["content-security-policy"] = REPORT
    return found


async def export(desk: Here, run: Run, table: Table, form: Form) -> Response:
    """A table of a run as a file."""
    asked = question("export", {"run": run, "table": table, "form": form})
    path = Path((await desk.workers.ask(asked)).decode())
    file = path.open("rb")
    path.unlink()  # it lives as long as it is read
    return StreamingResponse(_chunks(file), media_type=KINDS[form])


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk

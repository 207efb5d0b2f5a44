"""The routes that read the store and write keys."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request, Response

from partita.service import asking
from partita.service.answers import (
    Here,
    Limit,
    MessageName,
    Offset,
    Run,
    Search,
    SetName,
    Word,
    answers,
)

Order = Annotated[
    Literal["text", "uncertain"],
    Query(description="As they stand in the run, or the least certain first."),
]


def add_to(app: FastAPI) -> None:
    get, runs = app.get, "/api/runs/{run}"
    get("/api/runs", **answers("All runs, as the store has them.", like=[]))(all_runs)
    get(runs, **answers("What it was made with, when, and how it ended."))(one_run)
    get(f"{runs}/messages", **answers("How many there are, and some of them."))(messages)
    get(f"{runs}/messages/{{message}}", **answers("Text, sets, templates, entities, keys."))(
        message
    )
    get(f"{runs}/sets/{{set}}", **answers("A result: templates, pairs, configurations."))(one_set)
    get(f"{runs}/sets/{{set}}/keys", **answers("Every key of the set.", like=[]))(keys)
    get(f"{runs}/entities", **answers("How many there are, and some of them."))(entities)
    app.post(
        f"{runs}/sets/{{set}}/keys",
        **answers("The key's id, and newer keys of others that the author had not seen.", 201),
        openapi_extra=asking.described(asking.Key),
    )(write_key)


async def all_runs(desk: Here) -> Response:
    """The runs of the store."""
    return await desk.read("runs")


async def one_run(desk: Here, run: Run) -> Response:
    """A run: its domain, model, settings, inputs and outcome."""
    return await desk.read("run", name=run)


async def messages(
    desk: Here,
    run: Run,
    search: Search = "",
    order: Order = "text",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Response:
    """The messages of a run, each with how uncertain it is."""
    return await desk.read(
        "messages", run=run, search=search, order=order, offset=offset, limit=limit
    )


async def message(desk: Here, run: Run, message: MessageName) -> Response:
    """A message with its text, coreference sets, single templates, entities and keys."""
    return await desk.read("message", run=run, message=message)


async def one_set(desk: Here, run: Run, set: SetName) -> Response:  # noqa: A002
    """A coreference set with its distribution, as a line of results has it."""
    return await desk.read("set", run=run, name=set)


async def entities(
    desk: Here,
    run: Run,
    search: Search = "",
    sort: Word = "",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Response:
    """The merged entities of a run with their slot values and probabilities."""
    return await desk.read(
        "entities", run=run, search=search, sort=sort, offset=offset, limit=limit
    )


async def keys(desk: Here, run: Run, set: SetName) -> Response:  # noqa: A002
    """The keys of a set; the newest of each author counts."""
    return await desk.read("keys", run=run, set=set)


async def write_key(desk: Here, request: Request, run: Run, set: SetName) -> Response:  # noqa: A002
    """Writes a key. Nothing is overwritten: every key that was saved is kept."""
    body = await request.body()
    asking.check(asking.Key, body)
    return await desk.write("key", body, run=run, set=set)

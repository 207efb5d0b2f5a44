"""What the routes work with: processes that read, write or work, and training by jobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Response

from partita.service.frames import question
from partita.service.jobs import Jobs
from partita.service.metrics import Metrics
from partita.service.terms import Terms
from partita.service.workers import Workers

JSON = "application/json"


@dataclass(frozen=True, slots=True, eq=False)
class Desk:
    """One for a service. A store may have a single writer at a time: keys have a process of their
    own, so that nobody who reads waits behind one that waits for its turn."""

    terms: Terms
    metrics: Metrics
    readers: Workers
    writer: Workers
    workers: Workers
    jobs: Jobs

    async def read(self, call: str, **arguments: Any) -> Response:
        """What the store says; the bytes of the process that asked it are passed on as they are."""
        answer = await self.readers.ask_together(question(call, arguments))
        return Response(answer, media_type=JSON)

    async def write(self, call: str, body: bytes, **arguments: Any) -> Response:
        """Asked once: what was written by a process that has ended would be written again."""
        answer = await self.writer.ask(question(call, arguments, body), again=False)
        return Response(answer, HTTPStatus.CREATED, media_type=JSON)

    async def work(
        self, call: str, body: bytes = b"", *, status: int = 200, kind: str = JSON, **arguments: Any
    ) -> Response:
        """What takes time."""
        answer = await self.workers.ask(question(call, arguments, body))
        return Response(answer, status, media_type=kind)

    @asynccontextmanager
    async def open(self, _app: FastAPI) -> AsyncIterator[None]:
        """While the service runs, so do its processes."""
        for some in (self.readers, self.writer, self.workers):
            await some.start()
        training = asyncio.create_task(self.jobs.work())
        try:
            yield
        finally:
            training.cancel()
            with suppress(asyncio.CancelledError):
                await training
            await self.jobs.stop()
            for some in (self.readers, self.writer, self.workers):
                await some.stop()

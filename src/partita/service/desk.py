"""What the routes work with: the workspace by threads, hard work by processes, training by jobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Response

from partita.service.frames import question
from partita.service.jobs import Jobs
from partita.service.metrics import Metrics
from partita.service.problems import written
from partita.service.reads import Reads
from partita.service.terms import Terms
from partita.service.workers import Workers
from partita.workspace.desk import Workspace

JSON = "application/json"


@dataclass(frozen=True, slots=True, eq=False)
class Desk:
    """One for a service."""

    workspace: Workspace
    terms: Terms
    metrics: Metrics
    reads: Reads
    workers: Workers
    jobs: Jobs

    async def read(self, call: Callable[[Workspace], Any], status: int = 200) -> Response:
        """What a call of the workspace says; also written as JSON by the thread that called."""
        body = await self.reads.ask(lambda: written(call(self.workspace)))
        return Response(body, status, media_type=JSON)

    async def work(
        self,
        call: str,
        arguments: dict[str, Any],
        body: bytes = b"",
        *,
        status: int = 200,
        kind: str = JSON,
    ) -> Response:
        """What a process says; its bytes are passed on as they are."""
        answer = await self.workers.ask(question(call, arguments, body))
        return Response(answer, status, media_type=kind)

    @asynccontextmanager
    async def open(self, _app: FastAPI) -> AsyncIterator[None]:
        """While the service runs, so do its processes."""
        await self.workers.start()
        training = asyncio.create_task(self.jobs.work())
        try:
            yield
        finally:
            training.cancel()
            with suppress(asyncio.CancelledError):
                await training
            await self.jobs.stop()
            await self.workers.stop()
            self.reads.stop()

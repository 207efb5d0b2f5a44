"""What the routes call: pools of worker processes, and the queue of training jobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response

from partita.web.config import ServiceConfig
from partita.web.error_responses import RequestError
from partita.web.jobs import JobQueue
from partita.web.metrics import Metrics
from partita.web.process_pool import ProcessPool
from partita.web.wire_format import request_frame

JSON = "application/json"
SMALL_CALLS = ("resolve", "solve", "why", "why_text", "next", "ingest")
SMALL_BODY = 4096  # bytes
SMALL_TIMEOUT = 5.0  # seconds after which work is large
SMALL_PROCESSES = 2  # so that one slow request among the small ones does not stop the others
CLIENT_CLOSED_REQUEST = 499  # as proxies log it; no client receives it


async def until_disconnected(request: Request, answer: Coroutine[Any, Any, Response]) -> Response:
    """Return an answer; stop its computation if the client closes the connection first."""
    working = asyncio.ensure_future(answer)
    leaving = asyncio.ensure_future(request.receive())  # the body was read: only a disconnect
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise RequestError(CLIENT_CLOSED_REQUEST, "the client closed the connection")
    finally:
        for task in (working, leaving):
            task.cancel()


@dataclass(frozen=True, slots=True, eq=False)
class Backend:
    """The processes of one service. A store has a single writer at a time: keys have their own
    process, so that reads never wait behind a write that waits for the store's lock. Small work
    has its own process, so that it never waits behind large work."""

    config: ServiceConfig
    metrics: Metrics
    readers: ProcessPool
    writer: ProcessPool
    small: ProcessPool
    workers: ProcessPool
    jobs: JobQueue

    async def read(self, call: str, **arguments: Any) -> Response:
        """Read from the store; the bytes of the worker process are passed on unchanged."""
        answer = await self.readers.call_shared(request_frame(call, arguments))
        return Response(answer, media_type=JSON)

    async def write(
        self, call: str, body: bytes, *, status: int = HTTPStatus.CREATED, **arguments: Any
    ) -> Response:
        """Write to the store. Never retried: a retry could write the same key twice."""
        answer = await self.writer.call(request_frame(call, arguments, body), retry=False)
        return Response(answer, status, media_type=JSON)

    async def compute(
        self,
        call: str,
        body: bytes = b"",
        *,
        status: int = 200,
        media_type: str = JSON,
        large: bool = False,
        **arguments: Any,
    ) -> Response:
        """Make a call that takes computing time; `large` if it is known to take long."""
        request = request_frame(call, arguments, body)
        if large or call not in SMALL_CALLS or len(body) > SMALL_BODY:
            answer = await self.workers.call(request)
        else:
            answer = await self._small_work(request)
        return Response(answer, status, media_type=media_type)

    async def _small_work(self, request: bytes) -> bytes:
        """Answer small work at once; what turns out to be large goes on among the large."""
        if self.workers.idle and not self.small.idle:
            return await self.workers.call(request)
        try:
            return await self.small.call(request)
        except RequestError as error:
            if error.status != HTTPStatus.GATEWAY_TIMEOUT:
                raise
        return await self.workers.call(request)

    @asynccontextmanager
    async def lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        """Start the processes with the service and stop them with it."""
        pools = (self.readers, self.writer, self.small, self.workers)
        for pool in pools:
            await pool.start()
        training = asyncio.create_task(self.jobs.run_jobs())
        try:
            yield
        finally:
            training.cancel()
            with suppress(asyncio.CancelledError):
                await training
            await self.jobs.stop()
            for pool in pools:
                await pool.stop()

"""What the routes call: pools of worker processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Self

from fastapi import FastAPI, Request, Response

from partita.web.config import ServiceConfig
from partita.web.error_responses import RequestError
from partita.web.process_pool import ProcessPool, request_frame

JSON = "application/json"
SMALL_CALLS = (*("resolve", "solve", "explain", "next", "ingest"), "fuse", "cluster")
SMALL_BODY = 4096  # bytes
SMALL_TIMEOUT = 5.0  # seconds after which work is large
TRAINING_TIMEOUT = 6 * 3600.0  # seconds
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
    has its own process, so that it never waits behind large work; so has training, which may take
    long."""

    config: ServiceConfig
    readers: ProcessPool
    writer: ProcessPool
    small: ProcessPool
    workers: ProcessPool
    training: ProcessPool

    @classmethod
    def of(cls, config: ServiceConfig) -> Self:
        """Return the processes that a configuration asks for."""
        processes = min(SMALL_PROCESSES, config.processes)
        short = min(SMALL_TIMEOUT, config.seconds)
        return cls(
            config,
            ProcessPool("reading", config),
            ProcessPool("writing", replace(config, workers=1)),
            ProcessPool("small", replace(config, workers=processes), short),
            ProcessPool("working", config),
            ProcessPool("training", replace(config, workers=1, eager=False), TRAINING_TIMEOUT),
        )

    @property
    def pools(self) -> dict[str, ProcessPool]:
        """The pools by what they are for."""
        names = ("readers", "writer", "small", "workers", "training")
        return {name: getattr(self, name) for name in names}

    async def train(self, run: str) -> Response:
        """Train on the keys of a run; what is resolved when it is stopped is not done again."""
        answer = await self.training.call(request_frame("train", {"run": run}), retry=False)
        return Response(answer, HTTPStatus.CREATED, media_type=JSON)

    async def read(self, call: str, **arguments: Any) -> Response:
        """Read from the store; the bytes of the worker process are passed on unchanged."""
        answer = await self.readers.call(request_frame(call, arguments))
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
        for pool in self.pools.values():
            await pool.start()
        try:
            yield
        finally:
            for pool in self.pools.values():
                await pool.stop()

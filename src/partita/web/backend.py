"""What the routes call: pools of worker processes, and the queue of training jobs.

One job trains at a time, in a process of its own. Jobs are rows of the store: those that had not
ended when the service stopped are run again.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import secrets
from collections import Counter, deque
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal

from fastapi import FastAPI, Request, Response

from partita.web.config import ServiceConfig
from partita.web.error_responses import RequestError, request_error
from partita.web.middleware import Metrics
from partita.web.process_pool import ProcessDied, ProcessPool, WorkerProcess, request_frame

MAX_QUEUED = 16
MAX_KEPT = 200  # finished jobs whose progress is kept in memory
TIMEOUT = 6 * 3600.0  # seconds for one job

State = Literal["waiting", "running", "done", "failed"]

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class TrainingJob:
    """A request to train on the keys of a run, and its outcome."""

    id: str
    run: str
    request: dict[str, Any] = field(default_factory=dict)
    state: State = "waiting"
    progress: str = ""
    result: Any = None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what the API answers about the job."""
        fields = ("id", "run", "state", "progress", "result", "error")
        return {"job" if name == "id" else name: getattr(self, name) for name in fields}


class JobQueue:
    """Training jobs in the order of their requests."""

    def __init__(
        self,
        store: str,
        readers: ProcessPool,
        writer: ProcessPool,
        unfinished: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        self._process = WorkerProcess("training", store)
        self._readers, self._writer = readers, writer
        self._service_id = secrets.token_hex(4)
        self._numbers = itertools.count(1)
        self._queue = deque(
            TrainingJob(row["job"], row["run"], row["request"]) for row in unfinished
        )
        self._jobs = {job.id: job for job in self._queue}
        self._job_added = asyncio.Event()

    async def add(self, run: str, request: dict[str, Any]) -> TrainingJob:
        """Queue a job and return it; an identical job that still waits is returned instead."""
        for job in self._queue:
            if (job.run, job.request) == (run, request):
                return job
        if len(self._queue) >= MAX_QUEUED:
            line = f"{MAX_QUEUED} training jobs are queued; try again when one has ended"
            raise RequestError(HTTPStatus.TOO_MANY_REQUESTS, line, {"retry-after": "60"})
        job = TrainingJob(f"{self._service_id}-{next(self._numbers)}", run, request)
        arguments = {"job": job.id, "run": run, "request": request}
        await self._writer.call(request_frame("add_job", arguments), retry=False)
        self._jobs[job.id] = job
        self._queue.append(job)
        self._job_added.set()
        return job

    async def get(self, job_id: str) -> dict[str, Any]:
        """Return a job by its id, from memory or from the store."""
        if job := self._jobs.get(job_id):
            return job.to_json()
        row = json.loads(await self._readers.call(request_frame("job", {"job": job_id})))
        return {name: row[name] for name in ("job", "run", "state", "progress", "result", "error")}

    def states(self) -> Counter[State]:
        """Count the jobs by state."""
        return Counter(job.state for job in self._jobs.values())

    async def run_jobs(self) -> None:
        """Run all jobs, for as long as the service runs."""
        while True:
            while self._queue:
                await self._run(self._queue.popleft())
                await self._process.stop()  # frees the memory of its training data
                self._drop_old_jobs()
            self._job_added.clear()
            await self._job_added.wait()

    async def stop(self) -> None:
        """Stop the training process."""
        await self._process.stop()

    async def _run(self, job: TrainingJob) -> None:
        def report_progress(line: str) -> None:
            job.progress = line

        job.state = "running"
        await self._save(job)
        request = request_frame("train", {"run": job.run}, json.dumps(job.request).encode())
        try:
            job.result = json.loads(await self._process.call(request, TIMEOUT, report_progress))
            job.state = "done"
        except ProcessDied:
            job.state, job.error = "failed", "the training process was killed"
        except Exception as error:  # a failed job must not stop the queue
            job.state, job.error = "failed", request_error(error).line
        await self._save(job)

    async def _save(self, job: TrainingJob) -> None:
        """Write the state into the store; without a store the job goes on."""
        names = ("state", "progress", "result", "error")
        arguments = {"job": job.id} | {name: getattr(job, name) for name in names}
        try:
            await self._writer.call(request_frame("change_job", arguments))
        except RequestError as error:
            _log.error("job %s could not be saved: %s", job.id, error.line)

    def _drop_old_jobs(self) -> None:
        ended = [job.id for job in self._jobs.values() if job.state in ("done", "failed")]
        for job_id in ended[:-MAX_KEPT]:
            del self._jobs[job_id]


JSON = "application/json"
SMALL_CALLS = (*("resolve", "solve", "explain", "why_text", "next", "ingest"), "fuse", "cluster")
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

"""Training in the background: one job at a time, in a process of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import secrets
from collections import Counter, deque
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

from partita.web.error_responses import RequestError, request_error
from partita.web.process_pool import ProcessDied, WorkerProcess
from partita.web.wire_format import request_frame

MAX_QUEUED = 16
MAX_KEPT = 200  # finished jobs that can still be queried
TIMEOUT = 6 * 3600.0  # seconds for one job
JOB_ID = re.compile(r"[0-9a-f]{8}-[0-9]{1,9}")
LOST = "this job was lost when the service restarted; start it again"

State = Literal["waiting", "running", "done", "failed"]


@dataclass(slots=True)
class Job:
    """A request to train on the keys of a run, and its outcome."""

    id: str
    run: str
    body: bytes
    state: State = "waiting"
    progress: str = ""
    result: Any = None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what the API answers about the job."""
        fields = ("id", "run", "state", "progress", "result", "error")
        return {"job" if name == "id" else name: getattr(self, name) for name in fields}


class JobQueue:
    """Training jobs in the order of their requests. Ids begin with a token of this service, so
    that a job of an earlier service is recognised as lost."""

    def __init__(self, store: str) -> None:
        self._process = WorkerProcess("training", store)
        self._service_id = secrets.token_hex(4)
        self._numbers = itertools.count(1)
        self._jobs: dict[str, Job] = {}
        self._queue: deque[Job] = deque()
        self._job_added = asyncio.Event()

    def add(self, run: str, body: bytes) -> Job:
        """Queue a job and return it; an identical job that still waits is returned instead."""
        for job in self._queue:
            if (job.run, job.body) == (run, body):
                return job
        if len(self._queue) >= MAX_QUEUED:
            line = f"{MAX_QUEUED} training jobs are queued; try again when one has ended"
            raise RequestError(HTTPStatus.TOO_MANY_REQUESTS, line, {"retry-after": "60"})
        job = Job(f"{self._service_id}-{next(self._numbers)}", run, body)
        self._jobs[job.id] = job
        self._queue.append(job)
        self._job_added.set()
        return job

    def get(self, job_id: str) -> Job:
        """Return a job by its id."""
        if job := self._jobs.get(job_id):
            return job
        if JOB_ID.fullmatch(job_id) and not job_id.startswith(self._service_id):
            return Job(job_id, "", b"", state="failed", error=LOST)
        raise RequestError(HTTPStatus.NOT_FOUND, f"no job with id {job_id}")

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

    async def _run(self, job: Job) -> None:
        def report_progress(line: str) -> None:
            job.progress = line

        job.state = "running"
        request = request_frame("train", {"run": job.run}, job.body)
        try:
            job.result = json.loads(await self._process.call(request, TIMEOUT, report_progress))
            job.state = "done"
        except ProcessDied:
            job.state, job.error = "failed", "the training process was killed"
        except Exception as error:  # a failed job must not stop the queue
            job.state, job.error = "failed", request_error(error).line

    def _drop_old_jobs(self) -> None:
        ended = [job.id for job in self._jobs.values() if job.state in ("done", "failed")]
        for job_id in ended[:-MAX_KEPT]:
            del self._jobs[job_id]

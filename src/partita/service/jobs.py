"""Training in the background: one job at a time, by a process of its own."""

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

from partita.service.frames import question
from partita.service.problems import Refusal, refused
from partita.service.workers import GoneError, Worker

WAITING = 16  # jobs
REMEMBERED = 200  # jobs that have ended
SECONDS = 6 * 3600.0
NAME = re.compile(r"[0-9a-f]{8}-[0-9]{1,9}")
LOST = "this job was lost when the service that ran it ended; start it again"

State = Literal["waiting", "running", "done", "failed"]


@dataclass(slots=True)
class Job:
    """Somebody's wish to train, and what became of it."""

    id: str
    run: str
    body: bytes
    state: State = "waiting"
    progress: str = ""
    result: Any = None
    error: str | None = None

    def told(self) -> dict[str, Any]:
        names = ("id", "run", "state", "progress", "result", "error")
        return {"job" if name == "id" else name: getattr(self, name) for name in names}


class Jobs:
    """In the order in which they were asked for. Names begin with what tells this service from one
    that ran before, so that a job from then is known to be lost."""

    def __init__(self, store: str) -> None:
        self._worker = Worker("training", store)
        self._mine = secrets.token_hex(4)
        self._numbers = itertools.count(1)
        self._jobs: dict[str, Job] = {}
        self._queue: deque[Job] = deque()
        self._wake = asyncio.Event()

    def begin(self, run: str, body: bytes) -> Job:
        """A job like one that still waits is that one."""
        for job in self._queue:
            if (job.run, job.body) == (run, body):
                return job
        if len(self._queue) >= WAITING:
            line = f"{WAITING} training jobs are waiting; try again when one is done"
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, line, {"retry-after": "60"})
        job = Job(f"{self._mine}-{next(self._numbers)}", run, body)
        self._jobs[job.id] = job
        self._queue.append(job)
        self._wake.set()
        return job

    def get(self, name: str) -> Job:
        if job := self._jobs.get(name):
            return job
        if NAME.fullmatch(name) and not name.startswith(self._mine):
            return Job(name, "", b"", state="failed", error=LOST)
        raise Refusal(HTTPStatus.NOT_FOUND, f"there is no job {name}")

    def states(self) -> Counter[State]:
        return Counter(job.state for job in self._jobs.values())

    async def work(self) -> None:
        """All jobs, for as long as the service runs."""
        while True:
            while self._queue:
                await self._do(self._queue.popleft())
                await self._worker.stop()  # what it learned from need not be kept in memory
                self._forget()
            self._wake.clear()
            await self._wake.wait()

    async def stop(self) -> None:
        await self._worker.stop()

    async def _do(self, job: Job) -> None:
        def progress(line: str) -> None:
            job.progress = line

        job.state = "running"
        asked = question("train", {"run": job.run}, job.body)
        try:
            job.result = json.loads(await self._worker.answer(asked, SECONDS, progress))
            job.state = "done"
        except GoneError:
            job.state, job.error = "failed", "the training process was ended from outside"
        except Exception as error:  # the next job is to be done, whatever became of this one
            job.state, job.error = "failed", refused(error).line

    def _forget(self) -> None:
        ended = [job.id for job in self._jobs.values() if job.state in ("done", "failed")]
        for name in ended[:-REMEMBERED]:
            del self._jobs[name]

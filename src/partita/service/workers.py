"""The processes of a service: a question goes to an idle one, and one that is late is ended."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import Literal

from partita.service.frames import ANSWER, ERROR, HEAD, PROGRESS, READY
from partita.service.problems import Refusal
from partita.service.terms import Terms
from partita.store.opening import VARIABLE

STARTING = 300.0  # seconds: the first time on a machine, kernels are compiled
GONE = "the process that worked on this was ended from outside; try again"

Progress = Callable[[str], None]
Role = Literal["reading", "writing", "working", "training"]


class GoneError(Exception):
    """The process ended in the middle of an answer."""


class Worker:
    """One process, started again whenever it has ended."""

    def __init__(self, role: Role, store: str) -> None:
        self._role, self._store = role, store
        self._process: Process | None = None
        self._ready = False

    async def start(self) -> None:
        """Ctrl-C is for the service: a process of its own session does not see it."""
        command = [sys.executable, "-m", "partita.service.worker", self._role]
        self._ready = False
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            start_new_session=True,
            env={**os.environ, VARIABLE: self._store},  # it may hold a password
        )

    async def answer(
        self, question: bytes, seconds: float | None, progress: Progress | None = None
    ) -> bytes:
        """What it says. Whatever comes in between, the process is left idle or started anew."""
        if self._process is None or self._process.returncode is not None:
            await self.start()
        try:
            await self._until_ready()
            async with asyncio.timeout(seconds):
                return await self._talk(question, progress)
        except TimeoutError as error:
            await self._anew()
            line = f"no answer within {seconds:g} seconds; ask for less, or start with --seconds"
            raise Refusal(HTTPStatus.GATEWAY_TIMEOUT, line) from error
        except (asyncio.IncompleteReadError, OSError) as error:
            await self._anew()
            raise GoneError from error
        except asyncio.CancelledError:
            self.end()
            raise

    async def _until_ready(self) -> None:
        if not self._ready:
            async with asyncio.timeout(STARTING):
                kind, _ = await self._read()
            self._ready = kind == READY

    async def _talk(self, question: bytes, progress: Progress | None) -> bytes:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(question)
        await self._process.stdin.drain()
        while True:
            kind, payload = await self._read()
            if kind == ANSWER:
                return payload
            if kind == ERROR:
                told = json.loads(payload)
                raise Refusal(told["status"], told["error"])
            if kind == PROGRESS and progress is not None:
                progress(payload.decode())

    async def _read(self) -> tuple[int, bytes]:
        assert self._process is not None
        assert self._process.stdout is not None
        length, kind = HEAD.unpack(await self._process.stdout.readexactly(HEAD.size))
        return kind, await self._process.stdout.readexactly(length)

    async def _anew(self) -> None:
        self.end()
        await self.start()

    def end(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        self._process = None

    async def stop(self) -> None:
        """Ends the process and waits until it is gone."""
        process = self._process
        self.end()
        if process is not None:
            await process.wait()


class Workers:
    """Processes of a role, as many as the terms say, and a line of those who wait, with an end."""

    def __init__(self, role: Role, terms: Terms) -> None:
        self._terms = terms
        self._all = [Worker(role, terms.store) for _ in range(terms.workers)]
        self._idle: list[Worker] = []
        self._line: deque[asyncio.Future[Worker]] = deque()
        self._together: dict[bytes, asyncio.Future[bytes]] = {}

    @property
    def waiting(self) -> int:
        return len(self._line)

    @property
    def busy(self) -> int:
        return len(self._all) - len(self._idle)

    async def start(self) -> None:
        for worker in self._all:
            if self._terms.eager:
                await worker.start()
            self._idle.append(worker)

    async def stop(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self._all))

    async def ask(self, question: bytes, again: bool = True) -> bytes:
        """The answer; what a process took with it when it was ended is asked once more, if that
        does no harm."""
        return await self._answer(await self._next(), question, again)

    async def ask_together(self, question: bytes) -> bytes:
        """As `ask`, but those who wait for the same share one answer."""
        if (waiting := self._together.get(question)) is None:
            waiting = asyncio.ensure_future(self._first(question))
            self._together[question] = waiting
        return await asyncio.shield(waiting)

    async def _first(self, question: bytes) -> bytes:
        """Whoever comes after the answer has begun may have written before: it is asked anew."""
        try:
            worker = await self._next()
        finally:
            del self._together[question]
        return await self._answer(worker, question, again=True)

    async def _answer(self, worker: Worker, question: bytes, again: bool) -> bytes:
        try:
            for more in (again, False):
                try:
                    return await worker.answer(question, self._terms.seconds)
                except GoneError:
                    if not more:
                        break
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, GONE)
        finally:
            self._free(worker)

    async def _next(self) -> Worker:
        """In the order of asking: nobody who comes later is served first."""
        if self._idle:
            return self._idle.pop()
        if self.waiting >= self._terms.waiting:
            line = f"{self.waiting} questions are waiting; try again in a moment"
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, line, {"retry-after": "1"})
        turn: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            async with asyncio.timeout(self._terms.seconds):
                return await asyncio.shield(turn)
        except TimeoutError as error:
            self._leave(turn)
            line = f"all processes were busy for {self._terms.seconds:g} seconds; try again"
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, line, {"retry-after": "5"}) from error
        except asyncio.CancelledError:
            self._leave(turn)
            raise

    def _leave(self, turn: asyncio.Future[Worker]) -> None:
        """One whose turn came at the same moment hands it on."""
        if turn.done():
            self._free(turn.result())
        else:
            self._line.remove(turn)

    def _free(self, worker: Worker) -> None:
        if self._line:
            self._line.popleft().set_result(worker)
        else:
            self._idle.append(worker)

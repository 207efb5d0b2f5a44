"""A pool of worker processes: a request goes to an idle one; one that is late is killed.

They exchange frames: length of the payload (4 bytes) · kind (1 byte) · payload.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from http import HTTPStatus
from typing import Any, Literal

from partita.store.store import VARIABLE
from partita.web.config import ServiceConfig
from partita.web.error_responses import RequestError

HEADER = struct.Struct(">IB")
READY, REQUEST, ANSWER, ERROR = range(4)


def frame(kind: int, payload: bytes = b"") -> bytes:
    """Return the bytes of one frame."""
    return HEADER.pack(len(payload), kind) + payload


def request_frame(call: str, arguments: dict[str, Any], body: bytes = b"") -> bytes:
    """Return a request: the call and its arguments in one line, then the HTTP body unchanged."""
    head = json.dumps({"call": call, "arguments": arguments}).encode("ascii")
    return frame(REQUEST, head + b"\n" + body)


def parse_request(payload: bytes) -> tuple[str, dict[str, Any], bytes]:
    """Return the call, its arguments and the HTTP body of a request."""
    head, _, body = payload.partition(b"\n")
    request = json.loads(head)
    return request["call"], request["arguments"], body


START_TIMEOUT = 300.0  # seconds: kernels are compiled the first time on a machine
# there is a process per core: threads of numerical libraries would only wait for each other
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
KILLED = "the process working on this request was killed; try again"

Role = Literal["reading", "writing", "small", "working", "training"]


class ProcessDied(Exception):
    """The process ended before it answered."""


class WorkerProcess:
    """One process, restarted whenever it has ended."""

    def __init__(self, role: Role, store: str) -> None:
        self._role, self._store = role, store
        self._process: Process | None = None
        self._ready = False

    async def start(self) -> None:
        """Start the process in a session of its own, so that Ctrl-C reaches only the service."""
        command = [sys.executable, "-m", f"{__package__}.worker", self._role]
        self._ready = False
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            start_new_session=True,
            # the store is not an argument, because it may hold a password
            env={**os.environ, VARIABLE: self._store, **ONE_THREAD},
        )

    async def call(self, request: bytes, timeout: float | None) -> bytes:
        """Return the answer to a request. Afterwards the process is idle or restarted."""
        if self._process is None or self._process.returncode is not None:
            await self.start()
        try:
            await self._wait_until_ready()
            async with asyncio.timeout(timeout):
                return await self._exchange(request)
        except TimeoutError as error:
            await self._restart()
            line = f"no answer within {timeout:g} seconds; ask for less, or raise --seconds"
            raise RequestError(HTTPStatus.GATEWAY_TIMEOUT, line) from error
        except (asyncio.IncompleteReadError, OSError) as error:
            await self._restart()
            raise ProcessDied from error
        except asyncio.CancelledError:
            await self.stop()
            raise

    async def _wait_until_ready(self) -> None:
        if not self._ready:
            async with asyncio.timeout(START_TIMEOUT):
                kind, _ = await self._read_frame()
            self._ready = kind == READY

    async def _exchange(self, request: bytes) -> bytes:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(request)
        await self._process.stdin.drain()
        kind, payload = await self._read_frame()
        if kind == ERROR:
            raise RequestError(**json.loads(payload))
        return payload

    async def _read_frame(self) -> tuple[int, bytes]:
        assert self._process is not None
        assert self._process.stdout is not None
        length, kind = HEADER.unpack(await self._process.stdout.readexactly(HEADER.size))
        return kind, await self._process.stdout.readexactly(length)

    async def _restart(self) -> None:
        self.kill()
        await self.start()

    def kill(self) -> None:
        """Kill the process without waiting for its end."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        self._process = None

    async def stop(self) -> None:
        """Kill the process and wait until it has ended."""
        process = self._process
        self.kill()
        if process is not None:
            await process.wait()


class ProcessPool:
    """As many processes as the configuration says, all with one role."""

    def __init__(self, role: Role, config: ServiceConfig, timeout: float | None = None) -> None:
        """With `timeout` an answer may take so long, else as long as the configuration says."""
        self._config = config
        self._timeout = config.seconds if timeout is None else timeout
        self._processes = [WorkerProcess(role, config.place) for _ in range(config.processes)]
        self._idle: list[WorkerProcess] = []
        self._queue: deque[asyncio.Future[WorkerProcess]] = deque()
        self._stopped = False

    @property
    def waiting(self) -> int:
        """The number of requests that wait for a process."""
        return len(self._queue)

    @property
    def busy(self) -> int:
        """The number of processes that are not idle."""
        return len(self._processes) - len(self._idle)

    @property
    def idle(self) -> bool:
        """Whether a request would be answered at once."""
        return bool(self._idle)

    async def start(self) -> None:
        """Make all processes available; without `eager` each starts on first use."""
        for process in self._processes:
            if self._config.eager:
                await process.start()
            self._idle.append(process)

    async def stop(self) -> None:
        """Stop all processes."""
        self._stopped = True
        await asyncio.gather(*(process.stop() for process in self._processes))

    async def call(self, request: bytes, retry: bool = True) -> bytes:
        """Return the answer; with `retry`, a request whose process died is sent once more."""
        process = await self._acquire()
        try:
            for may_retry in (retry, False):
                try:
                    return await process.call(request, self._timeout)
                except ProcessDied:
                    if not may_retry:
                        break
            raise RequestError(HTTPStatus.SERVICE_UNAVAILABLE, KILLED)
        except asyncio.CancelledError:
            if self._config.eager and not self._stopped:
                await process.start()  # so that the next request need not wait for it
            raise
        finally:
            self._release(process)

    async def _acquire(self) -> WorkerProcess:
        """Wait for an idle process, first come, first served."""
        if self._idle:
            return self._idle.pop()
        if self.waiting >= self._config.waiting:
            line = f"{self.waiting} requests are queued; try again in a moment"
            raise RequestError(HTTPStatus.TOO_MANY_REQUESTS, line, {"retry-after": "1"})
        turn: asyncio.Future[WorkerProcess] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            async with asyncio.timeout(self._config.seconds):
                return await asyncio.shield(turn)
        except TimeoutError as error:
            self._leave_queue(turn)
            line = f"all processes were busy for {self._config.seconds:g} seconds; try again"
            headers = {"retry-after": "5"}
            raise RequestError(HTTPStatus.SERVICE_UNAVAILABLE, line, headers) from error
        except asyncio.CancelledError:
            self._leave_queue(turn)
            raise

    def _leave_queue(self, turn: asyncio.Future[WorkerProcess]) -> None:
        """Give up a turn; a process that was assigned at the same moment is released."""
        if turn.done():
            self._release(turn.result())
        else:
            self._queue.remove(turn)

    def _release(self, process: WorkerProcess) -> None:
        if self._queue:
            self._queue.popleft().set_result(process)
        else:
            self._idle.append(process)

"""Processes that end at the wrong moment, and a queue that is full."""

from __future__ import annotations

import asyncio

import pytest

from partita.web.config import ServiceConfig
from partita.web.error_responses import RequestError
from partita.web.process_pool import ProcessDied, ProcessPool, WorkerProcess


class Stub(WorkerProcess):
    """A process that is gone every time it is asked, or that takes its time."""

    asked = 0

    async def call(self, request: bytes, timeout: float | None, progress: object = None) -> bytes:
        Stub.asked += 1
        if request == b"long":
            await asyncio.sleep(60)
        raise ProcessDied


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> ProcessPool:
    monkeypatch.setattr("partita.web.process_pool.WorkerProcess", Stub)
    monkeypatch.setattr(Stub, "asked", 0)
    return ProcessPool("working", ServiceConfig(waiting=1, seconds=0.05, eager=False, workers=1))


@pytest.mark.parametrize(("retry", "times"), [(True, 2), (False, 1)])
def test_what_may_be_asked_again_is_asked_again(pool: ProcessPool, retry: bool, times: int) -> None:
    """A key would be written twice."""

    async def ask() -> None:
        await pool.start()
        with pytest.raises(RequestError) as refused:
            await pool.call(b"short", retry=retry)
        assert refused.value.status == 503
        assert pool.busy == 0

    asyncio.run(ask())
    assert Stub.asked == times


def test_who_waits_too_long_and_who_may_not_wait(pool: ProcessPool) -> None:
    async def ask() -> list[int]:
        await pool.start()
        first = asyncio.create_task(pool.call(b"long"))
        await asyncio.sleep(0)
        others = await asyncio.gather(
            pool.call(b"short"), pool.call(b"short"), return_exceptions=True
        )
        first.cancel()
        return [one.status for one in others if isinstance(one, RequestError)]

    assert asyncio.run(ask()) == [503, 429]


def test_who_asks_first_is_answered_first(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a process that is freed while somebody new comes."""
    begun: list[bytes] = []

    async def answer(_: WorkerProcess, request: bytes, *__: object) -> bytes:
        begun.append(request)
        await asyncio.sleep(0)
        return request

    async def ask_twice(name: bytes) -> None:
        await pool.call(name + b"1")
        await pool.call(name + b"2")

    monkeypatch.setattr(Stub, "call", answer)

    async def ask() -> None:
        await pool.start()
        await asyncio.gather(ask_twice(b"a"), ask_twice(b"b"))

    asyncio.run(ask())
    assert begun == [b"a1", b"b1", b"a2", b"b2"]
    assert (pool.busy, pool.waiting) == (0, 0)

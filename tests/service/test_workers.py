"""Processes that end at the wrong moment, and a queue that is full."""

from __future__ import annotations

import asyncio

import pytest

from partita.service.problems import Refusal
from partita.service.terms import Terms
from partita.service.workers import GoneError, Worker, Workers


class Stub(Worker):
    """A process that is gone every time it is asked, or that takes its time."""

    asked = 0

    async def answer(
        self, question: bytes, seconds: float | None, progress: object = None
    ) -> bytes:
        Stub.asked += 1
        if question == b"long":
            await asyncio.sleep(60)
        raise GoneError


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Workers:
    monkeypatch.setattr("partita.service.workers.Worker", Stub)
    monkeypatch.setattr(Stub, "asked", 0)
    return Workers("working", Terms(waiting=1, seconds=0.05, eager=False))


@pytest.mark.parametrize(("again", "times"), [(True, 2), (False, 1)])
def test_what_may_be_asked_again_is_asked_again(workers: Workers, again: bool, times: int) -> None:
    """A key would be written twice."""

    async def ask() -> None:
        await workers.start()
        with pytest.raises(Refusal) as refused:
            await workers.ask(b"short", again=again)
        assert refused.value.status == 503
        assert workers.busy == 0

    asyncio.run(ask())
    assert Stub.asked == times


def test_who_waits_too_long_and_who_may_not_wait(workers: Workers) -> None:
    async def ask() -> list[int]:
        await workers.start()
        first = asyncio.create_task(workers.ask(b"long"))
        await asyncio.sleep(0)
        others = await asyncio.gather(
            workers.ask(b"short"), workers.ask(b"short"), return_exceptions=True
        )
        first.cancel()
        return [one.status for one in others if isinstance(one, Refusal)]

    assert asyncio.run(ask()) == [503, 429]

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


def test_who_asks_first_is_answered_first(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a process that is freed while somebody new comes."""
    begun: list[bytes] = []

    async def answer(_: Worker, question: bytes, *__: object) -> bytes:
        begun.append(question)
        await asyncio.sleep(0)
        return question

    async def ask_twice(name: bytes) -> None:
        await workers.ask(name + b"1")
        await workers.ask(name + b"2")

    monkeypatch.setattr(Stub, "answer", answer)

    async def ask() -> None:
        await workers.start()
        await asyncio.gather(ask_twice(b"a"), ask_twice(b"b"))

    asyncio.run(ask())
    assert begun == [b"a1", b"b1", b"a2", b"b2"]
    assert (workers.busy, workers.waiting) == (0, 0)


def test_those_who_wait_for_the_same_share_one_answer(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But who comes after it has begun does not: a key may have been written in between."""
    begun: list[bytes] = []
    go_on = asyncio.Event()

    async def answer(_: Worker, question: bytes, *__: object) -> bytes:
        begun.append(question)
        await go_on.wait()
        return question + str(len(begun)).encode()

    monkeypatch.setattr(Stub, "answer", answer)

    async def ask() -> list[bytes]:
        await workers.start()
        first = asyncio.create_task(workers.ask_together(b"runs"))
        await asyncio.sleep(0.01)
        later = [asyncio.create_task(workers.ask_together(b"runs")) for _ in range(20)]
        await asyncio.sleep(0.01)
        go_on.set()
        return await asyncio.gather(first, *later)

    assert asyncio.run(ask()) == [b"runs1", *[b"runs2"] * 20]
    assert begun == [b"runs", b"runs"]

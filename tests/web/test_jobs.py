"""The queue of training jobs: what waits is not queued twice, and the queue has an end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from partita.web.backend import MAX_QUEUED, JobQueue
from partita.web.error_responses import RequestError


class Nowhere:
    """A pool that takes every call."""

    async def call(self, request: bytes, retry: bool = True) -> bytes:
        return b"{}"


def queued(test: Callable[[JobQueue], Awaitable[Any]]) -> None:
    pool: Any = Nowhere()
    asyncio.run(test(JobQueue("nowhere", pool, pool)))  # type: ignore[arg-type]


def test_a_wish_that_waits_is_not_queued_twice() -> None:
    async def test(jobs: JobQueue) -> None:
        first = await jobs.add("demo", {})
        assert await jobs.add("demo", {}) is first
        assert await jobs.add("other", {}) is not first
        assert jobs.states() == {"waiting": 2}
        assert (await jobs.get(first.id))["job"] == first.id

    queued(test)


def test_the_queue_has_an_end() -> None:
    async def test(jobs: JobQueue) -> None:
        for n in range(MAX_QUEUED):
            await jobs.add(f"run {n}", {})
        with pytest.raises(RequestError) as refused:
            await jobs.add("one more", {})
        assert refused.value.status == 429

    queued(test)


def test_jobs_that_had_not_ended_wait_again() -> None:
    pool: Any = Nowhere()
    row = {"job": "a-1", "run": "demo", "request": {}}
    assert JobQueue("nowhere", pool, pool, [row]).states() == {"waiting": 1}

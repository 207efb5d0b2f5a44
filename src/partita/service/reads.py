"""Reads of the store, and writes of keys: in threads, within a time, and not too many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

from partita.service.problems import Refusal
from partita.service.terms import Terms

THREADS = 4


class Reads:
    """Threads that wait for the store, so that nothing else has to."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")
        self.waiting = 0

    async def ask(self, read: Callable[[], bytes]) -> bytes:
        if self.waiting >= self._terms.waiting:
            line = f"{self.waiting} reads are waiting; try again in a moment"
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, line, {"retry-after": "1"})
        self.waiting += 1
        future = asyncio.get_running_loop().run_in_executor(self._threads, read)
        future.add_done_callback(self._done)
        try:
            async with asyncio.timeout(self._terms.seconds):
                # a thread cannot be ended: until the store lets it go, it counts as waiting
                return await asyncio.shield(future)
        except TimeoutError as error:
            line = f"the store did not answer within {self._terms.seconds:g} seconds"
            raise Refusal(HTTPStatus.GATEWAY_TIMEOUT, line) from error

    def _done(self, future: asyncio.Future[bytes]) -> None:
        self.waiting -= 1
        if not future.cancelled():
            future.exception()  # of one that nobody waits for any more, too

    def stop(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

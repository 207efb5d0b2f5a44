"""Run jobs in worker processes and return their results in order."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from partita.errors import PartitaError

AHEAD = 4  # jobs for each worker that are handed out before the first is taken back

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job(Generic[T]):
    """Something to do: by any process, or, when its turn comes, by this one."""

    work: Callable[[], T]
    shared: bool = True


def in_order(jobs: Iterable[Job[T]], workers: int) -> Iterator[T]:
    """What the jobs make. They are handed out a little ahead of what is taken, so that neither
    jobs nor answers pile up; whoever stops taking lets the workers go."""
    with _pool(workers) as pool:
        try:
            yield from _handed_out(pool, jobs, AHEAD * workers)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _pool(workers: int) -> Executor:
    """Fresh processes: forking one that runs threads is not safe."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin)


def _begin() -> None:
    """Ctrl-C is for the process that writes; a worker ends when that lets it go, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Whoever is ended from outside cannot say so to its workers."""
    from multiprocessing import parent_process

    if parent := parent_process():
        parent.join()
        os._exit(1)


def _handed_out(pool: Executor, jobs: Iterable[Job[T]], ahead: int) -> Iterator[T]:
    waiting: deque[Future[T] | Job[T]] = deque()
    for job in jobs:
        waiting.append(pool.submit(job.work) if job.shared else job)
        if len(waiting) > ahead:
            yield _next(waiting)
    while waiting:
        yield _next(waiting)


def _next(waiting: deque[Future[T] | Job[T]]) -> T:
    job = waiting.popleft()
    if isinstance(job, Job):
        return job.work()
    from concurrent.futures.process import BrokenProcessPool

    try:
        return job.result()
    except BrokenProcessPool as error:
        raise PartitaError("a worker process was ended from outside; try --workers 1") from error


@contextmanager
def uncollected() -> Iterator[None]:
    """Thousands of small records come and go without cycles: walking them all costs a sixth."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()

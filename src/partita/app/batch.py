"""Process many items in order, on all cores where that pays.

What comes out does not depend on the number of workers.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from partita.errors import InputError, PartitaError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future
    from multiprocessing.connection import Connection

AHEAD = 4  # pieces for each worker that are submitted before the first result is taken

P = TypeVar("P")
R = TypeVar("R")
Work = Callable[[P], Iterable[R]]
View = Literal["", "line", "text"]


@dataclass(frozen=True, slots=True)
class OutputForms:
    """The forms in which results are wanted."""

    json: bool = False
    stored: bool = False
    own: str = ""  # a format of the domain's own
    corefud: bool = False
    view: View = ""
    width: int = 80
    colour: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """One set or message, ready to be written.

    One that failed has an error and none of the forms, except what a store keeps of it. One that
    was done by an earlier run is `skipped`. `sizes` are the numbers of templates, sets, entities;
    `notes` are for the user.
    """

    name: str
    error: str = ""
    skipped: bool = False
    counted: bool = True
    converged: bool = True
    lines: Collection[str] = ()
    shown: str = ""
    stored: Mapping[str, Any] | None = None
    sizes: tuple[int, int, int] = (0, 0, 0)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A message or set that failed, and its error, whose text is one line."""

    name: str
    error: Exception

    def __str__(self) -> str:
        return f"{self.name}: {self.error}"


class Failures(list[Failure]):
    """What failed in one call: with `errors="raise"` the first is raised, else all are kept."""

    def __init__(self, errors: str) -> None:
        if errors not in ("raise", "report"):
            raise InputError(f"errors is {errors!r} (expected raise or report)")
        super().__init__()
        self.kept = errors == "report"

    def add(self, name: str, error: Exception) -> None:
        """Keep or raise an error of what has this name."""
        if not self.kept:
            raise error
        self.append(Failure(name, error))

    @contextmanager
    def caught(self, name: str) -> Iterator[None]:
        """Keep or raise whatever fails in the block."""
        try:
            yield
        except Exception as error:
            self.add(name, error)

    def warned(self, noun: str) -> tuple[Failure, ...]:
        """Return all that failed; if any did, a warning counts them and shows the first."""
        if self:
            count = f"{len(self):,} {noun}{'' if len(self) == 1 else 's'} failed"
            warnings.warn(f"{count}; see failures. The first: {self[0]}", stacklevel=4)
        return tuple(self)


@dataclass(frozen=True, slots=True)
class WorkPiece(Generic[P]):
    """Some items to be processed together.

    `load` is the work in them; 1 in total pays for starting other processes. A piece that is not
    `shared` is processed by this process when its turn comes.
    """

    items: P
    load: float
    shared: bool = True


def process(
    pieces: Iterable[WorkPiece[P]],
    work: Work[P, R],
    workers: int | None = None,
    here: Work[P, R] | None = None,
) -> Iterator[R]:
    """Yield the results of all pieces in order.

    Worker processes get a pickled copy of `work` when they start; this process does `here`, which
    may report progress.
    """
    workers, here = workers or os.cpu_count() or 1, here or work
    first, rest = [], iter(pieces)
    load = 0.0
    while workers > 1 and load < 1.0 and (piece := next(rest, None)):
        first.append(piece)
        load += piece.load
    if load < 1.0:
        for piece in chain(first, rest):
            yield from here(piece.items)
        return
    from multiprocessing import Pipe

    reading, writing = Pipe(duplex=False)
    with _pool(workers, work, reading) as pool:
        try:
            yield from _in_order(pool, chain(first, rest), here, AHEAD * workers)
        except BaseException:
            writing.close()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _in_order(
    pool: Executor, pieces: Iterable[WorkPiece[P]], here: Work[P, R], ahead: int
) -> Iterator[R]:
    """Submit pieces a little ahead of what is taken, so that neither they nor results pile up."""
    waiting: deque[Future[list[R]] | WorkPiece[P]] = deque()
    for piece in pieces:
        waiting.append(pool.submit(_process_piece, piece.items) if piece.shared else piece)
        if len(waiting) > ahead:
            yield from _results(waiting.popleft(), here)
    while waiting:
        yield from _results(waiting.popleft(), here)


def _results(job: Future[list[R]] | WorkPiece[P], here: Work[P, R]) -> Iterable[R]:
    if isinstance(job, WorkPiece):
        return here(job.items)
    from concurrent.futures.process import BrokenProcessPool

    try:
        return job.result()
    except BrokenProcessPool as error:
        raise PartitaError("a worker process was ended from outside; try --workers 1") from error


def _pool(workers: int, work: Work[P, R], running: Connection) -> Executor:
    """Start fresh processes: forking one that runs threads is not safe."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=_start_worker, initargs=(work, running)
    )


_worker: list[Work[Any, Any]] = []  # of a worker process: what it does with a piece


def _start_worker(work: Work[Any, Any], running: Connection) -> None:
    """Prepare a worker process.

    Ctrl-C is for the process that writes; a worker ends when that process closes its end of the
    pipe, or has ended.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(running,), daemon=True).start()
    _worker.append(work)


def _end_with_parent(running: Connection) -> None:
    """End this process, also in the middle of its work."""
    running.poll(None)
    os._exit(1)


def _process_piece(items: Any) -> list[Any]:
    (work,) = _worker
    return list(work(items))


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection: to walk thousands of small records without cycles costs a sixth."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()

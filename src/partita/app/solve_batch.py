"""Solve many sets in order, on all cores where that pays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np

from partita.app.process_pool import Job, in_order, uncollected
from partita.app.solve import Progress, Task, solved
from partita.errors import PartitaError
from partita.linkage.clusters import Row, cluster_rows
from partita.linkage.sets import Sets
from partita.records import Distribution
from partita.results.result_lines import result_line

CHUNK = 1000
LARGE = 18  # templates: a larger set has all the memory and all the cores to itself
PAYS = 15_000  # small sets: fewer are done before other processes have started

Shown = Literal["", "line", "text"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """In which forms an answer is wanted."""

    message: str = ""
    json: bool = False
    shown: Shown = ""
    clusters: bool = False
    cautious: float | None = None
    width: int = 80
    colour: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """One set, ready to be written; an error has none of the forms."""

    set: str
    error: str = ""
    json: str = ""
    shown: str = ""
    clusters: tuple[Row, ...] = ()
    converged: bool = True


def answers(
    sets: Sets,
    task: Task,
    wanted: Wanted,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """Every set in order. The answers do not depend on the number of workers."""
    workers = workers or os.cpu_count() or 1
    pieces = list(_pieces(sets))
    if workers == 1 or _work(sets) < PAYS:
        for first, last in pieces:
            yield from answered(sets.slice(first, last), task, wanted, progress)
        return
    jobs = (_job(sets.slice(first, last), task, wanted, progress) for first, last in pieces)
    for some in in_order(jobs, workers):
        yield from some


def _job(piece: Sets, task: Task, wanted: Wanted, progress: Progress | None) -> Job[list[Answer]]:
    """Small sets go to any process; a large one has this one, which tells of its progress."""
    if piece.sizes.max(initial=0) <= LARGE:
        return Job(partial(answered, piece, task, wanted))
    return Job(partial(answered, piece, task, wanted, progress), shared=False)


def _pieces(sets: Sets) -> Iterator[tuple[int, int]]:
    """Stretches of sets; a large set is one by itself."""
    large = np.flatnonzero(sets.sizes > LARGE)
    cuts = {0, len(sets), *large.tolist(), *(large + 1).tolist(), *range(0, len(sets), CHUNK)}
    borders = sorted(cuts)
    return pairwise(borders)


def _work(sets: Sets) -> float:
    """The work that can be shared, counted in small sets: a set of 14 is worth thousands of 5."""
    small = sets.sizes[sets.sizes <= LARGE]
    return float(np.sum(np.maximum(1.0, 3.0 ** (small - 8.0))))


def answered(
    sets: Sets, task: Task, wanted: Wanted, progress: Progress | None = None
) -> list[Answer]:
    """Some sets, solved and brought into the forms that are wanted."""
    unlisted = sets.unlisted().tolist()
    with uncollected():
        return [
            _answer(sets, k, answer, wanted, unlisted[k])
            for k, answer in enumerate(solved(sets, task, progress))
        ]


def _answer(
    sets: Sets, k: int, answer: Distribution | PartitaError, wanted: Wanted, unlisted: int
) -> Answer:
    if isinstance(answer, PartitaError):
        return Answer(sets.names[k], error=str(answer))
    prefix = f"{sets.names[k]}:" if sets.named else ""
    rows = cluster_rows(answer, wanted.cautious, prefix) if wanted.clusters else []
    said = (unlisted, sets.missing or 0.0)
    return Answer(
        sets.names[k],
        json=result_line(answer, wanted.message, said) if wanted.json else "",
        shown=_shown(answer, wanted),
        clusters=tuple(rows),
        converged=answer.converged is not False,
    )


def _shown(answer: Distribution, wanted: Wanted) -> str:
    if not wanted.shown:
        return ""
    from partita.views.distribution import line, text

    if wanted.shown == "line":
        return line(answer, wanted.width) + "\n"
    return text(answer, wanted.width, wanted.colour)

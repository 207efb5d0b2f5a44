"""Workers: what they make comes back in order, and one that is ended is said."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from operator import mul

import pytest

from partita.crew import AHEAD, Job, in_order
from partita.errors import PartitaError


def test_in_the_order_of_the_jobs():
    jobs = (Job(partial(mul, n, n)) for n in range(30))
    assert list(in_order(jobs, 2)) == [n * n for n in range(30)]


def test_a_job_that_is_not_shared_is_done_here():
    jobs = [Job(os.getpid, shared=n % 2 == 0) for n in range(6)]
    found = list(in_order(jobs, 1))
    assert [one == os.getpid() for one in found] == [False, True] * 3


def test_jobs_are_not_all_taken_at_once():
    taken = 0

    def jobs() -> Iterator[Job[int]]:
        nonlocal taken
        for n in range(1000):
            taken += 1
            yield Job(partial(mul, n, 2))

    made = in_order(jobs(), 1)
    assert next(made) == 0
    assert taken <= AHEAD + 1
    made.close()


def test_a_worker_that_is_ended_from_outside():
    with pytest.raises(PartitaError, match="was ended from outside"):
        list(in_order([Job(partial(signal.raise_signal, signal.SIGKILL))], 1))

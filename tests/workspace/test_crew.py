"""Workers: what they make comes back in order, and one that is ended is said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from operator import mul
from pathlib import Path

import pytest

from partita.app.process_pool import AHEAD, Job, in_order
from partita.errors import PartitaError
from patience import until


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


LEADER = """
import os, signal
from partita.app.process_pool import Job, in_order
if __name__ == "__main__":
    for pid in in_order([Job(os.getpid)] * 2, 1):
        print(pid, flush=True)
        signal.pause()
"""


def test_workers_end_with_whoever_started_them(tmp_path):
    script = tmp_path / "leader.py"
    script.write_text(LEADER)
    leader = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    worker = int(leader.stdout.readline())
    leader.kill()
    leader.communicate()
    until(lambda: not _alive(worker), "the end of the worker")


def _alive(process: int) -> bool:
    """Whether it runs; one that has ended may wait to be noticed by whoever took it over."""
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"

"""Batches: results come back in order, and a worker that is ended is reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from partita.app.batch import AHEAD, WorkPiece, process
from partita.errors import PartitaError
from patience import until


def squares(numbers: Iterable[int]) -> list[int]:
    return [n * n for n in numbers]


def process_id(_: object) -> list[int]:
    return [os.getpid()]


def killed(_: object) -> list[int]:
    signal.raise_signal(signal.SIGKILL)
    return []


@pytest.mark.parametrize("load", [0.01, 1.0])
def test_in_the_order_of_the_pieces(load):
    pieces = (WorkPiece([n, n + 1], load) for n in range(0, 30, 2))
    assert list(process(pieces, squares, 2)) == squares(range(30))


def test_little_work_is_done_here():
    pieces = [WorkPiece(None, 0.3)] * 3
    assert set(process(pieces, process_id, 2)) == {os.getpid()}
    assert os.getpid() not in process([*pieces, WorkPiece(None, 0.2)], process_id, 2)
    assert set(process([*pieces, *pieces], process_id, 1)) == {os.getpid()}


def test_a_piece_that_is_not_shared_is_done_here():
    pieces = [WorkPiece(None, 1.0, shared=n % 2 == 0) for n in range(6)]
    found = list(process(pieces, process_id, 2))
    assert [one == os.getpid() for one in found] == [False, True] * 3


def test_only_this_process_does_its_own_work():
    pieces = [WorkPiece([n], 1.0, shared=n < 2) for n in range(4)]
    assert list(process(pieces, squares, 2, lambda numbers: [-n for n in numbers])) == [
        0, 1, -2, -3
    ]  # fmt: skip


def test_pieces_are_not_all_taken_at_once():
    taken = 0

    def pieces() -> Iterator[WorkPiece[list[int]]]:
        nonlocal taken
        for n in range(1000):
            taken += 1
            yield WorkPiece([n], 1.0)

    made = process(pieces(), squares, 2)
    assert next(made) == 0
    assert taken <= 2 * AHEAD + 1
    made.close()


def test_results_come_one_by_one_where_little_is_done():
    made = process(iter([WorkPiece([n], 0.0) for n in range(3)]), counted := Counted(), 1)
    assert next(made) == 0
    assert counted.calls == 1


class Counted:
    """Count how often it is called."""

    calls = 0

    def __call__(self, numbers: list[int]) -> list[int]:
        self.calls += 1
        return numbers


def test_a_worker_that_is_ended_from_outside():
    with pytest.raises(PartitaError, match="was ended from outside"):
        list(process([WorkPiece(None, 1.0)], killed, 2))


LEADER = """
import os, signal
from partita.app.batch import WorkPiece, process
def work(_):
    return [os.getpid()]
if __name__ == "__main__":
    for pid in process([WorkPiece(None, 1.0)] * 2, work, 2):
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

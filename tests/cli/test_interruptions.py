"""SIGINT and SIGTERM end a command wherever it is, and what was finished is kept."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from partita.cli.console import INTERRUPTED
from patience import PATIENCE, until

SIGNALS = [signal.SIGINT, signal.SIGTERM]
# The second set does not end. For Python a lock that a thread takes twice is a loop of compiled
# code: no signal is seen while it waits.
SOLVE = """
import ctypes, sys, time
from pathlib import Path
from partita.app import solve
from partita.cli import main

class Swallows:
    def __del__(self):
        Path("started").touch()
        while True:
            time.sleep(0.001)

def compiled():
    lock = ctypes.create_string_buffer(256)
    library = ctypes.CDLL(None)
    library.pthread_mutex_lock(lock)
    Path("started").touch()
    library.pthread_mutex_lock(lock)

def destructor():
    Swallows()
    compiled()

def outcome(*values, **named):
    calls.append(1)
    if len(calls) == 2:
        globals()[sys.argv[0]]()
    return solved(*values, **named)

calls, solved, solve._outcome, solve.CHUNK = [], solve._outcome, outcome, 1
sys.argv = [sys.argv[1], "solve", "pairs.csv", *sys.argv[2:]]
main()
"""
POOL = """
import ctypes, sys
from pathlib import Path
import typer
from partita.app.batch import WorkPiece, process
from partita.cli.console import error_boundary

def endless(items):
    Path(f"worker-{items}").touch()
    lock = ctypes.create_string_buffer(256)
    for _ in range(2):
        ctypes.CDLL(None).pthread_mutex_lock(lock)
    yield items

if __name__ == "__main__":
    try:
        with error_boundary():
            list(process([WorkPiece(1, 1.0), WorkPiece(2, 1.0)], endless, workers=2))
    except typer.Exit as ended:
        sys.exit(ended.exit_code)
"""


def interrupted(
    code: str, arguments: list[str], number: int, folder: Path, started: str
) -> tuple[int, str]:
    """Run Python code until it has made a file, send a signal, and return exit code and words."""
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    (folder / "code.py").write_text(heard + code)
    process = subprocess.Popen(
        [sys.executable, "code.py", *arguments],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        until(lambda: process.poll() is not None or (folder / started).exists(), "the work")
        process.send_signal(number)
        said = process.communicate(timeout=PATIENCE)[1]
    finally:
        process.kill()
    return process.returncode, said


@pytest.mark.parametrize("place", ["compiled", "destructor"])
@pytest.mark.parametrize("number", SIGNALS)
def test_what_is_finished_is_kept(place: str, number: int, tmp_path: Path) -> None:
    """In compiled code, and where Python swallows the exception of a signal."""
    (tmp_path / "pairs.csv").write_text("left,right,probability\na,b,.5\nc,d,.5\ne,f,.5\n")
    arguments = [place, "--out", "out.jsonl", "--workers", "1"]
    code, said = interrupted(SOLVE, arguments, number, tmp_path, "started")
    assert code == INTERRUPTED, said
    expected = "partita: interrupted; 1 of 3 sets were finished and are in out.jsonl"
    assert said.splitlines()[-1] == expected
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["set"] == "1"


@pytest.mark.parametrize("number", SIGNALS)
def test_workers_end_in_the_middle_of_their_work(number: int, tmp_path: Path) -> None:
    code, said = interrupted(POOL, [], number, tmp_path, "worker-1")
    assert code == INTERRUPTED, said
    assert said == "partita: interrupted\n"

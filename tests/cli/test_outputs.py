"""Files that commands write: one writer at a time, no input overwritten, nothing half-written."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita.files.resume import locked
from partita.files.writing import replacing
from patience import PATIENCE, until

COMMAND = [sys.executable, "-m", "partita"]
PAIRS = "left,right,probability\nA,B,.671\nA,D,.505\nB,D,.752\nC,D,.504\n"
DEPOT = "Subj: a rail depot\n\nA depot in Kinston. The depot is near the ammunition depot.\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    (tmp_path / "message.txt").write_text(DEPOT)
    return tmp_path


def partita(*arguments: str) -> tuple[int, str]:
    """Run the command in this process; return its exit code and what it says."""
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.stderr


def process(
    *arguments: str, before: Callable[[], None] | None = None, stdout: int = subprocess.PIPE
) -> tuple[int, str]:
    """Run the command in a process of its own."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        preexec_fn=before,
        check=False,
    )
    return done.returncode, done.stderr


def refused(arguments: Sequence[str], problem: str) -> None:
    """Check that a command fails with one line and changes no file."""
    before = contents()
    code, said = partita(*arguments)
    assert code == 1, said
    [*_, line] = said.splitlines()
    assert problem in line
    assert "Traceback" not in said
    assert contents() == before


def contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def run_depots(*arguments: str) -> list[str]:
    return ["run", "message.txt", "--domain", "depots", *arguments]


def test_a_results_file_that_another_process_writes(folder):
    with locked(folder / "out.jsonl"):
        refused(run_depots("--out", "out.jsonl"), "is being written by another process")
    assert not (folder / "out.jsonl").exists()
    assert partita(*run_depots("--out", "out.jsonl"))[0] == 0


def test_run_does_not_truncate_results_of_solve(folder):
    assert partita("solve", "pairs.csv", "--out", "solved.jsonl")[0] == 0
    refused(run_depots("--out", "solved.jsonl"), "line 1: was written by partita solve")
    whole = (folder / "solved.jsonl").read_bytes()
    (folder / "solved.jsonl").write_bytes(whole.splitlines()[0])
    refused(run_depots("--out", "solved.jsonl"), "line 1: was written by partita solve")


def test_solve_replaces_only_results_of_solve():
    assert partita("solve", "pairs.csv", "--out", "solved.jsonl")[0] == 0
    assert partita("solve", "pairs.csv", "--out", "solved.jsonl")[0] == 0
    assert partita(*run_depots("--out", "run.jsonl"))[0] == 0
    refused(["solve", "pairs.csv", "--out", "run.jsonl"], "something else than results of solve")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["solve", "pairs.csv", "--out", "pairs.csv"], "pairs.csv: is also an input"),
        (["solve", "pairs.csv", "--out", "./pairs.csv"], "pairs.csv: is also an input"),
        (["run", "message.txt", "--out", "message.txt"], "message.txt: is also an input"),
        (["run", ".", "--out", "new.jsonl"], "new.jsonl: lies in the input folder ."),
        (["run", ".", "--store", "new.db"], "new.db: lies in the input folder ."),
        (["train", "pairs.csv", "--out", "pairs.csv"], "pairs.csv: is also an input"),
    ],
)
def test_no_input_is_overwritten(arguments, problem):
    refused(arguments, problem)


def test_an_empty_store_is_a_usage_error(folder):
    code, said = partita(*run_depots("--store", ""))
    assert code == 2
    assert "expected a file or postgresql://" in said
    assert not (folder / "partita.db").exists()


def no_space() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "pairs.csv", "--out", "new.jsonl"],
        ["solve", "pairs.csv", "--out", "/dev/full"],
    ],
)
def test_a_full_disk_is_one_line_and_leaves_nothing(arguments):
    before = contents()
    code, said = process(*arguments, before=no_space)
    assert code == 1
    assert "cannot be written: " in said.splitlines()[-1]
    assert "Traceback" not in said
    assert {name: data for name, data in contents().items() if data} == before


def test_a_full_disk_behind_standard_output():
    with Path("/dev/full").open("wb") as full:
        code, said = process("solve", "pairs.csv", "--json", stdout=full.fileno())
    assert (code, "Traceback" in said) == (1, False)
    assert said.splitlines()[-1].startswith("partita: standard output: cannot be written: No space")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_command_leaves_no_partial_file(folder, number):
    rows = [f"a{n},b{n},.5\n" for n in range(200_000)]
    (folder / "many.csv").write_text("left,right,probability\n" + "".join(rows))
    command = [*COMMAND, "solve", "many.csv", "--out", "out.jsonl", "--workers", "1"]
    started = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    until(lambda: is_writing(started.pid), "the first sets")
    started.send_signal(number)
    started.wait(timeout=PATIENCE)
    left = {path.name for path in folder.iterdir()} - {"many.csv", "pairs.csv", "message.txt"}
    assert left == ({"out.jsonl"} if number == signal.SIGTERM else set())
    for line in (folder / "out.jsonl").read_text().splitlines() if left else ():
        json.loads(line)


def is_writing(process: int) -> bool:
    """Whether an open file of a process has contents and no name, or is a partial one."""
    with suppress(FileNotFoundError):  # a file that is closed meanwhile
        for number in Path(f"/proc/{process}/fd").iterdir():
            name = str(number.readlink())
            if ("(deleted)" in name or ".partial" in name) and number.stat().st_size > 0:
                return True
    return False


def test_what_killed_processes_left_is_removed(folder):
    (folder / ".out.1.partial").write_text("half")
    with replacing(folder / "out") as stream:
        stream.write("whole")
    assert sorted(path.name for path in folder.glob("*out*")) == ["out"]

"""The short version of `make kill`: no kill, clock, disk or folder makes a store differ."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "kill.py"


def test_killed_runs_end_as_one_that_was_not() -> None:
    command = [sys.executable, str(SCRIPT), "--kills", "20", "--messages", "60", "--seed", "6"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    figures = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if "|" in line][
        2:
    ]
    if os.environ.get("PARTITA_TEST_ALL"):
        assert [int(row[1]) for row in figures] == [10, 8, 2]
    assert int(figures[0][1]) == 10
    assert figures[0][-1] == "0"
    assert "a clock that jumps by years: " in done.stdout
    assert "a full disk, enlarged afterwards: " in done.stdout
    assert "a read-only folder, ordinary user: refused in one line" in done.stdout

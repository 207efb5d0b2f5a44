"""Peak memory of the whole process stays under --memory, whatever the set and the method."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oracles.instances import planted_pairs, uniform_pairs

LIMIT = 500_000_000


def band(n: int, width: int) -> np.ndarray:
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width
    return np.where(near, uniform_pairs(n, 0.05, 0.95, np.random.default_rng(n)), 0.0)


SETS = {
    "dense 20": lambda: uniform_pairs(20, 0.05, 0.95, np.random.default_rng(20)),
    "dense 24": lambda: uniform_pairs(24, 0.05, 0.95, np.random.default_rng(24)),
    "dense 30": lambda: planted_pairs(30, np.random.default_rng(30)),
    "dense 200": lambda: planted_pairs(200, np.random.default_rng(200)),
    "band 2000": lambda: band(2000, 6),
}


@pytest.mark.parametrize("name", SETS)
def test_peak_memory(name: str, tmp_path: Path) -> None:
    p = SETS[name]()
    rows = [
        f"T{i},T{j},{float(p[i, j])!r}\n" for i in range(len(p)) for j in range(i) if p[i, j] > 0
    ]
    path = tmp_path / "pairs.csv"
    path.write_text("left,right,probability\n" + "".join(rows), encoding="utf-8")
    arguments = ["--memory", "500M", "--seconds", "4", "--out", str(tmp_path / "out.jsonl")]
    code = (
        "import resource, subprocess, sys;"
        "command = [sys.executable, '-m', 'partita', 'solve', *sys.argv[1:]];"
        "done = subprocess.run(command, stdout=subprocess.DEVNULL);"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(path), *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    code_of_solve, peak = map(int, run.stdout.split())
    assert code_of_solve == 0, run.stderr
    assert peak < LIMIT

"""Results, reports and trained parameters do not depend on the seed of Python's hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent


def outputs(folder: Path, seed: int) -> dict[str, bytes]:
    """All files that the commands write under this seed."""
    program = [sys.executable, str(TESTS / "every_command.py"), str(folder)]
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path}
    done = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_every_command_writes_the_same_bytes_under_two_seeds(tmp_path):
    one, other = (outputs(tmp_path / str(seed), seed) for seed in (1, 2))
    assert sorted(one) == sorted(other)
    assert [name for name in one if one[name] != other[name]] == []
    assert min(map(len, one.values())) > 0

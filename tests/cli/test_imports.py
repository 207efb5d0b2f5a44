"""A command imports only what it uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCORES = "left,right,probability\na,b,0.9\nb,c,0.7\na,c,0.4\nd,e,0.2\n"
HEAVY = ("numba", "llvmlite", "pandas", "altair", "sqlalchemy", "splink", "duckdb", "fastapi")
CASES = {
    ("--help",): ("numpy", "scipy", "importlib.metadata", *HEAVY),
    ("cluster", "--help"): ("numpy", "scipy", *HEAVY),
    ("cluster", "scores.csv"): ("partita.app.explain", "partita.pairs.explanation", *HEAVY),
    ("solve", "scores.csv"): ("partita.app.explain", "partita.pairs.explanation", *HEAVY),
}


@pytest.mark.parametrize("arguments", CASES, ids=" ".join)
def test_what_is_not_used_is_not_imported(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(SCORES)
    code = (
        "import sys\n"
        "from partita.cli import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    imported = done.stderr.splitlines()[-1].split()
    assert "partita.cli" in imported, done.stderr
    unused = CASES[arguments]
    if "numba" in unused and "llvmlite" in imported:  # it loads what was compiled in a clone
        unused = tuple(name for name in unused if name != "llvmlite")
    assert [name for name in imported if name in unused] == []

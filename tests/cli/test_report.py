"""partita report: a file, or one clear line and no file."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oracles import reported
from partita.cli import app


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["report", *arguments])


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "r.jsonl"
    path.write_text(reported.line(["A", "B"], "m") + "\n", encoding="utf-8")
    return path


def test_a_file_is_written(results: Path, tmp_path: Path):
    out = tmp_path / "report.html"
    done = call(str(results), "--out", str(out))
    assert (done.exit_code, done.stdout) == (0, "")
    size = len(out.read_bytes()) / 1000
    assert done.stderr == f"partita: {out}: {size:,.0f} kB\n"
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(tmp_path.iterdir()) == [results, out]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("none.jsonl",), "none.jsonl: cannot be read: No such file"),
        (("demo", "--store", "none.db"), "none.db: does not exist"),
        (
            ("demo", "--store", "none.db", "--texts", "a.txt"),
            "--texts and --keys are for results files",
        ),
    ],
)
def test_trouble_is_one_line_and_no_file(
    arguments: tuple[str, ...], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    done = call(*arguments, "--out", "report.html")
    assert done.exit_code == 1
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to(results: Path, tmp_path: Path):
    done = call(str(results), "--out", str(tmp_path / "no" / "report.html"))
    assert done.exit_code == 1
    assert "cannot be written" in done.stderr
    assert list(tmp_path.iterdir()) == [results]

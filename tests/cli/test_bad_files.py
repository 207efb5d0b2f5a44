"""Files that a command cannot use: one line that names the file, the line and the problem."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from partita.cli import app

DEEP = "[" * 100_000
CLAIMS = "source,object,value\nx,o,a\ny,o,b\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def partita(*arguments: str, **files: str) -> Result:
    """Run a command; F_csv is the contents of F.csv."""
    for name, text in files.items():
        Path(name.replace("_", ".")).write_bytes(text.encode())
    return CliRunner().invoke(app, arguments)


def test_lines_that_end_in_carriage_returns():
    table = "left,right,probability\nA,B,.5\nB,C,.25\n"
    plain = partita("solve", "p.csv", "--json", p_csv=table)
    other = partita("solve", "p.csv", "--json", p_csv=table.replace("\n", "\r"))
    assert plain.exit_code == other.exit_code == 0
    assert plain.stdout == other.stdout
    rows = [{"left": "A", "right": other, "probability": 0.5} for other in "BC"]
    assert partita("solve", "p.jsonl", p_jsonl="\r".join(map(json.dumps, rows))).exit_code == 0
    assert partita("fuse", "c.csv", c_csv=CLAIMS.replace("\n", "\r")).exit_code == 0


@pytest.mark.parametrize(
    ("command", "name", "text", "problem"),
    [
        ("solve", "f.csv", "left,ri\rght,probability\nA,B,.5\n", "f.csv, line 1: is not CSV"),
        ("solve", "f.jsonl", f'{{"left":{DEEP}\n', "f.jsonl, line 1: is nested too deeply"),
        ("fuse", "f.jsonl", f'{{"object":{DEEP}\n', "f.jsonl, line 1: is nested too deeply"),
        (
            "solve",
            "f.jsonl",
            '{"left":"a","right":"b","probability":' + "9" * 5000 + "}\n",
            "f.jsonl, line 1: holds an integer with too many digits",
        ),
        (
            "fuse",
            "f.jsonl",
            '{"object":"o","source":"x","value":"a","confidence":' + "9" * 400 + "}\n",
            "is not a number from 0 to 1",
        ),
        (
            "solve",
            "f.csv",
            "left;right;probability\nA;B;often\n",
            "f.csv, line 2: the probability of A and B is often, not a number",
        ),
        (
            "fuse",
            "f.csv",
            "source;object;value\nx;o\n",
            "f.csv, line 2: has 2 values; the header names 3 columns",
        ),
        ("fuse", "f.csv", "x,o,a\n", "if the file has no header, name its columns with --columns"),
        ("fuse", "f.csv", "x,o,a\ny,o,b\n", "if the file has no header, name its columns"),
        (
            "fuse",
            "f.csv",
            "source,left,right,same\nx,A,B,yes\nx,A,C,maybe\n",
            "f.csv, line 3: judgement 'maybe' is neither same nor different",
        ),
        (
            "fuse",
            "f.csv",
            "source,left,right,same\nx,A,A,yes\nx,A,C,no\n",
            "f.csv, line 2: judges A against itself",
        ),
        (
            "fuse",
            "f.csv",
            "source,left,right,probability\nx,A,A,.9\n",
            "f.csv, line 2: judges A against itself",
        ),
    ],
)
def test_the_problem_and_its_place(command, name, text, problem):
    result = partita(command, name, **{name.replace(".", "_"): text})
    assert result.exit_code == 1
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert problem in line


def test_a_cycle_in_a_hierarchy():
    hierarchy = "name,parent\nd,a\na,b\nb,c\nc,a\n"
    result = partita("fuse", "c.csv", "--hierarchy", "h.csv", c_csv=CLAIMS, h_csv=hierarchy)
    assert result.exit_code == 1
    assert "h.csv, line 3: values form a cycle: A > B > C > A" in result.stderr

"""The command run with the real extractor: the paper's message, many processes, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita.cli.demo import MESSAGE
from partita.corpora.documents import corpus_path
from partita.results.result_lines import schema
from patience import PATIENCE, until

COMMAND = [sys.executable, "-m", "partita", "run", "--domain", "depots"]
MESSAGES = 56  # enough that other processes are started


def run(*arguments: object) -> list[dict]:
    result = CliRunner().invoke(app, ["run", "--domain", "depots", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    for line in lines:
        jsonschema.Draft202012Validator(schema()).validate(line)
    return lines


@pytest.fixture(params=[str, str.upper], ids=["mixed", "upper"])
def kinston(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "kinston.txt"
    path.write_text(request.param(MESSAGE))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "messages"
    place.mkdir()
    texts = [path.read_text() for path in sorted(corpus_path().glob("*.txt"))]
    for n in range(MESSAGES):
        (place / f"m{n:02}.txt").write_text(texts[n])
    return place


def test_the_message_of_the_paper(kinston):
    found, alone = run(kinston)
    depots = {one["text"].lower(): one for one in found["templates"]}
    assert list(depots) == [
        "kinston military rail depot",
        "a rail depot",
        "the ammunition depot",
        "the depot",
    ]
    a, b, c, d = depots.values()
    common = {"FACILITY": "DEPOT", "NUMBER": 1}
    assert a["slots"] == {**common, "LOCATION": "KINSTON", "TYPE": "RAIL"}
    assert b["slots"] == {**common, "TYPE": "RAIL"}
    assert c["slots"] == {**common, "LOCATION": "FAIRVIEW", "TYPE": "AMMUNITION"}
    assert d["slots"] == common
    assert d["antecedents"][0] == {"id": b["id"], "preferred": True}
    assert found["incompatible"] == [[a["id"], c["id"]], [b["id"], c["id"]]]
    assert found["count"] == "7"
    assert len(found["configurations"]) == 7
    assert not any(one["sort"] == "DEPOT" for one in alone["singletons"])


@pytest.mark.parametrize("model", ["uniform", "greedy", "merging", "scaled", "joint"])
def test_every_model(model, tmp_path):
    path = tmp_path / "kinston.txt"
    path.write_text(MESSAGE)
    found = run(path, "--model", model)[0]
    assert (found["model"], found["count"]) == (model, "7")
    assert sum(one["probability"] for one in found["configurations"]) == pytest.approx(1.0)
    for entity in found["entities"]:
        for values in entity["slots"].values():
            assert sum(one["probability"] for one in values) == pytest.approx(1.0)


def test_a_domain_that_is_not_there(tmp_path):
    result = CliRunner().invoke(app, ["run", str(tmp_path), "--domain", "cooking"])
    assert result.exit_code == 1
    assert "unknown domain 'cooking' (expected" in result.stderr


def test_the_same_bytes_with_many_processes_and_after_ctrl_c(folder, tmp_path):
    alone, shared = tmp_path / "alone.jsonl", tmp_path / "shared.jsonl"
    done = CliRunner().invoke(
        app, ["run", "--domain", "depots", str(folder), "--out", str(alone), "--workers", "1"]
    )
    assert done.exit_code == 0, done.stderr
    command = [*COMMAND, str(folder), "--out", str(shared), "--workers", "2"]
    assert _interrupted(command, shared) in (0, 130)  # 0: it was quicker than the signal
    assert alone.read_bytes().startswith(shared.read_bytes())
    subprocess.run(command, check=True, capture_output=True)
    assert shared.read_bytes() == alone.read_bytes()


def _interrupted(command: list[str], out: Path) -> int:
    """The exit code after Ctrl-C, which comes when something has been written."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    until(lambda: process.poll() is not None or (out.exists() and out.stat().st_size), "a result")
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    told = process.communicate(timeout=PATIENCE)[1].decode()
    assert "Traceback" not in told, told
    return process.returncode

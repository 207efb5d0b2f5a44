"""The command run over a stand-in for extraction: files in, results and reports out."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from oracles.extraction import stages
from partita.app import batch
from partita.app import runner as running
from partita.app.batch import OutputForms
from partita.app.runner import Runner, run_messages, text_hash, usual_budget
from partita.cli import app
from partita.domains import ParameterText
from partita.pipeline import Stages
from partita.results.result_lines import schema
from partita.results.saved_results import Alone, read_results
from partita.text.raw_messages import RawMessage

KINSTON = "Subj: a rail depot\n\nA depot in Kinston. The depot is near the ammunition depot.\n"
BRIDGE = "The bridge was seen.\n"


class StandIn(Runner):
    """A runner whose templates are found by a regular expression."""

    parameters = ParameterText("none", "", "nothing")

    @cached_property
    def stages(self) -> Stages:
        return stages(self.settings.model, self.settings.top)

    @property
    def provenance(self) -> dict[str, object]:
        settings = self.settings
        return {"model": settings.model, "seed": settings.seed, "top": settings.top}


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "Runner", StandIn)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "messages"
    place.mkdir()
    (place / "kinston.txt").write_text(KINSTON)
    (place / "bridge.txt").write_text(BRIDGE)
    (place / "none.txt").write_text("Nothing of interest.\n")
    return place


def run(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["run", "--domain", "depots", *map(str, arguments)], input=stdin)


def lines(text: str) -> list[dict]:
    found = [json.loads(line) for line in text.splitlines()]
    for one in found:
        jsonschema.Draft202012Validator(schema()).validate(one)
    return found


def test_results_in_order_with_entities(folder):
    result = run(folder, "--json")
    assert result.exit_code == 0, result.stderr
    found = lines(result.stdout)
    assert [(one["message"], one.get("set")) for one in found] == [
        ("bridge", None),
        ("kinston", "kinston.1"),
        ("kinston", None),
        ("none", None),
    ]
    named = found[1]
    assert len(named["templates"]) == 4
    assert named["incompatible"] == [["T1", "T4"]]
    first = named["entities"][0]
    assert set(first) >= {"id", "sort", "templates", "anchor", "probability", "slots"}
    assert first["templates"] == named["configurations"][0]["cells"][0]
    assert found[0]["singletons"][0]["text"] == "The bridge"
    assert found[2]["run"] == {
        "text": text_hash(KINSTON), "model": "evidential", "seed": 0, "top": None
    }  # fmt: skip
    assert "evidential with parameters learned from nothing" in result.stderr
    assert "3 messages: 5 templates, 1 set, " in result.stderr


def test_the_report_of_a_few_messages(folder):
    result = run(folder)
    assert result.exit_code == 0
    assert result.stdout.startswith("bridge (")
    assert "Set kinston.1: 4 templates, " in result.stdout
    assert "\n\nnone (" in result.stdout
    assert all(len(row) <= 80 for row in result.stdout.splitlines())


def test_many_messages_are_told_in_a_line_each(tmp_path):
    for n in range(30):
        (tmp_path / f"m{n:02}.txt").write_text(KINSTON)
    rows = run(tmp_path).stdout.splitlines()
    assert len(rows) == 30
    assert rows[7].startswith("m07: 4 templates, 1 set, ")
    out = tmp_path / "out.jsonl"
    assert run(tmp_path / "m03.txt", "--out", out).stdout.startswith("m03 (")
    assert run(*sorted(tmp_path.glob("m*.txt")), "--out", out).stdout == ""


def test_standard_input():
    assert run("-", stdin=BRIDGE).stdout.splitlines()[1] == "1 template, 0 sets, 1 entity"


def test_messages_that_fail_do_not_stop_the_others(folder, caplog):
    (folder / "a.txt").write_text("FAIL")
    (folder / "b.txt").write_text("BUG")
    (folder / "c.txt").write_bytes(b"\xff\x00\xff")
    (folder / "d.txt").write_bytes(b"")
    result = run(folder, folder / "missing.txt", "--json")
    assert result.exit_code == 1
    assert len(lines(result.stdout)) == 4
    told = result.stderr.splitlines()[1:]
    assert f"{folder / 'a.txt'}: message a: cannot be understood" in told[0]
    assert "message b: a fault of Partita (ZeroDivisionError: division by zero)" in told[1]
    [(_, _, logged)] = caplog.record_tuples
    assert logged.startswith(f"fault {told[1].split()[-1]} in message b\nTraceback")
    for row, name in zip(told[2:5], ("c.txt", "d.txt", "missing.txt"), strict=True):
        assert name in row
    assert told[5].endswith("; 5 failed")


def test_what_is_in_the_file_is_not_done_again(folder, tmp_path, monkeypatch):
    out = tmp_path / "out.jsonl"
    assert run(folder, "--out", out).exit_code == 0
    whole = out.read_bytes()
    with monkeypatch.context() as nothing:
        nothing.setattr(running, "resolve", None)
        result = run(folder, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "0 messages: 0 templates, 0 sets, 0 entities; 3 done before" in result.stderr
    for cut in (len(whole) - 1, len(whole) // 2, 10, 0):
        out.write_bytes(whole[:cut])
        assert run(folder, "--out", out).exit_code == 0
        assert out.read_bytes() == whole


def test_a_message_that_failed_is_done_the_next_time(folder, tmp_path):
    fresh, out = tmp_path / "fresh.jsonl", tmp_path / "out.jsonl"
    run(folder, "--out", fresh)
    (folder / "kinston.txt").write_text("FAIL")
    assert run(folder, "--out", out).exit_code == 1
    (folder / "kinston.txt").write_text(KINSTON)
    assert run(folder, "--out", out).exit_code == 0
    assert out.read_bytes() == fresh.read_bytes()


def test_other_settings_and_other_texts_are_refused(folder, tmp_path):
    out = tmp_path / "out.jsonl"
    run(folder, "--out", out)
    whole = out.read_bytes()
    result = run(folder, "--out", out, "--seed", "3")
    assert result.exit_code == 1
    assert "was done with seed 0, and this run has 3" in result.stderr
    (folder / "kinston.txt").write_text(BRIDGE)
    result = run(folder, "--out", out)
    assert result.exit_code == 1
    assert "holds another text called kinston" in result.stderr
    assert out.read_bytes() == whole


def test_ctrl_c_keeps_what_was_finished(folder, tmp_path, monkeypatch):
    out = tmp_path / "out.jsonl"
    resolve = running.resolve

    def interrupted(message, stages):
        if message.id == "none":
            raise KeyboardInterrupt
        return resolve(message, stages)

    with monkeypatch.context() as stopped:
        stopped.setattr(running, "resolve", interrupted)
        result = run(folder, "--out", out)
    assert result.exit_code == 130
    assert "2 messages were finished and are in" in result.stderr
    assert len([one for one in read_results(out) if isinstance(one, Alone)]) == 2
    assert run(folder, "--out", out).exit_code == 0
    assert len([one for one in read_results(out) if isinstance(one, Alone)]) == 3


def test_usage(folder):
    assert run(folder, "--model", "best").exit_code == 2
    assert run(folder, "--to", "xml").exit_code == 2
    assert run().exit_code == 2
    result = run(folder, "--encoding", "klingon")
    assert result.exit_code == 1
    assert "not a text encoding" in result.stderr


def test_files_that_cannot_be_written(folder, tmp_path):
    result = run(folder, "--out", tmp_path / "no" / "out.jsonl")
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr
    other = tmp_path / "notes.txt"
    other.write_text("my notes")
    assert run(folder, "--out", other).exit_code == 1
    assert other.read_text() == "my notes"


def test_pieces_hold_everything_in_order():
    texts = [RawMessage(f"m{n}", "x" * (n * 997 % 30_000), "f") for n in range(100)]
    pieces = [piece.items for piece in running._pieces(iter(texts))]
    assert [one for piece in pieces for one in piece] == texts
    assert max(map(len, pieces)) <= running.CHUNK


def test_few_messages_need_no_other_process(monkeypatch):
    monkeypatch.setattr(batch, "_pool", None)
    texts = [RawMessage(f"m{n}", BRIDGE, "f") for n in range(5)]
    found = list(run_messages(texts, StandIn(), OutputForms(json=True), workers=8))
    assert [one.name for one in found] == ["m0", "m1", "m2", "m3", "m4"]


def test_the_budget_looks_at_no_clock_unless_it_is_told_to():
    assert usual_budget("evidential").work is not None
    assert usual_budget("merging").work > usual_budget("evidential").work
    assert usual_budget("merging", seconds=5.0).work is None
    assert usual_budget("merging", work=7).work == 7

"""The command run in the domain of the exam: results with events, and answers."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner, Result

import partita_incidents
from partita.cli import app
from partita.results.result_lines import schema
from partita_incidents.exam_files import read_exam
from small_exam import examples, written


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


SCHEMA = json.loads((Path(partita_incidents.__file__).parent / "incidents.schema.json").read_text())
TWO = next(n for n, (_, key) in enumerate(examples()) if len(key) == 2)
SOME = slice(TWO, None, 8)


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("exam") / "some", SOME) / "messages"


def test_answers_are_an_exam(messages: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers"
    result = run("run", messages, "--domain", "incidents", "--to", "muc", "--out", out)
    assert result.exit_code == 0, result.output
    exam = read_exam(out)
    assert not exam.problems
    assert list(exam.messages) == [story.message.id for story, _ in examples()[SOME]]
    assert {incident.of(4)[0].values[0] for incident in exam.incidents} >= {"BOMBING"}
    again = run("run", messages, "--domain", "incidents", "--to", "muc")
    assert again.stdout == out.read_text()


def test_events_have_a_distribution_that_is_explained_and_evaluated(
    messages: Path, tmp_path: Path
) -> None:
    out = tmp_path / "results.jsonl"
    assert run("run", messages, "--domain", "incidents", "--out", out).exit_code == 0
    found = [json.loads(line) for line in out.read_text().splitlines()]
    for one in found:
        jsonschema.Draft202012Validator(schema()).validate(one)
        if "incidents" in one:
            jsonschema.Draft202012Validator(SCHEMA).validate(one["incidents"])
    sets = [one for one in found if "set" in one and one["templates"][0]["sort"] == "EVENT"]
    events = sets[0]
    total = sum(one["probability"] for one in events["configurations"])
    assert total + events["remainder"]["probability"] == pytest.approx(1.0)
    assert "INCIDENT" in events["templates"][0]["slots"]
    ids = [template["id"] for template in events["templates"]]
    why = json.loads(run("explain", out, events["set"], *ids[:2], "--json").stdout)
    assert why["pair"]["probability"] == pytest.approx(why["probability"], abs=1e-6)
    key = {name: events[name] for name in ("version", "message", "templates")}
    key |= {"cells": events["configurations"][0]["cells"], "author": "we", "time": "1992-06-16"}
    (tmp_path / "keys.jsonl").write_text(json.dumps(key) + "\n")
    (tmp_path / "events.jsonl").write_text(json.dumps(events) + "\n")
    judged = run("evaluate", tmp_path / "events.jsonl", tmp_path / "keys.jsonl", "--json")
    assert judged.exit_code == 0, judged.output


def test_results_hold_the_answers_with_probabilities(messages: Path, tmp_path: Path) -> None:
    """The same incidents and fills as in the exam's format, none likelier than its incident."""
    out = tmp_path / "results.jsonl"
    run("run", messages, "--domain", "incidents", "--out", out)
    run("run", messages, "--domain", "incidents", "--to", "muc", "--out", tmp_path / "answers")
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    found = [incident for line in lines for incident in line.get("incidents", ())]
    answered = read_exam(tmp_path / "answers").incidents
    assert len(found) == len(answered) > 0
    for incident, answer in zip(found, answered, strict=True):
        assert all(0 < fill["probability"] <= incident["probability"] for fill in incident["fills"])
        values = [value for fills in answer.fills.values() for f in fills for value in f.values]
        assert sorted(fill["value"] for fill in incident["fills"]) == sorted(values)


def test_participants_are_explained_by_the_general_parameters(
    messages: Path, tmp_path: Path
) -> None:
    out = tmp_path / "results.jsonl"
    run("run", messages, "--domain", "incidents", "--out", out)
    found = [json.loads(line) for line in out.read_text().splitlines()]
    one = next(s for s in found if "set" in s and s["templates"][0]["sort"] != "EVENT")
    left, right = (template["id"] for template in one["templates"][:2])
    assert run("explain", out, one["set"], left, right).exit_code == 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--domain", "depots", "--to", "muc"), "domain depots has no format 'muc'"),
        (("--domain", "incidents", "--to", "muc", "--json"), "expected no --store, --json"),
        (
            ("--domain", "incidents", "--model", "joint"),
            "domain incidents does not support the model joint",
        ),
    ],
)
def test_what_cannot_be_answered(messages: Path, options: tuple[str, ...], problem: str) -> None:
    result = run("run", messages, *options)
    assert result.exit_code == 1
    assert problem in result.output

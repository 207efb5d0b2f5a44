"""Answers of several systems to the exam as one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita_incidents.exam_files import format_templates, read_exam
from partita_incidents.exam_templates import Fill, Incident
from partita_incidents.fuse_muc import fuse_answers
from partita_incidents.fusion_things import make_report, similarity
from partita_incidents.score import mark

MUC = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "muc4"


def incident(message: str, kind: str, victim: str, place: str = "PERU", *more: str) -> Incident:
    victims = tuple(Fill((name,)) for name in (victim, *more))
    harmed = tuple(Fill(("DEATH",), (name,)) for name in (victim, *more))
    fills = {2: (Fill(("12 MAR 89",)),), 3: (Fill((place,)),), 4: (Fill((kind,)),),
             18: victims, 23: harmed}  # fmt: skip
    return Incident(message, "1", fills)


def write(folder: Path, system: str, told: list[Incident]) -> Path:
    path = folder / f"{system}.txt"
    messages = sorted({one.message for one in told})
    path.write_text(
        "".join(format_templates((m, [i for i in told if i.message == m]) for m in messages))
    )
    return path


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three that mostly agree, and one that makes everything up."""
    names = ["JUAN PEREZ", "ANA RUIZ", "LUIS SOTO", "EVA LUNA", "RAUL VEGA", "INES MORA"]
    ids = [f"TST9-MUC4-{n:04}" for n in range(len(names))]
    good = [incident(m, "BOMBING", who) for m, who in zip(ids, names, strict=True)]
    vague = [
        incident(m, "BOMBING", who, "PERU: LIMA (CITY)") for m, who in zip(ids, names, strict=True)
    ]
    wild = [incident(m, "ROBBERY", f"NOBODY{n} X", "CHILE") for n, m in enumerate(ids)]
    told = {"a": good, "b": good[:5], "c": vague, "d": wild}
    folder = tmp_path_factory.mktemp("systems")
    return [write(folder, system, one) for system, one in told.items()]


@pytest.fixture(scope="module")
def together(systems: list[Path]):
    return fused(systems)


def fused(paths: list[Path]):
    return fuse_answers({path.stem: read_exam(path) for path in paths})


def test_who_agrees_is_trusted_and_stated(together):
    found = together
    trust = {one.source: one.precision for one in found.trusted}
    assert min(trust["a"], trust["b"]) > trust["d"]
    first = found.messages["TST9-MUC4-0000"][0]
    assert [fill.values for fill in first.of(18)] == [("JUAN PEREZ",)]
    assert first.of(4) == (Fill(("BOMBING",)),)
    assert first.of(23) == (Fill(("DEATH",), ("JUAN PEREZ",)),)


def test_what_two_say_alike_is_what_they_say(tmp_path):
    told = [incident("TST9-MUC4-0001", "BOMBING", "JUAN PEREZ")]
    found = fused([write(tmp_path, "a", told), write(tmp_path, "b", told)])
    assert [one.fills for one in found.messages["TST9-MUC4-0001"]] == [told[0].fills]


def test_order_of_systems_does_not_matter(systems, together):
    one, two = together, fused(systems[::-1])
    assert one.trusted == two.trusted
    assert list(format_templates(one.messages.items())) == list(
        format_templates(two.messages.items())
    )


def test_command_writes_answers_that_can_be_read_and_tells_trust(systems, tmp_path):
    out = tmp_path / "fused.txt"
    given = ["fuse", "--from", "muc", *map(str, systems), "--out", str(out)]
    text = CliRunner().invoke(app, given)
    assert text.exit_code == 0, text.output
    read = read_exam(out)
    assert not read.problems
    told = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert told["templates"] == len(read.incidents)
    assert {one["source"] for one in told["sources"]} == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "muc"], "--from FORM and --out"),
        (["--out", "x"], "--from FORM and --out"),
        (["--from", "xml", "--out", "x"], "unknown format 'xml' (expected muc)"),
    ],
)
def test_what_is_asked_for_must_make_sense(systems, arguments, words):
    result = CliRunner().invoke(app, ["fuse", *map(str, systems), *arguments])
    assert result.exit_code != 0
    assert words in result.output


def test_one_system_is_not_several(systems, tmp_path):
    given = ["fuse", "--from", "muc", str(systems[0]), "--out", str(tmp_path / "x.txt")]
    result = CliRunner().invoke(app, given)
    assert result.exit_code != 0
    assert "several systems" in result.output
    assert not (tmp_path / "x.txt").exists()


def test_people_with_different_names_are_two_whatever_else_is_said_of_them():
    def victim(name: str):
        fills = {18: (Fill((name,)),), 19: (Fill(("THE MINISTER",), (name,)),)}
        return make_report("s", Incident("m", "1", fills)).things["victim"]

    (one,), (two,) = victim("JUAN PEREZ"), victim("LUIS SOTO")
    assert one.fills == {18: "JUAN PEREZ", 19: "THE MINISTER"}
    assert similarity(one, two) == 0
    assert similarity(one, one) == 1


@pytest.mark.corpus
def test_seventeen_systems_together_are_better_than_the_best(tmp_path):
    responses = sorted((MUC / "tst3-systems" / "responses").glob("*.txt"))
    if not responses:
        pytest.skip(f"no answers of systems in {MUC}")
    out = tmp_path / "fused.txt"
    given = ["fuse", "--from", "muc", *map(str, responses), "--out", str(out), "--json"]
    told = json.loads(CliRunner().invoke(app, given).stdout)
    key = [MUC / "tst3" / "key-tst3.v2"]
    scores = {path.stem: mark(key, path).score.all_templates.f() for path in (*responses, out)}
    assert scores.pop("fused") > max(scores.values())
    trust = {one["source"]: one["f"] for one in told["sources"]}
    best, trusted = (sorted(d, key=d.__getitem__)[-5:] for d in (scores, trust))
    assert set(best) == set(trusted)

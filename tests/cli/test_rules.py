"""The commands for people who write domains, as they are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.app.authoring import lint_domain, trace_messages
from partita.cli import app
from partita.cli.research import rules
from partita.corpora.documents import corpus_path
from partita.corpora.keys import read_keys
from partita.text.layout import parse_layout
from rules.toy import GROUPS, written


def test_lint_tells_where_and_fails(tmp_path: Path) -> None:
    folder = written(tmp_path, groups=GROUPS.replace("$head.sort", "HEDD"))
    told = CliRunner().invoke(rules, ["lint", str(folder)])
    assert told.exit_code == 1
    assert "groups.yaml:7:14: error: unknown sort HEDD" in told.output


def test_lint_of_what_is_in_order(tmp_path: Path) -> None:
    told = CliRunner().invoke(rules, ["lint", str(written(tmp_path))])
    assert (told.exit_code, told.output.split(": ")[-1]) == (0, "0 errors, 0 warnings\n")


def test_lint_tries_the_examples(tmp_path: Path) -> None:
    examples = '    examples: ["the old depot", "quickly"]\n'
    groups = GROUPS.replace("    build:\n      kind: ng", f"{examples}    build:\n      kind: ng")
    told = [one.said for one in lint_domain(written(tmp_path, groups=groups))]
    assert told == ["rule 'noun group': the example 'quickly' does not match"]


def test_lint_of_what_cannot_be_read(tmp_path: Path) -> None:
    folder = written(tmp_path, domain="domain: [")
    told = CliRunner().invoke(rules, ["lint", str(folder)])
    assert told.exit_code == 1
    assert "domain.yaml:2:1: error: is not YAML" in told.output
    assert CliRunner().invoke(rules, ["lint", str(tmp_path / "none")]).exit_code == 1


def test_trace_of_a_file(tmp_path: Path) -> None:
    message = tmp_path / "message.txt"
    message.write_text("The army has built a depot in Kinston.\n")
    folder = str(written(tmp_path))
    told = CliRunner().invoke(rules, ["trace", str(message), "--domain", folder])
    assert told.exit_code == 0, told.output
    assert "noun group: 'The army' → ng" in told.output
    assert "depot in a place: 'a depot in Kinston' about 'a depot'" in told.output
    only = CliRunner().invoke(rules, ["trace", str(message), "--domain", folder, "--phase", "toy"])
    assert "noun group" not in only.output


def test_run_refuses_what_lint_calls_an_error_once_before_any_message(tmp_path: Path) -> None:
    folder = tmp_path / "shops"
    (folder / "rules").mkdir(parents=True)
    (folder / "domain.yaml").write_text(
        "domain: shops\nabout: Shops.\nextends: english\nslots: {NAME: {type: name}}\n"
        "phases: [numbers, dates, names, groups, phrases, shops]\n"
    )
    rule = "{rule: never, pattern: 'what:[kind=ng, word=it]', template: {about: $what, slots: {}}}"
    (folder / "rules" / "shops.yaml").write_text(
        f"phase: shops\nstarts: everywhere\nrules:\n  - {rule}\n"
    )
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("It is a shop.")
    files = [str(tmp_path / f"{name}.txt") for name in "ab"]
    told = CliRunner().invoke(app, ["run", *files, "--domain", str(folder)])
    assert told.exit_code == 1
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1
    assert "shops.yaml, line 4" in told.stderr
    assert "no phrase of kind ng has the attribute 'word'" in told.stderr
    assert "message a" not in told.stderr


def test_trace_tells_what_is_not_asserted(tmp_path: Path) -> None:
    message = tmp_path / "m.txt"
    message.write_text("The depot is no longer guarded. It may be attacked. It is closed.")
    arguments = ["trace", str(message), "--domain", "depots", "--phase", "depots"]
    told = CliRunner().invoke(rules, [*arguments]).stdout
    said = [line.strip() for line in told.splitlines()]
    assert said[said.index("STATUS=[GUARDED]") + 1] == "denied (no longer)"
    assert said[said.index("EVENT=ATTACK") + 1] == "possible (may)"
    assert "denied" not in said[said.index("STATUS=[CLOSED]") + 1]


@pytest.mark.parametrize("arguments", [["none.txt"], ["message.txt", "--phase", "nope"]])
def test_bad_input_is_one_line(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "message.txt").write_text("A depot.\n")
    arguments[0] = str(tmp_path / arguments[0])
    told = CliRunner().invoke(rules, ["trace", *arguments, "--domain", str(written(tmp_path))])
    assert told.exit_code == 1
    assert told.output.count("\n") == 1


def test_a_text_through_a_shipped_domain() -> None:
    message = parse_layout("text", "A rail depot was found in Kinston.")
    phases = trace_messages([message], "depots")[0].seen
    assert any(win.kind == "ng" for one in phases for wins in one.wins for win in wins)


def test_test_of_the_shipped_corpus() -> None:
    told = CliRunner().invoke(rules, ["test", str(corpus_path()), "--json", "--errors", "3"])
    assert told.exit_code == 0, told.output
    figures = json.loads(told.output)
    assert (figures["messages"], len(figures["errors"])) == (100, 3)
    # Also where the messages were written after the rules.
    for part in ("dev", "msg", "new"):
        templates, slots = figures["part"][part]["templates"], figures["part"][part]["slots"]
        assert min(templates["recall"], templates["precision"]) >= 0.9, (part, templates)
        assert min(slots["recall"], slots["precision"]) >= 0.85, (part, slots)


def test_test_of_some_messages(tmp_path: Path) -> None:
    text, key = "The depot.\n", {"version": 1, "author": "Ann", "time": "1997-08-01"}
    depot = {"id": "A", "text": "The depot", "start": 0, "end": 9, "head": "depot"}
    keys = [{**key, "message": name, "templates": [depot], "cells": [["A"]]} for name in "ab"]
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "keys.jsonl").write_text("".join(json.dumps(key) + "\n" for key in keys))
    told = CliRunner().invoke(rules, ["test", str(tmp_path), "--only", "a"])
    assert told.exit_code == 0, told.output
    assert "all                      1 100.0 100.0 100.0" in told.output
    none = CliRunner().invoke(rules, ["test", str(tmp_path), "--only", "c"])
    assert none.exit_code == 1
    assert "has no keyed message whose name begins with 'c'" in none.output


def test_a_new_domain_works_and_is_labelled_in_the_terminal(tmp_path):
    """Undo, a wrong answer, a skipped set, and a second call that goes on."""
    folder, out = tmp_path / "Old Maps", tmp_path / "keys.jsonl"
    made = CliRunner().invoke(app, ["domain", "new", str(folder)])
    assert made.exit_code == 0
    assert (folder / "rules" / "old-maps.yaml").is_file()
    again = CliRunner().invoke(app, ["domain", "new", str(folder)])
    assert again.exit_code == 1
    assert "expected a new or empty folder" in again.stderr
    assert CliRunner().invoke(app, ["rules", "lint", str(folder)]).exit_code == 0
    words = ["keys", str(folder / "messages"), "--domain", str(folder), "--out", str(out)]
    first = CliRunner().invoke(app, words, input="\naaaa\nu\n\nab\n-\nq\n")
    assert first.exit_code == 0
    assert "expected 3 letters, one for each line" in first.stderr
    assert first.stdout.count("third.1\n") == 2
    keys = read_keys(out)
    assert [(key.message, len(key.templates)) for key in keys] == [("first", 11), ("third", 4)]
    assert [len(key.configuration.cells) for key in keys] == [4, 2]
    second = CliRunner().invoke(app, words, input="abbaacdbada\n")
    assert "first.1" not in second.stdout
    clash = CliRunner().invoke(app, [*words[:-1], str(tmp_path / "other.jsonl")], input="a" * 11)
    assert "have values that cannot both be true" in clash.stderr

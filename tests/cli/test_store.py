"""The commands over a store: run --store, runs, export; trouble is told in one line."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oracles.stored import rows
from partita.cli import app
from partita.store.store import open_store

TEXTS = {
    "a": "A rail depot was found near Kinston. The depot is large.",
    "b": "A fuel depot was found near Tarboro. The depot is empty.",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARTITA_STORE", raising=False)
    place = tmp_path / "messages"
    place.mkdir()
    for name, text in TEXTS.items():
        (place / f"{name}.txt").write_text(text)
    return place


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def said(*arguments: object) -> str:
    """The one line that a refused command says."""
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.stderr.splitlines()[-1]


def held(path: str = "s.db") -> dict[str, list]:
    store = open_store(path, create=False)
    found = rows(store)
    store.close()
    return found


def test_a_run_goes_into_a_store_and_is_gone_on_with(folder):
    result = run("run", "--domain", "depots", folder, "--store", "s.db", "--name", "monday")
    assert result.exit_code == 0
    assert "; run monday of store s.db" in result.stderr
    before = held()
    again = run("run", "--domain", "depots", folder, "--store", "s.db", "--name", "monday")
    assert "2 done before; run monday of store s.db" in again.stderr
    assert held() == before
    assert [row["message"] for row in before["messages"]] == ["a", "b"]


def test_without_a_name_the_same_settings_are_the_same_run(folder):
    for model in ("evidential", "uniform", "evidential"):
        assert (
            run("run", "--domain", "depots", folder, "--store", "s.db", "--model", model).exit_code
            == 0
        )
    names = [row["run"] for row in held()["runs"]]
    assert len(names) == 2
    assert {name.rsplit("-", 1)[0] for name in names} == {"depots-evidential", "depots-uniform"}


def test_results_from_the_store_are_those_of_a_file(folder):
    run("run", "--domain", "depots", folder, "--store", "s.db", "--name", "r")
    run("run", "--domain", "depots", folder, "--out", "direct.jsonl")
    result = run(
        "export", "r", "--store", "s.db", "--table", "results", "--to", "jsonl", "--out", "x"
    )
    assert result.stderr == "partita: x: 4 rows\n"
    assert Path("x").read_bytes() == Path("direct.jsonl").read_bytes()


def test_results_go_to_a_file_or_to_a_store(folder):
    both = run("run", "--domain", "depots", folder, "--out", "x.jsonl", "--store", "s.db")
    assert both.exit_code == 1
    assert "expected --out or --store" in both.stderr
    assert not Path("s.db").exists()
    assert not Path("x.jsonl").exists()


def test_runs_are_listed(folder):
    run("run", "--domain", "depots", folder, "--store", "partita.db", "--name", "monday")
    lines = run("runs").stdout.splitlines()
    assert lines[0].split() == ["run", "messages", "sets", "keyed", "bits", "outcome"]
    assert lines[1].split()[:3] == ["monday", "2", "2"]
    assert lines[1].endswith("complete")
    found = json.loads(run("runs", "--json").stdout)
    assert (found["name"], found["messages"]) == ("monday", 2)
    open_store("empty.db").close()
    assert run("runs", "--store", "empty.db").stdout == "no runs\n"


def test_trouble_is_one_line(folder):
    run("run", "--domain", "depots", folder, "--store", "s.db", "--name", "r")
    Path("notes.txt").write_text("no database\n" * 100)
    assert said("runs") == (
        "partita: store partita.db: does not exist; partita run INPUT --store creates it"
    )
    assert said("export", "x", "--store", "s.db", "--out", "x") == "partita: the store has no run x"
    assert "is not a table" in said("export", "r", "--store", "s.db", "--table", "x", "--out", "x")
    assert "is not a database" in said("run", "--domain", "depots", folder, "--store", "notes.txt")
    assert "there is no folder none" in said(
        "run", "--domain", "depots", folder, "--store", "none/s.db"
    )
    assert "--name needs --store" in said("run", "--domain", "depots", folder, "--name", "r")
    assert "cannot be the name" in said(
        "run", "--domain", "depots", folder, "--store", "s.db", "--name", "../r"
    )
    other = said(
        "run", "--domain", "depots", folder, "--store", "s.db", "--name", "r", "--seed", "7"
    )
    assert other == "partita: run r was made with seed 0, and here it is 7; use another --name"
    (folder / "a.txt").write_text("Something else.")
    assert "1 failed" in said("run", "--domain", "depots", folder, "--store", "s.db", "--name", "r")


def test_a_store_that_is_locked_or_gone_in_the_middle_of_a_run(folder, monkeypatch):
    run("run", "--domain", "depots", folder, "--store", "s.db", "--name", "r")
    before = held()
    (folder / "c.txt").write_text(TEXTS["a"])
    monkeypatch.setattr(
        "partita.store.store.open_store.__kwdefaults__", {"create": True, "wait": 0.1}
    )
    from partita.store import runs

    insert = runs._insert

    def removed(*arguments):
        if Path("s.db").exists():
            Path("s.db").rename("moved.db")
        insert(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(runs, "_insert", removed)
        gone = said("run", "--domain", "depots", folder, "--store", "s.db", "--name", "r")
    assert gone == "partita: store s.db: the file is no longer there"
    for ending in ("", "-wal", "-shm"):
        if Path(f"moved.db{ending}").exists():
            Path(f"moved.db{ending}").replace(f"s.db{ending}")
    with sqlite3.connect("s.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "is locked by another process" in said(
            "run", "--domain", "depots", folder, "--store", "s.db", "--name", "r"
        )
        other.execute("ROLLBACK")
    other.close()
    assert held()["messages"] == before["messages"]
    assert run("run", "--domain", "depots", folder, "--store", "s.db", "--name", "r").exit_code == 0
    assert len(held()["messages"]) == 3


def test_ctrl_c_says_where_the_messages_are(folder, monkeypatch):
    from partita.app.recording import Recording

    write = Recording.write

    def interrupted(record, outcome):
        if outcome.name == "b":
            raise KeyboardInterrupt
        return write(record, outcome)

    monkeypatch.setattr(Recording, "write", interrupted)
    result = run("run", "--domain", "depots", folder, "--store", "s.db", "--name", "r")
    assert result.exit_code == 130
    assert "1 messages were finished and are in s.db; the same command goes on" in result.stderr
    [row] = held()["runs"]
    assert row["outcome"] == "interrupted"


def test_a_file_whose_name_is_not_utf_8_fails_alone(folder):
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.txt")).write_text(TEXTS["a"])
    assert "1 failed" in said("run", "--domain", "depots", folder, "--store", "s.db", "--name", "r")
    assert len(held()["messages"]) == 2

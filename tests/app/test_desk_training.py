"""Keys of a store to parameters and a new run; measuring, explaining and exporting a run."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator

import pyarrow.parquet
import pytest

from partita.app.evaluate import evaluate
from partita.app.explain import explain
from partita.app.run_keys import key_agreement, merge_votes
from partita.app.runner import Settings, usual_budget
from partita.app.workspace import Workspace, open_workspace
from partita.cli.demo import MESSAGE
from partita.corpora.keys import read_keys
from partita.errors import InputError, Unknown
from partita.store import runs
from partita.text.raw_messages import RawMessage
from partita.training.parameter_files import parse_pair_parameters

SETTINGS = Settings("depots", "evidential", budget=usual_budget("evidential"))
OTHER = """\
Subj: Tarboro Fuel Depot

A fuel depot was identified near Tarboro. The depot holds nine storage tanks. A rail depot
3 km to the east was seen. The depot is intact.
"""
TABLES = (
    *("runs", "messages", "templates", "antecedents", "sets", "pairs", "configurations"),
    *("entities", "slot_values", "keys", "models"),
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Two messages, each with a key that the model holds least likely."""
    found = open_workspace(tmp_path_factory.mktemp("desk") / "store.db")
    texts = {"kinston": MESSAGE, "tarboro": OTHER}
    found.ingest([RawMessage(n, t, "test") for n, t in texts.items()], SETTINGS, "r", workers=1)
    for name in ("kinston.1", "tarboro.1"):
        cells = found.set("r", name)["configurations"][-1]["cells"]
        found.key("r", name, cells, "anna")
    yield found
    found.close()


@pytest.fixture(scope="module")
def trained(desk: Workspace) -> dict:
    return desk.train("r", workers=1)


def probability(desk: Workspace, run: str, name: str) -> float:
    [key] = {json.dumps(one["cells"]): one for one in desk.keys(run, name)}.values()
    listed = {json.dumps(one["cells"]): one for one in desk.set(run, name)["configurations"]}
    return listed[json.dumps(key["cells"])]["probability"]


def test_training_makes_a_run_that_holds_the_keys_more_likely(desk, trained):
    new = desk.run(trained["run"])
    assert (new["parent"], new["messages"], new["outcome"]) == ("r", 2, "complete")
    assert new["model_id"] == trained["model"] == new["settings"]["parameters"]
    assert trained["report"]["keys"] == new["keyed"] == 2
    for name in ("kinston.1", "tarboro.1"):
        assert probability(desk, trained["run"], name) > probability(desk, "r", name)
    assert desk.message(trained["run"], "kinston")["text"] == MESSAGE


def test_the_model_tells_which_keys_it_was_learned_from(desk, trained):
    with desk.store.reading() as connection:
        row = runs.model_of(connection, {"model_id": trained["model"]})
    assert row["keys_used"] == [one["key"] for one in desk.keys("r")]
    assert "2 keys of run r" in row["learned_from"]
    assert parse_pair_parameters(row["text"], "it").learned_from == row["learned_from"]


def test_the_same_keys_give_the_same_model_and_the_same_run(desk, trained):
    for run in ("r", trained["run"]):
        again = desk.train(run, workers=1)
        assert (again["model"], again["run"]) == (trained["model"], trained["run"])
    assert len(desk.runs()) == 2


def test_a_new_key_in_the_new_run_goes_on_from_the_first_parameters(desk, trained):
    name = trained["run"]
    assert [one["set"] for one in desk.next(name, 5)] == [one["set"] for one in desk.next("r", 5)]


def test_next_names_sets_without_keys(desk):
    found = desk.next("r", 3)
    assert {one["set"] for one in found}.isdisjoint({"kinston.1", "tarboro.1"})
    for one in found:
        line = desk.set("r", one["set"])
        assert one["templates"] == len(line["templates"])
        assert one["entropy_bits"] == line["entropy_bits"]
        assert one["gain"] > 0


def test_a_run_is_evaluated_by_its_files(desk, trained, tmp_path):
    bits = {}
    for run in ("r", trained["run"]):
        desk.export(run, "results", "jsonl", tmp_path / "results.jsonl")
        desk.export(run, "keyed", "jsonl", tmp_path / "keys.jsonl")
        with desk.store.reading() as connection:
            text = runs.model_of(connection, desk.run(run))["text"]
        (tmp_path / "pairs.json").write_text(text)
        files = [tmp_path / name for name in ("results.jsonl", "keys.jsonl", "pairs.json")]
        found = evaluate(files[0], files[1], parameters=files[2]).to_dict()
        assert found["sets"] == 2
        bits[run] = found["bits_per_set"]
    assert bits[trained["run"]] < bits["r"]


def test_explanations_are_those_of_a_file(desk, tmp_path):
    path = tmp_path / "results.jsonl"
    desk.export("r", "results", "jsonl", path)
    ids = [one["id"] for one in desk.set("r", "kinston.1")["templates"]]
    found = desk.explain("r", "kinston.1", ids[0], ids[1])
    assert json.loads(json.dumps(found)) == json.loads(
        json.dumps(explain(path, ids[0], ids[1], set_name="kinston.1").to_dict())
    )


def test_a_trained_run_is_explained_by_its_own_parameters(desk, trained):
    ids = [one["id"] for one in desk.set("r", "kinston.1")["templates"]]
    found = desk.explain(trained["run"], "kinston.1", ids[0], ids[1])
    assert found["pair"]["probability"] == pytest.approx(found["probability"])
    assert found["notes"] == ()


def test_keys_that_were_exported_can_be_read(desk, tmp_path):
    desk.export("r", "keyed", "jsonl", tmp_path / "keys.jsonl")
    found = read_keys(tmp_path / "keys.jsonl")
    assert [key.message for key in found] == ["kinston", "tarboro"]
    assert all(key.author == "anna" for key in found)


@pytest.mark.parametrize("table", TABLES)
def test_tables_as_files(desk, tmp_path, table):
    files = {form: tmp_path / f"x.{form}" for form in ("csv", "jsonl", "parquet")}
    counts = {form: desk.export("r", table, form, path) for form, path in files.items()}
    lines = [json.loads(line) for line in files["jsonl"].read_text().splitlines()]
    with files["csv"].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    parquet = pyarrow.parquet.read_table(files["parquet"]).to_pylist()
    assert set(counts.values()) == {len(lines)} == {len(rows)} == {len(parquet)}
    assert lines
    for line, row, flat in zip(lines, rows, parquet, strict=True):
        assert list(line) == list(row) == list(flat)
        for name, value in line.items():
            assert row[name] == cell(value)
            assert flat[name] in (value, json.dumps(value, ensure_ascii=False))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "x.jsonl", "x.parquet"]


def cell(value: object) -> str:
    if value is None:
        return ""
    nested = isinstance(value, bool | list | dict)
    return json.dumps(value, ensure_ascii=False) if nested else str(value)


def test_what_cannot_be_exported(desk, tmp_path):
    for table, form, said in (
        ("x", "csv", "'x' is not a table"),
        ("runs", "xml", "unknown format 'xml'"),
        ("results", "csv", "results cannot be written as csv"),
        ("runs", "csv", "cannot be written"),
        ("runs", "parquet", "cannot be written"),
    ):
        with pytest.raises(InputError, match=said):
            desk.export("r", table, form, tmp_path / "none" / "x")
    with pytest.raises(Unknown):
        desk.export("x", "runs", "csv", tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_runs_that_cannot_learn(desk):
    settings = Settings("depots", "uniform", budget=usual_budget("uniform"))
    desk.ingest([RawMessage("k", MESSAGE, "test")], settings, "u", workers=1)
    with pytest.raises(InputError, match="the model uniform, which is not trained from keys"):
        desk.train("u")
    desk.ingest([RawMessage("k", MESSAGE, "test")], SETTINGS, "bare", workers=1)
    with pytest.raises(InputError, match="run bare has no keys; expected at least one"):
        desk.train("bare")
    assert desk.next("u", 1)


def row(author: str, cells: list, alternatives: list | None = None) -> dict:
    told = {"author": author, "cells": cells, "time": f"time of {author}"}
    return told | {"alternatives": alternatives or []}


def test_most_votes_win_and_of_equals_what_agrees_best():
    same, apart = [["A", "B"]], [["A"], ["B"]]
    best, authors, time, rest = merge_votes([row("a", same), row("b", apart), row("c", same)])
    assert [list(map(list, best)), authors, time] == [same, "a, b, c", "time of c"]
    assert [one.weight for one in rest] == [0.5]  # one vote beside two
    best, _, _, rest = merge_votes([row("a", same), row("b", apart)])
    assert list(map(list, best)) == same  # not who was last; both count alike
    assert [one.weight for one in rest] == [1.0]
    one, two, middle = [["A", "B", "C"]], [["A"], ["B"], ["C"]], [["A", "B"], ["C"]]
    best, *_ = merge_votes([row("a", one), row("b", two), row("c", middle)])
    assert list(map(list, best)) == middle
    assert key_agreement([row("a", same), row("b", apart)])["disputed"]
    told = key_agreement([row("a", same), row("b", apart), row("c", same)])
    assert (told["disputed"], told["authors"]) == (False, 3)
    assert told["votes"][0] == {"cells": same, "votes": 2.0, "authors": ["a", "c"]}
    unsure = row("b", apart, [{"cells": same, "weight": 0.5}])
    best, *_ = merge_votes([row("a", same), unsure])
    assert list(map(list, best)) == same

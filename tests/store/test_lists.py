"""Lists, keys and exports say the same on either kind of database."""

from __future__ import annotations

import json

import pytest

from oracles.stored import begin, message
from partita.store import runs
from partita.store.reading import (
    TABLES,
    entity_types,
    export_table,
    list_entities,
    list_messages,
    set_sizes,
)
from partita.store.runs import list_runs, write_message
from partita.store.store import Store


@pytest.fixture
def filled(store: Store) -> Store:
    begin(store)
    begin(store, "child", parent="r")
    for run in ("r", "child"):
        for n, name in enumerate(("b", "a", "ö/100%_")):
            write_message(store, run, n, message(name, sets=n))
    with store.writing() as connection:
        for author, run in (("anna", "r"), ("bert", "r"), ("anna", "child")):
            told = {"set_name": "a.1", "message": "a", "templates": ["A1", "B1"]}
            told |= {"cells": [["A1", "B1"]], "alternatives": [], "author": author, "time": ""}
            runs.insert_key(connection, run, told | {"based_on": None})
    return store


def found(store: Store, search: str = "", uncertain: bool = False) -> list[str]:
    with store.reading() as connection:
        told = list_messages(connection, "r", search, uncertain, 0, 10)
    assert told["total"] == len(told["messages"])
    return [one["message"] for one in told["messages"]]


def test_messages_are_searched_and_ordered(filled):
    assert found(filled) == ["b", "a", "ö/100%_"]
    assert found(filled, uncertain=True) == ["ö/100%_", "a", "b"]
    assert found(filled, "Ö/") == ["ö/100%_"]
    assert found(filled, "%_") == ["ö/100%_"]
    assert found(filled, "THE DEPOT") == ["b", "a", "ö/100%_"]
    assert found(filled, "depot_") == []


def test_entities_are_searched(filled):
    with filled.reading() as connection:
        told = list_entities(connection, "r", "kinston", "DEPOT", 1, 2)
        assert told["total"] == 6
        assert [(one["message"], one["id"], one["set"]) for one in told["entities"]] == [
            ("a", "E1", "a.1"),
            ("a", "ES", None),
        ]
        assert told["entities"][0]["slots"] == message("a")["entities"][0]["slots"]
        assert list_entities(connection, "r", "nowhere", "", 0, 9)["total"] == 0
        assert entity_types(connection, "r") == ["DEPOT"]
        assert [name for name, _ in set_sizes(connection, "r")] == ["a.1", "ö/100%_.1", "ö/100%_.2"]


def test_keys_of_a_run_count_for_those_that_go_back_to_it(filled):
    with filled.reading() as connection:
        told = {run: runs.select_keys(connection, run) for run in ("r", "child")}
        keyed = {row["run"]: row["keyed"] for row in list_runs(connection)}
    assert [(one["author"], one["counts"]) for one in told["r"]] == [("anna", True), ("bert", True)]
    assert [(one["author"], one["run"], one["counts"]) for one in told["child"]] == [
        ("anna", "r", False),
        ("bert", "r", True),
        ("anna", "child", True),
    ]
    assert keyed == {"r": 1, "child": 1}


def test_only_the_rows_of_the_run_are_exported(filled, tmp_path):
    with filled.reading() as connection:
        for table in TABLES:
            count = export_table(connection, "r", table, "jsonl", tmp_path / "x")
            lines = [json.loads(line) for line in (tmp_path / "x").read_text().splitlines()]
            assert len(lines) == count
            assert all(line["run"] == "r" for line in lines)
            assert bool(lines) == (table != "models")

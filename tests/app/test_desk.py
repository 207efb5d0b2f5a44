"""The calls over a store: ingest, read, search, key; what comes back is what resolving gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import pytest

from oracles.stored import rows
from partita.app.runner import Settings, usual_budget
from partita.app.workspace import Workspace, open_workspace
from partita.cli.demo import MESSAGE
from partita.errors import InputError, PartitaError, StoreTrouble, Unknown
from partita.results.result_lines import schema
from partita.text.raw_messages import RawMessage

TEXTS = {
    "kinston": MESSAGE,
    "small/one": "An ammunition depot was found near Fairview. The depot is empty.",
    "none": "Nothing of interest.",
}
SETTINGS = Settings("depots", "evidential", budget=usual_budget("evidential"))


def given(**texts: str) -> list[RawMessage]:
    return [RawMessage(name, text, "test") for name, text in (texts or TEXTS).items()]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace that tests only read."""
    found = open_workspace(tmp_path_factory.mktemp("desk") / "store.db")
    found.ingest(given(), SETTINGS, "r", workers=1)
    yield found
    found.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Workspace]:
    found = open_workspace(tmp_path / "store.db")
    yield found
    found.close()


def refusal(kind: type[PartitaError], call, *arguments, **more) -> str:
    with pytest.raises(kind) as caught:
        call(*arguments, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_stored_message_is_what_resolving_gives(read):
    for name, text in TEXTS.items():
        stored, fresh = read.message("r", name), read.resolve(text, SETTINGS, name)
        for part in ("message", "text", "fields", "sets", "singletons", "entities", "keys"):
            assert json.dumps(stored[part]) == json.dumps(fresh[part])
        for line in stored["sets"]:
            jsonschema.Draft202012Validator(schema()).validate(line)
            assert read.set("r", line["set"]) == line


def test_a_run_tells_what_made_it(read):
    [run] = read.runs()
    assert (run["name"], run["domain"], run["model"]) == ("r", "depots", "evidential")
    assert run["outcome"] == "complete"
    assert run["started"] <= run["finished"]
    assert run["settings"]["parameters"] == run["model_id"]
    assert run["settings"]["seed"] == 0
    assert set(run["versions"]) == {"python", "partita", "numpy", "scipy", "numba"}
    assert (run["messages"], run["failed"]) == (3, 0)
    totals = [read.message("r", name) for name in TEXTS]
    assert run["sets"] == sum(len(one["sets"]) for one in totals)
    assert run["entities"] == sum(len(one["entities"]) for one in totals)
    assert "DEPOT" in read.run("r")["sorts"]


def test_lists_of_messages(read):
    listed = read.messages("r")
    assert [one["message"] for one in listed["messages"]] == list(TEXTS)
    assert listed["total"] == 3
    for one in listed["messages"]:
        found = read.message("r", one["message"])
        assert one["sets"] == len(found["sets"])
        assert one["entropy_bits"] == sum(line["entropy_bits"] for line in found["sets"])
        assert one["entities"] == len(found["entities"])
        assert (one["keyed"], one["error"]) == (0, "")
    assert listed["messages"][0]["title"] == "Kinston Military Rail Depot"
    uncertain = read.messages("r", order="uncertain")["messages"]
    assert [one["entropy_bits"] for one in uncertain] == sorted(
        (one["entropy_bits"] for one in listed["messages"]), reverse=True
    )
    page = read.messages("r", offset=1, limit=1)
    assert (page["total"], [one["message"] for one in page["messages"]]) == (3, ["small/one"])


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("DEPOT", 2),
        ("small/", 1),
        ("100 km", 1),
        ("depot small", 1),
        ("one km", 0),
        ("%", 0),
        ("_", 0),
        ("", 3),
        ("'; --", 0),
    ],
)
def test_search_of_messages_takes_everything_as_words(read, search, found):
    assert read.messages("r", search)["total"] == found


def test_letters_beyond_english_are_found_in_either_case(desk):
    desk.ingest(given(ö="Ein Depot in Österreich."), SETTINGS, "r", workers=1)
    assert desk.messages("r", "ÖSTERREICH")["total"] == 1


def mean_of_pairs(read, message, members):
    """The mean probability of the pairs of an entity, from the sets of its message."""
    pairs = [
        pair["marginal"]
        for found in read.message("r", message)["sets"]
        for pair in found["pairs"]
        if pair["left"] in members and pair["right"] in members
    ]
    return sum(pairs) / len(pairs) if pairs else 1.0


def test_entities_are_ordered_and_found_by_what_is_probable(read):
    def names(order):
        return [
            (one["name"], len(one["templates"]))
            for one in read.entities("r", order=order)["entities"]
        ]

    counts = [count for _, count in names("mentions")]
    assert counts == sorted(counts, reverse=True)
    given = [name.lower() for name, _ in names("name") if name]
    assert given == sorted(given)
    for one in read.entities("r", search="rail")["entities"]:
        values = [
            v for vs in one["slots"].values() for v in vs if "rail" in str(v["value"]).lower()
        ]
        texts = " ".join([one["name"], *one["descriptions"]]).lower()
        assert "rail" in texts or max(v["probability"] for v in values) >= 0.5


def test_tables_are_runs_and_runs_can_be_deleted(desk):
    made = desk.add_tables("scores", "scores", {"a.csv": "left,right,probability\nx,y,.5\n"})
    assert (made["domain"], made["inputs"], made["messages"]) == ("scores", ["a.csv"], 1)
    assert desk.message("scores", "a.csv")["text"].startswith("left,right")
    with pytest.raises(InputError, match="already has a run scores"):
        desk.add_tables("scores", "scores", {"a.csv": "x"})
    with pytest.raises(InputError, match="unknown kind 'sheets'"):
        desk.add_tables("more", "sheets", {"a.csv": "x"})
    assert desk.delete("scores") == {"deleted": "scores"}
    assert "scores" not in [one["name"] for one in desk.runs()]
    with pytest.raises(Unknown, match="no run scores"):
        desk.delete("scores")


def test_a_deleted_run_takes_its_keys_along_and_leaves_the_runs_trained_from_it(desk):
    desk.ingest([RawMessage("one", TEXTS["kinston"], "test")], SETTINGS, "parent", 1)
    desk.ingest(
        [RawMessage("one", TEXTS["kinston"], "test")], SETTINGS, "child", 1, parent="parent"
    )
    (found,) = desk.message("parent", "one")["sets"]
    desk.key("parent", found["set"], found["configurations"][0]["cells"], "ann")
    desk.delete("parent")
    assert desk.run("child")["parent"] is None
    assert desk.keys("child") == []


def test_entities_with_their_message_and_set(read):
    listed = read.entities("r")
    expected = [(one, name) for name in TEXTS for one in read.message("r", name)["entities"]]
    assert listed["total"] == len(expected)
    for found, (one, name) in zip(listed["entities"], expected, strict=True):
        assert found["message"] == name
        added = ("message", "set", "confidence")
        assert {k: v for k, v in found.items() if k not in added} == one
        assert found["confidence"] == pytest.approx(mean_of_pairs(read, name, one["templates"]))
    [kinston] = read.entities("r", search="kinston", sort="DEPOT")["entities"]
    assert (kinston["set"], kinston["slots"]["LOCATION"][0]["value"]) == ("kinston.1", "KINSTON")
    assert read.entities("r", search="ammunition")["total"] == 2
    assert read.entities("r", sort="DEPOT", offset=1, limit=1)["entities"][0]["sort"] == "DEPOT"


def test_what_nobody_has_given_is_told(read):
    assert refusal(Unknown, read.run, "x") == "the store has no run x"
    for call in (read.messages, read.entities, read.keys, read.train):
        assert refusal(Unknown, call, "x") == "the store has no run x"
    assert refusal(Unknown, read.message, "r", "x") == "run r has no message x"
    assert refusal(Unknown, read.set, "r", "x") == "run r has no set x"
    assert refusal(Unknown, read.key, "r", "x", [["A"]], "me") == "run r has no set x"
    assert "has no template T99" in refusal(Unknown, read.explain, "r", "kinston.1", "T1", "T99")
    assert "expected text or uncertain" in refusal(InputError, read.messages, "r", order="x")
    assert "expected non-negative integers" in refusal(InputError, read.messages, "r", offset=-1)
    assert "is not a table" in refusal(InputError, read.export, "r", "x", "csv", Path("x"))


def test_a_run_is_gone_on_with(desk, tmp_path):
    files = tmp_path / "messages"
    files.mkdir()
    (files / "a.txt").write_text(TEXTS["small/one"])
    name = desk.ingest([files], SETTINGS, workers=1)
    assert name.startswith("depots-evidential-")
    before = rows(desk.store)
    assert desk.ingest([files], SETTINGS, workers=1) == name
    assert rows(desk.store) == before
    (files / "b.txt").write_text(MESSAGE)
    assert desk.ingest([files], SETTINGS, workers=1) == name
    assert [one["message"] for one in desk.messages(name)["messages"]] == ["a", "b"]
    assert desk.run(name)["inputs"] == [str(files)]


def test_a_message_is_added_with_the_settings_of_the_run(desk):
    desk.ingest(
        given(a=MESSAGE), Settings("depots", "merging", budget=usual_budget("merging")), "r"
    )
    desk.ingest(given(b=MESSAGE), name="r")
    found = [desk.message("r", name)["sets"][0] for name in "ab"]
    assert [one["model"] for one in found] == ["merging"] * 2
    assert found[0]["configurations"] == found[1]["configurations"]
    assert [one["message"] for one in desk.messages("r")["messages"]] == ["a", "b"]


def test_other_settings_or_another_text_are_refused(desk):
    desk.ingest(given(a=MESSAGE), SETTINGS, "r")
    other = Settings("depots", "evidential", seed=1, budget=SETTINGS.budget)
    said = refusal(InputError, desk.ingest, given(a=MESSAGE), other, "r")
    assert said == "run r was made with seed 0, and here it is 1; use another --name"
    said = refusal(PartitaError, desk.ingest, given(a="Another text."), SETTINGS, "r")
    assert said == "test: run r holds another text called a; use another --name"
    assert desk.message("r", "a")["text"] == MESSAGE


def test_a_message_that_fails_is_stored_with_its_error_and_tried_again(desk, monkeypatch):
    from partita.app import runner

    resolve = runner.resolve

    def broken(message, stages):
        if message.id == "b":
            raise InputError("too much of it")
        return resolve(message, stages)

    with monkeypatch.context() as patched:
        patched.setattr(runner, "resolve", broken)
        desk.ingest(given(a=MESSAGE, b=MESSAGE, c=MESSAGE), SETTINGS, "r", workers=1)
    assert desk.run("r")["outcome"] == "complete, 1 failed"
    assert (desk.run("r")["messages"], desk.run("r")["failed"]) == (3, 1)
    failed = desk.message("r", "b")
    assert (failed["error"], failed["text"]) == ("test: message b: too much of it", MESSAGE)
    desk.ingest(given(a=MESSAGE, b=MESSAGE, c=MESSAGE), SETTINGS, "r", workers=1)
    assert desk.run("r")["outcome"] == "complete"
    assert (desk.run("r")["messages"], desk.run("r")["failed"]) == (3, 0)
    assert desk.message("r", "b")["sets"][0]["configurations"]


def test_texts_that_no_file_could_hold(desk):
    for text, said in (("a\0b", "NUL"), ("\ud800", "surrogate"), ("  ", "is empty")):
        assert said in refusal(InputError, desk.resolve, text, SETTINGS)
        assert said in refusal(InputError, desk.ingest, given(a=text), SETTINGS, "r")
    assert "cannot be the id" in refusal(
        InputError, desk.ingest, [RawMessage("", "x", "t")], SETTINGS
    )
    long = [RawMessage("x" * 401, "A depot.", "t"), RawMessage("y" * 400, "A depot.", "t")]
    name = desk.ingest(long, SETTINGS, workers=1)
    assert desk.run(name)["outcome"] == "complete, 1 failed"
    assert desk.messages(name)["total"] == 1
    assert "cannot be the id" in refusal(
        InputError, desk.ingest, [RawMessage("\n", "x", "t")], SETTINGS
    )


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "\x1b[0m", "x" * 101, "a?b", " "])
def test_names_that_no_address_could_hold(desk, name):
    assert "cannot be the name of a run" in refusal(
        InputError, desk.ingest, given(a=MESSAGE), SETTINGS, name
    )


def test_keys_are_never_overwritten(desk):
    desk.ingest(given(k=MESSAGE), SETTINGS, "r")
    line = desk.set("r", "k.1")
    first, second = (one["cells"] for one in line["configurations"][:2])
    anna = desk.key("r", "k.1", first, "anna")
    assert anna["conflicts"] == []
    bert = desk.key("r", "k.1", second, "bert")
    assert [one["author"] for one in bert["conflicts"]] == ["anna"]
    seen = desk.key("r", "k.1", second, "bert", based_on=anna["key"])
    assert seen["conflicts"] == []
    again = desk.key("r", "k.1", first, "anna", based_on=anna["key"])
    assert [one["key"] for one in again["conflicts"]] == [seen["key"]]
    told = desk.keys("r", "k.1")
    assert [(one["author"], one["counts"]) for one in told] == [
        ("anna", False),
        ("bert", False),
        ("bert", True),
        ("anna", True),
    ]
    assert told[0]["cells"] == first
    assert [one["author"] for one in desk.message("r", "k")["keys"]["k.1"]] == ["bert", "anna"]
    assert desk.messages("r")["messages"][0]["keyed"] == 1


def test_only_keys_of_others_that_were_not_seen_are_conflicts(desk):
    desk.ingest(given(k=MESSAGE), SETTINGS, "r")
    first, second = (one["cells"] for one in desk.set("r", "k.1")["configurations"][:2])
    anna = desk.key("r", "k.1", first, "anna")
    assert desk.key("r", "k.1", second, "anna")["conflicts"] == []
    bert = desk.key("r", "k.1", second, "bert", based_on=anna["key"])
    assert [(one["author"], one["cells"]) for one in bert["conflicts"]] == [("anna", second)]
    later = desk.key("r", "k.1", first, "anna")
    assert [one["author"] for one in later["conflicts"]] == ["bert"]
    assert desk.key("r", "k.1", first, "cy", based_on=later["key"])["conflicts"] == []


def test_people_who_key_at_once_both_keep_their_keys(desk):
    desk.ingest(given(k=MESSAGE), SETTINGS, "r")
    cells = desk.set("r", "k.1")["configurations"][0]["cells"]

    def save(author: str) -> dict:
        return desk.key("r", "k.1", cells, author)

    authors = [f"person {n}" for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        saved = list(pool.map(save, authors))
    assert sorted(one["author"] for one in desk.keys("r")) == authors
    assert sorted(len(one["conflicts"]) for one in saved) == list(range(8))


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([["T1", "T2"], ["T7"]], "template T4 is in no cell"),
        ([["T1", "T2"], ["T7"], ["T4"], ["T9"]], "cells name T9; expected templates of the set"),
        ([["T1", "T2"], ["T7", "T1"], ["T4"]], "T1"),
        ([["T1", "T2", "T7", "T4"], []], "a cell is empty"),
        ("T1", 'cells is "T1"; expected a list'),
        ([[1]], "expected a text"),
    ],
)
def test_cells_that_do_not_cover_the_set(desk, cells, said):
    desk.ingest(given(k=MESSAGE), SETTINGS, "r")
    assert said in refusal(InputError, desk.key, "r", "k.1", cells, "me")
    assert desk.keys("r") == []


def test_alternatives_and_authors_are_checked(desk):
    desk.ingest(given(k=MESSAGE), SETTINGS, "r")
    first, second = (one["cells"] for one in desk.set("r", "k.1")["configurations"][:2])
    desk.key("r", "k.1", first, "me", alternatives=[{"cells": second, "weight": 0.5}])
    assert desk.keys("r")[0]["alternatives"] == [{"cells": second, "weight": 0.5}]
    for weight in (0, -1, float("nan"), "x"):
        refusal(
            InputError, desk.key, "r", "k.1", first, "me", [{"cells": second, "weight": weight}]
        )
    for author in ("", " ", "a\nb", "x" * 201, None):
        assert "author" in refusal(InputError, desk.key, "r", "k.1", first, author)
    assert len(desk.keys("r")) == 1


def test_who_only_reads_makes_no_store(tmp_path):
    refusal(StoreTrouble, open_workspace, tmp_path / "none.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_two_runs_of_one_store_side_by_side(desk):
    for model in ("uniform", "evidential"):
        desk.ingest(given(k=MESSAGE), Settings("depots", model, budget=usual_budget(model)), model)
    found = {run["name"]: desk.set(run["name"], "k.1") for run in desk.runs()}
    assert found["uniform"]["configurations"][0]["probability"] == pytest.approx(1 / 7)
    assert found["evidential"]["configurations"][0]["probability"] > 0.9
    assert desk.run("uniform")["model_id"] is None


@pytest.mark.parametrize(("table", "form"), [("keyed", "csv"), ("results", "parquet")])
def test_what_cannot_be_written_so(read, tmp_path, table, form):
    with pytest.raises(InputError, match="cannot be written as"):
        read.export("r", table, form, tmp_path / "x")

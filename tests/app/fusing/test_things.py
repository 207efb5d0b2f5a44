"""Sources of all kinds fused into things, from files and from contents."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.app.fuse import fuse_contents, fuse_entities
from partita.cli import app
from partita.errors import InputError
from partita.fusion.sources import Content
from partita.options import FuseOptions

FIRST = """Subj: Tarboro Fuel Depot

A fuel depot was identified near Tarboro. The depot covers 25 hectares.
"""
SECOND = """Subj: Tarboro area

The fuel depot near Tarboro covers 25 hectares. Camp Vargas is empty.
"""
TABLE = """facility,location,type,size,name
depot,Tarboro,fuel,30 ha,
camp,Tima,,12 ha,Camp Vargas
"""
CLAIMS = "object,source,slot,value\ny,forum,facility,camp\ny,forum,name,Camp Vargas\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two messages through run, and a table that contradicts them."""
    folder = tmp_path_factory.mktemp("sources")
    for name, text in (("a", FIRST), ("b", SECOND)):
        (folder / f"{name}.txt").write_text(text)
    (folder / "table.csv").write_text(TABLE)
    (folder / "claims.csv").write_text(CLAIMS)
    messages = [str(folder / "a.txt"), str(folder / "b.txt")]
    made = CliRunner().invoke(
        app, ["run", "--domain", "depots", *messages, "--out", str(folder / "watch.jsonl")]
    )
    assert made.exit_code == 0, made.output
    return folder


def run(*arguments: object):
    return CliRunner().invoke(app, ["fuse", *(str(a) for a in arguments)])


def depot(found):
    return next(one for one in found["entities"] if one["sort"] == "DEPOT")


def test_reports_records_and_claims_are_put_together_and_say_where_they_stand(folder):
    paths = [folder / name for name in ("watch.jsonl", "table.csv", "claims.csv")]
    result = run(*paths, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    entity = depot(found)
    assert entity["sources"] == ["table", "watch"]
    assert {a["message"] for a in entity["accounts"]} == {"a", "b", "table.csv:2"}
    size = entity["slots"]["SIZE"]
    assert [v["value"] for v in size["values"]] == ["25 ha", "30 ha"]
    assert size["values"][0]["sources"] == ["watch"]
    assert sum(v["probability"] for v in size["values"]) + size["unknown"] == pytest.approx(1)
    assert size["conflict"] > 0.3
    camp = next(one for one in found["entities"] if one.get("name") == "CAMP VARGAS")
    assert camp["sources"] == ["forum", "table", "watch"]
    where = {(o["file"], o["line"]) for a in camp["accounts"] for o in a["templates"]}
    assert (str(folder / "table.csv"), 3) in where
    report = next(a for a in entity["accounts"] if a["message"] == "b")
    assert report["templates"][0]["end"] > report["templates"][0]["start"]
    group = next(one for one in found["sets"] if entity["anchor"] in
                 {t["id"] for t in one["templates"]})  # fmt: skip
    listed = sum(one["probability"] for one in group["configurations"])
    assert listed + group["remainder"]["probability"] == pytest.approx(1)
    assert group["method"] == "exact"
    assert found["compared"]["pairs"] + found["compared"]["excluded"] == found["compared"]["of"]
    assert {one["source"] for one in found["sources"]} == {"forum", "table", "watch"}


def test_the_text_tells_values_trust_and_what_changes_without_a_source(folder):
    result = run(folder / "watch.jsonl", folder / "table.csv", "--without", "table")
    assert result.exit_code == 0, result.stderr
    assert "conflict between sources" in result.stdout
    assert "without table" in result.stdout
    assert "LOCATION: TIMA" in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    assert re.search(r"^  table +0\.\d{3} 0\.\d{3} to [01]\.\d{3} ", result.stdout, re.M)
    assert run(folder / "watch.jsonl", "--without", "eve").exit_code == 1


def test_reliabilities_are_taken_as_they_are(folder, tmp_path):
    given = tmp_path / "given.csv"
    given.write_text("source,reliability\ntable,1\n")
    found = fuse_entities(
        [folder / "watch.jsonl", folder / "table.csv"], FuseOptions(reliability=given)
    ).fused
    entity = next(one for one in found.entities if len(one.records) > 1 and one.type == "DEPOT")
    assert entity.slots["SIZE"].values[0].text == "30 ha"
    given.write_text("source,reliability\neve,1\n")
    with pytest.raises(InputError, match="reliability of unknown source eve"):
        fuse_entities([folder / "table.csv"], FuseOptions(reliability=given))


def test_a_kind_can_be_forced_and_options_of_claims_are_refused(folder):
    forced = run(folder / "table.csv", "--kind", "table.csv=reports")
    assert forced.exit_code == 1
    assert "table.csv, line 1: is not JSON" in forced.stderr
    assert "--truth is for claims" in run(folder / "table.csv", "--truth", folder / "a.txt").stderr
    kinded = run(folder / "table.csv", "--kind", "size=number")
    assert "--kind of a slot is for claims" in kinded.stderr
    records = run(folder / "claims.csv", "--kind", "records", "--domain", "depots")
    assert "unknown slot" in records.stderr


def test_contents_are_fused_as_files_are(folder):
    names = ("watch.jsonl", "table.csv")
    contents = [Content(name, (folder / name).read_text()) for name in names]
    told = fuse_contents(contents, FuseOptions(reliability={"table": 0.9}, without="table"))
    assert depot(told)["sources"] == ["table", "watch"]
    assert told["without"]["source"] == "table"
    files = {o["file"] for one in told["entities"] for a in one["accounts"] for o in a["templates"]}
    assert files == set(names)
    assert json.loads(json.dumps(told)) == told
    spread = {one["source"]: (one["low"], one["high"]) for one in told["sources"]}
    assert spread["table"] == (0.9, 0.9)
    assert spread["watch"][0] < spread["watch"][1]
    claims = fuse_contents([Content("c.csv", "object,source,value\nx,ann,Rome\nx,bob,Rome\n")])
    assert claims["objects"][0]["object"] == "x"


def test_contents_that_are_wrong_are_told_by_their_name():
    with pytest.raises(InputError, match=r"^t\.csv, line 1: unknown slot 'colour'"):
        fuse_contents(
            [Content("t.csv", "facility,colour\ndepot,red\n")], FuseOptions(domain="depots")
        )
    with pytest.raises(InputError, match="duplicate source name"):
        fuse_contents([Content("t.csv", ""), Content("t.csv", "")])
    with pytest.raises(InputError, match="invalid source name"):
        fuse_contents([Content("../t.csv", "")])
    with pytest.raises(InputError, match="no sources"):
        fuse_contents([])


CITY = "object,source,city\nx,ann,Rome\nx,bob,Rome\n"


@pytest.mark.parametrize(
    ("content", "reliability", "said"),
    [
        (CITY, {"eve": 0.5}, "reliability of unknown source eve (expected a source of the claims)"),
        (
            TABLE,
            {"eve": 0.5},
            "reliability of unknown source eve (expected a source of the claims)",
        ),
        (CITY, {"ann": 1.5}, "reliability 1.5 of ann is not a number from 0 to 1"),
    ],
)
def test_a_reliability_that_cannot_be_names_the_source_and_no_file(content, reliability, said):
    with pytest.raises(InputError) as error:
        fuse_contents([Content("c.csv", content)], FuseOptions(reliability=reliability))
    assert str(error.value) == said


DEPOTS = """object,source,city,built
Kinston depot,archive,Kinston,1951
Kinston depot,press,North Carolina,1951
Kinston depot,forum,Fairview,1915
Fairview depot,archive,Fairview,1940
Fairview depot,press,Fairview,1940
Fairview depot,forum,Raleigh,1940
Raleigh depot,press,North Carolina,1962
Raleigh depot,forum,Raleigh,1926
"""
PLACES = "name,parent\nKinston,North Carolina\nRaleigh,North Carolina\nFairview,Ohio\nToledo,Ohio\n"


def printed(tmp_path, *options: str) -> dict:
    """What the command prints of the depots with their hierarchy, without the folder."""
    for name, text in (("depots.csv", DEPOTS), ("places.csv", PLACES)):
        (tmp_path / name).write_text(text)
    result = run(
        tmp_path / "depots.csv", "--hierarchy", tmp_path / "places.csv", "--json", *options
    )
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout.replace(f"{tmp_path}/", ""))


def test_a_hierarchy_stands_beside_contents_or_among_them(tmp_path):
    claims, places = Content("depots.csv", DEPOTS), Content("places.csv", PLACES)
    told = fuse_contents([claims], FuseOptions(hierarchy=places))
    assert told == fuse_contents([places, claims])
    assert told == printed(tmp_path) | {"notes": []}
    (kinston,) = (one for one in told["objects"] if one["object"] == "Kinston depot")
    best = kinston["slots"]["city"]["values"][0]
    assert (best["value"], round(best["probability"], 4)) == ("Kinston", 0.8978)


def test_a_hierarchy_may_be_called_as_a_source_is():
    named = Content("hierarchy", DEPOTS)
    given = FuseOptions(hierarchy=Content("hierarchy", PLACES), reliability={"forum": 0.5})
    assert len(fuse_contents([named, Content("reliabilities", DEPOTS)], given)["objects"]) == 3


@pytest.mark.parametrize(
    ("sources", "hierarchy", "said"),
    [
        ({"places.csv": PLACES}, None, "places.csv: is a hierarchy; expected claims beside it"),
        ({"t.csv": TABLE, "places.csv": PLACES}, None, "places.csv: is a hierarchy, which is for"),
        ({"t.csv": TABLE}, PLACES, "hierarchy is for claims; reports and records follow their"),
        ({"d.csv": DEPOTS}, "name,parent\nA,B\nA,C\n", "h.csv, line 3: lists A again"),
        ({"d.csv": DEPOTS}, "name,parent\nA,B\nB,A\n", "h.csv, line 2: values form a cycle"),
        ({"d.csv": DEPOTS}, "city,above\nA,B\n", "h.csv, line 2: has no name"),
    ],
)
def test_a_hierarchy_that_cannot_be_is_named(sources, hierarchy, said):
    options = FuseOptions(hierarchy=None if hierarchy is None else Content("h.csv", hierarchy))
    with pytest.raises(InputError) as error:
        fuse_contents([Content(name, text) for name, text in sources.items()], options)
    assert str(error.value).startswith(said)


def test_kinds_of_slots_are_as_for_the_command(tmp_path):
    claims, places = Content("depots.csv", DEPOTS), Content("places.csv", PLACES)
    told = fuse_contents([claims, places], FuseOptions(kinds={"built": "number"}))
    assert told == printed(tmp_path, "--kind", "built=number") | {"notes": []}
    assert {slot: how["kind"] for slot, how in told["slots"].items()} == {
        "built": "number",
        "city": "open",
    }
    near = FuseOptions(kinds={"built": "number"}, tolerance=0.02)
    (kinston,) = (
        one for one in fuse_contents([claims], near)["objects"] if one["object"] == "Kinston depot"
    )
    assert len(kinston["slots"]["built"]["values"]) == 1
    every = fuse_contents([Content("c.csv", CITY)], FuseOptions(kinds={"": "people"}))
    assert every["slots"]["city"]["kind"] == "people"


@pytest.mark.parametrize(
    ("content", "kinds", "said"),
    [
        (DEPOTS, {"height": "number"}, "unknown slot 'height'; there are built, city"),
        (DEPOTS, {"city": "magic"}, "unknown kind 'magic'; expected one of closed, open"),
        (DEPOTS, {"city": "number"}, "c.csv, line 2: "),
        (TABLE, {"size": "number"}, "kind of a slot is for claims; reports and records follow"),
    ],
)
def test_kinds_of_slots_that_cannot_be_are_named(content, kinds, said):
    with pytest.raises(InputError) as error:
        fuse_contents([Content("c.csv", content)], FuseOptions(kinds=kinds))
    assert str(error.value).startswith(said)

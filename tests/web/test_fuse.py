"""Several sources, contradictory, sent to the service or taken from its store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from partita.app.workspace import Workspace
from partita.fusion.kinds import KINDS
from partita.fusion.sources import Content
from partita.options import FuseOptions
from partita.web.schemas import FuseRequest, parse
from web.test_bad_input import line_of
from web.test_routes import plain

THREE = {
    "archive.csv": "object,city,built\nKinston depot,Kinston,1951\nFairview depot,Fairview,1940\n",
    "press.csv": "object,city,built\nKinston depot,Kinston,1951\nFairview depot,Fairview,1940\n"
    "Raleigh depot,Raleigh,1962\n",
    "forum.csv": "object,city,built\nKinston depot,Fairview,1915\nFairview depot,Toledo,1940\n"
    "Raleigh depot,Durham,1926\n",
}
TABLE = "source,FACILITY,LOCATION,TYPE\npress,depot,Kinston,rail\npress,depot,Fairview,fuel\n"
ALONE = {
    "version": 1,
    "message": "m",
    "singletons": [{"id": "T1", "slots": {"FACILITY": "DEPOT"}}],
    "run": {"text": "x", "domain": "/etc", "model": "evidential"},
}


def sent(files: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "content": content} for name, content in files.items()]


def fused(client: httpx.Client, **asked: Any) -> Any:
    answer = client.post("/api/fuse", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def values(told: Any, thing: str, slot: str) -> dict[str, float]:
    (found,) = (one for one in told["objects"] if one["object"] == thing)
    return {one["value"]: one["probability"] for one in found["slots"][slot]["values"]}


def test_three_sources_that_contradict_each_other(
    client: httpx.Client, workspace: Workspace
) -> None:
    told = fused(client, sources=sent(THREE), without="press")
    contents = [Content(name, text) for name, text in THREE.items()]
    assert told == plain(workspace.fuse(contents, options=FuseOptions(without="press", top=100)))
    kinston = values(told, "Kinston depot", "city")
    assert kinston["Kinston"] > 0.8 > 0.1 > kinston["Fairview"]
    slots = {one["object"]: one["slots"] for one in told["objects"]}
    assert slots["Fairview depot"]["built"]["conflict"] == 0.0
    assert 0.2 < slots["Kinston depot"]["built"]["conflict"] < 1.0
    raleigh = values(told, "Raleigh depot", "built")
    assert raleigh["1962"] > raleigh["1926"]
    trust = {one["source"]: one for one in told["sources"] if one["slot"] == "built"}
    assert trust["forum"]["reliability"] < trust["press"]["reliability"]
    assert trust["press"]["low"] < trust["press"]["reliability"] < trust["press"]["high"]
    changes = {(one["object"], one["slot"]): one for one in told["without"]["changes"]}
    assert changes["Raleigh depot", "built"]["after"] == "1926"
    said = [one for o in told["objects"] for one in o["said"] if one["source"] == "forum"]
    assert {one["file"] for one in said} == {"forum.csv"}


def test_reliabilities_that_are_known_decide(client: httpx.Client) -> None:
    given = {"forum": 1.0, "press": 0.0, "archive": 0.0}
    told = fused(client, sources=sent(THREE), reliabilities=given)
    assert values(told, "Kinston depot", "city")["Fairview"] == pytest.approx(1.0)


def test_a_hierarchy_stands_beside_claims_or_among_them(client: httpx.Client) -> None:
    roughly = THREE | {"press.csv": "object,city\nKinston depot,North Carolina\n"}
    places = {"name": "places.csv", "content": "name,parent\nKinston,North Carolina\nToledo,Ohio\n"}
    told = fused(client, sources=sent(roughly), hierarchy=places)
    assert told == fused(client, sources=[*sent(roughly), places])
    plain_told = fused(client, sources=sent(roughly))
    nested, flat = (values(one, "Kinston depot", "city") for one in (told, plain_told))
    assert nested["Kinston"] > flat["Kinston"] + 0.1


def test_kinds_of_slots(client: httpx.Client) -> None:
    told = fused(client, sources=sent(THREE), slot_kinds={"built": "number"}, tolerance=0.02)
    assert told["slots"]["built"]["kind"] == "number"
    assert len(values(told, "Kinston depot", "built")) == 1
    for kind in KINDS:  # what it is told to take is what there is
        parse(FuseRequest, json.dumps({"slot_kinds": {"": kind}}).encode())


def test_a_run_of_the_store_with_a_table(client: httpx.Client, workspace: Workspace) -> None:
    told = fused(client, runs=["demo"], sources=sent({"table.csv": TABLE}))
    assert told["runs"] == {"demo.jsonl": "demo"}
    both = [one for one in told["entities"] if one["sources"] == ["demo", "press"]]
    places = {one["slots"]["LOCATION"]["values"][0]["value"] for one in both}
    assert "KINSTON" in places
    assert {one["source"] for one in told["sources"]} == {"demo", "press"}
    origins = [t for e in both for a in e["accounts"] for t in a["templates"]]
    kinston = next(t for t in origins if t["file"] == "demo.jsonl" and t["message"] == "kinston")
    text = workspace.message("demo", "kinston")["text"]
    assert text[kinston["start"] : kinston["end"]] == kinston["text"] != ""


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({}, 422, "no source"),
        ({"runs": ["nobody"]}, 404, "nobody"),
        ({"runs": "demo"}, 422, "runs"),
        ({"sources": [{"name": "a.csv"}]}, 422, "sources.0.content"),
        ({"sources": sent({"a.csv": ""})}, 422, "a.csv"),
        ({"sources": sent({"a.csv": "object,source,value\nA,x\n"})}, 422, "a.csv, line 2"),
        ({"sources": sent({"a.jsonl": "{"})}, 422, "a.jsonl, line 1"),
        ({"sources": sent({"a.parquet": "PAR1"})}, 422, "a.parquet"),
        ({"sources": sent({"../a.csv": "x"})}, 422, "sources.0.name"),
        ({"sources": sent({"..": "x"})}, 422, "sources.0.name"),
        ({"sources": sent({"a\0": "x"})}, 422, "sources.0.name"),
        ({"sources": sent({"ü" * 150: "x"})}, 422, "sources.0.name"),
        ({"sources": sent(THREE) * 2}, 422, "archive.csv"),
        ({"sources": sent(THREE), "without": "nobody"}, 422, "nobody"),
        ({"sources": sent(THREE), "reliabilities": {"press": 1.5}}, 422, "reliabilities.press"),
        ({"sources": sent(THREE), "reliabilities": {"nobody": 0.5}}, 422, "unknown source nobody"),
        (
            {"sources": sent(THREE), "reliabilities": {"press": 1, "forum": 1}},
            422,
            "total conflict",
        ),
        ({"sources": sent(THREE), "kinds": {"press.csv": "magic"}}, 422, "kinds"),
        ({"sources": sent(THREE), "domain": "/etc"}, 422, "domain"),
        ({"sources": sent(THREE), "slot_kinds": {"city": "magic"}}, 422, "slot_kinds.city"),
        ({"sources": sent(THREE), "slot_kinds": {"city": "number"}}, 422, "line 2"),
        ({"runs": ["demo"], "slot_kinds": {"SIZE": "number"}}, 422, "kind of a slot"),
        ({"sources": sent(THREE), "hierarchy": {"name": "h"}}, 422, "hierarchy.content"),
        ({"sources": sent(THREE), "hierarchy": sent({"../h": "x"})[0]}, 422, "hierarchy.name"),
        ({"sources": sent(THREE), "hierarchy": sent({"h.csv": "a\nb\n"})[0]}, 422, "h.csv, line 2"),
        ({"runs": ["demo"], "sources": sent({"h.csv": "name,parent\na,b\n"})}, 422, "h.csv"),
        ({"sources": sent({"a.jsonl": json.dumps(ALONE)})}, 422, "a.jsonl: unknown domain"),
        ({"sources": sent({"a.csv": json.dumps(ALONE)})}, 422, "a.csv: unknown domain"),
        ({"runs": ["demo"], "sources": sent({"a.csv": "source,city\nx,Kinston\n"})}, 422, "city"),
        ({"runs": ["demo"], "sources": sent({"demo.jsonl": "{}"})}, 422, "demo.jsonl"),
    ],
)
def test_sources_that_are_not_as_they_should_be(
    client: httpx.Client, asked: Any, status: int, said: str
) -> None:
    answer = client.post("/api/fuse", json=asked)
    assert answer.status_code == status, answer.text
    assert said in line_of(answer)
    assert "/tmp" not in answer.text
    assert str(Path.home()) not in answer.text


def test_it_is_described(client: httpx.Client) -> None:
    route = client.get("/api/openapi.json").json()["paths"]["/api/fuse"]["post"]
    schema = route["requestBody"]["content"]["application/json"]["schema"]
    assert {"sources", "runs", "reliabilities", "without", "kinds", "slot_kinds"} <= set(
        schema["properties"]
    )
    assert {"200", "404", "422"} <= set(route["responses"])

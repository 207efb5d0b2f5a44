"""Every route, over a real socket, against what the workspace itself says."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations, product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import jsonschema
import pytest

from knowledge import write_knowledge_base
from partita.app.runner import Settings, usual_budget
from partita.app.workspace import Workspace
from partita.cli.demo import TABLE_1
from partita.results.result_lines import schema
from partita.text.raw_messages import RawMessage
from partita.web.config import ServiceConfig
from partita.web.server import running
from patience import PATIENCE
from web.conftest import SCRIPT, TEXTS

ODD = next(name for name in TEXTS if SCRIPT in name)
AT = "/api/runs/demo"


def got(client: httpx.Client, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def plain(value: Any) -> Any:
    """As JSON has it: tuples are lists."""
    return json.loads(json.dumps(value))


def test_health_and_domains(client: httpx.Client) -> None:
    health = got(client, "/api/health")
    assert health["status"] == "ok"
    assert health["waiting"]["workers"] == 0
    told = got(client, "/api/domains")
    assert "depots" in told["domains"]
    assert "joint" in told["models"]


def test_reads_are_what_the_workspace_says(client: httpx.Client, workspace: Workspace) -> None:
    assert got(client, "/api/runs") == plain(workspace.runs())
    assert got(client, AT) == plain(workspace.run("demo"))
    listed = got(client, f"{AT}/messages?search=depot&order=uncertain&offset=1&limit=1")
    assert listed == plain(workspace.messages("demo", "depot", "uncertain", 1, 1))
    assert len(listed["messages"]) == 1
    assert got(client, f"{AT}/messages/kinston") == plain(workspace.message("demo", "kinston"))
    found = got(client, f"{AT}/entities?search=ammunition&sort=DEPOT&limit=2")
    assert found == plain(workspace.entities("demo", "ammunition", "DEPOT", 0, 2))
    assert found["total"] > 0


Pair = tuple[str, frozenset[tuple[int, int]]]  # a message, and where two mentions are in it


def together(workspace: Workspace, run: str) -> tuple[set[Pair], dict[tuple[str, str], Any]]:
    """The pairs of mentions that are one entity, and where each mention is."""
    pairs, place = set(), {}
    for name in TEXTS:
        message = workspace.message(run, name)
        alone, sets = message["singletons"], message["sets"]
        for one in (*alone, *(one for found in sets for one in found["templates"])):
            place[name, one["id"]] = (one["start"], one["end"])
        for entity in message["entities"]:
            for ends in combinations(entity["templates"], 2):
                pairs.add((name, frozenset(place[name, id_] for id_ in ends)))
    return pairs, place


def test_two_runs_are_compared_pair_by_pair(client: httpx.Client, workspace: Workspace) -> None:
    """A pair that is together in one run alone is in one difference; no other pair is."""
    texts = TEXTS | {"small": f"{TEXTS['small']} The depot burns."}  # another text: not compared
    settings = Settings("depots", "merging", budget=usual_budget("merging"))
    given = [RawMessage(name, text, "test") for name, text in texts.items()]
    workspace.ingest(given, settings, name="merged", workers=1)
    ours, place = together(workspace, "demo")
    theirs, _ = together(workspace, "merged")
    found = got(client, f"{AT}/compare?other=merged")
    told: dict[str, set[Pair]] = {"demo": set(), "merged": set()}
    for one in found["differences"]:
        for groups in combinations(one["apart"], 2):
            for ends in product(*groups):
                where = frozenset(place[one["message"], row["template"]] for row in ends)
                told[one["together"]].add((one["message"], where))
    assert found["total"] == len(found["differences"]) > 0
    assert told["demo"] == {one for one in ours - theirs if one[0] != "small"}
    assert told["merged"] == {one for one in theirs - ours if one[0] != "small"}
    part = got(client, f"{AT}/compare?other=merged&offset=1&limit=1")
    assert part["differences"] == found["differences"][1:2]
    assert got(client, f"{AT}/compare?other=demo")["total"] == 0
    assert client.get(f"{AT}/compare?other=nobody").status_code == 404
    assert client.get(f"{AT}/compare").status_code == 422
    workspace.delete("merged")


def test_a_set_is_a_line_of_results(client: httpx.Client) -> None:
    found = got(client, f"{AT}/sets/kinston.1")
    jsonschema.validate(found, schema())
    assert len(found["configurations"]) == 7
    assert got(client, "/api/schema") == schema()


def test_names_may_hold_anything(client: httpx.Client) -> None:
    """Slashes, script, what looks encoded: it comes back as text, in JSON."""
    answer = client.get(f"{AT}/messages/{quote(ODD, safe='')}")
    assert answer.headers["content-type"] == "application/json"
    told = answer.json()
    assert told["message"] == ODD
    assert told["text"] == TEXTS[ODD]
    (one,) = told["sets"]
    there = f"{AT}/sets/{quote(one['set'], safe='')}"
    assert got(client, there)["set"] == one["set"]
    assert got(client, f"{there}/keys") == []
    first, second = one["templates"][0]["id"], one["templates"][1]["id"]
    why = got(client, f"{there}/why?left={first}&right={second}")
    assert {why["left"], why["right"]} == {first, second}


def test_resolve_says_what_the_store_would_hold(client: httpx.Client) -> None:
    answer = client.post("/api/resolve", json={"text": TEXTS["kinston"], "domain": "depots"})
    told, stored = answer.json(), got(client, f"{AT}/messages/kinston")
    same = ("text", "entities", "singletons")
    assert {name: told[name] for name in same} == {name: stored[name] for name in same}
    distributions = [one["configurations"] for one in told["sets"]]
    assert distributions == [one["configurations"] for one in stored["sets"]]


def test_resolve_with_another_model(client: httpx.Client) -> None:
    asked = {"text": TEXTS["kinston"], "domain": "depots", "model": "uniform"}
    (one,) = client.post("/api/resolve", json=asked).json()["sets"]
    assert [c["probability"] for c in one["configurations"]] == pytest.approx([1 / 7] * 7)


def test_solve_gives_the_papers_distribution(client: httpx.Client) -> None:
    pairs = [[*ends, p] for ends, p in TABLE_1.items()]
    found = client.post("/api/solve", json={"pairs": pairs, "top": 3}).json()
    jsonschema.validate(found, schema())
    assert found["configurations"][0]["cells"] == [["A", "B", "D"], ["C"]]
    assert len(found["configurations"]) == 3
    assert found["remainder"]["count"] == "4"


def test_a_message_becomes_part_of_the_run(client: httpx.Client) -> None:
    asked = {"id": "new/1", "text": "A fuel depot was seen. The depot is full."}
    answer = client.post(f"{AT}/messages", json=asked)
    assert answer.status_code == 201
    assert answer.json() == got(client, f"{AT}/messages/new%2F1")
    again = client.post(f"{AT}/messages", json=asked)
    assert (again.status_code, again.json()) == (201, answer.json())
    other = client.post(f"{AT}/messages", json=asked | {"text": "Another text."})
    assert other.status_code == 422
    assert got(client, f"{AT}/messages/new%2F1") == answer.json()


def test_keys_are_kept_and_conflicts_are_told(client: httpx.Client) -> None:
    there = f"{AT}/sets/keyed.1/keys"
    ids = [one["id"] for one in got(client, f"{AT}/sets/keyed.1")["templates"]]
    apart, together = [[one] for one in ids], [ids]
    first = client.post(there, json={"cells": together, "author": "ann"})
    assert first.status_code == 201
    unsure = [{"cells": apart, "weight": 0.25}]
    second = client.post(there, json={"cells": apart, "author": "bob", "alternatives": unsure})
    assert [key["author"] for key in second.json()["conflicts"]] == ["ann"]
    saved = got(client, there)
    assert [key["author"] for key in saved] == ["ann", "bob"]
    assert saved[1]["alternatives"] == unsure
    seen = {"cells": together, "author": "ann", "based_on": saved[1]["key"]}
    assert client.post(there, json=seen).json()["conflicts"] == []


def test_what_a_key_teaches(client: httpx.Client) -> None:
    """Next, training, the new run."""
    chosen = got(client, f"{AT}/next?limit=2")
    assert chosen
    assert {"set", "message", "gain", "entropy_bits", "templates"} <= set(chosen[0])
    cells = [["T1", "T2", "T7"], ["T4"]]
    client.post(f"{AT}/sets/kinston.1/keys", json={"cells": cells, "author": "ann"})
    answer = client.post(f"{AT}/train", json={})
    assert answer.status_code == 201
    trained = answer.json()
    assert got(client, f"/api/runs/{trained['run']}")["parent"] == "demo"
    assert trained["report"]["bits"]["after"] <= trained["report"]["bits"]["before"]
    again = client.post(f"{AT}/train").json()
    assert (again["run"], again["model"]) == (trained["run"], trained["model"])


def test_tables_as_files(client: httpx.Client, workspace: Workspace) -> None:
    answer = client.get(f"{AT}/export/messages.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == workspace.messages("demo")["total"]
    lines = client.get(f"{AT}/export/results.jsonl").text.splitlines()
    assert {json.loads(line)["message"] for line in lines} >= set(TEXTS)


def test_the_openapi_document_describes_every_route(client: httpx.Client) -> None:
    told = got(client, "/api/openapi.json")
    assert len(told["paths"]) >= 20
    for path, methods in told["paths"].items():
        for method in methods.values():
            assert method["description"], path
            assert "404" in method["responses"]
    body = told["paths"]["/api/runs/{run}/sets/{set}/keys"]["post"]["requestBody"]
    schema = body["content"]["application/json"]["schema"]
    assert set(schema["required"]) == {"cells", "author"}
    assert "$ref" not in json.dumps(schema)


def test_the_page_is_served(client: httpx.Client) -> None:
    front = client.get("/")
    assert front.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in front.headers["content-security-policy"]
    assert "unsafe" not in front.headers["content-security-policy"]
    assert client.get("/style/base.css").headers["content-type"] == "text/css; charset=utf-8"
    known = {"if-none-match": front.headers["etag"]}
    assert client.get("/index.html", headers=known).status_code == 304
    assert client.head("/").status_code == 200


def test_texts_and_tables_become_runs_that_can_be_deleted(client: httpx.Client) -> None:
    body = {"id": "one", "text": "Ann Lee met Tom Berg. She likes him.", "domain": "general"}
    added = client.post("/api/runs/letters/messages", json=body)
    assert added.status_code == 201
    assert got(client, "/api/runs/letters")["domain"] == "general"
    table = {"name": "scores.csv", "content": "left,right,probability\na,b,.7\n"}
    made = client.post("/api/runs/pairs/tables", json={"kind": "scores", "tables": [table]})
    assert (made.status_code, made.json()["domain"]) == (201, "scores")
    again = client.post("/api/runs/pairs/tables", json={"kind": "scores", "tables": [table]})
    assert again.status_code == 422
    assert "already has a run pairs" in again.json()["detail"]
    for name in ("letters", "pairs"):
        assert client.delete(f"/api/runs/{name}").json() == {"deleted": name}
        assert client.get(f"/api/runs/{name}").status_code == 404
    assert client.delete("/api/runs/letters").status_code == 404


def test_records_are_linked_and_shown(client: httpx.Client) -> None:
    rows = "id,name,city\n1,Ann Lee,Leeds\n2,Anne Lee,Leeds\n3,Bob Hall,Hull\n"
    body = {"records": [{"name": "people.csv", "content": rows}]}
    (found,) = client.post("/api/cluster", json=body).json()["sets"]
    assert [one["shown"] for one in found["records"]] == ["Ann Lee, Leeds", "Anne Lee, Leeds"]
    assert found["questions"][0]["left"] == "1"


def test_a_knowledge_base_in_pages(store: Path, tmp_path: Path) -> None:
    folder = write_knowledge_base(tmp_path / "kb")
    config = ServiceConfig(store=str(store), knowledge_base=folder, seconds=PATIENCE, workers=1)
    with running(config) as address, httpx.Client(base_url=address, timeout=PATIENCE) as client:
        sizes = {"name": "kb", "documents": 3, "entities": 4, "types": ["organization", "person"]}
        assert got(client, "/api/knowledge") == sizes
        listed = got(client, "/api/knowledge/entities?sort=person&order=mentions&limit=2")
        assert (listed["total"], listed["entities"][0]["name"]) == (3, "Maria Lopez")
        assert got(client, "/api/knowledge/entities?search=acme")["total"] == 1
        maria = got(client, "/api/knowledge/entities/e1")
        assert [one["value"] for one in maria["values"]] == ["Spain", "director"]
        assert maria["similar"][0]["right_entity"] == "e3"
        assert maria["relations"][0]["target_name"] == "Acme Corp."
        assert client.get("/api/knowledge/entities/e9").status_code == 404


def test_without_a_knowledge_base_the_answer_names_the_command(client: httpx.Client) -> None:
    answer = client.get("/api/knowledge")
    assert answer.status_code == 404
    assert "partita serve FOLDER" in answer.json()["detail"]

"""The contract of the API: typed answers, parameters, HEAD, compression, keys."""

from __future__ import annotations

from typing import Any

import httpx
import jsonschema
import pytest

from partita.app.runner import Settings, usual_budget
from partita.app.workspace import open_workspace
from partita.text.raw_messages import RawMessage
from partita.web.config import ServiceConfig
from partita.web.server import page_files, page_version, running
from patience import PATIENCE
from store.conftest import schema_on_the_server
from web.conftest import TEXTS

AT = "/api/runs/demo"
KEY = {"cells": [["T1", "T2", "T7"], ["T4"]], "author": "typed"}
SOLVE = {"pairs": [["A", "B", 0.7], ["B", "C", 0.4]]}
SCORES = "left,right,probability\na,b,0.9\nb,c,0.6\nc,d,0.5\n"
CLUSTER = {"scores": {"name": "s.csv", "content": SCORES}, "labels": [["a", "b", True]]}
TEXT = {"text": TEXTS["small"], "domain": "depots"}


def answered(client: httpx.Client, method: str, path: str, body: Any) -> httpx.Response:
    return client.request(method, path, json=body)


@pytest.mark.parametrize(
    ("route", "path", "body"),
    [
        ("/api/health", "/api/health", None),
        ("/api/domains", "/api/domains", None),
        ("/api/runs", "/api/runs", None),
        ("/api/runs/{run}", AT, None),
        ("/api/runs/{run}/messages", f"{AT}/messages", None),
        ("/api/runs/{run}/messages/{message}", f"{AT}/messages/kinston", None),
        ("/api/runs/{run}/sets/{set}", f"{AT}/sets/kinston.1", None),
        ("/api/runs/{run}/entities", f"{AT}/entities", None),
        ("/api/runs/{run}/compare", f"{AT}/compare?other=demo", None),
        ("/api/runs/{run}/sets/{set}/keys", f"{AT}/sets/kinston.1/keys", KEY),
        ("/api/runs/{run}/sets/{set}/keys", f"{AT}/sets/kinston.1/keys", None),
        ("/api/runs/{run}/sets/{set}/agreement", f"{AT}/sets/kinston.1/agreement", None),
        ("/api/runs/{run}/sets/{set}/why", f"{AT}/sets/kinston.1/why?left=T1&right=T2", None),
        ("/api/runs/{run}/next", f"{AT}/next", None),
        ("/api/resolve", "/api/resolve", TEXT),
        ("/api/solve", "/api/solve", SOLVE),
        ("/api/cluster", "/api/cluster", CLUSTER),
    ],
)
def test_answers_are_of_their_types(client: httpx.Client, route: str, path: str, body: Any) -> None:
    method = "GET" if body is None else "POST"
    answer = answered(client, method, path, body)
    assert answer.is_success, answer.text
    told = client.get("/api/openapi.json").json()["paths"][route][method.lower()]
    schema = told["responses"][str(answer.status_code)]["content"]["application/json"]["schema"]
    jsonschema.validate(answer.json(), schema)
    assert told["operationId"]
    assert told["tags"]
    assert told["security"]


def test_an_error_names_every_problem(client: httpx.Client) -> None:
    answer = client.post("/api/solve", json={"pairs": [["A", "B", 2], ["A", "A", 0.5]], "x": 1})
    told = answer.json()
    assert answer.status_code == 422
    assert {one["field"] for one in told["errors"]} == {"pairs.0.2", "pairs.1", "x"}
    assert "(and 2 more)" in told["detail"]


def test_unknown_parameters_are_refused(client: httpx.Client) -> None:
    answer = client.get(f"{AT}/messages?limt=3&order=text")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "limt"
    assert "expected search, order, offset, limit" in answer.json()["detail"]
    assert client.get("/?x=1").status_code == 200


@pytest.mark.parametrize("path", ["/api/health", AT, "/api/runs/nobody", "/"])
def test_head_is_get_without_the_body(client: httpx.Client, path: str) -> None:
    head, get = client.head(path), client.get(path)
    assert head.status_code == get.status_code
    assert head.content == b""
    assert head.headers["content-type"] == get.headers["content-type"]


def test_long_answers_are_compressed(client: httpx.Client) -> None:
    path = f"{AT}/messages/kinston"
    packed = client.get(path, headers={"accept-encoding": "gzip"})
    plain = client.get(path, headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < len(plain.content) / 2


def test_the_page_names_its_files_by_their_hash(client: httpx.Client) -> None:
    front = client.get("/").text
    folder = f"v-{page_version()}"
    modules = [name for name in page_files() if name.endswith(".js")]
    assert all(f'<link rel="modulepreload" href="{folder}/{name}">' in front for name in modules)
    module = client.get(f"/{folder}/main.js")
    assert "immutable" in module.headers["cache-control"]
    other = client.get("/v-0123456789abcdef/main.js")
    assert other.headers["cache-control"] == "no-cache"
    assert other.content == module.content


def test_the_api_is_described_without_foreign_files(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.status_code == 200
    assert "http://" not in page.text
    assert "https://" not in page.text


def test_a_key_that_contradicts_what_is_known_needs_an_override(client: httpx.Client) -> None:
    text = "A fuel depot is at Kinston. A rail depot is at Tarboro. The depot is empty."
    made = client.post(f"{AT}/messages", json={"id": "apart", "text": text}).json()
    (one,) = made["sets"]
    left, right = one["incompatible"][0]
    ids = [template["id"] for template in one["templates"]]
    there, key = f"{AT}/sets/{one['set']}/keys", {"cells": [ids], "author": "ann"}
    refused = client.post(there, json=key)
    assert refused.status_code == 422
    assert f"{left} and {right} are known to differ" in refused.json()["detail"]
    assert client.get(there).json() == []
    assert client.post(there, json=key | {"override": True}).status_code == 201


def test_a_key_is_withdrawn_and_kept(client: httpx.Client) -> None:
    there = f"{AT}/sets/small.1"
    others = client.get(f"{there}/agreement").json()
    client.post(f"{there}/keys", json={"cells": [["T1", "T2"]], "author": "eve"})
    assert client.get(f"{there}/agreement").json()["authors"] == others["authors"] + 1
    assert client.delete(f"{there}/keys?author=eve").json() == {"withdrawn": 1}
    (key,) = [one for one in client.get(f"{there}/keys").json() if one["author"] == "eve"]
    assert key["withdrawn"]
    assert not key["counts"]
    assert client.get(f"{there}/agreement").json() == others
    refused = client.delete(f"{there}/keys?author=eve")
    assert "eve has no key" in refused.json()["detail"]


def test_an_unknown_run_is_named(client: httpx.Client) -> None:
    refused = client.get("/api/runs/nobody")
    told = refused.json()
    assert (refused.status_code, told["detail"]) == (404, "the store has no run nobody")
    assert told["trace"]


def test_tables_of_a_run(client: httpx.Client) -> None:
    assert "demo" in [run["name"] for run in client.get("/api/runs").json()]
    page = client.get(f"{AT}/messages", params={"search": "fuel depot", "limit": 1}).json()
    assert page["messages"][0]["message"] == "keyed"
    assert client.get(f"{AT}/export/entities.csv").text.startswith("run,message,entity")


@pytest.mark.postgres
def test_a_service_over_postgresql() -> None:
    """What a client does first, and a key that is still there after a restart."""
    for url in schema_on_the_server():
        config = ServiceConfig(store=url, seconds=PATIENCE, eager=False, workers=1)
        workspace = open_workspace(url)
        settings = Settings("depots", "evidential", budget=usual_budget("evidential"))
        workspace.ingest([RawMessage("kinston", TEXTS["kinston"], "test")], settings, "demo", 1)
        workspace.close()
        with running(config) as address, httpx.Client(base_url=address, timeout=PATIENCE) as one:
            new = {"id": "small", "text": TEXTS["small"]}
            assert one.post(f"{AT}/messages", json=new).json()["entities"]
            asked = {"search": "depot ammunition fairview", "limit": 1}
            assert one.get(f"{AT}/messages", params=asked).json()["total"] == 2
            there = f"{AT}/sets/kinston.1"
            cells = one.get(there).json()["configurations"][0]["cells"]
            one.post(f"{there}/keys", json={"cells": cells, "author": "ann"})
            assert one.get(f"{AT}/next").json()
            assert one.get(f"{AT}/export/entities.csv").is_success
        with running(config) as address:
            (key,) = httpx.get(f"{address}{there}/keys", timeout=PATIENCE).json()
        assert (key["author"], key["cells"]) == ("ann", cells)

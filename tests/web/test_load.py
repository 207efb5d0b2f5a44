"""A few clients at once while another trains: nobody hears an error."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx

from partita.app.workspace import Workspace
from patience import PATIENCE
from web.load import heard, mixed

CLIENTS, REQUESTS = 8, 120


def test_many_kinds_at_once_while_one_trains(
    address: str, client: httpx.Client, workspace: Workspace
) -> None:
    sets = [workspace.set("demo", name) for name in ("kinston.1", "small.1")]
    cells = [[template["id"]] for template in sets[0]["templates"]]
    client.post("/api/runs/demo/sets/kinston.1/keys", json={"cells": cells, "author": "ann"})
    before = len(workspace.keys("demo"))
    with ThreadPoolExecutor(1) as beside:
        trained = beside.submit(client.post, "/api/runs/demo/train", json={})
        found = heard(address, mixed(REQUESTS, "demo", sets), CLIENTS, PATIENCE)
    assert [one for one in found if one.status not in (200, 201)] == []
    assert len(found) == REQUESTS
    assert len(workspace.keys("demo")) == before + REQUESTS // 10
    assert trained.result().status_code == 201

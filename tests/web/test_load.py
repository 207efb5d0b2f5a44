"""A few clients at once while a training job runs: nobody hears an error."""

from __future__ import annotations

import httpx

from partita.app.workspace import Workspace
from patience import PATIENCE
from web.load import heard, mixed

CLIENTS, REQUESTS = 8, 120


def test_many_kinds_at_once_while_a_job_runs(
    address: str, client: httpx.Client, workspace: Workspace
) -> None:
    sets = [workspace.set("demo", name) for name in ("kinston.1", "small.1")]
    cells = [[template["id"]] for template in sets[0]["templates"]]
    client.post("/api/runs/demo/sets/kinston.1/keys", json={"cells": cells, "author": "ann"})
    job = client.post("/api/runs/demo/train", json={}).json()["job"]
    before = len(workspace.keys("demo"))
    found = heard(address, mixed(REQUESTS, "demo", sets), CLIENTS, PATIENCE)
    assert [one for one in found if one.status not in (200, 201)] == []
    assert len(found) == REQUESTS
    assert len(workspace.keys("demo")) == before + REQUESTS // 10
    assert client.get(f"/api/jobs/{job}").json()["state"] in ("waiting", "running", "done")

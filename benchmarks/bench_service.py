"""64 clients, 2,000 requests of mixed kinds on loopback while training jobs run: no error, and how
long small requests take against the same ones asked one at a time of an idle service."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from partita.app.runner import Settings, usual_budget
from partita.app.workspace import open_workspace
from partita.corpora.documents import corpus_path
from web.load import Heard, heard, mixed

CLIENTS, REQUESTS, ALONE = 64, 2000, 500
SMALL = {"runs", "messages", "message", "set", "entities", "solve", "keys", "key", "health"}
BOUND = 64.0
RUN = "depots"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "partita.db"
    workspace = open_workspace(path)
    texts = sorted(map(str, corpus_path().glob("*.txt")))
    workspace.ingest(texts, Settings(budget=usual_budget("evidential")), name=RUN)
    workspace.close()
    return path


@contextmanager
def served(store: Path) -> Iterator[str]:
    """The command, as a person starts it; its first line is its address."""
    command = [sys.executable, "-m", "partita", "serve", "--store", str(store), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip().rstrip("/")
    finally:
        process.terminate()
        process.communicate()


def asked(address: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{address}/api/{path}", data, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


@contextmanager
def training(address: str) -> Iterator[list[Any]]:
    """Job after job, each with the keys that came in meanwhile; how each of them ended."""
    over, jobs = threading.Event(), []

    def train() -> None:
        while not over.is_set():
            job = asked(address, f"runs/{RUN}/train", {})["job"]
            while asked(address, f"jobs/{job}")["state"] in ("waiting", "running"):
                if over.wait(0.5):
                    break
            jobs.append(asked(address, f"jobs/{job}"))

    thread = threading.Thread(target=train)
    thread.start()
    try:
        yield jobs
    finally:
        over.set()
        thread.join()


def some_sets(store: Path) -> list[Any]:
    workspace = open_workspace(store)
    listed = workspace.messages(RUN, order="uncertain", limit=40)["messages"]
    found = [workspace.message(RUN, one["message"])["sets"] for one in listed]
    workspace.close()
    return [sets[0] for sets in found if sets]


def seconds(found: Sequence[Heard], kinds: set[str] = SMALL) -> list[float]:
    return [one.seconds for one in found if one.ask.kind in kinds]


def test_64_clients_while_it_trains(store: Path, ratio: Callable[..., None]) -> None:
    asks = mixed(REQUESTS, RUN, some_sets(store))
    with served(store) as address:
        heard(address, asks[:100], 4)  # everything is loaded
        alone = heard(address, asks[:ALONE], 1)
        with training(address) as jobs:
            found = heard(address, asks, CLIENTS)
    errors = [one for one in (*alone, *found) if one.status not in (200, 201)]
    idle, busy = seconds(alone), seconds(found)
    median, slowest = statistics.median(busy) / statistics.median(idle), max(busy) / max(idle)
    name = f"service, {CLIENTS} clients, training"
    ratio(f"{name}: median small request", median, "the median alone")
    ratio(f"{name}: slowest small request", slowest, "the slowest alone", BOUND)
    ratio(f"{name}: slowest small request", max(busy) / statistics.median(idle), "the median alone")
    for kind in sorted(SMALL):
        of_kind = max(seconds(found, {kind})) / statistics.median(seconds(alone, {kind}))
        ratio(f"{name}: slowest {kind}", of_kind, "its median alone")
    assert errors == []
    assert len(found) == REQUESTS
    assert [job["error"] for job in jobs if job["state"] == "failed"] == []
    assert jobs
    assert slowest <= BOUND

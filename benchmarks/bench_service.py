"""64 clients, 2,000 requests of mixed kinds on loopback while four large solves and a training run:
no error, and how long small requests take against the same ones without the large work."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from partita.app.runner import Settings, usual_budget
from partita.app.workspace import open_workspace
from partita.corpora.documents import corpus_path
from web.load import KINDS, Heard, heard, mixed

CLIENTS, REQUESTS, ALONE = 64, 2000, 500
SMALL = set(KINDS)
LARGE_SOLVES, RECORDS = 4, 22  # solves at a time, and the records of each, all pairs compared
BOUND = 10.0
RUN = "depots"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "partita.db"
    workspace = open_workspace(path)
    texts = sorted(map(str, corpus_path().glob("*.txt")))
    settings = Settings("depots", "evidential", budget=usual_budget("evidential"))
    workspace.ingest(texts, settings, name=RUN)
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
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


@contextmanager
def repeated(count: int, work: Callable[[threading.Event], Any]) -> Iterator[list[Any]]:
    """Do work again and again in so many threads; what each time came of it."""
    over, outcomes = threading.Event(), []

    def repeat() -> None:
        while not over.is_set():
            outcomes.append(work(over))

    threads = [threading.Thread(target=repeat) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield outcomes
    finally:
        over.set()
        for thread in threads:
            thread.join()


def train(address: str, _over: threading.Event) -> Any:
    """The run made with the keys that came in meanwhile."""
    return asked(address, f"runs/{RUN}/train", {})["run"]


def solve_much(address: str, _over: threading.Event) -> str:
    """The method of a large solve."""
    scores = random.Random(RECORDS)
    names = [f"record {n}" for n in range(RECORDS)]
    pairs = [[a, b, scores.uniform(0.2, 0.8)] for n, a in enumerate(names) for b in names[:n]]
    return str(asked(address, "solve", {"pairs": pairs})["method"])


def some_sets(store: Path) -> list[Any]:
    workspace = open_workspace(store)
    listed = workspace.messages(RUN, order="uncertain", limit=40)["messages"]
    found = [workspace.message(RUN, one["message"])["sets"] for one in listed]
    workspace.close()
    return [sets[0] for sets in found if sets]


def p95(found: Sequence[Heard], kinds: set[str] = SMALL) -> float:
    seconds = sorted(one.seconds for one in found if one.ask.kind in kinds)
    return seconds[int(0.95 * (len(seconds) - 1))]


def test_64_clients_while_it_solves_and_trains(store: Path, ratio: Callable[..., None]) -> None:
    asks = mixed(REQUESTS, RUN, some_sets(store))
    with served(store) as address:
        heard(address, asks[:200], 4)  # everything is loaded
        one = heard(address, asks[:ALONE], 1)
        alone = heard(address, asks, CLIENTS)
        with (
            repeated(1, partial(train, address)) as trained,
            repeated(LARGE_SOLVES, partial(solve_much, address)) as methods,
        ):
            time.sleep(1.0)  # all of them are under way
            found = heard(address, asks, CLIENTS)
    errors = [reply for reply in (*one, *alone, *found) if reply.status not in (200, 201)]
    name = f"service, {CLIENTS} clients, {LARGE_SOLVES} large solves, training: p95"
    ratio(f"{name} of small requests", p95(found) / p95(alone), "without large work", BOUND)
    ratio(f"{name} of small requests", p95(found) / p95(one), "of one client alone")
    for kind in KINDS:
        within = {kind}
        ratio(f"{name} of {kind}", p95(found, within) / p95(alone, within), "without large work")
    print(f"p95: one client {p95(one):.4f} s, {CLIENTS} clients {p95(alone):.4f} s, "
          f"with large work {p95(found):.4f} s; {len(methods)} large solves")  # fmt: skip
    assert errors == []
    assert len(found) == REQUESTS
    assert trained
    assert len(methods) >= LARGE_SOLVES
    assert p95(found) <= BOUND * p95(alone)

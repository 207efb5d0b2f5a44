"""Clients that are slow or send too much, processes that are killed, a store that goes away."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import select

from partita.app.runner import Settings, usual_budget
from partita.app.workspace import Workspace, open_workspace
from partita.store import tables
from partita.store.runs import message_rows
from partita.text.raw_messages import RawMessage
from partita.web import process_pool, server
from partita.web.backend import SMALL_BODY
from partita.web.config import ServiceConfig
from partita.web.server import running
from patience import PATIENCE, until

JSON = {"content-type": "application/json"}
AT = "/api/runs/demo"
SOLVE = {"pairs": [["A", "B", 0.7], ["B", "C", 0.4]]}
CLAIMS = "object,source,value\nbridge,press,open\nbridge,forum,closed\n"
SMALL = {
    "fuse": {"sources": [{"name": "claims.csv", "content": CLAIMS}]},
    "cluster": {"scores": {"name": "s.csv", "content": "left,right,probability\na,b,.9\n"}},
}
LARGE = SMALL_BODY + 1  # bytes of a request that counts as large work


def workers(role: str, store: Path) -> list[int]:
    """The processes of a test's service that have a role."""
    with_role = f"{process_pool.__package__}.worker\0{role}\0".encode()
    of_store = f"PARTITA_STORE={store}\0".encode()
    return [
        child
        for child in _children()
        if with_role in _told(child, "cmdline") and of_store in _told(child, "environ")
    ]


def _children() -> list[int]:
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that has ended meanwhile
            found += map(int, (task / "children").read_text().split())
    return found


def _told(process: int, what: str) -> bytes:
    with suppress(OSError):
        return (Path("/proc") / str(process) / what).read_bytes()
    return b""


@contextmanager
def connected(address: str) -> Iterator[socket.socket]:
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as found:
        yield found


def received(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def test_a_message_of_50_mb(client: httpx.Client) -> None:
    body = b'{"text": "' + b"x" * 50_000_000 + b'"}'
    answer = client.post("/api/resolve", content=body, headers=JSON)
    assert answer.status_code == 413
    assert "2,097,152 bytes" in answer.json()["detail"]
    assert client.get("/api/health").status_code == 200


def test_a_large_message_of_unknown_length(client: httpx.Client) -> None:
    def parts() -> Iterator[bytes]:
        yield from (b"x" * 100_000 for _ in range(100))

    answer = client.post("/api/resolve", content=parts(), headers=JSON)
    assert answer.status_code == 413


def test_who_asks_first_whether_to_send_hears_no_at_once(address: str) -> None:
    head = "POST /api/resolve HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n"
    with connected(address) as connection:
        connection.sendall(f"{head}content-length: 50000000\r\n\r\n".encode())
        told = received(connection)
    assert told.startswith(b"HTTP/1.1 413")
    assert b"100 Continue" not in told


def test_a_client_that_sends_slowly_is_let_go(store: Path) -> None:
    """The other client sends its request in one piece, so that it cannot be late."""
    head = "POST /api/solve HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    body = json.dumps(SOLVE)
    config = ServiceConfig(
        store=str(store), upload_timeout=1.0, seconds=PATIENCE, eager=False, workers=1
    )
    with running(config) as address, connected(address) as slow, connected(address) as other:
        slow.sendall(f"{head}content-length: 1000\r\n\r\n{{".encode())
        end = f"connection: close\r\ncontent-length: {len(body)}\r\n\r\n{body}"
        other.sendall(f"{head}{end}".encode())
        assert received(other).startswith(b"HTTP/1.1 200")  # others do not wait
        told = received(slow)
    assert told.startswith(b"HTTP/1.1 408")
    assert b"within 1 seconds" in told


def test_a_client_that_never_says_what_it_wants_is_let_go(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADER_TIMEOUT", 0.3)
    for start in (b"", b"GET / HTTP/1.1\r\nhost: loc"):
        with connected(address) as connection:
            connection.sendall(start)
            told = received(connection)
        assert told.startswith(b"HTTP/1.1 408")


def test_a_client_that_takes_no_answers_is_let_go(
    address: str, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes nothing until the service has closed the connection, however long that takes."""
    let_go: Queue[object] = Queue()
    lost = server.TimeLimitedProtocol.connection_lost

    def connection_lost(self: server.TimeLimitedProtocol, exc: Exception | None) -> None:
        lost(self, exc)
        let_go.put(self.client)

    length = len(client.get("/api/openapi.json").content)
    monkeypatch.setattr(server, "WRITE_TIMEOUT", 0.3)
    monkeypatch.setattr(server.TimeLimitedProtocol, "connection_lost", connection_lost)
    asked = b"GET /api/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 400
    with connected(address) as connection:
        connection.sendall(asked)
        while let_go.get(timeout=PATIENCE) != connection.getsockname():
            pass  # a connection of another test
        with suppress(ConnectionResetError):
            assert len(received(connection)) < 400 * length
    assert client.get("/api/health").status_code == 200


class Writing:
    """A transport with something to write, and the loop whose timers it notes."""

    def __init__(self) -> None:
        self.waits, self.aborted = 0, False
        self.timers: list[Callable[[], None]] = []

    def get_write_buffer_size(self) -> int:
        return self.waits

    def abort(self) -> None:
        self.aborted = True

    def call_later(self, _: float, call: Callable[..., None], *arguments: object) -> Mock:
        self.timers.append(partial(call, *arguments))
        return Mock()


def test_a_client_that_takes_little_may_go_on() -> None:
    """Only one that has taken nothing between two looks is let go."""
    writing = Writing()
    connection = Mock(server.TimeLimitedProtocol, transport=writing, loop=writing)
    connection._check_writing = partial(server.TimeLimitedProtocol._check_writing, connection)
    writing.waits = 100
    connection._check_writing()
    for writing.waits in (99, 98, 1):
        writing.timers.pop()()
        assert not writing.aborted
    writing.timers.pop()()
    assert writing.aborted
    assert not writing.timers


def test_a_client_that_does_not_speak_http(address: str, client: httpx.Client) -> None:
    with connected(address) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        told = received(connection)
    assert told.startswith(b"HTTP/1.1 400")
    assert json.loads(told.partition(b"\r\n\r\n")[2])["status"] == 400
    assert client.get("/api/health").status_code == 200


def test_a_client_that_goes_away_in_the_middle(address: str, client: httpx.Client) -> None:
    for _ in range(5):
        with connected(address) as connection:
            connection.sendall(b"POST /api/solve HTTP/1.1\r\nhost: localhost\r\n")
            connection.sendall(b"content-length: 100\r\n\r\n{")
    assert client.post("/api/solve", json=SOLVE).status_code == 200


@pytest.fixture(scope="module")
def own(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A service of its own, over a copy of the store, where only two may wait."""
    copy = tmp_path_factory.mktemp("own") / "partita.db"
    with sqlite3.connect(store) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
    with running(
        ServiceConfig(store=str(copy), seconds=PATIENCE, waiting=2, eager=False, workers=1)
    ) as address:
        yield address, copy


def test_killed_readers_are_started_anew(own: tuple[str, Path]) -> None:
    address, store = own
    assert httpx.get(f"{address}{AT}", timeout=PATIENCE).status_code == 200
    (before,) = workers("reading", store)
    os.kill(before, signal.SIGKILL)
    assert httpx.get(f"{address}{AT}", timeout=PATIENCE).status_code == 200
    (after,) = workers("reading", store)
    assert after != before


def test_work_whose_process_is_killed_is_done_by_another(own: tuple[str, Path]) -> None:
    address, store = own
    answers: list[httpx.Response] = []

    def ask() -> None:
        answers.append(solved(address, LARGE))

    asking = threading.Thread(target=ask)
    asking.start()
    busy = until(lambda: workers("working", store), "a process that works")
    os.kill(busy[0], signal.SIGKILL)
    asking.join()
    assert answers[0].status_code == 200, answers[0].text
    assert workers("working", store) != busy


def test_what_is_too_much_is_sent_away(own: tuple[str, Path]) -> None:
    """The only process that works is held still: one is asked, two may wait, and no more."""
    address, store = own
    assert solved(address, LARGE).status_code == 200
    (working,) = workers("working", store)
    os.kill(working, signal.SIGSTOP)
    answers: list[httpx.Response] = []
    asking = [
        threading.Thread(target=lambda: answers.append(solved(address, LARGE))) for _ in range(3)
    ]
    for one in asking:
        one.start()
    until(lambda: waiting(address) == 2, "two that wait")
    late = [solved(address, LARGE) for _ in range(5)]
    assert [answer.status_code for answer in late] == [429] * 5
    assert all("queued" in answer.json()["detail"] for answer in late)
    assert all(answer.headers["retry-after"] for answer in late)
    assert solved(address).status_code == 200  # small work has its own process
    for kind, body in SMALL.items():
        assert httpx.post(f"{address}/api/{kind}", json=body, timeout=PATIENCE).status_code == 200
    assert httpx.get(f"{address}/api/health", timeout=PATIENCE).status_code == 200
    os.kill(working, signal.SIGCONT)
    for one in asking:
        one.join()
    assert [answer.status_code for answer in answers] == [200] * 3


def test_a_large_set_in_a_short_request_is_large_work(own: tuple[str, Path]) -> None:
    address, store = own
    names = "ABCDEFGHIJKLMNO"
    chain = {"pairs": [[a, b, 0.5] for a, b in itertools.pairwise(names)]}
    assert len(json.dumps(chain)) < SMALL_BODY
    solve = partial(httpx.post, f"{address}/api/solve", timeout=PATIENCE)
    assert solve(json=SOLVE).status_code == 200
    (small,) = workers("small", store)
    os.kill(small, signal.SIGSTOP)
    try:
        assert solve(json=chain).status_code == 200  # not by the process for small work
    finally:
        os.kill(small, signal.SIGCONT)


def solved(address: str, size: int = 0) -> httpx.Response:
    """A question of at least so many bytes."""
    body, kind = json.dumps(SOLVE).ljust(size), {"content-type": "application/json"}
    return httpx.post(f"{address}/api/solve", content=body, headers=kind, timeout=PATIENCE)


def waiting(address: str) -> int:
    """How many questions wait for a process that works."""
    health = httpx.get(f"{address}/api/health", timeout=PATIENCE).json()
    return int(health["waiting"]["workers"])


@pytest.fixture(scope="module")
def hurried(own: tuple[str, Path]) -> Iterator[str]:
    """A service over the same store that gives up on an answer after two seconds."""
    with running(ServiceConfig(store=str(own[1]), seconds=2.0, eager=False, workers=1)) as address:
        yield address


def test_what_takes_too_long_is_ended(own: tuple[str, Path], hurried: str) -> None:
    others = workers("working", own[1])

    def answered() -> bool:
        return solved(hurried, LARGE).status_code == 200

    until(answered, "an answer in time")
    (held,) = set(workers("working", own[1])) - set(others)
    os.kill(held, signal.SIGSTOP)
    answer = solved(hurried, LARGE)
    assert answer.status_code == 504
    assert "no answer within 2 seconds" in answer.json()["detail"]
    until(answered, "an answer in time by another process")
    assert held not in workers("working", own[1])


def test_a_store_that_is_locked(own: tuple[str, Path], hurried: str) -> None:
    address, path = own
    key = {"cells": [["T1", "T2", "T7"], ["T4"]], "author": "ann"}
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        answer = httpx.post(f"{hurried}{AT}/sets/kinston.1/keys", json=key, timeout=PATIENCE)
        assert answer.status_code in (503, 504)
        assert httpx.get(f"{address}{AT}", timeout=PATIENCE).status_code == 200  # reads go on
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    answer = httpx.post(f"{address}{AT}/sets/kinston.1/keys", json=key, timeout=PATIENCE)
    assert answer.status_code == 201


def test_a_store_that_goes_away_and_comes_back(own: tuple[str, Path]) -> None:
    address, path = own
    away = path.with_name("away.db")
    shutil.move(path, away)
    answer = httpx.get(f"{address}{AT}", timeout=PATIENCE)
    assert answer.status_code == 503
    assert "store" in answer.json()["detail"]
    assert httpx.get(f"{address}/api/health", timeout=PATIENCE).status_code == 200
    shutil.move(away, path)
    assert httpx.get(f"{address}{AT}", timeout=PATIENCE).status_code == 200


def test_two_writers_of_keys_lose_nothing(client: httpx.Client) -> None:
    there = f"{AT}/sets/kinston.1/keys"
    before = len(client.get(there).json())
    cells = [[["T1", "T2", "T7"], ["T4"]], [["T1"], ["T2"], ["T4"], ["T7"]]]
    numbers: list[int] = []

    def write(author: str) -> None:
        with httpx.Client(base_url=client.base_url, timeout=PATIENCE) as own_client:
            for n in range(8):
                key = {"cells": cells[n % 2], "author": author}
                numbers.append(own_client.post(there, json=key).json()["key"])

    writers = [threading.Thread(target=write, args=(name,)) for name in ("ann", "bob", "eve")]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    saved = client.get(there).json()
    assert len(set(numbers)) == 24
    assert len(saved) == before + 24
    assert set(numbers) <= {key["key"] for key in saved}


def test_no_process_outlives_its_service(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(store, copy)
    roles = ("reading", "writing", "working")
    with running(ServiceConfig(store=str(copy), workers=1)):
        assert [len(workers(role, copy)) for role in roles] == [1, 1, 1]
    assert [workers(role, copy) for role in roles] == [[], [], []]


def test_a_training_that_was_stopped_goes_on_when_it_is_asked_for_again(
    store: Path, tmp_path: Path
) -> None:
    """Stopped before the second message: the first is not resolved again."""
    copy = tmp_path / "copy.db"
    shutil.copy(store, copy)
    workspace = open_workspace(copy)
    apart = [[one["id"]] for one in workspace.set("demo", "small.1")["templates"]]
    workspace.key("demo", "small.1", apart, "ann")
    name = workspace.train("demo")["run"]
    with workspace.store.writing() as connection:  # as it is when only one message is done
        at = tables.messages.c
        kept = connection.scalar(select(at.text_hash).where(at.run == name, at.position == 0))
        connection.execute(tables.messages.delete().where(at.run == name, at.position > 0))
    with (
        running(
            ServiceConfig(store=str(copy), seconds=PATIENCE, eager=False, workers=1)
        ) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as client,
    ):
        assert client.post(f"{AT}/train", json={}).json()["run"] == name
        assert client.get(f"/api/runs/{name}").json()["messages"] == 4
    assert kept in (row["text_hash"] for row in _messages(workspace, name))
    workspace.close()


def _messages(workspace: Workspace, run: str) -> list[dict[str, Any]]:
    with workspace.store.reading() as connection:
        return message_rows(connection, run)


def test_a_training_that_fails_says_why(own: tuple[str, Path]) -> None:
    """A run of a model that keys do not teach."""
    address, store = own
    workspace = open_workspace(store)
    given = [RawMessage("one", "A depot was found. The depot is empty.", "test")]
    settings = Settings("depots", "uniform", budget=usual_budget("uniform"))
    workspace.ingest(given, settings, name="even", workers=1)
    workspace.close()
    answer = httpx.post(f"{address}/api/runs/even/train", json={}, timeout=PATIENCE)
    assert answer.status_code == 422
    assert "uniform" in answer.json()["detail"]

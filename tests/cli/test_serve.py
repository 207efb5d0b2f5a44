"""The service as a person starts and ends it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.cli import app
from patience import PATIENCE

COMMAND = [sys.executable, "-m", "partita", "serve"]


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and its first line."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PARTITA_")}
    command = [*COMMAND, "--port", "0", "--workers", "1", *options]
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_it_says_where_it_is_answers_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    with served(tmp_path) as (process, line):
        assert line.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{line}api/health", timeout=PATIENCE) as answer:
            assert json.load(answer)["status"] == "ok"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert said == "partita: store partita.db; press Ctrl-C to stop\n"
    assert (tmp_path / "partita.db").exists()


def test_for_other_machines_a_token_is_made(tmp_path: Path) -> None:
    with served(tmp_path, "--host", "0.0.0.0") as (_, line):
        address, _, token = line.partition("/#token=")
        assert len(token) >= 32
        port = address.rpartition(":")[2]
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/api/runs")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=PATIENCE)
        refused.value.close()
        assert refused.value.code == 401
        asked.add_header("authorization", f"Bearer {token}")
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            assert json.load(answer) == []


def refused(*options: str) -> str:
    run = CliRunner().invoke(app, ["serve", *options])
    assert run.exit_code == 1, run
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    return run.stderr


def test_what_it_does_not_start_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port}" in refused("--port", port)
    assert "16" in refused("--host", "0.0.0.0", "--port", "0", "--token", "short")
    (tmp_path / "notes.db").write_text("This is no database, only words. " * 100)
    assert "notes.db" in refused("--port", "0", "--store", "notes.db")
    assert "nowhere" in refused("--port", "0", "--store", "nowhere/p.db")

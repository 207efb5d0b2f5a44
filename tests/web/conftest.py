"""A store with a few messages and a service over it, for all tests of this room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from partita.app.runner import Settings, usual_budget
from partita.app.workspace import Workspace, open_workspace
from partita.cli.demo import MESSAGE
from partita.text.raw_messages import RawMessage
from partita.web.config import ServiceConfig
from partita.web.server import running
from patience import PATIENCE

SCRIPT = "<script>alert(1)</script>"
TEXTS = {
    "kinston": MESSAGE,
    f"a/{SCRIPT}?#%2F..": f"A rail depot {SCRIPT} was found. The depot is large. The depot burns.",
    "keyed": "A fuel depot was found near Fairview. The depot is empty.",
    "small": "An ammunition depot was found near Fairview. The depot is empty.",
}


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("service") / "partita.db"
    workspace = open_workspace(path)
    given = [RawMessage(name, text, "test") for name, text in TEXTS.items()]
    settings = Settings("depots", "evidential", budget=usual_budget("evidential"))
    workspace.ingest(given, settings, name="demo", workers=1)
    workspace.close()
    return path


@pytest.fixture(scope="session")
def workspace(store: Path) -> Iterator[Workspace]:
    opened = open_workspace(store)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def address(store: Path) -> Iterator[str]:
    with running(
        ServiceConfig(
            store=str(store), seconds=PATIENCE, upload_timeout=PATIENCE, workers=1, largest="2M"
        )
    ) as found:
        yield found


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=PATIENCE) as found:
        yield found

"""Views of a long run cost hardly more than those of a short one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from partita.app.runner import Settings, usual_budget
from partita.app.workspace import Workspace, open_workspace
from partita.store.runs import write_message
from partita.text.raw_messages import RawMessage

SMALL, LARGE = 100, 1300  # messages
TEXT = """Subj: Kinston Rail Depot

A rail depot was found near Kinston. An ammunition depot is near Fairview. The depot is
large. The depot near Kinston has two storage areas. The areas are empty. The depot burns.
"""
VIEWS: dict[str, Callable[[Workspace], Any]] = {
    "runs": lambda work: work.runs(),
    "run": lambda work: work.run("r"),
    "messages": lambda work: work.messages("r"),
    "the least certain": lambda work: work.messages("r", order="uncertain"),
    "message": lambda work: work.message("r", "m50"),
    "set": lambda work: work.set("r", "m50.1"),
    "entities": lambda work: work.entities("r", limit=60),
    "why": lambda work: work.explain("r", "m50.1", "T1", "T2"),
    "keys": lambda work: work.keys("r", "m50.1"),
    "next": lambda work: work.next("r"),
}


@pytest.fixture(scope="module")
def workspaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Workspace]]:
    folder = tmp_path_factory.mktemp("scale")
    opened = [_filled(folder / f"{count}.db", count) for count in (SMALL, LARGE)]
    yield opened
    for one in opened:
        one.close()


def _filled(path: Path, count: int) -> Workspace:
    """One message that is resolved, and written as often as wanted under other names."""
    workspace = open_workspace(path)
    settings = Settings("depots", "evidential", budget=usual_budget("evidential"))
    workspace.ingest([RawMessage("m0", TEXT, "test")], settings, name="r", workers=1)
    message = workspace.message("r", "m0")
    for n in range(1, count):
        name = f"m{n}"
        sets = [
            one | {"message": name, "set": one["set"].replace("m0.", f"{name}.")}
            for one in message["sets"]
        ]
        write_message(workspace.store, "r", n, message | {"message": name, "sets": sets})
    for name in ("m1.1", "m2.1"):
        best = workspace.set("r", name)["configurations"][0]["cells"]
        workspace.key("r", name, best, "ann")
    return workspace


def _seconds(call: Callable[[Workspace], Any], workspace: Workspace) -> float:
    """The processor time of a call: the best of a few, after one that loads what it needs."""
    call(workspace)
    times = []
    for _ in range(3):
        began = time.process_time()
        call(workspace)
        times.append(time.process_time() - began)
    return min(times)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_many_messages(workspaces: list[Workspace], view: str) -> None:
    small, large = (_seconds(VIEWS[view], one) for one in workspaces)
    assert large <= 3 * small + 0.002, (small, large)

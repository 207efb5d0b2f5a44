"""What a process of the service does that reads the store for others, and writes keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from partita.service import asking
from partita.service.problems import written
from partita.workspace.desk import Workspace, open_workspace


class Reading:
    """The workspace, opened when it is first needed."""

    def __init__(self, store: str) -> None:
        self._store = store

    @cached_property
    def _workspace(self) -> Workspace:
        return open_workspace(self._store)

    def do(self, call: str, arguments: dict[str, Any], body: bytes) -> bytes:
        workspace = self._workspace
        calls: dict[str, Callable[..., Any]] = {
            "runs": workspace.runs,
            "run": workspace.run,
            "messages": workspace.messages,
            "message": workspace.message,
            "set": workspace.set,
            "entities": workspace.entities,
            "keys": workspace.keys,
        }
        if call == "key":
            return self._key(body, **arguments)
        return written(calls[call](**arguments))

    def _key(self, body: bytes, run: str, set: str) -> bytes:  # noqa: A002
        asked = asking.read(asking.Key, body)
        others = [one.model_dump() for one in asked.alternatives]
        saved = self._workspace.key(run, set, asked.cells, asked.author, others, asked.based_on)
        return written(saved)

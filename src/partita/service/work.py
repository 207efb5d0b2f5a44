"""What a process of the service does when it is asked: the calls that take time."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from partita.service import asking
from partita.service.problems import written
from partita.workspace.desk import Workspace, open_workspace

WARMING = "A depot was found. The depot is empty. An ammunition depot is near."


class Work:
    """The workspace, opened when it is first needed, and one method for each call."""

    def __init__(self, store: str, progress: Callable[[str], None]) -> None:
        self._store, self._progress = store, progress

    @cached_property
    def _workspace(self) -> Workspace:
        return open_workspace(self._store)

    def warm(self) -> None:
        """The first message takes seconds, for all that has to be loaded: not from whoever asks."""
        self.resolve(json.dumps({"text": WARMING}).encode())

    def do(self, call: str, arguments: dict[str, Any], body: bytes) -> bytes:
        calls: dict[str, Callable[..., bytes]] = {
            "resolve": self.resolve,
            "solve": _solve,
            "fuse": self.fuse,
            "ingest": self.ingest,
            "why": self.why,
            "next": self.next,
            "curve": self.curve,
            "evaluation": self.evaluation,
            "export": self.export,
            "report": self.report,
            "train": self.train,
        }
        return calls[call](body, **arguments)

    def resolve(self, body: bytes) -> bytes:
        from partita.workspace.running import Settings, usual_budget

        asked = asking.read(asking.Resolve, body)
        settings = Settings(asked.domain, asked.model, budget=usual_budget(asked.model))
        return written(self._workspace.resolve(asked.text, settings))

    def fuse(self, body: bytes) -> bytes:
        from partita.service.fusing import contents, options

        asked = asking.read(asking.Fuse, body)
        return written(self._workspace.fuse(contents(asked), asked.runs, options(asked)))

    def ingest(self, body: bytes, run: str) -> bytes:
        from partita.formats.message_given import Given

        asked = asking.read(asking.NewMessage, body)
        given = Given(asked.id, asked.text, "the message")
        self._workspace.ingest([given], name=run, workers=1)
        return written(self._workspace.message(run, asked.id))

    def why(self, _body: bytes, **arguments: str) -> bytes:
        return written(self._workspace.explain(**arguments))

    def next(self, _body: bytes, run: str, limit: int) -> bytes:
        return written(self._workspace.next(run, limit))

    def curve(self, _body: bytes, run: str) -> bytes:
        return written(self._workspace.curve(run))

    def evaluation(self, _body: bytes, run: str) -> bytes:
        return written(self._workspace.evaluate(run))

    def export(self, _body: bytes, run: str, table: str, form: str) -> bytes:
        """Into a file that whoever asked takes away: tables may be large."""
        handle, name = tempfile.mkstemp(suffix=f".{form}", prefix="partita-")
        os.close(handle)
        try:
            self._workspace.export(run, table, form, Path(name))
        except BaseException:
            Path(name).unlink()
            raise
        return name.encode()

    def report(self, _body: bytes, run: str) -> bytes:
        from partita.workspace.reporting import report_html

        return report_html(self._workspace, run).encode()

    def train(self, body: bytes, run: str) -> bytes:
        """By this process alone: the others are for those who wait."""
        asking.read(asking.Train, body)
        return written(self._workspace.train(run, workers=1, progress=self._progress))


def _solve(body: bytes, seconds: float) -> bytes:
    from partita.formats.results import result_line
    from partita.records import Budget
    from partita.workspace.solving import default_memory, solve

    asked = asking.read(asking.Solve, body)
    memory = default_memory() // (os.cpu_count() or 1)
    budget = Budget(min(seconds, Budget().seconds), memory)
    return result_line(solve(asked.pairs, asked.model, top=asked.top, budget=budget)).encode()

"""Write a run into a store, and resume it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from partita.app.batch import Outcome
from partita.app.runner import Earlier, Runner, stored_settings
from partita.errors import InputError
from partita.files.resume import changed_setting
from partita.store import runs, tables
from partita.store.runs import write_message
from partita.store.store import Store

RUNNING, COMPLETE, INTERRUPTED = "not finished", "complete", "interrupted"
LONGEST_NAME = 100  # characters
LONGEST_ID = 400  # of a message: databases do not index longer ones
DIGITS = 8


@dataclass(slots=True)
class Recording:
    """Write the messages of a run into a store.

    `position` is that of the last message; `lost` counts those whose text could not be stored.
    """

    store: Store
    run: str
    positions: dict[str, int]
    earlier: Earlier
    position: int
    written: int = 0
    failed: int = 0
    lost: int = 0

    def write(self, outcome: Outcome) -> bool:
        """Write a message and return whether it is new; one that is stored already is kept."""
        self.failed += bool(outcome.error)
        self.lost += bool(outcome.error) and outcome.stored is None
        if outcome.stored is None:
            self.position = self.positions.get(outcome.name, self.position)
            return False
        self.position = self.positions.get(outcome.name, self.position + 1)
        self.written += 1
        return write_message(self.store, self.run, self.position, outcome.stored)


@contextmanager
def recording(
    store: Store,
    runner: Runner,
    inputs: Sequence[str],
    name: str | None = None,
    parent: str | None = None,
) -> Iterator[Recording]:
    """Start or resume a run in a store, and write down how it ends."""
    run = checked_name(name) if name else default_name(runner.provenance)
    rows = _start(store, run, runner, inputs, parent)
    hashes = {row["message"]: row["text_hash"] for row in rows if not row["error"]}
    record = Recording(
        store,
        run,
        {row["message"]: row["position"] for row in rows},
        Earlier(hashes, where=f"run {run}", option="--name", longest_id=LONGEST_ID),
        max((row["position"] for row in rows), default=-1),
    )
    try:
        yield record
    except KeyboardInterrupt:
        _end(record, INTERRUPTED)
        raise
    _end(record, COMPLETE)


def default_name(provenance: dict[str, Any]) -> str:
    """Return a name that is the same for the same settings, so that a command resumes its run."""
    text = json.dumps(provenance, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
    return f"{provenance['domain']}-{provenance['model']}-{digest}"


def checked_name(name: str) -> str:
    """Return the name, which must fit into an address and into the name of a file."""
    fits = name.isprintable() and not set(name) & set("/\\?#%") and not name.startswith(".")
    if not fits or not name.strip() or len(name) > LONGEST_NAME:
        problem = f"{name[:LONGEST_NAME]!r} cannot be the name of a run"
        raise InputError(f"{problem} (expected up to {LONGEST_NAME} letters, digits, - or _)")
    return name


def _start(
    store: Store, run: str, runner: Runner, inputs: Sequence[str], parent: str | None
) -> list[dict[str, Any]]:
    """Return the messages that the run has already."""
    with store.writing() as connection:
        if runner.settings.model != "uniform":
            runs.add_if_new(connection, tables.models, _model_row(runner))
        if runs.add_if_new(connection, tables.runs, _run_row(run, runner, inputs, parent)):
            return []
        row = runs.read_run(connection, run)
        if found := changed_setting(row["settings"], runner.provenance):
            problem = f"run {run} was made with {found[0]} {found[1]}, and here it is {found[2]}"
            raise InputError(f"{problem}; use another --name")
        new = [one for one in inputs if one not in row["inputs"]]
        runs.change_run(connection, run, inputs=[*row["inputs"], *new], outcome=RUNNING)
        return runs.message_rows(connection, run)


def _run_row(run: str, runner: Runner, inputs: Sequence[str], parent: str | None) -> dict[str, Any]:
    provenance, model = runner.provenance, runner.settings.model
    return {
        "run": run,
        "domain": provenance["domain"],
        "model": model,
        "settings": provenance,
        "asked": stored_settings(runner.settings),
        "inputs": list(inputs),
        "versions": versions(),
        "started": now(),
        "outcome": RUNNING,
        "parent": parent,
        "model_id": None if model == "uniform" else provenance["parameters"],
    }


def _model_row(runner: Runner) -> dict[str, Any]:
    """Return the parameters of the run, so that its numbers can be reproduced."""
    return {
        "id": runner.provenance["parameters"],
        "kind": runner.parameters.kind,
        "learned_from": runner.parameters.learned_from,
        "text": runner.parameters.text,
        "keys_used": [],
        "made": now(),
    }


def _end(record: Recording, outcome: str) -> None:
    """Write down how a run ended; one to which nothing was added keeps the time of its end."""
    with record.store.writing() as connection:
        failed = runs.failed(connection, record.run) + record.lost
        changes = {"outcome": f"{outcome}, {failed:,} failed" if failed else outcome}
        if record.written or runs.read_run(connection, record.run)["finished"] is None:
            changes["finished"] = now()
        runs.change_run(connection, record.run, **changes)


@cache
def versions() -> dict[str, str]:
    """Return the versions of the packages on which the numbers depend."""
    import platform
    from importlib.metadata import version

    names = ("partita", "numpy", "scipy", "numba")
    return {"python": platform.python_version()} | {name: version(name) for name in names}


def now() -> str:
    """Return the current time in ISO format."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")

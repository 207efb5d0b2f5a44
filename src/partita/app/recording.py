"""Write a run into a store, and resume it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from partita.app.run_batch import Done, Finished
from partita.app.run_settings import asked, parameters_of
from partita.app.runner import Ready, Settings
from partita.errors import InputError
from partita.store import runs
from partita.store.store import Store
from partita.store.writing import write_message

RUNNING, COMPLETE, INTERRUPTED = "not finished", "complete", "interrupted"
LONGEST = 100  # characters of a name
LONGEST_ID = 400  # of a message: databases do not index longer ones
DIGITS = 8


@dataclass(slots=True)
class Recording:
    """Where the messages of a run go; `position` is that of the message taken last, and `lost` are
    those of which not even the text could be stored."""

    store: Store
    run: str
    positions: dict[str, int]
    finished: Finished
    position: int
    taken: int = 0
    failed: int = 0
    lost: int = 0

    def take(self, message: Done) -> bool:
        """Whether it is new: one that was done before, or by another writer, is left as it is."""
        self.failed += bool(message.error)
        self.lost += bool(message.error) and message.stored is None
        if message.stored is None:
            self.position = self.positions.get(message.message, self.position)
            return False
        self.position = self.positions.get(message.message, self.position + 1)
        self.taken += 1
        return write_message(self.store, self.run, self.position, message.stored)


@contextmanager
def recording(
    store: Store,
    settings: Settings,
    made: Ready,
    inputs: Sequence[str],
    name: str | None = None,
    parent: str | None = None,
) -> Iterator[Recording]:
    """A run that is begun or gone on with; how it ends is written down too."""
    run = checked(name) if name else usual_name(made.told)
    held = _begun(store, run, settings, made, inputs, parent)
    hashes = {row["message"]: row["text_hash"] for row in held if not row["error"]}
    record = Recording(
        store,
        run,
        {row["message"]: row["position"] for row in held},
        Finished(hashes, where=f"run {run}", option="--name", longest=LONGEST_ID),
        max((row["position"] for row in held), default=-1),
    )
    try:
        yield record
    except KeyboardInterrupt:
        _ended(record, INTERRUPTED)
        raise
    _ended(record, COMPLETE)


def usual_name(told: dict[str, Any]) -> str:
    """The same for the same settings, so that the same command goes on with the same run."""
    text = json.dumps(told, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
    return f"{told['domain']}-{told['model']}-{digest}"


def checked(name: str) -> str:
    """A name that can stand in an address and in the name of a file."""
    fits = name.isprintable() and not set(name) & set("/\\?#%") and not name.startswith(".")
    if not fits or not name.strip() or len(name) > LONGEST:
        problem = f"{name[:LONGEST]!r} cannot be the name of a run"
        raise InputError(f"{problem}; expected up to {LONGEST} letters, digits, - or _")
    return name


def _begun(
    store: Store,
    run: str,
    settings: Settings,
    made: Ready,
    inputs: Sequence[str],
    parent: str | None,
) -> list[dict[str, Any]]:
    """The messages that the run holds already."""
    with store.writing() as connection:
        if settings.model != "uniform":
            runs.add_model(connection, _model(settings, made))
        if runs.add_run(connection, _row(run, settings, made, inputs, parent)):
            return []
        row = runs.read_run(connection, run)
        _refuse_other(run, row["settings"], made.told)
        new = [one for one in inputs if one not in row["inputs"]]
        runs.change_run(connection, run, inputs=[*row["inputs"], *new], outcome=RUNNING)
        return runs.stored(connection, run)


def _refuse_other(run: str, told: dict[str, Any], here: dict[str, Any]) -> None:
    """Messages that were done in another way do not belong in the same run."""
    for name in dict.fromkeys([*here, *told]):
        if told.get(name) != here.get(name):
            was, now = told.get(name, "none"), here.get(name, "none")
            problem = f"run {run} was made with {name} {was}, and here it is {now}"
            raise InputError(f"{problem}; use another --name")


def _row(
    run: str, settings: Settings, made: Ready, inputs: Sequence[str], parent: str | None
) -> dict[str, Any]:
    return {
        "run": run,
        "domain": made.told["domain"],
        "model": settings.model,
        "settings": made.told,
        "asked": asked(settings),
        "inputs": list(inputs),
        "versions": versions(),
        "started": now(),
        "outcome": RUNNING,
        "parent": parent,
        "model_id": None if settings.model == "uniform" else made.told["parameters"],
    }


def _model(settings: Settings, made: Ready) -> dict[str, Any]:
    """The parameters of the run, so that its numbers can be made again."""
    kind, text = parameters_of(settings)
    return {
        "id": made.told["parameters"],
        "kind": kind,
        "learned_from": made.learned_from,
        "text": text,
        "keys_used": [],
        "made": now(),
    }


def _ended(record: Recording, outcome: str) -> None:
    """A run to which nothing was added keeps the time at which it was finished."""
    with record.store.writing() as connection:
        failed = runs.failed(connection, record.run) + record.lost
        told = {"outcome": f"{outcome}, {failed:,} failed" if failed else outcome}
        if record.taken or runs.read_run(connection, record.run)["finished"] is None:
            told["finished"] = now()
        runs.change_run(connection, record.run, **told)


def versions() -> dict[str, str]:
    """Of what the numbers depend on."""
    import platform
    from importlib.metadata import version

    names = ("partita", "numpy", "scipy", "numba")
    return {"python": platform.python_version()} | {name: version(name) for name in names}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

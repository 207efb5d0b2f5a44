"""Texts into a run of a store, and one text into its object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from partita.errors import InputError, PartitaError
from partita.formats.message_bytes import sound
from partita.formats.message_given import Given
from partita.formats.messages import LIMIT, message_of, read_texts
from partita.pipeline import resolve
from partita.store import runs
from partita.store.store import Store
from partita.workspace.asked import PAIRS, parameters_file, settings_of
from partita.workspace.recording import recording
from partita.workspace.run_batch import Wanted, done, message_object
from partita.workspace.running import Settings, ready

Input = str | Path | Given
Texts = Iterator[Given | PartitaError]


def ingest(
    store: Store,
    inputs: Sequence[Input],
    settings: Settings | None = None,
    name: str | None = None,
    workers: int | None = None,
    progress: Callable[[str], None] | None = None,
    parent: str | None = None,
) -> str:
    """The name of the run. What cannot be read is raised if nothing else could be."""
    settings = settings or kept_settings(store, name)
    texts = _texts(inputs)
    paths = [str(one) for one in inputs if not isinstance(one, Given)]
    with recording(store, settings, ready(settings), paths, name, parent) as record:
        count, first = 0, ""
        for message in done(texts, settings, Wanted(stored=True), record.finished, workers):
            record.take(message)
            first = first or message.error
            count += 1
            if progress:
                progress(f"{count:,} messages")
    if count == record.failed and first:
        raise PartitaError(first)
    return record.run


def kept_settings(store: Store, name: str | None) -> Settings:
    """Those with which a run was made, its parameters among them."""
    if name is None:
        raise InputError("neither settings nor the name of a run; expected one of both")
    with store.reading() as connection:
        row = runs.read_run(connection, name)
        model = runs.model_of(connection, row)
    return settings_of(row, model["text"] if model else None)


def pair_parameters_file(store: Store, name: str) -> Path | None:
    """The parameters of a run as a file, if they are those of models over pairs."""
    with store.reading() as connection:
        model = runs.model_of(connection, runs.read_run(connection, name))
    return parameters_file(model["text"]) if model and model["kind"] == PAIRS else None


def resolved(text: str, settings: Settings, message: str = "message") -> dict[str, Any]:
    """Everything that is known of a text in the end."""
    given = checked(Given(message, text, message))
    found = resolve(message_of(given), ready(settings).stages)
    told = message_object(given, found)
    return told | {"keys": {}}


def checked(given: Given) -> Given:
    """A text that did not come from a file is held to what files are held to."""
    where = given.place
    if not given.id.strip():
        raise InputError(f"{given.id!r} cannot be the id of a message; expected a name")
    if not given.text.strip():
        raise InputError("is empty; expected a message", file=where)
    if len(given.text) > LIMIT:
        raise InputError(
            f"has {len(given.text):,} characters; expected {LIMIT:,} at most", file=where
        )
    if (nul := given.text.find("\0")) >= 0:
        raise InputError(f"is binary: character {nul} is NUL; expected plain text", file=where)
    sound(given.id + given.text, where)
    return given


def _texts(inputs: Sequence[Input]) -> Texts:
    """Texts that were given are checked before anything is begun."""
    given = [checked(one) for one in inputs if isinstance(one, Given)]
    paths = [one for one in inputs if not isinstance(one, Given)]
    return chain(given, read_texts(paths) if paths else ())

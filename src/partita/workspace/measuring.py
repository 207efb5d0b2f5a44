"""The results of a run measured against its keys, by the same way as files are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from partita.errors import InputError
from partita.formats.keys import write_keys
from partita.store import keys, reading, runs
from partita.store.store import Store
from partita.workspace.consensus import keyed_sets
from partita.workspace.ingesting import pair_parameters_file
from partita.workspace.judging import evaluate as judged


def evaluate(
    store: Store, run: str, seed: int = 0, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Of the sets that have a key; `keys_learned_from` are those that the run's own parameters
    were learned from: where there are any, the figures are too good."""
    with store.reading() as connection:
        row = runs.read_run(connection, run)
        found = keyed_sets(connection, run)
        if not found:
            raise InputError(f"run {run} has no keys; expected at least one")
        lines = [json.dumps(reading.read_set(connection, run, name)) for name in found]
        model = runs.model_of(connection, row)
        counting = {one["key"] for one in keys.counting(keys.read_keys(connection, run))}
    pairs = pair_parameters_file(store, run)
    with TemporaryDirectory(prefix="partita-") as folder:
        results, answers = Path(folder) / "results.jsonl", Path(folder) / "keys.jsonl"
        results.write_text(_text(lines), encoding="utf-8")
        write_keys(answers, found.values())
        told = judged(results, [answers], pairs, seed, progress)
    learned = counting & set(model["keys_used"] if model else ())
    figures: dict[str, Any] = json.loads(told.json())
    return figures | {"keys": len(found), "keys_learned_from": len(learned)}


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

"""What `run --durable` costs: messages that wait for the disk beside messages that do not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from oracles.stored import begin, message
from partita.files.resume import growing
from partita.store.runs import write_message
from partita.store.store import open_store

MESSAGES = 200
LINE = '{"version":1,"message":"m","text":"' + "x" * 2000 + '"}'


def file_seconds(path: Path, durable: bool) -> float:
    start = time.perf_counter()
    with growing(path, {}, durable) as file:
        for n in range(MESSAGES):
            file.add(f"m{n}", [LINE])
        return time.perf_counter() - start


def store_seconds(path: Path, durable: bool) -> float:
    store = open_store(str(path))
    begin(store)
    start = time.perf_counter()
    for n in range(MESSAGES):
        write_message(store, "r", n, message(f"m{n}"), durable=durable)
    took = time.perf_counter() - start
    store.close()
    return took


def test_durable_messages(tmp_path: Path, ratio: Callable[..., None]) -> None:
    for what, measured in (("--out", file_seconds), ("--store", store_seconds)):
        plain, safe = (
            measured(tmp_path / f"{what}{durable}", durable) for durable in (False, True)
        )
        extra = (safe - plain) / MESSAGES
        ratio(f"wait of a durable message, {what}", 1000 * extra, "1 ms", None)

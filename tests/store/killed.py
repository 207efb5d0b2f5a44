"""Runs of the command that are killed, from a process that has loaded everything once.

Arguments: the folder of messages, the store, how many messages to wait for before a kill, a seed.
Every run is a process of its own, forked from this one, so that twenty of them start at once.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from sqlalchemy import text

from partita.app.batch import Outcome
from partita.app.recording import Recording
from partita.errors import PartitaError
from partita.store.opening import open_store
from partita.store.store import Store
from patience import until

LOADED = 30  # messages that are resolved before any process begins
LATER = 0.03  # a kill comes up to so many seconds after the message it waits for,
MOST = 40  # and before so many more are stored: there the process waits for it

PARTS = ("templates", "sets", "entities")
BROKEN = """
    SELECT count(*) FROM messages m WHERE m.%s <>
    (SELECT count(*) FROM %s part WHERE part.run = m.run AND part.message = m.message)
"""


def command(folder: str, url: str) -> list[str]:
    return [
        "run",
        "--domain",
        "depots",
        folder,
        "--store",
        url,
        "--name",
        "killed",
        "--workers",
        "1",
    ]


def begun(folder: str, url: str, most: int | None = None) -> int:
    """A process that runs the command and stores so many messages at most; its number."""
    number = os.fork()
    if number:
        return number
    from partita.cli import app

    if most is not None:
        _stop_after(most)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        app(command(folder, url), standalone_mode=False)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _stop_after(most: int) -> None:
    """Hold this process still when so many messages are stored, however late the kill comes."""
    write = Recording.write

    def paused(record: Recording, outcome: Outcome) -> bool:
        if len(record.positions) + record.written >= most:
            signal.pause()
        return write(record, outcome)

    Recording.write = paused  # type: ignore[method-assign]


def waited(url: str, after: int) -> None:
    """Until so many messages are stored."""
    store = until(lambda: opened(url), "the store")
    until(lambda: count(store) >= after, f"{after} messages")
    store.close()


def opened(url: str) -> Store | None:
    """None while it is being made."""
    try:
        return open_store(url, create=False)
    except PartitaError:
        return None


def count(store: Store) -> int:
    with store.reading() as connection:
        return int(connection.execute(text("SELECT count(*) FROM messages")).scalar_one())


def kill(folder: str, url: str, after: int, later: float) -> None:
    number = begun(folder, url, min(after + MOST, len(list(Path(folder).iterdir())) - 1))
    if after:
        waited(url, after)
    time.sleep(later)
    os.kill(number, signal.SIGKILL)
    _, status = os.waitpid(number, 0)
    ended = "killed" if os.WIFSIGNALED(status) else "finished"
    print(ended, broken(url), flush=True)


def broken(url: str) -> int:
    """Messages of which a part is missing."""
    store = opened(url)
    if store is None:
        return 0
    with store.reading() as connection:
        found = sum(
            int(connection.execute(text(BROKEN % (one, one))).scalar_one()) for one in PARTS
        )
    store.close()
    return found


def main(folder: str, url: str, moments: str, seed: str) -> int:
    from partita.app.runner import Runner, Settings, usual_budget
    from partita.app.stored_runs import resolved

    runner = Runner(Settings("depots", "evidential", budget=usual_budget("evidential")))
    for path in sorted(Path(folder).iterdir())[:LOADED]:
        resolved(path.read_text(), runner)
    chance = random.Random(int(seed))
    for after in filter(None, moments.split(",")):
        kill(folder, url, int(after), chance.uniform(0, LATER))
    _, status = os.waitpid(begun(folder, url), 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""All operations on a store, for commands, service and page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from partita.app import store_training, stored_keys, stored_runs
from partita.app.runner import Runner, Settings
from partita.errors import InputError
from partita.store import keys, reading, runs
from partita.store.opening import open_store
from partita.store.store import Store
from partita.text.raw_messages import RawMessage as RawMessage

if TYPE_CHECKING:
    from partita.app.fuse_contents import Content, Options

Progress = Callable[[str], None]
Object = dict[str, Any]
Order = Literal["text", "uncertain"]
MOST = 1000  # of a list at a time
LOADED = 2  # runners that a workspace keeps


def open_workspace(url: str | Path | None = None, *, create: bool = True) -> Workspace:
    """The workspace over a store: a file, or a URL of PostgreSQL."""
    return Workspace(open_store(url, create=create))


@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """What can be done with a store; errors are those of partita.errors."""

    store: Store
    runners: dict[Settings, Runner] = field(default_factory=dict)

    def runner(self, settings: Settings) -> Runner:
        """Return the runner of some settings; the last few stay loaded."""
        runner = self.runners.pop(settings, None) or Runner(settings)
        self.runners[settings] = runner
        for oldest in list(self.runners)[:-LOADED]:
            del self.runners[oldest]
        return runner

    def close(self) -> None:
        self.store.close()

    def ingest(
        self,
        inputs: Sequence[str | Path | RawMessage],
        settings: Settings | None = None,
        name: str | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> str:
        """Files, folders or texts into a run, whose name is returned; what it holds already is not
        done again. Without settings, the run of that name has them."""
        runner = self.runner(settings or stored_runs.kept_settings(self.store, name))
        return stored_runs.ingest(self.store, inputs, runner, name, workers, progress)

    def resolve(self, text: str, settings: Settings, message: str = "message") -> Object:
        """One message, which is not stored."""
        return stored_runs.resolved(text, self.runner(settings), message)

    def runs(self) -> list[Object]:
        with self.store.reading() as connection:
            return [_run(row) for row in runs.list_runs(connection)]

    def run(self, name: str) -> Object:
        with self.store.reading() as connection:
            runs.read_run(connection, name)
            (found,) = runs.list_runs(connection, name)
            return _run(found) | {"sorts": reading.sorts(connection, name)}

    def messages(
        self,
        run: str,
        search: str = "",
        order: Order = "text",
        offset: int = 0,
        limit: int = 100,
    ) -> Object:
        """A page of the messages in which a text stands, and how many there are."""
        offset, limit = _page(offset, limit)
        if order not in ("text", "uncertain"):
            raise InputError(f"order is {order!r}; expected text or uncertain")
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            uncertain = order == "uncertain"
            return reading.list_messages(connection, run, search, uncertain, offset, limit)

    def message(self, run: str, message: str) -> Object:
        """Everything that is known of a message."""
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            found = reading.read_message(connection, run, message)
            names = [one["set"] for one in found["sets"]]
            told = keys.counting(keys.read_keys(connection, run, names))
            return found | {"keys": keys.by_set(told)}

    def set(self, run: str, name: str) -> Object:
        """A set as a line of results."""
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            return reading.read_set(connection, run, name)

    def entities(
        self, run: str, search: str = "", sort: str = "", offset: int = 0, limit: int = 100
    ) -> Object:
        """A page of the entities of a sort that say something, and how many there are."""
        offset, limit = _page(offset, limit)
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            return reading.list_entities(connection, run, search, sort, offset, limit)

    def keys(self, run: str, set: str | None = None) -> list[Object]:  # noqa: A002
        """Every key that was saved, oldest first; the newest of each author counts."""
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            if set is not None:
                reading.read_set(connection, run, set)
            return keys.read_keys(connection, run, None if set is None else [set])

    def key(
        self,
        run: str,
        set: str,  # noqa: A002
        cells: Sequence[Sequence[str]],
        author: str,
        alternatives: Iterable[Mapping[str, Any]] = (),
        based_on: int | None = None,
    ) -> Object:
        """Save a key beside those that are there; conflicts are keys that others have saved since
        the one that it is based on."""
        return stored_keys.save(self.store, run, set, cells, author, alternatives, based_on)

    def train(
        self, run: str, workers: int | None = None, progress: Progress | None = None
    ) -> Object:
        """Learn from the keys, and resolve all messages again as a run of its own."""
        return store_training.train(self.store, run, workers, progress)

    def curve(self, run: str) -> Object:
        """What more and more keys teach, and how reliable probabilities were and are."""
        return store_training.curve(self.store, run)

    def next(self, run: str, limit: int = 10) -> list[Object]:
        """Which sets to key next: those whose keys are expected to teach most."""
        return store_training.next_sets(self.store, run, limit)

    def evaluate(self, run: str, progress: Progress | None = None) -> Object:
        """The results of the sets that have a key, measured."""
        return stored_runs.evaluate(self.store, run, progress=progress)

    def explain(self, run: str, set: str, left: str, right: str) -> Object:  # noqa: A002
        """Why two templates were (not) thought to be the same."""
        return stored_runs.explain(self.store, run, set, left, right).to_dict()

    def fuse(
        self,
        sources: Sequence[Content] = (),
        runs: Sequence[str] = (),
        options: Options | None = None,
    ) -> Object:
        """What runs of the store and other sources say as one belief; `runs` tells which file of
        the answer is which run."""
        from partita.app.fuse_contents import Content, fuse_contents

        files = {f"{run}.jsonl": run for run in runs}
        told = [Content(f, stored_runs.results_text(self.store, run)) for f, run in files.items()]
        return fuse_contents([*told, *sources], options) | {"runs": files}

    def export(self, run: str, table: str, form: str, out: Path) -> int:
        """A table of a run as a file, or its results, or its keys; how many rows there were."""
        return stored_runs.export(self.store, run, table, form, out)


def _run(row: Mapping[str, Any]) -> Object:
    """The row of a run, as the calls name things."""
    told = {"name": row["run"], **row}
    return {name: value for name, value in told.items() if name not in ("run", "asked")}


def _page(offset: int, limit: int) -> tuple[int, int]:
    if offset < 0 or limit < 0:
        raise InputError(f"offset {offset} and limit {limit}; expected 0 or more")
    return offset, min(limit, MOST)

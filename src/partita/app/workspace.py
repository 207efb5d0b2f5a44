"""All operations on a store, for commands, service and page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from partita.app import store_training, stored_runs
from partita.app.recording import now
from partita.app.runner import Runner, Settings
from partita.errors import InputError
from partita.store import keys, reading, runs
from partita.store.store import Store, open_store
from partita.text.raw_messages import RawMessage

if TYPE_CHECKING:
    from partita.fusion.sources import Content, FuseSource
    from partita.options import FuseOptions

Progress = Callable[[str], None]
Object = dict[str, Any]
Order = Literal["text", "uncertain"]
LARGEST_PAGE = 1000  # of a list at a time
LOADED_RUNNERS = 2  # runners that a workspace keeps


def open_workspace(url: str | Path | None = None, *, create: bool = True) -> Workspace:
    """Open the workspace of a store, which is a file or a PostgreSQL URL."""
    return Workspace(open_store(url, create=create))


@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """The operations on a store; errors are those of partita.errors."""

    store: Store
    runners: dict[Settings, Runner] = field(default_factory=dict)

    def runner(self, settings: Settings) -> Runner:
        """Return the runner of some settings; the last few stay loaded."""
        runner = self.runners.pop(settings, None) or Runner(settings)
        self.runners[settings] = runner
        for oldest in list(self.runners)[:-LOADED_RUNNERS]:
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
        """Add files, folders or texts to a run and return its name.

        Messages already in the run are skipped. Without settings, those of the named run apply.
        """
        runner = self.runner(settings or stored_runs.settings_of_run(self.store, name))
        return stored_runs.ingest(self.store, inputs, runner, name, workers, progress)

    def resolve(self, text: str, settings: Settings, message: str = "message") -> Object:
        """Resolve one message without storing it."""
        return stored_runs.resolved(text, self.runner(settings), message)

    def runs(self) -> list[Object]:
        with self.store.reading() as connection:
            return [_run(row) for row in runs.list_runs(connection)]

    def run(self, name: str) -> Object:
        with self.store.reading() as connection:
            runs.read_run(connection, name)
            (row,) = runs.list_runs(connection, name)
            kind = runs.model_kind(connection, row["model_id"])
            return _run(row) | {
                "sorts": reading.entity_types(connection, name),
                "untrainable": store_training.untrainable(row, kind),
            }

    def messages(
        self,
        run: str,
        search: str = "",
        order: Order = "text",
        offset: int = 0,
        limit: int = 100,
    ) -> Object:
        """Return a page of the messages that contain a text, and their number."""
        offset, limit = _page(offset, limit)
        if order not in ("text", "uncertain"):
            raise InputError(f"order is {order!r}; expected text or uncertain")
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            uncertain = order == "uncertain"
            return reading.list_messages(connection, run, search, uncertain, offset, limit)

    def message(self, run: str, message: str) -> Object:
        """Return a message with its sets, entities and keys."""
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            content = reading.read_message(connection, run, message)
            names = [one["set"] for one in content["sets"]]
            counting = keys.counting(keys.select_keys(connection, run, names))
            return content | {"keys": keys.by_set(counting)}

    def set(self, run: str, name: str) -> Object:
        """Return a set as a line of results."""
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            return reading.read_set(connection, run, name)

    def entities(
        self, run: str, search: str = "", sort: str = "", offset: int = 0, limit: int = 100
    ) -> Object:
        """Return a page of the entities of a type that match a text, and their number."""
        offset, limit = _page(offset, limit)
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            return reading.list_entities(connection, run, search, sort, offset, limit)

    def keys(self, run: str, set: str | None = None) -> list[Object]:  # noqa: A002
        """Return all saved keys, oldest first; the newest of each author counts."""
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            if set is not None:
                reading.read_set(connection, run, set)
            return keys.select_keys(connection, run, None if set is None else [set])

    def key(
        self,
        run: str,
        set: str,  # noqa: A002
        cells: Sequence[Sequence[str]],
        author: str,
        alternatives: Iterable[Mapping[str, Any]] = (),
        based_on: int | None = None,
        override: bool = False,
    ) -> Object:
        """Save a key and return its number and conflicts.

        Conflicts are keys that others have saved since the key that this one is based on. A key
        that contradicts what is known is refused unless `override`.
        """
        more = (alternatives, based_on, override)
        return stored_runs.save_key(self.store, run, set, cells, author, *more)

    def withdraw(self, run: str, set: str, author: str) -> Object:  # noqa: A002
        """Withdraw the keys of an author for a set."""
        return stored_runs.withdraw_keys(self.store, run, set, author)

    def agreement(self, run: str, set: str) -> Object:  # noqa: A002
        """Return how the authors of a set agree."""
        return stored_runs.key_agreement(keys.counting(self.keys(run, set)))

    def add_job(self, job: str, run: str, request: Object) -> Object:
        """Add a job that waits, and return it."""
        row: Object = {"job": job, "run": run, "request": request}
        row |= {"state": "waiting", "progress": ""}
        row |= {"result": None, "error": None, "created": now(), "changed": now()}
        with self.store.writing() as connection:
            runs.read_run(connection, run)
            runs.add_job(connection, row)
        return row

    def change_job(self, job: str, **values: Any) -> Object:
        """Change the state, progress, result or error of a job, and return it."""
        with self.store.writing() as connection:
            runs.change_job(connection, job, changed=now(), **values)
            return runs.read_job(connection, job)

    def job(self, job: str) -> Object:
        """Return a job by its id."""
        with self.store.reading() as connection:
            return runs.read_job(connection, job)

    def open_jobs(self) -> list[Object]:
        """Return the jobs that have not ended, oldest first."""
        with self.store.reading() as connection:
            return runs.open_jobs(connection)

    def train(
        self, run: str, workers: int | None = None, progress: Progress | None = None
    ) -> Object:
        """Train on the keys, and resolve all messages again in a new run."""
        return store_training.train_on_run(self.store, run, workers, progress)

    def curve(self, run: str) -> Object:
        """Return the learning curve, and the reliability of probabilities before and after."""
        return store_training.run_curve(self.store, run)

    def next(self, run: str, limit: int = 10) -> list[Object]:
        """Return the sets to key next, the most informative first.

        Of a run that is not trained on keys, the least certain first.
        """
        return store_training.sets_to_key(self.store, run, limit)

    def evaluate(self, run: str, progress: Progress | None = None) -> Object:
        """Evaluate the sets that have a key."""
        return stored_runs.evaluate_run(self.store, run, progress=progress)

    def explain(self, run: str, set: str, left: str, right: str) -> Object:  # noqa: A002
        """Explain why two templates were or were not resolved as the same."""
        return stored_runs.explain_stored(self.store, run, set, left, right).to_dict()

    def explain_text(self, text: str, settings: Settings, **ends: str) -> Object:
        """Explain two templates of a text without storing it."""
        return stored_runs.explain_text(text, self.runner(settings), **ends).to_dict()

    def fuse(
        self,
        sources: Sequence[Content | FuseSource] = (),
        runs: Sequence[str] = (),
        options: FuseOptions | None = None,
    ) -> Object:
        """Fuse runs of the store and other sources into one belief.

        The field `runs` of the result maps names of files to runs.
        """
        from partita.app.belief import fuse_contents
        from partita.fusion.sources import Content

        files = {f"{run}.jsonl": run for run in runs}
        contents = [
            Content(f, stored_runs.results_text(self.store, run)) for f, run in files.items()
        ]
        return fuse_contents([*contents, *sources], options) | {"runs": files}

    def export(self, run: str, table: str, form: str, out: Path, excel_safe: bool = False) -> int:
        """Write a table of a run, its results or its keys to a file; return the number of rows."""
        return stored_runs.export(self.store, run, table, form, out, excel_safe)


def _run(row: Mapping[str, Any]) -> Object:
    """Return the row of a run with the public names of its fields."""
    fields = {"name": row["run"], **row}
    return {name: value for name, value in fields.items() if name not in ("run", "asked")}


def _page(offset: int, limit: int) -> tuple[int, int]:
    if offset < 0 or limit < 0:
        raise InputError(
            f"offset is {offset} and limit is {limit} (expected non-negative integers)"
        )
    return offset, min(limit, LARGEST_PAGE)

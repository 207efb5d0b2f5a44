"""All operations on a store, for commands, service and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from partita.app import store_training
from partita.app.recording import checked_name, now, versions
from partita.app.stored_runs import Object, Progress, StoredRuns, key_agreement
from partita.errors import InputError
from partita.options import FuseOptions
from partita.store import reading, runs
from partita.store.store import open_store

if TYPE_CHECKING:
    from partita.fusion.sources import Content, FuseSource

Order = Literal["text", "uncertain"]
TABLE_KINDS = ("records", "scores", "clusters", "claims")  # of runs that hold a table
LARGEST_PAGE = 1000  # of a list at a time


def open_workspace(url: str | Path | None = None, *, create: bool = True) -> Workspace:
    """Open the workspace of a store, which is a file or a PostgreSQL URL."""
    return Workspace(open_store(url, create=create))


class Workspace(StoredRuns):
    """All operations on a store."""

    def runs(self) -> list[Object]:
        with self.store.reading() as connection:
            return [_run(row) for row in runs.list_runs(connection)]

    def run(self, run: str) -> Object:
        with self.reading(run) as connection:
            (row,) = runs.list_runs(connection, run)
            kind = runs.model_kind(connection, row["model_id"])
            return _run(row) | {
                "sorts": reading.entity_types(connection, run),
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
        with self.reading(run) as connection:
            uncertain = order == "uncertain"
            return reading.list_messages(connection, run, search, uncertain, offset, limit)

    def message(self, run: str, message: str) -> Object:
        """Return a message with its sets, entities and keys."""
        with self.reading(run) as connection:
            content = reading.read_message(connection, run, message)
            names = [one["set"] for one in content["sets"]]
            counting = runs.counting(runs.select_keys(connection, run, names))
            return content | {"keys": reading.rows_by(counting, "set")}

    def set(self, run: str, set: str) -> Object:  # noqa: A002
        """Return a set as a line of results."""
        with self.reading(run) as connection:
            return reading.read_set(connection, run, set)

    def entities(
        self,
        run: str,
        search: str = "",
        sort: str = "",
        offset: int = 0,
        limit: int = 100,
        order: str = "text",
    ) -> Object:
        """Return a page of the entities of a type that match a text, and their number."""
        offset, limit = _page(offset, limit)
        with self.reading(run) as connection:
            return reading.list_entities(connection, run, search, sort, offset, limit, order)

    def compare(self, run: str, other: str, offset: int = 0, limit: int = 100) -> Object:
        """Return a page of the mentions that the two runs group differently, and their number."""
        offset, limit = _page(offset, limit)
        with self.reading(run) as connection:
            runs.read_run(connection, other)
            return reading.grouped_differently(connection, run, other, offset, limit)

    def add_tables(self, run: str, kind: str, contents: Mapping[str, str]) -> Object:
        """Store tables of records, pair scores or claims as a run of their own, and return it."""
        if kind not in TABLE_KINDS:
            raise InputError(f"unknown kind {kind!r} (expected {', '.join(TABLE_KINDS)})")
        row: Object = {"run": checked_name(run), "domain": kind, "model": "", "settings": {}}
        row |= {"asked": {}, "inputs": [*contents], "versions": versions(), "outcome": "complete"}
        row |= {"started": now(), "finished": now(), "parent": None, "model_id": None}
        with self.store.writing() as connection:
            if not runs.add_tables(connection, row, contents):
                raise InputError(f"the store already has a run {run}; choose another name")
        return self.run(run)

    def delete(self, run: str) -> Object:
        """Delete a run with everything that belongs to it."""
        with self.store.writing() as connection:
            runs.read_run(connection, run)
            runs.delete_run(connection, run)
        return {"deleted": run}

    def collection(self, run: str) -> dict[str, list[Object]]:
        """Return the tables of a knowledge base of the texts of a run."""
        with self.reading(run) as connection:
            domain = runs.read_run(connection, run)["domain"]
            rows = runs.message_rows(connection, run, ("message", "text", "error"))
        texts = tuple((row["message"], row["text"]) for row in rows if not row["error"])
        return _collected(texts, domain)

    def keys(self, run: str, set: str | None = None) -> list[Object]:  # noqa: A002
        """Return all saved keys, oldest first; the newest of each author counts."""
        with self.reading(run) as connection:
            if set is not None:
                reading.read_set(connection, run, set)
            return runs.select_keys(connection, run, None if set is None else [set])

    def agreement(self, run: str, set: str) -> Object:  # noqa: A002
        """Return how the authors of a set agree."""
        return key_agreement(runs.counting(self.keys(run, set)))

    def train(self, run: str, workers: int | None = 1, progress: Progress | None = None) -> Object:
        """Train on the keys, and resolve all messages again in a new run."""
        return store_training.train_on_run(self, run, workers, progress)

    def next(self, run: str, limit: int = 10) -> list[Object]:
        """Return the sets to key next, the most informative first.

        Of a run that is not trained on keys, the least certain first.
        """
        return store_training.sets_to_key(self.store, run, limit)

    def fuse(
        self,
        sources: Sequence[Content | FuseSource] = (),
        runs: Sequence[str] = (),
        options: FuseOptions | None = None,
    ) -> Object:
        """Fuse runs of the store and other sources into one belief.

        The field `runs` of the result maps names of files to runs.
        """
        from partita.app.fuse import fuse_contents
        from partita.fusion.sources import Content

        files = {f"{run}.jsonl": run for run in runs}
        contents = [Content(f, self.results_text(run)) for f, run in files.items()]
        return fuse_contents([*contents, *sources], options) | {"runs": files}


@lru_cache(maxsize=1)
def _collected(texts: tuple[tuple[str, str], ...], domain: str) -> dict[str, list[Object]]:
    from partita.app.build import build

    base = build(dict(texts), domain=domain, workers=1)
    return {name: base.to_arrow(name).to_pylist() for name in base.tables}


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

"""All operations on a store, for commands, service and page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from partita.app import run_keys
from partita.app.batch import OutputForms
from partita.app.explain import explain_result
from partita.app.recording import LONGEST_NAME, checked_name, now, recording, versions
from partita.app.runner import JOINT, Runner, Settings, message_object, run_messages, settings_of
from partita.corpora.keys import write_keys
from partita.errors import InputError, PartitaError, Unknown
from partita.files.text import HeldText
from partita.files.writing import replacing
from partita.options import FuseOptions
from partita.results.result_lines import VERSION
from partita.results.saved_results import Result, result_of
from partita.store import reading, runs
from partita.store.reading import FORMS, export_table, table_named
from partita.store.runs import PLACE
from partita.store.store import Store, open_store
from partita.text.messages import LIMIT, parse_message, read_texts, valid_unicode
from partita.text.raw_messages import RawMessage

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from partita.fusion.sources import Content, FuseSource

Input = str | Path | RawMessage
Row = Mapping[str, Any]
Object = dict[str, Any]
Order = Literal["text", "uncertain"]
TABLE_KINDS = ("records", "scores", "clusters", "claims")  # of runs that hold a table
LARGEST_PAGE = 1000  # of a list at a time
LOADED_RUNNERS = 2  # runners that are kept
SHORT = 8  # digits of a model's hash in the name of a run


def open_workspace(url: str | Path | None = None, *, create: bool = True) -> Workspace:
    """Open the workspace of a store, which is a file or a PostgreSQL URL."""
    return Workspace(open_store(url, create=create))


@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """All operations on a store. Errors are those of partita.errors."""

    store: Store
    runners: dict[Settings, Runner] = field(default_factory=dict)

    def close(self) -> None:
        self.store.close()

    @contextmanager
    def reading(self, run: str) -> Iterator[Connection]:
        """Open a snapshot of the store, which must have the run."""
        with self.store.reading() as connection:
            runs.read_run(connection, run)
            yield connection

    def runner(self, settings: Settings) -> Runner:
        """Return the runner of some settings; the last few stay loaded."""
        runner = self.runners.pop(settings, None) or Runner(settings)
        self.runners[settings] = runner
        for oldest in list(self.runners)[:-LOADED_RUNNERS]:
            del self.runners[oldest]
        return runner

    def ingest(
        self,
        inputs: Sequence[Input],
        settings: Settings | None = None,
        name: str | None = None,
        workers: int | None = None,
        parent: str | None = None,
    ) -> str:
        """Add files, folders or texts to a run and return its name.

        Messages already in the run are skipped. Without settings, those of the named run apply.
        Raises the first error if no message could be resolved.
        """
        runner = self.runner(settings or self._settings_of(name))
        messages = _messages(inputs)
        paths = [str(one) for one in inputs if not isinstance(one, RawMessage)]
        with recording(self.store, runner, paths, name, parent) as record:
            count, first_error, forms = 0, "", OutputForms(stored=True)
            for outcome in run_messages(messages, runner, forms, record.earlier, workers):
                record.write(outcome)
                first_error = first_error or outcome.error
                count += 1
        if count == record.failed and first_error:
            raise PartitaError(first_error)
        return record.run

    def _settings_of(self, name: str | None) -> Settings:
        """Return the settings of a stored run, with its parameters."""
        if name is None:
            raise InputError("no settings and no name of a run (expected one of them)")
        with self.store.reading() as connection:
            row = runs.read_run(connection, name)
            model = runs.model_of(connection, row)
        return settings_of(row, model["text"] if model else None)

    def resolve(self, text: str, settings: Settings, message: str = "message") -> Object:
        """Resolve one message without storing it, and return it as pages show it."""
        raw = checked_message(RawMessage(message, text, message))
        found = self.runner(settings).resolve(parse_message(raw))
        return message_object(raw, found) | {"keys": {}, "notes": list(found.notes)}

    def export(self, run: str, table: str, form: str, out: Path, excel_safe: bool = False) -> int:
        """Write a table, the results or the keys of a run; return the number of rows or lines.

        With `excel_safe`, texts of CSV that a spreadsheet would run get a quote before them.
        """
        if form not in FORMS:
            raise InputError(f"unknown format {form!r} (expected {', '.join(FORMS)})")
        if table not in LINES:
            table_named(table)
        elif form != "jsonl":
            raise InputError(f"{table} cannot be written as {form} (expected jsonl)")
        with self.store.reading() as connection:
            row = runs.read_run(connection, run)
            if table == "results":
                return _write(out, _results(connection, row))
            if table == "keyed":
                keyed = run_keys.keys_of_run(connection, run)
                write_keys(out, keyed.values())
                return len(keyed)
            return export_table(connection, run, table, form, out, excel_safe)

    def results_text(self, run: str) -> str:
        """Return the results of a run as `run --out` writes them."""
        with self.store.reading() as connection:
            lines = _results(connection, runs.read_run(connection, run))
            return "".join(f"{line}\n" for line in lines)

    def explain(self, run: str, set: str, left: str, right: str) -> Object:  # noqa: A002
        """Explain why two templates were or were not resolved as the same, as the run did it."""
        with self.store.reading() as connection:
            row = runs.read_run(connection, run)
            line = reading.read_set(connection, run, set)
            model = runs.model_of(connection, row)
        ids = [template["id"] for template in line["templates"]]
        for template in (left, right):
            if template not in ids:
                expected = f"expected one of {', '.join(ids[:20])}"
                raise Unknown(f"set {set} has no template {template}; {expected}")
        path = (
            HeldText("parameters of the run", model["text"])
            if model and model["kind"] != JOINT
            else None
        )
        result = result_of(line, PLACE)
        assert isinstance(result, Result)
        domain = row["asked"]["domain"]
        return explain_result(result, left, right, path, domain, f"run {run}").to_dict()

    def key(
        self,
        run: str,
        set: str,  # noqa: A002
        cells: Sequence[Sequence[str]],
        author: str,
        alternatives: Iterable[Row] = (),
        based_on: int | None = None,
        override: bool = False,
    ) -> Object:
        """Save a key and return its number and conflicts.

        Conflicts are keys that others have saved since the key that this one is based on. A key
        that contradicts what is known of its templates is refused unless `override`.
        """
        with self.store.writing() as connection:
            runs.read_run(connection, run)
            line = reading.read_set(connection, run, set)
            key = run_keys.checked_key(line, cells, author, alternatives, based_on, override)
            number, conflicts = runs.insert_key(connection, run, key)
        return {"key": number, "conflicts": conflicts}

    def withdraw(self, run: str, set: str, author: str) -> Object:  # noqa: A002
        """Withdraw the keys of an author for a set; they stay in the store and no longer count."""
        with self.store.writing() as connection:
            runs.read_run(connection, run)
            count = runs.mark_withdrawn(connection, run, set, run_keys.author_name(author), now())
        if not count:
            raise Unknown(f"{author} has no key for set {set}")
        return {"withdrawn": count}

    def runs(self) -> list[Object]:
        with self.store.reading() as connection:
            return [_run(row) for row in runs.list_runs(connection)]

    def run(self, run: str) -> Object:
        with self.reading(run) as connection:
            (row,) = runs.list_runs(connection, run)
            kind = runs.model_kind(connection, row["model_id"])
            return _run(row) | {
                "sorts": reading.entity_types(connection, run),
                "untrainable": run_keys.untrainable(row, kind),
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
        return run_keys.key_agreement(runs.counting(self.keys(run, set)))

    def train(self, run: str, workers: int | None = 1) -> Object:
        """Train on the keys, and resolve all messages again in a new run.

        Stored texts are resolved: files may have changed, or be gone.
        """
        data = run_keys.keys_to_learn(self.store, run)
        model, text, report = run_keys.learn_keys(self.store, data)
        settings = settings_of(data.row, text)
        name = f"{data.root[: LONGEST_NAME - SHORT - 1]}-{model[:SHORT]}"
        if name != run:
            with self.reading(run) as connection:
                rows = runs.message_rows(connection, run, runs.READ)
            messages = [
                RawMessage(row["message"], row["text"], row["place"], fields=row["fields"])
                for row in rows
            ]
            self.ingest(messages, settings, name, workers, run)
        return {"model": model, "run": name, "report": report}

    def next(self, run: str, limit: int = 10) -> list[Object]:
        """Return the sets to key next, the most informative first.

        Of a run that is not trained on keys, the least certain first.
        """
        return run_keys.sets_to_key(self.store, run, limit)

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


def checked_message(message: RawMessage) -> RawMessage:
    """Return a message that did not come from a file, held to what files are held to."""
    where, text = message.place, message.text
    if not message.id.strip():
        raise InputError(f"{message.id!r} cannot be the id of a message (expected a name)")
    if not text.strip():
        raise InputError("is empty (expected a message)", file=where)
    if len(text) > LIMIT:
        raise InputError(f"has {len(text):,} characters (expected at most {LIMIT:,})", file=where)
    if (nul := text.find("\0")) >= 0:
        raise InputError(f"is binary: character {nul} is NUL (expected plain text)", file=where)
    valid_unicode(message.id + text, where)
    return message


def _messages(inputs: Sequence[Input]) -> Iterator[RawMessage | PartitaError]:
    """Return all messages; those that did not come from files are checked first."""
    messages = [checked_message(one) for one in inputs if isinstance(one, RawMessage)]
    paths = [one for one in inputs if not isinstance(one, RawMessage)]
    return chain(messages, read_texts(paths) if paths else ())


LINES = ("results", "keyed")  # made from several tables: as run writes results, train reads keys


def _write(out: Path, lines: Iterator[str]) -> int:
    count = 0
    with replacing(out) as stream:
        for line in lines:
            stream.write(f"{line}\n")
            count += 1
    return count


def _stored_messages(connection: Connection, run: str) -> Iterator[dict[str, Any]]:
    for entry in runs.message_rows(connection, run):
        if not entry["error"]:
            yield reading.read_message(connection, run, entry["message"])


def _results(connection: Connection, row: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that `run --out` writes."""
    for message in _stored_messages(connection, row["run"]):
        yield from map(_line, message["sets"])
        alone = {
            "version": VERSION,
            "message": message["message"],
            "singletons": message["singletons"],
        }
        yield _line(alone | {"run": {"text": message["text_hash"], **row["settings"]}})


def _line(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


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

"""The runs of a store: add texts to them, export, explain, evaluate and key them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from partita.app.batch import OutputForms
from partita.app.evaluate import evaluate
from partita.app.explain import explain_result
from partita.app.recording import now, recording
from partita.app.runner import JOINT, Runner, Settings, message_object, run_messages, settings_of
from partita.app.solve import parameters_file
from partita.core import Configuration
from partita.core.templates import Alternative, Key
from partita.corpora.keys import alternative_of, configuration_of, write_keys
from partita.domains import PAIRS
from partita.errors import InputError, PartitaError, Unknown
from partita.files.strict import Place, integer_of, text_of
from partita.files.writing import replacing
from partita.results.result_lines import VERSION, template_of
from partita.results.saved_results import Result, result_of
from partita.store import reading, runs
from partita.store.reading import FORMS, export_table, table_named
from partita.store.runs import PLACE as STORED
from partita.store.store import Store
from partita.text.messages import LIMIT, parse_message, read_texts, valid_unicode
from partita.text.raw_messages import RawMessage

Input = str | Path | RawMessage
Row = Mapping[str, Any]
Object = dict[str, Any]
Progress = Callable[[str], None]
LOADED_RUNNERS = 2  # runners that are kept


@dataclass(frozen=True, slots=True, eq=False)
class StoredRuns:
    """The runs of a store: what adds to them, and what keys, explains, measures and exports them.

    Errors are those of partita.errors.
    """

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
        progress: Progress | None = None,
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
                if progress:
                    progress(f"{count:,} messages")
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
                keyed = keys_of_run(connection, run)
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
        path = parameters_file(model["text"]) if model and model["kind"] != JOINT else None
        return _explained(line, left, right, path, row["asked"]["domain"], f"run {run}")

    def explain_text(
        self, text: str, settings: Settings, name: str, left: str, right: str
    ) -> Object:
        """Explain two templates of a text without storing it."""
        sets = self.resolve(text, settings)["sets"]
        line = next((one for one in sets if one["set"] == name), None)
        if line is None:
            raise Unknown(f"the text has no set {name}")
        path = Path(settings.parameters) if settings.parameters else None
        return _explained(line, left, right, path, settings.domain, "the text")

    def evaluate(self, run: str, progress: Progress | None = None) -> Object:
        """Evaluate the sets that have a key.

        `keys_learned_from` counts the keys that the parameters of the run were trained on: if it
        is not 0, the figures are too optimistic.
        """
        with self.store.reading() as connection:
            row = runs.read_run(connection, run)
            keyed = keys_of_run(connection, run)
            if not keyed:
                raise InputError(f"run {run} has no keys; expected at least one")
            lines = [result_of(reading.read_set(connection, run, name), STORED) for name in keyed]
            model = runs.model_of(connection, row)
            counting = {one["key"] for one in runs.counting(runs.select_keys(connection, run))}
        pairs = parameters_file(model["text"]) if model and model["kind"] == PAIRS else None
        evaluation = evaluate(lines, keyed.values(), parameters=pairs, progress=progress)
        used = counting & {*(model["keys_used"] if model else ())}
        figures: Object = json.loads(json.dumps(evaluation.to_dict()))
        return figures | {"keys": len(keyed), "keys_learned_from": len(used)}

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
            ids = [template["id"] for template in line["templates"]]
            key = {
                "set_name": set,
                "message": line["message"],
                "templates": ids,
                "cells": _cells_in_order(configuration_of(_lists(cells), ids, PLACE, WHOLE), ids),
                "alternatives": [
                    {"cells": _cells_in_order(one.configuration, ids), "weight": one.weight}
                    for one in (
                        alternative_of(
                            {**each, "cells": _lists(each.get("cells"))}, ids, PLACE, WHOLE
                        )
                        for each in alternatives
                    )
                ],
                "author": _author(author),
                "time": now(),
                "based_on": None if based_on is None else _key_number(based_on),
            }
            if not override:
                for listed in (key, *key["alternatives"]):
                    _refuse_contradiction(listed["cells"], line)
            number, conflicts = runs.insert_key(connection, run, key)
        return {"key": number, "conflicts": conflicts}

    def withdraw(self, run: str, set: str, author: str) -> Object:  # noqa: A002
        """Withdraw the keys of an author for a set; they stay in the store and no longer count."""
        with self.store.writing() as connection:
            runs.read_run(connection, run)
            count = runs.mark_withdrawn(connection, run, set, _author(author), now())
        if not count:
            raise Unknown(f"{author} has no key for set {set}")
        return {"withdrawn": count}


def _explained(
    line: Row, left: str, right: str, parameters: Path | None, domain: str, place: str
) -> Object:
    result = result_of(line, STORED)
    assert isinstance(result, Result)
    return explain_result(result, left, right, parameters, domain, place).to_dict()


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


def keys_of_run(connection: Connection, run: str) -> dict[str, Key]:
    """Return the keys by name of set, in the order in which the sets were first keyed."""
    rows_by_set = reading.rows_by(runs.counting(runs.select_keys(connection, run)), "set")
    lines = reading.template_sets(connection, run, list(rows_by_set))
    keyed = {}
    for name, rows in rows_by_set.items():
        if name not in lines:
            raise Unknown(f"run {run} has no set {name}")
        line = lines[name]
        templates = tuple(template_of(template, STORED) for template in line["templates"])
        ids = {template.id for template in templates}
        valid = [row for row in rows if set(row["templates"]) == ids]
        if valid:
            best = merge_votes(valid)
            keyed[name] = Key(line["message"], templates, *best)
    return keyed


def merge_votes(rows: Sequence[Row]) -> tuple[Configuration, str, str, tuple[Alternative, ...]]:
    """Return the configuration with most votes, and the alternatives.

    Their weights are relative to the votes of the first. Of equals the one that agrees best with
    all keys is first, then the one that was saved first; the other keeps the same weight.
    """
    (best, most), *others = _votes(rows)
    rest = tuple(Alternative(cells, vote / most) for cells, vote in others)
    authors = ", ".join(dict.fromkeys(row["author"] for row in rows))
    return best, authors, rows[-1]["time"], rest


def key_agreement(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how the authors of a set agree: every configuration with its votes and authors.

    A set is disputed if no configuration has more votes than every other.
    """
    votes = _votes(rows) if rows else []
    authors = {
        cells: [row["author"] for row in rows if Configuration(row["cells"]) == cells]
        for cells, _ in votes
    }
    disputed = len(votes) > 1 and votes[0][1] - votes[1][1] < EQUAL
    return {
        "authors": len(rows),
        "disputed": disputed,
        "votes": [
            {"cells": [list(cell) for cell in cells], "votes": vote, "authors": authors[cells]}
            for cells, vote in votes
        ],
    }


def _votes(rows: Sequence[Row]) -> list[tuple[Configuration, float]]:
    """Return the configurations of all keys with their votes, the one that counts first."""
    votes: dict[Configuration, float] = {}
    for row in rows:
        for cells, share in _vote_shares(row):
            votes[cells] = votes.get(cells, 0.0) + share
    return sorted(votes.items(), key=lambda item: (-round(item[1], 9), _distance(item[0], votes)))


def _distance(one: Configuration, votes: Mapping[Configuration, float]) -> float:
    """Return the mean number of pairs by which a configuration differs from the keys."""
    pairs = _joined(one)
    return sum(vote * len(pairs ^ _joined(other)) for other, vote in votes.items())


def _joined(cells: Configuration) -> frozenset[tuple[str, str]]:
    return frozenset((a, b) for cell in cells for a in cell for b in cell if a < b)


def _vote_shares(row: Row) -> list[tuple[Configuration, float]]:
    weighted = [
        (row["cells"], 1.0),
        *((one["cells"], one["weight"]) for one in row["alternatives"]),
    ]
    total = sum(weight for _, weight in weighted)
    return [(Configuration(cells), weight / total) for cells, weight in weighted]


PLACE, WHOLE = Place("the key"), "the set"
EQUAL = 1e-9  # votes that differ by less are equal
LONGEST = 200  # characters of an author
LARGEST = 2**31 - 1  # number of a key


def _key_number(based_on: int) -> int:
    """Return the number of a key; databases store no larger ones."""
    if integer_of(based_on, "based_on", PLACE) > LARGEST:
        PLACE.refuse(f"based_on is above {LARGEST:,}; expected the number of a key")
    return based_on


def _refuse_contradiction(cells: Sequence[Sequence[str]], line: Row) -> None:
    """Refuse cells that join templates known to differ, or part templates known to be the same."""
    cell_of = {template: n for n, cell in enumerate(cells) for template in cell}
    known = (("incompatible", True, "differ"), ("must", False, "be the same"))
    for name, together, said in known:
        for left, right in line[name]:
            if (cell_of[left] == cell_of[right]) is together:
                problem = f"{left} and {right} are known to {said}"
                PLACE.refuse(f"{problem}; set override to save the key nevertheless")


def _cells_in_order(cells: Configuration, ids: Sequence[str]) -> list[list[str]]:
    """Return cells in text order."""
    ordered = [sorted(cell, key=ids.index) for cell in cells]
    return sorted(ordered, key=lambda cell: ids.index(cell[0]))


def _lists(cells: Any) -> Any:
    """Return cells as JSON has them: users of Python may give tuples."""
    return [_lists(one) for one in cells] if isinstance(cells, list | tuple) else cells


def _author(author: Any) -> str:
    name = text_of(author, "author", PLACE).strip()
    if not name or len(name) > LONGEST or not name.isprintable():
        PLACE.refuse(f"author is {name[:20]!r}; expected a name of up to {LONGEST} letters")
    return valid_unicode(name, "author")

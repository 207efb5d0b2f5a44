"""Many documents, or entities of another system, into one knowledge base."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from partita.app.batch import Failure, OutputForms
from partita.app.run import ResolvedMessage
from partita.app.runner import Earlier, Runner, Settings, message_hash, run_messages
from partita.collection.clauses import relations_in
from partita.collection.documents import SourceDocument, document_of
from partita.collection.files import (
    CHANGES,
    BuildState,
    add_document,
    check_base,
    kept_documents,
    read_documents,
    read_state,
    relations_of,
    write_documents,
    write_state,
    write_tables,
    writing,
)
from partita.collection.imports import Imported, read_entities, read_system
from partita.collection.knowledge import SCHEMA, Knowledge, entity_members
from partita.collection.query import Answer, ask
from partita.collection.resolution import Resolution
from partita.collection.summary import figures, summary_lines
from partita.configurations.forest.model import log_odds, logistic
from partita.core.tabular import Columns, Tabular, optional
from partita.errors import InputError, PartitaError
from partita.files.writing import write_atomically
from partita.linkage.labels import read_labels
from partita.options import BuildOptions, described
from partita.tables import is_table_name
from partita.text.annotations import mention_source, with_mentions
from partita.text.messages import JSON_SUFFIXES, parse_message, read_texts
from partita.text.raw_messages import RawMessage

PAGE = "html"  # a form of export, beside those of collection/exports.py
TABLE = "is a table (expected texts; --entities reads entities of another system)"
RESULT_FIELDS = {"version", "message"}
LABEL_STEPS = 40
SQLITE = b"SQLite format 3\0"  # how its files start
FEWEST_LABELS = 10  # below which nothing is learned from labels


@dataclass(frozen=True, eq=False)
class KnowledgeBase(Tabular):
    """A knowledge base: a table for each name in `tables`, and what became of earlier entities."""

    knowledge: Knowledge
    folder: Path | None
    changes: tuple[Mapping[str, Any], ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(SCHEMA)

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        first = ("entities", *(name for name in SCHEMA if name != "entities"))
        return {name: _table(self.knowledge, name) for name in first}

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of the summary."""
        return figures(self.knowledge)

    def query(self, sql: str, worlds: bool = False) -> Answer:
        """Answer a question in SQL; with `worlds`, each figure with its 90 % interval."""
        if self.folder is None:
            raise InputError("a question needs a knowledge base on disk; give build an out")
        return ask(self.folder, sql, worlds)

    def explain(self, left: str, right: str) -> str:
        """Explain why two records are the same or not, in words."""
        return explained(self.knowledge, left, right)

    def export(self, form: str, out: str | os.PathLike[str]) -> None:
        """Write the knowledge base for another system."""
        from partita.collection.exports import export
        from partita.views.notebook import knowledge_page

        if form != PAGE:
            export(self.knowledge, form, Path(out))
            return
        Path(out).mkdir(parents=True, exist_ok=True)
        write_atomically(Path(out) / "index.html", "".join(knowledge_page(self.knowledge)))

    def __str__(self) -> str:
        return "\n".join(summary_lines(self.knowledge))

    def __repr__(self) -> str:
        sizes = f"{len(self.knowledge.documents)} documents, {len(self.knowledge.members)} entities"
        return f"KnowledgeBase({sizes})"


def _table(kb: Knowledge, name: str) -> Callable[[], Columns]:
    def columns() -> Columns:
        given: Mapping[str, Any] = kb.table(name)
        return {k: v if isinstance(v, list) else v.to_pylist() for k, v in given.items()}

    return columns


@described(BuildOptions)
def build(
    source: Any = (),
    *,
    out: str | os.PathLike[str] | None = None,
    entities: Any = None,
    relations: Any = None,
    system: str | None = None,
    labels: Any = None,
    remove: Sequence[str] = (),
    refit: bool = False,
    worlds: int = 100,
    domain: str = "general",
    mentions: Any = None,
    workers: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    note: Callable[[str], None] | None = None,
) -> KnowledgeBase:
    """Make one knowledge base of many documents, or of entities that another system extracted.

    `source` is a file or folder (a path), a text with a name in a mapping, results of `run`, or a
    list of these; with a `system` (graphrag, lightrag, neo4j) it is what that system wrote.
    `entities` and `relations` are tables. With `out`, the folder is written; if it is a knowledge
    base already, the documents are added to it: ids of entities persist.
    """
    return build_base(BuildOptions.of(locals()))


def build_base(options: BuildOptions) -> KnowledgeBase:
    """Make or extend a knowledge base, as options ask for."""
    folder = None if options.out is None else Path(options.out)
    report = options.progress or (lambda text: None)
    if folder is not None:
        optional("pyarrow", "a knowledge base on disk")
    with nullcontext() if folder is None else writing(folder):
        state = BuildState() if folder is None else read_state(folder)
        kept = {one.id: one for one in ([] if folder is None else read_documents(folder))}
        _remove(kept, options.remove, folder)
        failures: list[Failure] = []
        before, added = len(kept), 0
        if options.system is not None or options.entities is not None:
            _add_imported(options, kept, state)
        else:
            added = _add_texts(options, kept, folder, failures)
        if not kept:
            if failures:
                raise InputError(f"no documents: {failures[0].error}")
            raise InputError("no documents (expected files, folders or texts)")
        if folder is not None and (options.remove or before + added != len(kept) or not added):
            write_documents(folder, [*kept.values()])
        if options.labels is not None:
            for (a, b), same in read_labels(
                options.labels, options.note or (lambda text: None)
            ).pairs.items():
                state.labels[f"{min(a, b)}\t{max(a, b)}"] = same
        report(f"comparing the entities of {len(kept):,} documents")
        resolution = _resolved([*kept.values()], state, options)
        if folder is not None:
            report("writing tables")
        return completed([*kept.values()], resolution, state, options, folder, failures)


def completed(
    documents: Sequence[SourceDocument],
    resolution: Resolution,
    state: BuildState,
    options: BuildOptions,
    folder: Path | None,
    failures: Sequence[Failure],
) -> KnowledgeBase:
    """Name the entities, and write the tables if there is a folder."""
    kb, changes = _identified(documents, resolution, state, options)
    if folder is not None:
        write_tables(folder, kb)
        _write_changes(folder, changes)
        write_state(folder, state)
    return KnowledgeBase(kb, folder, tuple(changes), tuple(failures))


def open_base(folder: Path) -> Knowledge:
    """Return the knowledge base of a folder, resolved again from what it keeps."""
    check_base(folder)
    state, documents = read_state(folder), read_documents(folder)
    resolution = Resolution.of(documents, labels=state.pairs, offset=state.offset)
    return _identified(documents, resolution, state, BuildOptions())[0]


# --- documents ---


def _remove(kept: dict[str, SourceDocument], names: Sequence[str], folder: Path | None) -> None:
    for name in names:
        if name not in kept:
            raise InputError(f"--remove {name}: there is no such document",
                             file=None if folder is None else str(folder))  # fmt: skip
        del kept[name]


def _add_imported(
    options: BuildOptions, kept: dict[str, SourceDocument], state: BuildState
) -> None:
    if options.system is not None:
        source = options.source
        given = [source] if isinstance(source, str | os.PathLike) else [*source]
        found: Imported = read_system(options.system, [Path(one) for one in given])
    else:
        found = read_entities(options.entities, options.relations)
    for one in found.documents():
        kept[one.id] = one
    rows = [[one.id, one.source, one.target, one.relation, one.document, one.weight]
            for one in found.relations]  # fmt: skip
    known = {tuple(one) for one in state.relations}
    state.relations += [row for row in rows if tuple(row) not in known]


def _add_texts(
    options: BuildOptions,
    kept: dict[str, SourceDocument],
    folder: Path | None,
    failures: list[Failure],
) -> int:
    """Extract what is new, and keep each document as soon as it is done; return how many."""
    report, done = options.progress or (lambda text: None), 0
    stream = nullcontext(None) if folder is None else kept_documents(folder)
    with stream as file:
        for one in extracted(options, kept):
            if isinstance(one, Failure):
                failures.append(one)
                continue
            kept[one.id] = one
            done += 1
            if file is not None:
                add_document(file, one)
            report(f"{done:,} documents read")
    for line in _left_out(failures) if kept else ():
        (options.note or (lambda text: None))(f"left out: {line}")
    return done


def _left_out(failures: Sequence[Failure]) -> Iterator[str]:
    """Yield a line for each file with something left out: the first error, and how many more."""
    files: dict[str, list[Failure]] = {}
    for one in failures:
        file = one.error.file if isinstance(one.error, InputError) else None
        files.setdefault(file or str(one), []).append(one)
    for first, *others in files.values():
        more = f" (and {len(others):,} more)" if others else ""
        yield f"{first if first.name else first.error}{more}"


def extracted(
    options: BuildOptions, kept: Mapping[str, SourceDocument]
) -> Iterator[SourceDocument | Failure]:
    """Yield the documents of texts, results and stores; an earlier build did unchanged texts."""
    texts: list[Any] = []
    for one in _listed(options.source):
        if isinstance(one, ResolvedMessage):
            yield _of_result(one)
        elif _is_store(one):
            yield from _stored(str(one))
        elif isinstance(one, os.PathLike) and _is_results(Path(one)):
            yield from _saved_results(Path(one))
        else:
            texts.append(one)
    if not texts:
        return
    pending: dict[str, RawMessage] = {}
    runner = Runner(Settings.of(options.domain, seed=options.seed))
    known = {name: one.digest for name, one in kept.items()}
    problems: list[PartitaError] = []
    given = _pending(texts, options, pending, known, problems)
    forms = OutputForms(json=True)
    for outcome in run_messages(given, runner, forms, Earlier(), options.workers):
        text = pending.pop(outcome.name, None)
        if outcome.error or text is None:
            yield Failure(outcome.name, InputError(outcome.error))
            continue
        lines = [json.loads(line) for line in outcome.lines]
        found = _document(text.id, text.text, lines, parse_message(text).fields, message_hash(text))
        if outcome.notes and not found.records:  # another language, or no words
            problem = outcome.notes[-1].partition(";")[0]
            yield Failure("", InputError(problem, file=text.file or text.id))
            continue
        yield found
    yield from (Failure("", error) for error in problems)


def _listed(source: Any) -> list[Any]:
    if isinstance(source, Mapping):
        return [RawMessage(str(name), str(text), "") for name, text in source.items()]
    several = [source] if isinstance(source, str | os.PathLike | ResolvedMessage) else [*source]
    return [Path(one) if isinstance(one, str) and not _is_store(one) else one for one in several]


def _pending(
    texts: Iterable[Any],
    options: BuildOptions,
    pending: dict[str, RawMessage],
    known: Mapping[str, str],
    problems: list[PartitaError],
) -> Iterator[RawMessage]:
    """Yield the texts that are new or changed, and keep them until their results are there."""

    def every() -> Iterator[Any]:
        for one in texts:
            if isinstance(one, RawMessage):
                yield one
            else:
                yield from read_texts(os.fspath(one))

    given = every()
    if options.mentions is not None:
        given = with_mentions(given, mention_source(options.mentions))
    for one in given:
        if isinstance(one, PartitaError):
            problems.append(one)
        elif is_table_name(one.file) and Path(one.file).suffix.lower() not in JSON_SUFFIXES:
            problems.append(InputError(TABLE, file=one.file))
        elif one.id in pending:
            problems.append(InputError(f"two documents are called {one.id}", file=one.file or None))
        elif known.get(one.id) != message_hash(one):
            pending[one.id] = one
            yield one


def _is_store(source: Any) -> bool:
    """Return whether a source is a store of runs: an address of PostgreSQL, or a file of SQLite."""
    if isinstance(source, str) and source.startswith(("postgresql://", "postgres://")):
        return True
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    if path is None or not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(SQLITE)) == SQLITE


def _stored(store: str) -> Iterator[SourceDocument]:
    """Yield the documents of the runs of a store; of a message of several runs, its latest."""
    from partita.store.reading import read_message
    from partita.store.runs import list_runs, message_rows
    from partita.store.store import open_store

    opened = open_store(store, create=False)
    try:
        with opened.reading() as connection:
            latest: dict[str, str] = {}
            for run in list_runs(connection):
                rows = message_rows(connection, run["run"], ("message", "error"))
                latest |= {row["message"]: run["run"] for row in rows if not row["error"]}
            for name, run_name in latest.items():
                one = read_message(connection, run_name, name)
                templates = [{"templates": part["templates"]} for part in one["sets"]]
                lines = [*templates, {"singletons": one["singletons"]},
                         {"entities": one["entities"]}]  # fmt: skip
                yield _document(name, one["text"], lines, one["fields"], one["text_hash"])
    finally:
        opened.close()


def _is_results(path: Path) -> bool:
    """Return whether a file has results of `run`, by its first line."""
    if path.suffix.lower() not in (".jsonl", ".json") or not path.is_file():
        return False
    with path.open("rb") as stream:
        start = stream.readline(1 << 20)
    return start.startswith(b'{"version"') and b'"message"' in start


def _saved_results(path: Path) -> Iterator[SourceDocument]:
    """Yield the documents of a file of results; it has no texts, so that less is compared."""

    def lines() -> Iterator[dict[str, Any]]:
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                one = json.loads(line)
                if not {*one} >= RESULT_FIELDS:
                    raise ValueError("fields")
            except ValueError:
                raise InputError("expected a result of run", file=str(path), line=number) from None
            yield one

    for name, group in groupby(lines(), lambda one: str(one["message"])):
        yield _document(name, "", [*group], {}, "")


def _document(
    name: str, text: str, lines: Sequence[Mapping[str, Any]], fields: Mapping[str, str], digest: str
) -> SourceDocument:
    templates = [
        one for line in lines for one in (line.get("templates") or line.get("singletons") or ())
    ]
    entities = [one for line in lines for one in line.get("entities") or ()]
    known = {one["id"]: one for one in templates}
    names = Counter(one["id"] for one in entities)
    if any(count > 1 for count in names.values()):  # windows of a long text number them anew
        entities = [{**one, "id": f"{one['id']}-{one['templates'][0]}"} for one in entities]
    found = document_of(name, text, entities, [*known.values()], fields, digest)
    clauses = relations_in(name, text, found.records, [*known.values()]) if text else ()
    return replace(found, relations=tuple(clauses))


def _of_result(one: ResolvedMessage) -> SourceDocument:
    lines = [json.loads(line) for line in one.lines()]
    return _document(
        one.message.id, one.message.text, lines, dict(one.message.fields), one.run["text"]
    )


# --- who is who ---


def _resolved(
    documents: Sequence[SourceDocument], state: BuildState, options: BuildOptions
) -> Resolution:
    """Resolve, with labels exactly as they are; `refit` learns an offset from them."""
    pairs = state.pairs
    if options.refit:
        state.offset = 0.0
        plain = Resolution.of(documents)
        place = {one.id: n for n, one in enumerate(plain.comparison.records)}
        known = [(place[a], place[b], same) for (a, b), same in pairs.items()
                 if a in place and b in place]  # fmt: skip
        if len(known) >= FEWEST_LABELS:
            left, right, same = (np.array(one) for one in zip(*known, strict=True))
            odds = log_odds(plain.pair_probabilities(left, right), 1e-3)
            state.offset = _offset(odds, same.astype(float))
    return Resolution.of(documents, labels=pairs, offset=state.offset)


def _offset(odds: Any, same: Any) -> float:
    """Return what is added to log-odds so that labels fit best; its prior is standard normal."""
    found = 0.0
    for _ in range(LABEL_STEPS):
        p = logistic(odds + found)
        found += float((np.sum(same - p) - found) / (np.sum(p * (1 - p)) + 1.0))
    return found


def _identified(
    documents: Sequence[SourceDocument],
    resolution: Resolution,
    state: BuildState,
    options: BuildOptions,
) -> tuple[Knowledge, list[dict[str, Any]]]:
    """Give entities their ids: the one that most of their records had, if no larger part has it."""
    records = resolution.comparison.records
    members = entity_members(resolution.answer)
    earlier = dict(state.entity)
    wishes = []
    for number, places in enumerate(members):
        before = Counter(earlier[records[n].id] for n in places if records[n].id in earlier)
        wishes += [(-count, number, name) for name, count in before.items()]
    taken: dict[int, str] = {}
    used: set[str] = set()
    for _, number, name in sorted(wishes):
        if number not in taken and name not in used:
            taken[number] = name
            used.add(name)
    ids: dict[int, str] = {}
    for number, places in enumerate(members):
        if number not in taken:
            taken[number] = f"E{state.next_id}"
            state.next_id += 1
        ids[places[0]] = taken[number]
    state.entity = {records[n].id: taken[number] for number, places in enumerate(members)
                    for n in places}  # fmt: skip
    clauses = [relation for one in documents for relation in one.relations]
    relations = [*relations_of(state, {one.id: one for one in records}), *clauses]
    kb = Knowledge(documents, resolution, ids, relations, options.worlds, options.seed)
    return kb, _changes(earlier, state.entity)


def _changes(earlier: Mapping[str, str], now: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what happened to entities since the earlier build; nothing for a first one."""
    if not earlier:
        return []
    before: dict[str, set[str]] = {}
    after: dict[str, set[str]] = {}
    for groups, given in ((before, earlier), (after, now)):
        for record, entity in given.items():
            groups.setdefault(entity, set()).add(record)
    found: list[dict[str, Any]] = []
    for entity, records in after.items():
        origins = sorted({earlier[one] for one in records if one in earlier})
        if change := _change(origins, records, before.get(entity)):
            found.append({"entity": entity, "change": change, "from": origins,
                          "records": len(records)})  # fmt: skip
    found += [{"entity": name, "change": "gone", "from": [], "records": 0}
              for name in before if name not in after]  # fmt: skip
    return found


def _change(origins: Sequence[str], records: set[str], before: set[str] | None) -> str:
    """Return what happened to an entity, or nothing."""
    if not origins:
        return "created"
    if len(origins) > 1:
        return "merged"
    if before is None:
        return "split"
    return "grown" if records > before else "shrunk" if records < before else ""


def _write_changes(folder: Path, changes: Sequence[Mapping[str, Any]]) -> None:
    """Write what happened in the latest build."""
    write_atomically(folder / CHANGES, "".join(json.dumps(one) + "\n" for one in changes))


def explained(kb: Knowledge, left: str, right: str) -> str:
    """Return why two records are the same or not: features in words, and what the rest did."""
    place = {one.id: n for n, one in enumerate(kb.records)}
    if missing := [name for name in (left, right) if name not in place]:
        raise InputError(
            f"there is no record {missing[0]} (expected one such as {kb.records[0].id})"
        )
    a, b = sorted((place[left], place[right]))
    ends = np.array([a]), np.array([b])
    stated = float(kb.resolution.pair_probabilities(*ends)[0])
    one, two = kb.records[a], kb.records[b]
    lines = [f"{one.label} ({one.document}) and {two.label} ({two.document}):",
             f"  the same with probability {stated:.3f}"]  # fmt: skip
    found = np.flatnonzero((kb.resolution.left == a) & (kb.resolution.right == b))
    if len(found):
        n = int(found[0])
        score, alone = (logistic(one[n]) for one in (kb.resolution.log_odds, kb.resolution.first))
        [(pro, contra)] = kb.reasons([n])
        lines += [f"  for: {pro or 'nothing'}", f"  against: {contra or 'nothing'}",
                  f"  the two alone: {alone:.3f}; with rivals and support among "
                  f"other records: {score:.3f}"]  # fmt: skip
    else:
        lines.append("  the two were not compared, or have next to nothing in common")
    if kb.entity[a] == kb.entity[b]:
        size = len(kb.members[kb.entity[a]])
        lines.append(
            f"  both are of {kb.entity[a]}, {kb.name_of(kb.entity[a])}, with {size} records"
        )
    else:
        lines.append(f"  {kb.entity[a]} {kb.name_of(kb.entity[a])} and {kb.entity[b]} "
                     f"{kb.name_of(kb.entity[b])} are kept apart")  # fmt: skip
    return "\n".join(lines)

"""Extract entities from texts and resolve their coreference, for users of the Python API."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast, overload

from partita.app.batch import Failure, Failures
from partita.app.runner import (
    DOMAIN,
    Runner,
    Settings,
    message_hash,
    result_lines,
    text_hash,
)
from partita.app.solve import parameters_source
from partita.core import Budget, Distribution, Entity, Message, Template
from partita.core.tabular import Columns, Tabular
from partita.errors import InputError, PartitaError
from partita.options import RunOptions, described
from partita.pipeline import Resolved
from partita.results.result_lines import entity_json
from partita.text.annotations import Annotation, mention_source, with_mentions
from partita.text.messages import parse_message, read_texts
from partita.text.raw_messages import RawMessage
from partita.text.spacy_docs import doc_annotation, is_doc

if TYPE_CHECKING:
    from partita.app.explain import Explanation
    from partita.app.train import TrainedModel

MESSAGE = "message"  # what a text without a name is called


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedMessage(Tabular):
    """A message with its mentions, entities and distributions.

    The tables are `entities` (one row per entity, with the most probable value of every slot),
    `values` (every value of every slot with its probability), `mentions`, `pairs` and
    `configurations`.
    """

    resolved: Resolved
    settings: Settings
    run: Mapping[str, Any]
    annotation: Annotation | None = None

    @property
    def message(self) -> Message:
        """The message with its text and layout."""
        return self.resolved.message

    @property
    def mentions(self) -> tuple[Template, ...]:
        """The templates of all mentions, in text order."""
        return self.resolved.templates

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The entities, in text order; docs/general.md says which grouping they are."""
        return self.resolved.entities

    @property
    def distributions(self) -> tuple[Distribution, ...]:
        """One distribution for every coreference set of two or more mentions."""
        return self.resolved.distributions

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of the message, such as that it is not in English."""
        return self.resolved.notes

    def explain(self, left: str, right: str) -> Explanation:
        """Explain why two mentions, named by their ids, were resolved as the same or not."""
        from partita.app.explain import explain

        return explain(self, left, right)

    def to_dict(self) -> dict[str, Any]:
        """Return the message, its entities and its results as `partita run --json` writes them."""
        *sets, alone = map(json.loads, self.lines())
        return {
            "message": self.message.id,
            "text": self.message.text,
            "fields": dict(self.message.fields),
            "entities": [entity_json(entity) for entity in self.entities],
            "sets": sets,
            "singletons": alone["singletons"],
            "notes": list(self.notes),
            "run": alone["run"],
        }

    def to_jsonl(self) -> str:
        """Return the lines that `partita run --json` writes for the message."""
        return "".join(f"{line}\n" for line in self.lines())

    def to_corefud(self) -> str:
        """Return the message as CoNLL-U with the entities in CorefUD's brackets."""
        return Runner(self.settings).corefud(self.resolved, self.annotation)

    def lines(self) -> Iterator[str]:
        """Return a line of results for every set, and one for the mentions that are alone."""
        return result_lines(self.resolved, self.run)

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {
            "entities": self._entity_columns,
            "values": self._value_columns,
            "mentions": self._mention_columns,
            "pairs": lambda: self._of_sets("pairs"),
            "configurations": lambda: self._of_sets("configurations"),
        }

    def _entity_columns(self) -> Columns:
        columns: dict[str, list[Any]] = {
            "entity": [one.id for one in self.entities],
            "sort": [one.type for one in self.entities],
            "name": [one.name for one in self.entities],
            "probability": [one.probability for one in self.entities],
            "mentions": [list(one.templates) for one in self.entities],
        }
        for slot in sorted({name for one in self.entities for name in one.slots}):
            columns[slot] = [_text(_first(one, slot)) for one in self.entities]
        return columns

    def _value_columns(self) -> Columns:
        rows = [
            (
                one.id,
                slot,
                _text(value.value),
                value.probability,
                list(value.templates),
                value.status,
            )
            for one in self.entities
            for slot, values in one.slots.items()
            for value in values
        ]
        names = ("entity", "slot", "value", "probability", "mentions", "status")
        return {name: [row[n] for row in rows] for n, name in enumerate(names)}

    def _mention_columns(self) -> Columns:
        home = {name: entity.id for entity in self.entities for name in entity.templates}
        rows = [
            (one.id, one.text, one.start, one.end, one.region, one.sentence, one.type, one.head,
             one.form, home.get(one.id, ""))
            for one in self.mentions
        ]  # fmt: skip
        names = ("id", "text", "start", "end", "region", "sentence", "sort", "head", "form")
        return {name: [row[n] for row in rows] for n, name in enumerate((*names, "entity"))}

    def _of_sets(self, table: str) -> Columns:
        """Join the tables of all distributions below each other."""
        joined: dict[str, list[Any]] = {"set": []}
        for one in self.distributions:
            columns = one._columns(table)
            for name, column in columns.items():
                joined.setdefault(name, []).extend(column)
            joined["set"] += [one.set.name] * len(next(iter(columns.values())))
        return joined

    def __str__(self) -> str:
        from partita.views.message import message_report

        return message_report(self.resolved)

    def __repr__(self) -> str:
        sizes = f"{len(self.mentions)} mentions, {len(self.entities)} entities"
        return f"ResolvedMessage({self.message.id!r}: {sizes})"


class ResolvedMessages(list[ResolvedMessage]):
    """The results of several messages; with `errors="report"`, `failures` has those that failed."""

    failures: tuple[Failure, ...] = ()


Source = str | Message | os.PathLike[str]


class RunKeywords(TypedDict, total=False):
    """The keyword arguments of `run`."""

    domain: str | os.PathLike[str]
    model: str | None
    parameters: str | os.PathLike[str] | TrainedModel | None
    top: int | None
    threshold: float | None
    budget: Budget | None
    seed: int
    encoding: str | None
    gazetteer: str | os.PathLike[str] | None
    mentions: str | os.PathLike[str] | Iterable[Mapping[str, Any]] | None
    force: bool
    encoder: str | os.PathLike[str] | None
    errors: str


@overload
def run(  # type: ignore[overload-overlap]  # a str is a text, not a list of texts
    source: str | Message, **options: Unpack[RunKeywords]
) -> ResolvedMessage: ...
@overload
def run(
    source: os.PathLike[str], **options: Unpack[RunKeywords]
) -> ResolvedMessage | ResolvedMessages: ...
@overload
def run(source: Iterable[Source], **options: Unpack[RunKeywords]) -> ResolvedMessages: ...
@described(RunOptions)
def run(
    source: Source | Iterable[Source],
    *,
    domain: str | os.PathLike[str] = DOMAIN,
    model: str | None = None,
    parameters: str | os.PathLike[str] | TrainedModel | None = None,
    top: int | None = None,
    threshold: float | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    encoding: str | None = None,
    gazetteer: str | os.PathLike[str] | None = None,
    mentions: str | os.PathLike[str] | Iterable[Mapping[str, Any]] | None = None,
    force: bool = False,
    encoder: str | os.PathLike[str] | None = None,
    errors: str = "raise",
) -> ResolvedMessage | ResolvedMessages:
    """Extract entities from a text and resolve coreference.

    `source` is a text (a str), a file or folder (a `pathlib.Path`), a `Message`, a `Doc` of spaCy
    (with a dependency parse its noun chunks, entities and pronouns are the mentions), or a list of
    these. A str is always a text: the name of a file must be a Path. One text, message or file
    that holds one message gives one result; a list, a folder, or a file of several messages
    gives a list.

    `mentions` replace those that would be found: a file of spans, of CoNLL-U or CoNLL-2012, or a
    list of objects such as `{"start": 0, "end": 4, "type": "person"}` (docs/formats.md).

    `domain` is the name of an installed domain or a folder of rules; `general` is for any English
    text. Without a `model` the domain's own is used. `parameters` is a trained model or a file of
    parameters.

    A message that fails raises its error. With `errors="report"` the others of a list, folder or
    file are resolved, as by the command: the list has `failures`, each with `name` and `error`,
    and a warning counts them.
    """
    failures = Failures(errors)
    settings = Settings.of(
        domain,
        model,
        parameters_source(parameters),
        top=top,
        threshold=threshold,
        budget=budget,
        seed=seed,
        gazetteer=gazetteer,
        force=force,
        encoder=encoder,
    )
    runner = _default_runner(settings) if _is_default(settings) else Runner(settings).load()
    single = isinstance(source, str | Message | os.PathLike) or is_doc(source)
    if not single and not isinstance(source, Iterable):
        raise TypeError(_unknown(source))
    sources: list[Any] = [source] if single else list(cast(Iterable[Any], source))
    texts: Iterator[Any] = (text for n, one in enumerate(sources, 1) for text in
             _texts(one, MESSAGE if single else f"{MESSAGE}-{n}", encoding))  # fmt: skip
    if mentions is not None:
        texts = _with_mentions(texts, mentions)
    documents = ResolvedMessages()
    for text in texts:
        with failures.caught(text.name if isinstance(text, Failure) else text.id):
            if isinstance(text, Failure):
                raise text.error
            documents.append(resolve_text(text, runner))
    folder = isinstance(source, Path) and source.is_dir()
    if single and [len(documents), len(failures)] == [1, 0] and not folder:
        return documents[0]
    documents.failures = failures.warned("message")
    return documents


def _is_default(settings: Settings) -> bool:
    """Return whether everything in use comes with the package, so that it does not change."""
    own = settings.parameters or settings.gazetteer or settings.encoder
    return settings.domain == DOMAIN and not own


@lru_cache(maxsize=2)
def _default_runner(settings: Settings) -> Runner:
    return Runner(settings).load()


def _texts(
    source: Any, name: str, encoding: str | None
) -> Iterator[RawMessage | Message | Failure]:
    try:
        if isinstance(source, Message):
            yield source
        elif isinstance(source, str):
            _refuse_file_name(source)
            yield RawMessage(name, source, "")
        elif is_doc(source):
            if not source.text.strip():
                raise InputError("the Doc is empty (expected a text)")
            yield RawMessage(name, source.text, "", annotation=doc_annotation(source))
        elif isinstance(source, os.PathLike):
            for text in read_texts(os.fspath(source), encoding=encoding):
                yield text if isinstance(text, RawMessage) else Failure(os.fspath(source), text)
        else:
            raise TypeError(_unknown(source))
    except PartitaError as error:
        yield Failure(name, error)


def _with_mentions(
    texts: Iterator[RawMessage | Message | Failure], mentions: Any
) -> Iterator[RawMessage | Failure]:
    failed: list[Failure] = []
    for text in with_mentions(_raw(texts, failed), mention_source(mentions)):
        if isinstance(text, RawMessage):
            yield text
        else:
            yield Failure(getattr(text, "file", None) or "mentions", text)
    yield from failed


def _raw(texts: Iterator[RawMessage | Message | Failure], failed: list[Failure]) -> Iterator[Any]:
    for one in texts:
        if isinstance(one, Failure):
            failed.append(one)
        elif isinstance(one, Message):
            yield RawMessage(one.id, one.text, one.file, offset=one.offset, fields=dict(one.fields))
        else:
            yield one


def _unknown(source: Any) -> str:
    expected = "a text (str), a pathlib.Path, a Message, a spaCy Doc, or a list of these"
    return f"source must be {expected}, not {type(source).__name__}"


def _refuse_file_name(text: str) -> None:
    """A text that names a file is almost certainly meant as a path."""
    if not text.strip():
        raise InputError("the text is empty (expected a message)")
    try:
        exists = "\n" not in text and len(text) < 1000 and Path(text).exists()
    except (OSError, ValueError):
        exists = False
    if exists:
        raise InputError(f"{text!r} names a file: pass pathlib.Path({text!r}) to read it")


def resolve_text(text: RawMessage | Message, runner: Runner) -> ResolvedMessage:
    """Resolve one text, or raise an error that names it."""
    message = text if isinstance(text, Message) else parse_message(text)
    annotation = None if isinstance(text, Message) else text.annotation
    try:
        resolved = runner.resolve(message, annotation)
    except InputError as error:
        raise InputError(
            f"message {message.id}: {error.problem}", file=message.file or None
        ) from error
    digest = message_hash(text) if isinstance(text, RawMessage) else text_hash(message.text)
    run = {"text": digest, **runner.provenance}
    return ResolvedMessage(resolved, runner.settings, run, annotation)


def _first(entity: Entity, slot: str) -> Any:
    values = entity.slots.get(slot, ())
    return values[0].value if values else None


def _text(value: Any) -> str | None:
    """Return a value of a slot as text: integers and lists too, so that a column has one type."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return None if value is None else str(value)

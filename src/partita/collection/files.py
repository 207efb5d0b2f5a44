"""The folder of a knowledge base: what is kept between builds, tables, and who may write."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from partita.collection.documents import Relation, SourceDocument
from partita.collection.knowledge import SCHEMA, Knowledge
from partita.errors import InputError
from partita.files.resume import locked
from partita.files.writing import replacing_bytes, sync, write_atomically, write_errors
from partita.tables.writing import write_table

STATE, EXTRACTED, LOCK = "kb.json", "extracted.jsonl", ".lock"
VERSION = 1
CHANGES = "changes.jsonl"


@dataclass(slots=True)
class BuildState:
    """What a knowledge base remembers: entities of records, labels, settings of the extraction."""

    entity: dict[str, str] = field(default_factory=dict)  # of each record
    next_id: int = 1
    labels: dict[str, bool] = field(default_factory=dict)  # by "left\tright"
    offset: float = 0.0  # learned from labels, in log-odds
    settings: dict[str, Any] = field(default_factory=dict)
    relations: list[list[Any]] = field(default_factory=list)

    @property
    def pairs(self) -> dict[tuple[str, str], bool]:
        """The labels by pair."""
        found = {}
        for both, same in self.labels.items():
            left, right = both.split("\t")
            found[left, right] = same
        return found


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Keep a folder for this process: a second build is refused."""
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    others = [one for one in folder.iterdir() if one.name not in (LOCK, EXTRACTED)]
    if others and not (folder / STATE).exists():
        raise InputError("is not empty and no knowledge base; choose another --out",
                         file=str(folder))  # fmt: skip
    try:
        with locked(folder / LOCK):
            yield
    except InputError as error:
        if error.file == str(folder / LOCK):
            problem = "is being built by another process; wait for it or choose another --out"
            raise InputError(problem, file=str(folder)) from None
        raise


def check_base(folder: Path) -> None:
    """Refuse a folder that is no knowledge base."""
    if not (folder / STATE).exists():
        raise InputError("is no knowledge base; expected a folder that partita build wrote",
                         file=str(folder))  # fmt: skip


def read_state(folder: Path) -> BuildState:
    """Return what a folder remembers, nothing if it is new."""
    path = folder / STATE
    if not path.exists():
        return BuildState()
    try:
        value = json.loads(path.read_text("utf-8"))
        if value.pop("version") != VERSION:
            raise ValueError("version")
        return BuildState(**value)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"is no state of a knowledge base ({error})", file=str(path)) from None


def write_state(folder: Path, state: BuildState) -> None:
    """Write what a folder remembers."""
    value = {"version": VERSION, **{name: getattr(state, name) for name in BuildState.__slots__}}
    write_atomically(folder / STATE, json.dumps(value) + "\n")


def read_documents(folder: Path) -> list[SourceDocument]:
    """Return the documents whose extraction was finished; a line that a kill cut off is dropped."""
    path = folder / EXTRACTED
    if not path.exists():
        return []
    found: dict[str, SourceDocument] = {}
    whole = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                break
            try:
                one = SourceDocument.from_dict(json.loads(line))
            except (ValueError, TypeError, KeyError):
                raise InputError("is no document of a knowledge base", file=str(path),
                                 line=number) from None  # fmt: skip
            found[one.id] = one
            whole += len(line)
    if whole < path.stat().st_size:
        with write_errors(path):
            os.truncate(path, whole)
    return list(found.values())


def write_documents(folder: Path, documents: Sequence[SourceDocument]) -> None:
    """Replace the kept documents."""
    path = folder / EXTRACTED
    with replacing_bytes(path) as stream, write_errors(path):
        for one in documents:
            add_document(stream, one)


@contextmanager
def kept_documents(folder: Path) -> Iterator[BinaryIO]:
    """Open the file to which documents are added while they are extracted."""
    path = folder / EXTRACTED
    try:
        with write_errors(path), path.open("ab") as stream:
            yield stream
            sync(stream, path)
    finally:
        if path.exists() and not path.stat().st_size:  # nothing was extracted
            path.unlink()


def add_document(stream: BinaryIO, document: SourceDocument) -> None:
    """Keep a document, so that a later build need not extract it again."""
    stream.write(f"{document_json(document)}\n".encode("ascii"))
    stream.flush()


def document_json(document: SourceDocument) -> str:
    """Return a document as JSON."""
    return json.dumps(document, default=_fields)


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a data class; `asdict` would copy all that they hold."""
    return {name: getattr(value, name) for name in value.__slots__}


def write_tables(folder: Path, kb: Knowledge) -> None:
    """Write every table of a knowledge base."""
    for name in SCHEMA:
        write_table(folder / f"{name}.parquet", _typed(name, kb.table(name)))


def _typed(name: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns whose types do not depend on there being rows."""
    import pyarrow

    lists = {"source_ids", "aliases", "values"} if name != "values" else set[str]()
    found = {}
    for column, values in columns.items():
        if not isinstance(values, list):
            found[column] = values
        elif column in lists or (column == "documents" and name == "contradictions"):
            found[column] = pyarrow.array(values, pyarrow.list_(pyarrow.string()))
        elif column == "probabilities":
            found[column] = pyarrow.array(values, pyarrow.list_(pyarrow.float64()))
        elif column in FLOATS:
            found[column] = pyarrow.array(values, pyarrow.float64())
        elif column in INTEGERS or (column == "records" and name != "records"):
            found[column] = pyarrow.array(values, pyarrow.int64())
        else:
            found[column] = pyarrow.array(values, pyarrow.string())
    return found


FLOATS = frozenset(("membership", "certainty", "probability", "weight", "bits"))
INTEGERS = frozenset(("records", "documents", "mentions", "start", "end", "sentence", "world"))


def relations_of(state: BuildState, known: Mapping[str, Any]) -> list[Relation]:
    """Return the relations that are kept, between records that there are."""
    found = [Relation(*one) for one in state.relations]
    return [one for one in found if one.source in known and one.target in known]

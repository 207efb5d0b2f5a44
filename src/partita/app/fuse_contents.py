"""Fuse sources that are held in memory: texts of files, data frames, lists."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from partita.app.fuse import (
    EntityFusion,
    EntityOptions,
    FuseOptions,
    Fusion,
    MassFusion,
    entity_options,
    fuse_entities,
    fuse_files,
    fuse_masses,
    fuse_sources,
)
from partita.app.solve import parameters_path
from partita.core.tabular import Columns, Tabular
from partita.errors import InputError
from partita.options import FuseOptions as DeclaredOptions
from partita.options import described
from partita.tables import read_table
from partita.tables.frames import is_frame

if TYPE_CHECKING:
    from partita.app.train import TrainedModel

CLAIMS = {3: ("object", "source", "value"), 4: ("object", "source", "slot", "value")}

RELIABILITIES = "reliabilities"  # the folder of the reliabilities, which are in no source


@dataclass(frozen=True, slots=True)
class Content:
    """A source in memory: the name of its file, and its content.

    A run of the store is its lines of results, one after another, under NAME.jsonl.
    """

    name: str
    content: str | bytes


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a fusion in memory; `kinds` are of files, `slot_kinds` of slots of claims, both
    by name ("" for all).

    A hierarchy of values may also be among the sources; it is recognised by its columns.
    """

    domain: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    slot_kinds: Mapping[str, str] = field(default_factory=dict)
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    hierarchy: Content | None = None
    tolerance: float = 0.0
    without: str | None = None
    top: int | None = None
    seed: int = 0


def fuse_contents(sources: Sequence[Content], options: Options | None = None) -> dict[str, Any]:
    """Fuse sources into one belief, and return what `partita fuse --json` prints.

    Of things (reports, records, or a domain is named):
    {"version", "domain", "notes": [text],
     "entities": [{"id", "sort", "name"?, "probability", "interval"? or "error"?, "sources": [name],
       "anchor": account, "set": name of its set,
       "slots": {slot: {"values": [{"value", "probability", "sources", "accounts"}],
                        "unknown", "conflict"}},
       "accounts": [{"id", "source", "message", "object"?, "said": {slot: {"value", "probability"}},
                     "templates": [{"source", "file", "line", "message", "template", "text",
                                    "start", "end"}]}]}],
     "sets": [a line of results, with "contradicted": [{"left", "right", "conflict"}]],
     "sources": [{"source", "reliability", "low", "high", "given", "accounts", "claims", "right",
                  "wrong", "slots": {slot: trust}}],
     "copying": [...], "compared": {"pairs", "of", "excluded", "sets_solved"},
     "without"?: {"source", "changes": [{"thing", "slot", "before", "before_probability", "after",
                                         "after_probability"}]}}
    Of claims and judgements alone: {"version", "notes", "objects", "sources", "copying", "slots",
    "without"?} as for claims, every slot of an object with its "conflict".
    Of beliefs: {"version", "notes", "objects", "sources", "without"}, every value also with its
    "belief" and "plausibility".
    Errors are PartitaError and name the source by its name.
    """
    chosen = options or Options()
    _refuse_names(sources)
    with TemporaryDirectory() as folder:
        paths = [_write(Path(folder, "sources"), source) for source in sources]
        try:
            return _fused_json(paths, chosen, Path(folder))
        except InputError as error:
            raise _error_by_name(error, f"{paths[0].parent}/") from None


def _fused_json(paths: Sequence[Path], options: Options, folder: Path) -> dict[str, Any]:
    file_options = FuseOptions(
        reliability=_reliability(options, folder),
        hierarchy=_hierarchy(options, folder),
        kinds=tuple(f"{slot}={kind}" for slot, kind in options.slot_kinds.items()),
        tolerance=options.tolerance,
        without=options.without,
    )
    combined = fuse_masses(paths, file_options, options.kinds, options.domain)
    if combined is not None:
        report = _report(combined, options.without) | {"notes": list(combined.notes)}
        return _without_folder(report, f"{paths[0].parent}/")
    entity = entity_options(paths, file_options, options.kinds, options.domain, None)
    if entity is None:
        return _claims_json(paths, file_options)
    return _entities_json(paths, replace(entity, top=options.top, seed=options.seed))


def _entities_json(paths: Sequence[Path], options: EntityOptions) -> dict[str, Any]:
    from partita.views.fusion import things_json

    fusion = fuse_entities(paths, options)
    report = things_json(fusion.fused, fusion.domain, fusion.changes, options.without)
    return _without_folder(report | {"notes": list(fusion.notes)}, f"{paths[0].parent}/")


def _error_by_name(error: InputError, folder: str) -> InputError:
    """Return an error that names the source instead of a temporary file or an option."""
    problem = error.problem.replace(folder, "").removeprefix("--")
    if error.file is None or Path(error.file).parent.name == RELIABILITIES:
        return InputError(problem)
    return InputError(problem, file=Path(error.file).name, line=error.line)


def _claims_json(paths: Sequence[Path], options: FuseOptions) -> dict[str, Any]:
    from partita.views.fusion import fused_json

    fusion = fuse_files(paths, options)
    report = fused_json(fusion.fused, fusion.measured, fusion.changes, options.without)
    return _without_folder(report | {"notes": list(fusion.notes)}, f"{paths[0].parent}/")


def _hierarchy(options: Options, folder: Path) -> Path | None:
    """Write the hierarchy to its own folder, since a source may have the same name."""
    if options.hierarchy is None:
        return None
    _refuse_names([options.hierarchy])
    return _write(folder / "hierarchy", options.hierarchy)


def _reliability(options: Options, folder: Path) -> Path | None:
    if not options.reliabilities:
        return None
    from json import dumps

    path = folder / RELIABILITIES / "given.jsonl"
    path.parent.mkdir()
    rows = ({"source": name, "reliability": r} for name, r in options.reliabilities.items())
    path.write_text("".join(f"{dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _write(folder: Path, content: Content) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / content.name
    raw = content.content if isinstance(content.content, bytes) else content.content.encode()
    path.write_bytes(raw)
    return path


def _refuse_names(sources: Sequence[Content]) -> None:
    if not sources:
        raise InputError("no sources (expected at least one)")
    names = [source.name for source in sources]
    for n, name in enumerate(names):
        if not name or Path(name).name != name or name in (".", ".."):
            raise InputError(f"invalid source name {name!r} (expected a file name)")
        if name in names[:n]:
            raise InputError(f"duplicate source name {name} (expected unique names)")


def _without_folder(report: dict[str, Any], folder: str) -> dict[str, Any]:
    return {key: _strip_folder(value, folder) for key, value in report.items()}


def _strip_folder(value: Any, folder: str) -> Any:
    """Remove the temporary folder from all texts of a value."""
    if isinstance(value, dict):
        return _without_folder(value, folder)
    if isinstance(value, list):
        return [_strip_folder(item, folder) for item in value]
    return value.replace(folder, "") if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class BelievedValue:
    """A value that a slot of an object may have; None where none of the stated values is true."""

    object: str
    slot: str
    value: str | None
    probability: float
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceReliability:
    """How reliable a source is, within which interval, and how many claims it makes."""

    source: str
    slot: str
    reliability: float
    low: float
    high: float
    claims: int


@dataclass(frozen=True, slots=True, eq=False)
class Belief(Tabular):
    """What several sources say, as one belief: values with probabilities, sources with reliability.

    The values of one slot of one object add up to 1, most probable first and unknown last. `notes`
    say what was noticed in the sources. The tables are `values`, `sources` and `copying`.
    """

    report: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[BelievedValue, ...]:
        """Every value of every slot, with its probability and the sources that state it."""
        objects = self.report.get("objects") or self.report.get("entities") or ()
        return tuple(
            value
            for entry in objects
            for slot, belief in entry["slots"].items()
            for value in _believed_values(entry.get("object") or entry["id"], slot, belief)
        )

    @property
    def most_probable(self) -> dict[tuple[str, str], BelievedValue]:
        """The most probable value by object and slot."""
        best: dict[tuple[str, str], BelievedValue] = {}
        for believed in self.values:
            key = (believed.object, believed.slot)
            if key not in best or believed.probability > best[key].probability:
                best[key] = believed
        return best

    @property
    def sources(self) -> tuple[SourceReliability, ...]:
        """The reliability of every source, by slot where claims name slots."""
        names = ("source", "reliability", "low", "high", "claims")
        return tuple(
            SourceReliability(slot=one.get("slot", ""), **{name: one[name] for name in names})
            for one in self.report["sources"]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as `partita fuse --json` writes it."""
        return dict(self.report)

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {
            "values": lambda: _field_columns(BelievedValue, self.values),
            "sources": lambda: _field_columns(SourceReliability, self.sources),
            "copying": lambda: _row_columns(self.report.get("copying", ())),
        }

    def __repr__(self) -> str:
        objects = len({one.object for one in self.values})
        return f"Belief({objects:,} objects, {len(self.report['sources']):,} reliabilities)"


@described(DeclaredOptions)
def fuse(
    claims: Any,
    *,
    truth: Any = None,
    known: Any = None,
    reliability: Any = None,
    hierarchy: Any = None,
    objects: Any = None,
    columns: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    tolerance: float = 0.0,
    one_to_one: str | None = None,
    discount_copies: bool = False,
    without: str | None = None,
    latest: Sequence[str] = (),
    domain: str = "",
    parameters: str | os.PathLike[str] | TrainedModel | None = None,
) -> Belief:
    """Combine what several sources say into one belief.

    `claims` is a file, a data frame, a list of dicts, a list of tuples (object, source, value) or
    (object, source, slot, value), a list of files and data frames, or a mapping from the names of
    sources to these. Columns are those of the files of `partita fuse`: object, source and either
    value or one column for each slot. Without a column source, each file or name is a source. Rows
    with the fields object, slot, source and masses are mass functions, which Dempster's rule
    combines.

    `truth` (to measure against), `known` (to learn from), `reliability`, `hierarchy` and `objects`
    are tables in the same forms, or mappings: truths by object, reliabilities by source, parents
    by name. `kinds` gives the kind of a slot, as in {"built": "date"}. The other arguments are the
    options of the command `partita fuse`.
    """
    with TemporaryDirectory(prefix="partita-") as name:
        files = _Files(Path(name))
        options = FuseOptions(
            truth=files.table(truth, "truth", ("object", "value")),
            known=files.table(known, "known", ("object", "value")),
            reliability=files.table(reliability, "reliability", ("source", "reliability")),
            hierarchy=files.table(hierarchy, "hierarchy", ("name", "parent")),
            objects=files.table(objects, "objects", ("object",)),
            columns=tuple(columns),
            kinds=tuple(f"{slot}={kind}".lstrip("=") for slot, kind in (kinds or {}).items()),
            tolerance=tolerance,
            separator=one_to_one,
            discount=discount_copies,
            without=without,
            latest=tuple(latest),
        )
        try:
            fused = fuse_sources(
                files.sources(claims), options, domain, parameters_path(parameters)
            )
        except InputError as error:
            raise files.located(error) from None
        return Belief(files.cleaned(_report(fused, without)), fused.notes)


def _report(fused: Fusion | EntityFusion | MassFusion, without: str | None) -> dict[str, Any]:
    from partita.views.fusion import fused_json, masses_json, things_json

    if isinstance(fused, EntityFusion):
        return things_json(fused.fused, fused.domain, fused.changes, without)
    if isinstance(fused, MassFusion):
        inputs = (fused.combined, fused.masses, fused.reliabilities)
        return masses_json(*inputs, fused.changes, without)
    return fused_json(fused.fused, fused.measured, fused.changes, without)


def _believed_values(name: str, slot: str, belief: Mapping[str, Any]) -> Iterator[BelievedValue]:
    for row in belief["values"]:
        value = row["value"]
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield BelievedValue(name, slot, text, row["probability"], tuple(row["sources"]))
    if belief["unknown"] > 0.0:
        yield BelievedValue(name, slot, None, belief["unknown"])


def _field_columns(record: Any, rows: Sequence[Any]) -> Columns:
    return {one.name: [getattr(row, one.name) for row in rows] for one in fields(record)}


def _row_columns(rows: Sequence[Mapping[str, Any]]) -> Columns:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


@dataclass(frozen=True, slots=True)
class _Files:
    """Tables in memory as files in a temporary folder, which the readers of files take."""

    folder: Path

    def sources(self, claims: Any) -> list[Path]:
        """Return the file of every source."""
        if isinstance(claims, Mapping):
            return [self._file(one, str(name), CLAIMS) for name, one in claims.items()]
        if isinstance(claims, str | os.PathLike) or is_frame(claims):
            return [self._file(claims, "claims", CLAIMS)]
        if not isinstance(claims, Iterable):
            expected = "a file, a data frame, a list of dicts or tuples, or a list of these"
            raise TypeError(f"claims must be {expected}, not {type(claims).__name__}")
        listed = list(claims)
        if not listed:
            raise InputError("no sources (expected at least one)")
        if isinstance(listed[0], Mapping | tuple):
            return [self._file(listed, "claims", CLAIMS)]
        return [self._file(one, f"claims-{n}", CLAIMS) for n, one in enumerate(listed, 1)]

    def table(self, value: Any, name: str, columns: Sequence[str]) -> Path | None:
        """Return the file of a table beside the sources."""
        if isinstance(value, Mapping):
            value = list(value.items())
        elif isinstance(value, list) and value and isinstance(value[0], str) and len(columns) == 1:
            value = [(one,) for one in value]
        return None if value is None else self._file(value, name, {len(columns): columns})

    def _file(self, value: Any, name: str, columns: Mapping[int, Sequence[str]]) -> Path:
        if isinstance(value, str | os.PathLike):
            return Path(value)
        if not is_frame(value) and not isinstance(value, Iterable):
            expected = "a file, a data frame, or a list of dicts or tuples"
            raise TypeError(f"{name} must be {expected}, not {type(value).__name__}")
        value = value if is_frame(value) else list(value)
        width = (
            len(value[0]) if not is_frame(value) and value and isinstance(value[0], tuple) else 0
        )
        names = columns.get(width, next(iter(columns.values())))
        path = self.folder / f"{name.replace('/', '_')}.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            for row in read_table(value, name=name, tuples=[names]).dicts():
                stream.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
        return path

    def located(self, error: InputError) -> InputError:
        """Name a table in memory and its row instead of the temporary file and its line."""
        if error.file is None or Path(error.file).parent != self.folder:
            return error
        name = Path(error.file).stem
        where = name if error.line is None else f"{name}, row {error.line}"
        return InputError(error.problem, file=where)

    def cleaned(self, report: dict[str, Any]) -> dict[str, Any]:
        """Leave the temporary folder out of the names of files."""
        return _without_folder(report, f"{self.folder}/")

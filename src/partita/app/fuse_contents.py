"""Fuse sources that are held in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from partita.app.fuse import Asked, Wanted, as_asked, fuse_files, fuse_things
from partita.errors import InputError

GIVEN = "reliabilities"  # the folder of what stands in none of the sources


@dataclass(frozen=True, slots=True)
class Content:
    """A source: what its file would be called, and what would stand in it.

    A run of the store is its lines of results, one after another, under NAME.jsonl.
    """

    name: str
    content: str | bytes


@dataclass(frozen=True, slots=True)
class Options:
    """As the command takes them; `kinds` are of files, `slot_kinds` of slots of claims, both by
    name ("" for all).

    A hierarchy of values may also stand among the sources; its columns tell.
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
    """What the sources say as one belief, ready for JSON: what `partita fuse --json` prints.

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
    Errors are PartitaError and name the source by its name.
    """
    chosen = options or Options()
    _refuse_names(sources)
    with TemporaryDirectory() as folder:
        paths = [_written(Path(folder, "sources"), one) for one in sources]
        try:
            return _fused(paths, chosen, Path(folder))
        except InputError as error:
            raise _by_its_name(error, f"{paths[0].parent}/") from None


def _fused(paths: Sequence[Path], options: Options, folder: Path) -> dict[str, Any]:
    wanted = Wanted(
        reliability=_reliability(options, folder),
        hierarchy=_hierarchy(options, folder),
        kinds=tuple(f"{slot}={kind}" for slot, kind in options.slot_kinds.items()),
        tolerance=options.tolerance,
        without=options.without,
    )
    asked = as_asked(paths, wanted, options.kinds, options.domain, None)
    if asked is None:
        return _claims(paths, wanted)
    return _things(paths, replace(asked, top=options.top, seed=options.seed))


def _things(paths: Sequence[Path], asked: Asked) -> dict[str, Any]:
    from partita.views.fused_things import things_json

    found = fuse_things(paths, asked)
    told = things_json(found.fused, found.domain, found.changes, asked.without)
    return _bare(told | {"notes": list(found.notes)}, f"{paths[0].parent}/")


def _by_its_name(error: InputError, folder: str) -> InputError:
    """The error of a source; reliabilities that were given stand in no file of the user's, and
    options are not the command's."""
    problem = error.problem.replace(folder, "").removeprefix("--")
    if error.file is None or Path(error.file).parent.name == GIVEN:
        return InputError(problem)
    return InputError(problem, file=Path(error.file).name, line=error.line)


def _claims(paths: Sequence[Path], wanted: Wanted) -> dict[str, Any]:
    from partita.views.fusion import fused_json

    found = fuse_files(paths, wanted)
    told = fused_json(found.fused, found.measured, found.changes, wanted.without)
    return _bare(told | {"notes": list(found.notes)}, f"{paths[0].parent}/")


def _hierarchy(options: Options, folder: Path) -> Path | None:
    """Apart from the sources, one of which may be called the same."""
    if options.hierarchy is None:
        return None
    _refuse_names([options.hierarchy])
    return _written(folder / "hierarchy", options.hierarchy)


def _reliability(options: Options, folder: Path) -> Path | None:
    if not options.reliabilities:
        return None
    from json import dumps

    path = folder / GIVEN / "given.jsonl"
    path.parent.mkdir()
    rows = ({"source": name, "reliability": r} for name, r in options.reliabilities.items())
    path.write_text("".join(f"{dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _written(folder: Path, one: Content) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / one.name
    raw = one.content if isinstance(one.content, bytes) else one.content.encode()
    path.write_bytes(raw)
    return path


def _refuse_names(sources: Sequence[Content]) -> None:
    if not sources:
        raise InputError("there is no source to fuse")
    names = [one.name for one in sources]
    for n, name in enumerate(names):
        if not name or Path(name).name != name or name in (".", ".."):
            raise InputError(f"{name!r} is no name of a file")
        if name in names[:n]:
            raise InputError(f"two sources are called {name}")


def _bare(told: dict[str, Any], folder: str) -> dict[str, Any]:
    return {key: _plain(value, folder) for key, value in told.items()}


def _plain(told: Any, folder: str) -> Any:
    """Without the folder in which the contents stood for a moment."""
    if isinstance(told, dict):
        return _bare(told, folder)
    if isinstance(told, list):
        return [_plain(value, folder) for value in told]
    return told.replace(folder, "") if isinstance(told, str) else told

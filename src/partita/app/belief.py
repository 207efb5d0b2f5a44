"""What several sources say, as one belief: made of objects in memory, files or contents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.app.batch import Failure
from partita.app.fuse import EntityFusion, Fusion, MassFusion, fuse_sources
from partita.core.tabular import Columns, Tabular, row_columns
from partita.errors import InputError
from partita.fusion.answers import answers
from partita.fusion.copying import Copying
from partita.fusion.entities import find_copying_sources
from partita.fusion.sources import Content, FuseSource, NamedTable, read_source
from partita.options import FuseOptions, described
from partita.tables.reading import is_frame

if TYPE_CHECKING:
    from partita.app.train import TrainedModel

Fused = Fusion | EntityFusion | MassFusion


def fuse_contents(
    sources: Sequence[Content | FuseSource], options: FuseOptions | None = None
) -> dict[str, Any]:
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
    chosen = options or FuseOptions()
    _refuse_names(sources)
    try:
        if isinstance(chosen.hierarchy, Content):
            _refuse_names([chosen.hierarchy])
            chosen = replace(chosen, hierarchy=read_source(chosen.hierarchy).table)
        fused = fuse_sources(sources, chosen)
    except InputError as error:  # whoever sends contents gives no options of a command
        problem = error.problem.removeprefix("--")
        raise InputError(problem, file=error.file, line=error.line, unit=error.unit) from None
    return report_of(fused, chosen.without) | {"notes": list(fused.notes)}


def _refuse_names(sources: Sequence[Content | FuseSource]) -> None:
    if not sources:
        raise InputError("no sources (expected at least one)")
    names = [source.name for source in sources]
    for n, name in enumerate(names):
        if not name or Path(name).name != name or name in (".", ".."):
            raise InputError(f"invalid source name {name!r} (expected a file name)")
        if name in names[:n]:
            raise InputError(f"duplicate source name {name} (expected unique names)")


def report_of(fused: Fused, without: str | None = None) -> dict[str, Any]:
    """Return a fusion as `partita fuse --json` writes it."""
    from partita.views.fusion import entities_json, fused_json, masses_json

    if isinstance(fused, EntityFusion):
        return entities_json(fused.fused, fused.domain, fused.changes, without)
    if isinstance(fused, MassFusion):
        inputs = (fused.combined, fused.masses, fused.reliabilities)
        return masses_json(*inputs, fused.changes, without)
    return fused_json(fused.fused, fused.measured, fused.changes, without)


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
    say what was noticed in the sources. The tables are `values`, `sources` and `copying`. `fusion`
    has all that was computed.
    """

    fusion: Fused
    without: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        return self.fusion.notes

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The sources and slots that failed, with `errors="report"`."""
        return self.fusion.failures

    @property
    def values(self) -> tuple[BelievedValue, ...]:
        """Every value of every slot, with its probability and the sources that state it."""
        by_object: dict[str, list[BelievedValue]] = {}
        for value in _believed_values(self.fusion):
            by_object.setdefault(value.object, []).append(value)
        return tuple(value for values in by_object.values() for value in values)

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
        return tuple(_reliabilities(self.fusion))

    @property
    def report(self) -> dict[str, Any]:
        """Everything as `partita fuse --json` writes it."""
        return self.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as `partita fuse --json` writes it."""
        return report_of(self.fusion, self.without)

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {
            "values": lambda: _field_columns(BelievedValue, self.values),
            "sources": lambda: _field_columns(SourceReliability, self.sources),
            "copying": lambda: row_columns(list(_copying(self.fusion))),
        }

    def _repr_html_(self) -> str:
        """Return the values, and for claims how far to believe them."""
        from partita.views.fusion import held_out_plots

        beliefs = self.fusion.fused.slots if isinstance(self.fusion, Fusion) else ()
        return Tabular._repr_html_(self) + held_out_plots(beliefs)

    def __repr__(self) -> str:
        objects = len({one.object for one in self.values})
        return f"Belief({objects:,} objects, {len(self.sources):,} reliabilities)"


def _believed_values(fusion: Fused) -> Iterator[BelievedValue]:
    """Yield all values, those of a slot of an object together."""
    if isinstance(fusion, EntityFusion):
        for entity in fusion.fused.entities:
            for name, slot in entity.slots.items():
                for value in slot.values:
                    text = _text(value.value)
                    p, sources = value.probability.value, entity.sources_of(value.records)
                    yield BelievedValue(entity.id, name, text, p, sources)
                yield from _unknown(entity.id, name, slot.unknown)
        return
    combined = fusion.combined if isinstance(fusion, MassFusion) else None
    beliefs = () if isinstance(fusion, MassFusion) else fusion.fused.slots
    for one in combined or (answer for belief in beliefs for answer in answers(belief)):
        for said in one.values:
            text = _text(said.value)
            yield BelievedValue(one.object, one.slot, text, said.probability, said.sources)
        yield from _unknown(one.object, one.slot, one.unknown)


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _unknown(name: str, slot: str, probability: float) -> Iterator[BelievedValue]:
    if probability > 0.0:
        yield BelievedValue(name, slot, None, probability)


def _reliabilities(fusion: Fused) -> Iterator[SourceReliability]:
    if isinstance(fusion, Fusion):
        for one in (trust for belief in fusion.fused.slots for trust in belief.trust):
            low_high = (one.low, one.high)
            yield SourceReliability(one.source, one.slot, one.reliability, *low_high, one.claims)
    elif isinstance(fusion, EntityFusion):
        for trust in fusion.fused.source_trusts():
            low_high = (trust.low, trust.high)
            yield SourceReliability(trust.source, "", trust.reliability, *low_high, trust.claims)
    else:
        for source, claims in fusion.claims.items():
            r = fusion.reliabilities.get(source, 1.0)
            yield SourceReliability(source, "", r, r, r, claims)


def _copying(fusion: Fused) -> Iterator[dict[str, Any]]:
    found: Sequence[Copying] = ()
    if isinstance(fusion, EntityFusion):
        found = find_copying_sources(fusion.fused)
    elif isinstance(fusion, Fusion):
        found = fusion.fused.copying
    yield from ({**asdict(one), "share": one.share} for one in found)


def _field_columns(record: Any, rows: Sequence[Any]) -> Columns:
    return {one.name: [getattr(row, one.name) for row in rows] for one in fields(record)}


@described(FuseOptions)
def fuse(
    claims: Any,
    *,
    truth: Any = None,
    known: Any = None,
    reliability: Any = None,
    hierarchy: Any = None,
    states: Any = None,
    most_detailed: bool = False,
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
    engine: str | None = None,
    top: int | None = None,
    errors: str = "raise",
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

    A source that cannot be read, or a slot whose claims cannot be fused, raises its error. With
    `errors="report"` the others are fused: the result has `failures`, each with `name` and `error`,
    and a warning counts them.
    """
    options = FuseOptions.of(locals())
    return Belief(fuse_sources([*_sources(claims)], options), without)


def _sources(claims: Any) -> Iterator[Any]:
    """Yield a table, the tables of a list, or tables with the names of their sources."""
    if isinstance(claims, Mapping):
        yield from (NamedTable(str(name), one) for name, one in claims.items())
        return
    if isinstance(claims, str | os.PathLike) or is_frame(claims):
        yield claims
        return
    if not isinstance(claims, Iterable):
        expected = "a file, a data frame, a list of dicts or tuples, or a list of these"
        raise TypeError(f"claims must be {expected}, not {type(claims).__name__}")
    listed = list(claims)
    if not listed:
        raise InputError("no sources (expected at least one)")
    if isinstance(listed[0], Mapping | tuple):
        yield listed
        return
    for n, one in enumerate(listed, 1):
        file = isinstance(one, str | os.PathLike)
        yield one if file else NamedTable(f"claims-{n}", one)

"""Read records and judgements as records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from partita.core import Pair, Template, pair
from partita.errors import InputError
from partita.files.strict import Place
from partita.fusion.claim_files import (
    NO_HEADER,
    ROLES,
    add_reliability,
    claim_table,
    day_number,
    read_claims,
    read_share,
    says_same,
)
from partita.fusion.source_records import (
    RECORD,
    Origin,
    PairBelief,
    SourceRecord,
    SourceRecords,
    row_object,
)
from partita.fusion.value_reading import decode_value
from partita.linkage.record_tables import unique_id_column
from partita.tables import Table
from partita.tables.columns import ids_of
from partita.templates.entity_types import HierarchyType
from partita.templates.name import NameType
from partita.templates.schema import Schema
from partita.templates.slots import StringsType, symbol


def judgement_records(source: Any) -> SourceRecords:
    """Read what sources state about pairs of objects or templates."""
    table = claim_table(source)
    claims = read_claims(table)
    by_source: dict[str, dict[Pair, float]] = {}
    judged = _judged_pairs(table)
    for n in range(len(claims)):
        name = claims.sources[claims.source[n]]
        judgement, confidence = claims.values[claims.value[n]], float(claims.confidence[n])
        sign = says_same(judgement)
        if sign is None:
            raise claims.located(n, f"judgement {judgement!r} is neither same nor different")
        p = (1.0 + confidence) / 2 if sign else (1.0 - confidence) / 2  # the rest is the opposite
        by_source.setdefault(name, {})[pair(*judged[int(claims.line[n])])] = p
    judgements = tuple(PairBelief(name, pairs) for name, pairs in sorted(by_source.items()))
    return SourceRecords((), judgements=judgements, reliabilities=dict(claims.reliabilities))


def _judged_pairs(table: Table) -> dict[int, Pair]:
    """Return both sides of the pair on each line."""
    left, right = (ids_of(table, table.find(side) or "") for side in ("left", "right"))
    return dict(zip(table.lines, zip(left, right, strict=True), strict=True))


SEPARATOR = ";"
SEEN_COLUMNS = {"seen", "observed", "reported"}  # slots of a domain that also say when
FILE_IDS = {"id"}  # names that a file gives its rows; those of objects hold in all files
OBJECT_COLUMNS = set(ROLES["object"]) - FILE_IDS
TYPE_COLUMNS = ("sort",)
CERTAIN = 1.0


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of a domain; `types` are those that give the type of a template, in order.

    `ids` are further columns with the ids that tables give their rows.
    """

    schema: Schema
    types: tuple[str, ...] = ()
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns by role, and the slot of each column."""

    roles: Mapping[str, str]
    slots: Mapping[str, str]


@dataclass(slots=True)
class _RecordReader:
    """The records read from a file so far."""

    file: str
    about: Slots
    records: list[SourceRecord] = field(default_factory=list)
    reliabilities: dict[str, float] = field(default_factory=dict)
    empty: int = 0
    unknown: list[str] = field(default_factory=list)

    @property
    def notes(self) -> tuple[str, ...]:
        empty = (f"{self.file}: {self.empty:,} rows are empty",) if self.empty else ()
        if not self.unknown:
            return empty
        count = f"{len(self.unknown):,} unknown sorts are ignored, such as {self.unknown[0]}"
        return (*empty, f"{self.file}: {count}")


def table_records(records: Any, about: Slots, source: str = "") -> SourceRecords:
    """Read one record per row; without a source column, the table is the source."""
    table = claim_table(records)
    read = _RecordReader(table.name, about)
    columns = _columns(table.columns, about, Place(table.name, table.header))
    for row, values in enumerate(table.dicts()):
        _add_record(values, columns, table.place(row), source or table.source, read)
    if not read.records:
        raise InputError("has no records; expected one row per record", file=read.file)
    notes = (*table.notes, *read.notes)
    return SourceRecords(tuple(read.records), reliabilities=read.reliabilities, notes=notes)


def claim_records(claimed: Any, about: Slots) -> SourceRecords:
    """Read what each source claims about each object; contradictions make two records."""
    claims = read_claims(claimed)
    read = _RecordReader(claims.files[0], about)
    records: dict[tuple[str, str], list[tuple[int, dict[str, Any], dict[str, float]]]] = {}
    for n in range(len(claims)):
        slot = _slot(claims.slots[claims.slot[n]], about, Place(read.file, int(claims.line[n])))
        key = (claims.sources[claims.source[n]], claims.objects[claims.object[n]])
        value = _value(claims.values[claims.value[n]], slot, about.schema)
        _add_value(
            records.setdefault(key, []),
            slot,
            value,
            float(claims.confidence[n]),
            int(claims.line[n]),
        )
    for (source, entity), parts in records.items():
        for n, (line, slots, confidence) in enumerate(parts, 1):
            _append_record(
                f"R{n}", source, entity, slots, confidence, "", Place(read.file, line), read
            )
    return SourceRecords(
        tuple(read.records),
        reliabilities=dict(claims.reliabilities),
        notes=(*claims.notes, *read.notes),
    )


def unknown_columns(names: Sequence[str], about: Slots) -> list[str]:
    """Return the columns that are neither slots nor have a meaning of their own."""
    return [n for n in names if _role(n, about) is None and _slot_named(n, about) is None]


def table_schema(columns: Mapping[str, Sequence[str]]) -> Schema:
    """Return a schema for columns of texts: the column of names, and others that hold one text."""
    name = _name_column(columns)
    return Schema({c: NameType() if c == name else StringsType(several=False) for c in columns})


def _name_column(columns: Mapping[str, Sequence[str]]) -> str | None:
    """Return the column of words with the most distinct values per record, names preferred."""
    worded = {
        name: values
        for name, values in columns.items()
        if values and sum(c.isdigit() for v in values for c in v) < 0.4 * sum(map(len, values))
    }
    if not worded:
        return None
    named = [c for c in worded if "name" in c.lower() or "title" in c.lower()]
    return max(named or worded, key=lambda c: (len(set(worded[c])), c))


def table_slots(sources: Iterable[Any]) -> Slots:
    """Return slots for the columns of some tables; the linker says which of them hold ids."""
    tables = [claim_table(source) for source in sources]
    found = (unique_id_column(dict(zip(one.columns, one.values, strict=True))) for one in tables)
    ids = frozenset(name for name in found if name is not None)
    return Slots(table_schema(column_texts(tables, ids)), ids=ids)


def column_texts(tables: Iterable[Table], ids: frozenset[str]) -> dict[str, list[str]]:
    """Return the values of every column of some tables, without those of sources and ids."""
    texts: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for table in tables:
        for name in unknown_columns(table.columns, Slots(Schema(), ids=ids)):
            first = spelled.setdefault(_slot_key(name), name.strip())
            filled = texts.setdefault(first, [])
            filled += [str(v).strip() for v in table.column(name) if v not in (None, "")]
    return dict(sorted(texts.items()))


def _columns(names: Sequence[str], about: Slots, place: Place) -> _Columns:
    """Return the role or slot of every column; an unknown column is an error."""
    roles: dict[str, str] = {}
    slots: dict[str, str] = {}
    for name in names:
        role = _role(name, about)
        if role is not None:
            roles[role] = name
        else:
            if name.strip().lower() in SEEN_COLUMNS:
                roles.setdefault("stated", name)
            slots[name] = _slot(name, about, place, "" if roles else NO_HEADER)
    if not slots:
        place.refuse(f"has no columns of slots; the slots are {', '.join(about.schema.slots)}")
    return _Columns(roles, slots)


def _role(name: str, about: Slots) -> str | None:
    lower = name.strip().lower()
    if _slot_named(name, about) is not None:
        return None
    for role in ("source", "reliability", "confidence", "stated"):
        if lower in ROLES[role]:
            return role
    if lower in OBJECT_COLUMNS | FILE_IDS or name in about.ids:
        return "object"
    return "sort" if lower in TYPE_COLUMNS else None


def _slot_named(name: str, about: Slots) -> str | None:
    wanted = _slot_key(name)
    return next((slot for slot in about.schema.slots if _slot_key(slot) == wanted), None)


def _slot_key(name: str) -> str:
    return symbol(name.replace("_", " "))


def _slot(name: str, about: Slots, place: Place, advice: str = "") -> str:
    slot = _slot_named(name, about)
    if slot is None:
        names = ", ".join(about.schema.slots)
        known = f"the slots are {names}" if names else "the domain has no slots"
        place.refuse(f"unknown slot {name!r}; {known}{advice}")
    return slot


def _add_record(
    row: Mapping[str, Any], columns: _Columns, place: Place, file: str, read: _RecordReader
) -> None:
    source = _text(row, columns.roles.get("source")) or ("" if "source" in columns.roles else file)
    if not source:
        place.refuse("has no source")
    schema = read.about.schema
    slots = {slot: value for name, slot in columns.slots.items()
             if (value := _value(row[name], slot, schema)) not in (None, "", [])}  # fmt: skip
    stated = _text(row, columns.roles.get("reliability"))
    add_reliability(stated, source, read.reliabilities, place)
    if not slots:
        read.empty += 1
        return
    confidence = read_share(_text(row, columns.roles.get("confidence")), "confidence", place)
    entity = _text(row, columns.roles.get("object"))
    if entity and columns.roles["object"].strip().lower() not in OBJECT_COLUMNS:
        entity = row_object(place.file, entity)
    confidences = dict.fromkeys(slots, CERTAIN if confidence is None else confidence)
    day = _text(row, columns.roles.get("stated"))
    _append_record(
        "R", source, entity, slots, confidences, _text(row, columns.roles.get("sort")), place, read,
        day_number(day, place) if _is_day(day, columns) else 0,
    )  # fmt: skip


def _is_day(day: str | None, columns: _Columns) -> bool:
    """Return whether a day is given; one that is a slot too may be less exact."""
    return bool(day) and (columns.roles["stated"] not in columns.slots or len(day or "") == 10)


def _append_record(
    name: str,
    source: str,
    object_: str,
    slots: Mapping[str, Any],
    confidence: Mapping[str, float],
    entity_type: str,
    place: Place,
    read: _RecordReader,
    stated: int = 0,
) -> None:
    line = place.line or 0
    message = f"{Path(place.file).name}:{line}"
    slots = {slot: value for slot, value in slots.items()
             if not _unknown_type(value, read.about.schema.slots[slot], line, read)}  # fmt: skip
    entity_type = entity_type or next(
        (str(slots[slot]) for slot in read.about.types if slot in slots), ""
    )
    hierarchy = read.about.schema.types
    if (
        entity_type
        and hierarchy is not None
        and _unknown_type(entity_type, HierarchyType(hierarchy), line, read)
    ):
        entity_type = ""
    named = object_ or next((str(slots[s]) for s in slots if isinstance(
        read.about.schema.slots[s], NameType)), "")  # fmt: skip
    template = Template(name, type=symbol(entity_type), slots=dict(slots), rule=RECORD)
    origin = Origin(source, place.file, line, message, name, named)
    about = read.about.schema
    record = SourceRecord.of(source, message, template, about, [origin], confidence, object_)
    read.records.append(replace(record, stated=stated))


def _unknown_type(value: Any, kind: Any, line: int, read: _RecordReader) -> bool:
    """Return whether a value names a type that the domain lacks; it is then noted."""
    if not isinstance(kind, HierarchyType) or not isinstance(value, str):
        return False
    if symbol(value) in kind.hierarchy:
        return False
    read.unknown.append(f"{value} in line {line}")
    return True


def _add_value(
    records: list[tuple[int, dict[str, Any], dict[str, float]]],
    slot: str,
    value: Any,
    confidence: float,
    line: int,
) -> None:
    """Add a value to the first record whose slot is free or has the same value."""
    for _, slots, confidences in records:
        if slots.get(slot, value) == value:
            slots[slot], confidences[slot] = value, max(confidence, confidences.get(slot, 0.0))
            return
    records.append((line, {slot: value}, {slot: confidence}))


def _value(cell: Any, slot: str, schema: Schema) -> Any:
    """Return a cell in the plain form of its slot, split into a list where the slot allows it."""
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    kind = schema.slots[slot]
    if text.startswith("["):
        return decode_value(text)
    if SEPARATOR in text and (isinstance(kind, NameType) or _several(kind)):
        return [part.strip() for part in text.split(SEPARATOR) if part.strip()]
    return text


def _several(kind: Any) -> bool:
    return isinstance(kind, StringsType) and kind.several


def _text(row: Mapping[str, Any], column: str | None) -> str:
    value = row.get(column) if column is not None else None
    return "" if value is None else str(value).strip()

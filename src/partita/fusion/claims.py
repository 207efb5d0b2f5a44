"""Claims: a source states the value of a slot of an object, on a line of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.errors import InputError, Unit

TRUTHS = "known truths"  # the source of the user's truths, always exactly right


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Claims as indices into lists of names; `values` are as written.

    `reliabilities` and `kinds` are those set for sources and slots; `notes` report what was read
    but is not a claim. `units` says of each file what `line` counts. `stated` are the days of
    statements, 0 where unknown.
    """

    objects: Sequence[str]
    slots: Sequence[str]
    sources: Sequence[str]
    values: Sequence[str]
    object: IntArray
    slot: IntArray
    source: IntArray
    value: IntArray
    confidence: FloatArray
    file: IntArray
    line: IntArray
    files: Sequence[str] = ()
    units: Mapping[str, Unit] = field(default_factory=dict)
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    stated: IntArray | None = None

    def __len__(self) -> int:
        return len(self.object)

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[str, str, str, str] | tuple[str, str, str, str, float]],
        reliabilities: Mapping[str, float] | None = None,
    ) -> Claims:
        """Make claims of tuples (source, object, slot, value) with an optional confidence."""
        names: list[dict[str, int]] = [{}, {}, {}, {}]
        points = [
            [
                numbers.setdefault(str(name), len(numbers))
                for numbers, name in zip(names, row, strict=False)
            ]
            for row in rows
        ]
        table = np.array(points, dtype=np.int64).reshape(-1, 4)
        source, thing, slot, value = (table[:, n] for n in range(4))
        return cls(
            objects=list(names[1]),
            slots=list(names[2]),
            sources=list(names[0]),
            values=list(names[3]),
            object=thing,
            slot=slot,
            source=source,
            value=value,
            confidence=np.array([row[4] if len(row) == 5 else 1.0 for row in rows], dtype=float),
            file=np.zeros(len(rows), dtype=np.int64),
            line=np.arange(1, len(rows) + 1),
            reliabilities=checked_reliabilities(reliabilities or {}),
        )

    def named(self, claim: int) -> str:
        """Return the source, slot and object of a claim, for messages."""
        source, thing = self.sources[self.source[claim]], self.objects[self.object[claim]]
        return f"{source} on {self.slots[self.slot[claim]]} of {thing}"

    def located(self, claim: int, problem: str) -> InputError:
        """Return an error that names the file and line of a claim."""
        if not self.files:
            return InputError(problem)
        name, line = self.files[self.file[claim]], int(self.line[claim])
        return InputError(problem, file=name, line=line, unit=self.units.get(name, "line"))

    def only(self, chosen: NDArray[np.bool_]) -> Claims:
        """Return some of the claims; the lists of names stay the same."""
        return replace(
            self,
            object=self.object[chosen],
            slot=self.slot[chosen],
            source=self.source[chosen],
            value=self.value[chosen],
            confidence=self.confidence[chosen],
            file=self.file[chosen],
            line=self.line[chosen],
            stated=None if self.stated is None else self.stated[chosen],
        )

    def without(self, source: str) -> Claims:
        """Return the claims of all other sources."""
        if source not in self.sources:
            examples = ", ".join(sorted(self.sources)[:5])
            raise InputError(f"no source named {source!r}; sources are {examples}")
        return self.only(self.source != list(self.sources).index(source))


def distinct(numbers: IntArray) -> IntArray:
    """Return the different numbers, sorted; for numbers of names, without a sort of all."""
    return np.flatnonzero(np.bincount(numbers))


def checked_reliabilities(reliabilities: Mapping[str, float]) -> dict[str, float]:
    """Return the reliabilities; one outside [0, 1] is an error."""
    for source, reliability in reliabilities.items():
        if not 0 <= reliability <= 1:
            raise InputError(f"reliability {reliability} of {source} is not a number from 0 to 1")
    return dict(reliabilities)


def join_claims(first: Claims, *others: Claims) -> Claims:
    """Join the claims of several files into one list."""
    for other in others:
        first = _join_two(first, other)
    return first


def _join_two(left: Claims, right: Claims) -> Claims:
    names: dict[str, list[str]] = {}
    places: dict[str, IntArray] = {}
    for kind in ("objects", "slots", "sources", "values", "files"):
        numbers = {name: n for n, name in enumerate(getattr(left, kind))}
        positions = [numbers.setdefault(name, len(numbers)) for name in getattr(right, kind)]
        names[kind], places[kind] = list(numbers), np.array(positions or [0], dtype=np.int64)

    def joined_column(field: str, kind: str) -> IntArray:
        return np.concatenate([getattr(left, field), places[kind][getattr(right, field)]])

    return Claims(
        objects=names["objects"],
        slots=names["slots"],
        sources=names["sources"],
        values=names["values"],
        object=joined_column("object", "objects"),
        slot=joined_column("slot", "slots"),
        source=joined_column("source", "sources"),
        value=joined_column("value", "values"),
        confidence=np.concatenate([left.confidence, right.confidence]),
        file=joined_column("file", "files"),
        line=np.concatenate([left.line, right.line]),
        files=names["files"],
        units={**left.units, **right.units},
        reliabilities={**left.reliabilities, **right.reliabilities},
        kinds={**left.kinds, **right.kinds},
        notes=(*left.notes, *right.notes),
        stated=_joined_days(left, right),
    )


def _joined_days(left: Claims, right: Claims) -> IntArray | None:
    if left.stated is None and right.stated is None:
        return None
    days = [np.zeros(len(one), dtype=np.int64) if one.stated is None else one.stated
            for one in (left, right)]  # fmt: skip
    return np.concatenate(days)


def latest_claims(claims: Claims, slots: Sequence[str]) -> Claims:
    """Keep, in these slots, only the last statement of every source about every object.

    The last is that of the latest day, or where days are unknown the last one in the files.
    """
    if unknown := sorted({*slots} - {*claims.slots}):
        existing = ", ".join(sorted(claims.slots))
        raise InputError(f"unknown slot {unknown[0]!r}; there are {existing}")
    changing = np.isin(claims.slot, [list(claims.slots).index(slot) for slot in slots])
    days = np.zeros(len(claims), dtype=np.int64) if claims.stated is None else claims.stated
    columns = (claims.line, claims.file, days, claims.source, claims.object, claims.slot)
    order = np.lexsort(columns)
    key = np.stack([claims.slot, claims.object, claims.source])[:, order]
    last = np.append((key[:, 1:] != key[:, :-1]).any(axis=0), True)
    group = np.cumsum(np.append(True, last[:-1])) - 1
    when = np.stack([days, claims.file, claims.line])[:, order]
    newest = when[:, last][:, group]  # of every claim's group
    kept = np.ones(len(claims), dtype=bool)
    kept[order] = (when == newest).all(axis=0)
    return claims.only(kept | ~changing)

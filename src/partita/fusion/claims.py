"""Claims: a source states the value of a slot of an object, on a line of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
        columns = ([str(row[n]) for row in rows] for n in (1, 2, 0, 3))
        return cls(
            **coded_columns(*columns),
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
        columns = {name: getattr(self, name)[chosen] for name in COLUMNS}
        return replace(self, stated=None if self.stated is None else self.stated[chosen], **columns)

    @property
    def days(self) -> IntArray:
        """The days of the statements, 0 where unknown."""
        return np.zeros(len(self), dtype=np.int64) if self.stated is None else self.stated

    def without(self, source: str) -> Claims:
        """Return the claims of all other sources."""
        if source not in self.sources:
            examples = ", ".join(sorted(self.sources)[:5])
            raise InputError(f"no source named {source!r}; sources are {examples}")
        return self.only(self.source != list(self.sources).index(source))


COLUMNS = {"object": "objects", "slot": "slots", "source": "sources", "value": "values",
           "confidence": "", "file": "files", "line": ""}  # fmt: skip


def numbered(texts: Iterable[str]) -> tuple[list[str], IntArray]:
    """Return the different texts by first appearance, and the number of each."""
    numbers: dict[str, int] = {}
    points = [numbers.setdefault(text, len(numbers)) for text in texts]
    return list(numbers), np.array(points, dtype=np.int64)


def coded_columns(
    objects: Iterable[str], slots: Iterable[str], sources: Iterable[str], values: Iterable[str]
) -> dict[str, Any]:
    """Return the columns of claims that are numbers of names, and these names."""
    columns: dict[str, Any] = {}
    for (name, names), texts in zip(
        COLUMNS.items(), (objects, slots, sources, values), strict=False
    ):
        columns[names], columns[name] = numbered(texts)
    return columns


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
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(left, name), getattr(right, name)]) for name in COLUMNS
    }
    for name, of in COLUMNS.items():
        if of:
            both = [*getattr(left, of), *getattr(right, of)]
            joined[of], numbers = numbered(both)
            places = np.append(numbers[len(getattr(left, of)) :], 0)
            joined[name] = np.concatenate([getattr(left, name), places[getattr(right, name)]])
    days = np.concatenate([left.days, right.days])
    return Claims(
        **joined,
        units={**left.units, **right.units},
        reliabilities={**left.reliabilities, **right.reliabilities},
        kinds={**left.kinds, **right.kinds},
        notes=(*left.notes, *right.notes),
        stated=None if left.stated is None and right.stated is None else days,
    )


def latest_claims(claims: Claims, slots: Sequence[str]) -> Claims:
    """Keep, in these slots, only the last statement of every source about every object.

    The last is that of the latest day, or where days are unknown the last one in the files.
    """
    if unknown := sorted({*slots} - {*claims.slots}):
        existing = ", ".join(sorted(claims.slots))
        raise InputError(f"unknown slot {unknown[0]!r}; there are {existing}")
    changing = np.isin(claims.slot, [list(claims.slots).index(slot) for slot in slots])
    columns = (claims.line, claims.file, claims.days, claims.source, claims.object, claims.slot)
    order = np.lexsort(columns)
    key = np.stack([claims.slot, claims.object, claims.source])[:, order]
    last = np.append((key[:, 1:] != key[:, :-1]).any(axis=0), True)
    group = np.cumsum(np.append(True, last[:-1])) - 1
    when = np.stack([claims.days, claims.file, claims.line])[:, order]
    newest = when[:, last][:, group]  # of every claim's group
    kept = np.ones(len(claims), dtype=bool)
    kept[order] = (when == newest).all(axis=0)
    return claims.only(kept | ~changing)

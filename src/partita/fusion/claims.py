"""What sources say: object, slot and value, with the file and line where each claim stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Claims as numbers that point into lists of names; `values` are as they were written.

    `reliabilities` and `kinds` are of the sources and slots for which they were given; `notes`
    tell a person what was read but is no claim.
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
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.object)

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[str, str, str, str] | tuple[str, str, str, str, float]],
        reliabilities: Mapping[str, float] | None = None,
    ) -> Claims:
        """From tuples source, object, slot, value and, if you like, confidence."""
        names: list[dict[str, int]] = [{}, {}, {}, {}]
        points = [
            [known.setdefault(str(one), len(known)) for known, one in zip(names, row, strict=False)]
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
        """Whose claim it is, and about what."""
        source, thing = self.sources[self.source[claim]], self.objects[self.object[claim]]
        return f"{source} on {self.slots[self.slot[claim]]} of {thing}"

    def located(self, claim: int, problem: str) -> InputError:
        """An error about a claim that says where it stands."""
        if not self.files:
            return InputError(problem)
        return InputError(problem, file=self.files[self.file[claim]], line=int(self.line[claim]))

    def only(self, chosen: NDArray[np.bool_]) -> Claims:
        """Some of the claims; the names stay, so that numbers keep their meaning."""
        return replace(
            self,
            object=self.object[chosen],
            slot=self.slot[chosen],
            source=self.source[chosen],
            value=self.value[chosen],
            confidence=self.confidence[chosen],
            file=self.file[chosen],
            line=self.line[chosen],
        )

    def without(self, source: str) -> Claims:
        """The claims of everybody else."""
        if source not in self.sources:
            near = ", ".join(sorted(self.sources)[:5])
            raise InputError(f"no source named {source!r}; sources are {near}")
        return self.only(self.source != list(self.sources).index(source))


def checked_reliabilities(given: Mapping[str, float]) -> dict[str, float]:
    """Reliabilities that are numbers from 0 to 1."""
    for source, reliability in given.items():
        if not 0 <= reliability <= 1:
            raise InputError(f"reliability {reliability} of {source} is not a number from 0 to 1")
    return dict(given)


def joined(first: Claims, *others: Claims) -> Claims:
    """Claims of several files as one list; a name is the same wherever it stands."""
    for other in others:
        first = _two(first, other)
    return first


def _two(left: Claims, right: Claims) -> Claims:
    names: dict[str, list[str]] = {}
    places: dict[str, IntArray] = {}
    for kind in ("objects", "slots", "sources", "values", "files"):
        known = {name: n for n, name in enumerate(getattr(left, kind))}
        numbers = [known.setdefault(name, len(known)) for name in getattr(right, kind)]
        names[kind], places[kind] = list(known), np.array(numbers or [0], dtype=np.int64)

    def both(field: str, kind: str) -> IntArray:
        return np.concatenate([getattr(left, field), places[kind][getattr(right, field)]])

    return Claims(
        objects=names["objects"],
        slots=names["slots"],
        sources=names["sources"],
        values=names["values"],
        object=both("object", "objects"),
        slot=both("slot", "slots"),
        source=both("source", "sources"),
        value=both("value", "values"),
        confidence=np.concatenate([left.confidence, right.confidence]),
        file=both("file", "files"),
        line=np.concatenate([left.line, right.line]),
        files=names["files"],
        reliabilities={**left.reliabilities, **right.reliabilities},
        kinds={**left.kinds, **right.kinds},
        notes=(*left.notes, *right.notes),
    )

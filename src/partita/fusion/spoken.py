"""The claims about one slot with their values read, before they are put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """Numbers that point into lists of names; `values` are sorted and each stands once.

    `labels` are the values as people write them, `members` the sets of a slot that holds several,
    `silent` counts claims that only say that nothing is known.
    """

    object: IntArray
    source: IntArray
    value: IntArray
    confidence: FloatArray
    values: Sequence[str]
    labels: Sequence[str]
    members: Sequence[frozenset[str]] = ()
    silent: int = 0

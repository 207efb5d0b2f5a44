"""Candidate pairs: records that share a key which not too many records have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TypeVar

Key = TypeVar("Key", str, tuple[str, str])
Index = Mapping[Key, Sequence[int]]


def crowded_keys(index: Index[Key], most: int) -> frozenset[Key]:
    """Return the keys of more than `most` records."""
    return frozenset(key for key, records in index.items() if len(records) > most)


def candidate_pairs(
    stored: Index[Key], searched: Index[Key], ignored: Set[Key]
) -> list[tuple[int, int]]:
    """Return the pairs of which one record is stored under a key that the other searches."""
    pairs: set[tuple[int, int]] = set()
    for key, records in stored.items():
        if key not in ignored:
            for other in searched.get(key, ()):
                pairs.update((min(n, other), max(n, other)) for n in records if n != other)
    return sorted(pairs)

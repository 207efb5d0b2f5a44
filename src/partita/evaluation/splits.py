"""Ways to part documents into those to learn from and those to be tested on, never by pair.

The paper's 72 messages: tests of 12 and of 15, which share 2, and both together, 25.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from partita.errors import InputError

MESSAGES, FIRST, SECOND, SHARED = 72, 12, 15, 2


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Positions of documents."""

    name: str
    train: tuple[int, ...]
    test: tuple[int, ...]


def paper_splits(count: int, rng: np.random.Generator) -> tuple[Split, ...]:
    """The paper's three shapes, in proportion to the number of documents."""
    order = _order(count, rng)
    first, second, shared = (max(1, round(n * count / MESSAGES)) for n in (FIRST, SECOND, SHARED))
    one, two = order[:first], order[first - shared : first - shared + second]
    both = order[: first - shared + second]
    named = (("test 1", one), ("test 2", two), ("tests 1 and 2", both))
    return tuple(_split(name, order, test) for name, test in named)


def grouped_splits(
    count: int, rng: np.random.Generator, times: int, share: float = 25 / 72
) -> Iterator[Split]:
    """Many splits at random, each with its own share of documents to test on."""
    for n in range(times):
        order = _order(count, rng)
        held = min(max(1, round(share * count)), count - 1)
        yield _split(f"split {n + 1}", order, order[:held])


def _order(count: int, rng: np.random.Generator) -> list[int]:
    if count < 2:
        raise InputError("a split needs two documents or more")
    order: list[int] = rng.permutation(count).tolist()
    return order


def _split(name: str, order: Sequence[int], test: Sequence[int]) -> Split:
    away = set(test)
    return Split(name, tuple(sorted(set(order) - away)), tuple(sorted(away)))

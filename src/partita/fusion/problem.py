"""What sources say of one slot as numbers: claims, candidates for the truth, how they relate.

P(claim c of source s | candidate k) = θ[s, g, d_c]·b_c, and where c relates to k by outcome o
θ[s, g, o]·a + μ·θ[s, g, d_c]·b_c;  g is the candidate's group, d_c what a claim is otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """The claims: who, about which block of candidates, with which outcome if it is no relation.

    `density` is b; `flat` is what the claim's probability is where nothing is known, to which
    a claim of less than full `confidence` falls back.
    """

    source: IntArray
    block: IntArray
    outcome: IntArray
    density: FloatArray
    confidence: FloatArray
    flat: float

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What may be true: one candidate of every item is. `offset` is log P(k | its class)."""

    item: IntArray
    block: IntArray
    group: IntArray
    kind: IntArray
    offset: FloatArray

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """Claims that are not what they would be for any other candidate, with the factor a."""

    claim: IntArray
    candidate: IntArray
    outcome: IntArray
    factor: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One slot: sizes, what was said, what may be true, and the rates to start from.

    `kinds` is how many classes of candidates have a prior to be learned, `shrinkage` is the λ of
    learning, `mixed` is μ: 1 where a source that guesses may hit the truth by luck.
    """

    said: Said
    candidates: Candidates
    relations: Relations
    sources: int
    blocks: int
    items: int
    kinds: int
    start: FloatArray
    shrinkage: float
    mixed: float = 0.0

    @property
    def groups(self) -> int:
        return int(self.start.shape[0])

    @property
    def outcomes(self) -> int:
        return int(self.start.shape[1])


def no_relations() -> Relations:
    empty = np.zeros(0, dtype=np.int64)
    return Relations(empty, empty, empty, np.zeros(0))

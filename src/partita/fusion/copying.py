"""Find sources that copy from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.fusion.belief import SlotBelief
from partita.fusion.claims import Claims
from partita.records import FloatArray, IntArray

DOUBTFUL = 0.5  # a claim less probable than this is taken as wrong
LEAST = 3  # wrong values in common
SIGNIFICANT = 1e-3
MOST = 2000  # sources that are compared: those with most wrong claims


@dataclass(frozen=True, slots=True)
class Copying:
    """Two sources, how many wrong values they share, how many chance would give, how rare that is.

    The first makes more claims: if one copies, it is probably the second.
    """

    slot: str
    original: str
    copier: str
    common: int
    shared: int
    expected: float
    significance: float

    @property
    def share(self) -> float:
        """Which part of the copier's agreement on wrong values chance does not explain."""
        return max(0.0, 1.0 - self.expected / self.shared)


def copying(belief: SlotBelief) -> list[Copying]:
    """The pairs of sources of a slot that stand out, the most striking first."""
    said = belief.read.said
    wrong = belief.sound < DOUBTFUL
    claims = np.bincount(said.source, minlength=len(said.sources))
    erring = np.bincount(said.source[wrong], minlength=len(claims))
    chosen = np.argsort(-erring, kind="stable")[:MOST]
    chosen = chosen[erring[chosen] >= LEAST]
    if len(chosen) < 2:
        return []
    pair = said.object * len(said.values) + said.value
    shared = _common(said.source[wrong], pair[wrong], chosen)
    meetings = _common(said.source[wrong], said.object[wrong], chosen)
    common = _common(said.source, said.object, chosen)
    rate = erring[chosen] / claims[chosen]
    chance = shared.sum() / max(meetings.sum(), 1.0)
    expected = common * np.outer(rate, rate) * chance
    found = _striking(shared, expected)
    made = [
        _pair(belief, chosen[[a, b]], claims, (common[a, b], shared[a, b], expected[a, b], p))
        for a, b, p in found
    ]
    return sorted(made, key=lambda one: (one.significance, -one.shared, one.original, one.copier))


def _common(source: IntArray, thing: IntArray, chosen: IntArray) -> FloatArray:
    """How many things every two of the chosen sources share, once each; nothing with oneself."""
    from scipy.sparse import csr_array

    place = np.full(int(max(source.max(initial=0), chosen.max())) + 1, -1)
    place[chosen] = np.arange(len(chosen))
    kept = place[source] >= 0
    names, column = np.unique(thing[kept], return_inverse=True)
    shape = (len(chosen), len(names))
    ones: Any = csr_array((np.ones(kept.sum()), (place[source[kept]], column)), shape=shape)
    ones.data[:] = 1.0
    found: FloatArray = (ones @ ones.T).toarray()
    np.fill_diagonal(found, 0.0)
    return found


def _striking(shared: FloatArray, expected: FloatArray) -> list[tuple[int, int, float]]:
    """Pairs whose agreement is rarer than it should ever be, with that figure."""
    from scipy.special import gammainc

    a, b = np.nonzero(np.triu(shared >= LEAST, 1))
    tests = len(shared) * (len(shared) - 1) / 2
    tail = gammainc(shared[a, b], np.maximum(expected[a, b], 1e-12)) * tests
    chosen = np.flatnonzero(tail < SIGNIFICANT)
    return [(int(a[n]), int(b[n]), float(tail[n])) for n in chosen.tolist()]


def _pair(
    belief: SlotBelief,
    two: IntArray,
    claims: IntArray,
    figures: tuple[float, float, float, float],
) -> Copying:
    names = belief.read.said.sources
    first, second = sorted(two.tolist(), key=lambda n: (-claims[n], names[n]))
    common, shared, expected, significance = figures
    return Copying(
        belief.name,
        names[first],
        names[second],
        int(common),
        int(shared),
        float(expected),
        significance,
    )


def discounted(claims: Claims, copies: Sequence[Copying]) -> Claims:
    """Claims of a copier that repeat its original's, believed only as far as chance explains."""
    confidence = claims.confidence.copy()
    names = {name: n for n, name in enumerate(claims.sources)}
    slots = {name: n for n, name in enumerate(claims.slots)}
    key = (claims.object * len(claims.slots) + claims.slot) * len(claims.values) + claims.value
    for one in copies:
        mine = np.flatnonzero(
            (claims.source == names[one.copier]) & (claims.slot == slots[one.slot])
        )
        theirs = key[claims.source == names[one.original]]
        repeated = mine[np.isin(key[mine], theirs)]
        confidence[repeated] = np.minimum(confidence[repeated], 1.0 - one.share)
    return replace(claims, confidence=confidence)

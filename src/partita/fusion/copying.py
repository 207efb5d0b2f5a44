"""Find sources that copy from others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from partita.core import FloatArray
from partita.fusion.belief import SlotBelief
from partita.fusion.claims import TRUTHS, Claims
from partita.fusion.dependence import ALWAYS, agreeing_pairs, count_common

Copied = tuple[str, str, str]  # a slot, the original and the copier
WRONG_BELOW = 0.5  # a less probable claim counts as wrong
MIN_SHARED = 3  # shared wrong values
SIGNIFICANCE = 1e-3
COPIED = 0.5  # of the shared wrong values that chance does not explain
MAX_SOURCES = 2000  # sources compared: those with most wrong claims


@dataclass(frozen=True, slots=True)
class Copying:
    """Two sources that share more wrong values than chance explains.

    The original is the source with more claims. `common` counts their common objects, `shared`
    their shared wrong values, `expected` how many chance would give; `dependence` is the share of
    objects about which both are wrong that they agree on, beyond the usual share.
    """

    slot: str
    original: str
    copier: str
    common: int
    shared: int
    expected: float
    significance: float
    dependence: float = 1.0

    @property
    def pair(self) -> Copied:
        return self.slot, self.original, self.copier

    @property
    def share(self) -> float:
        """Return the share of the common wrong values that chance does not explain."""
        return max(0.0, 1.0 - self.expected / self.shared)


def find_copying(belief: SlotBelief) -> list[Copying]:
    """Return the pairs of sources of a slot with apparent copying, the most significant first."""
    statements = belief.parsed.statements
    wrong = belief.sound < WRONG_BELOW
    claims = np.bincount(statements.source, minlength=len(statements.sources))
    wrong_claims = np.bincount(statements.source[wrong], minlength=len(claims))
    chosen = np.argsort(-wrong_claims, kind="stable")[:MAX_SOURCES]
    chosen = chosen[wrong_claims[chosen] >= MIN_SHARED]
    if len(chosen) < 2:
        return []
    stated = statements.object * len(statements.values) + statements.value
    sources = np.full(len(claims), -1)
    sources[chosen] = np.arange(len(chosen))
    source = sources[statements.source]
    compared, wrong = source >= 0, wrong & (source >= 0)
    shared = count_common(source[wrong], stated[wrong], len(chosen))
    both_wrong = count_common(source[wrong], statements.object[wrong], len(chosen))
    common = count_common(source[compared], statements.object[compared], len(chosen))
    np.fill_diagonal(both_wrong, 0.0)
    np.fill_diagonal(shared, 0.0)
    rate = wrong_claims[chosen] / claims[chosen]
    chance = shared.sum() / max(both_wrong.sum(), 1.0)
    expected = common * np.outer(rate, rate) * chance
    agree = shared / np.maximum(both_wrong, 1.0)
    dependence = np.clip((agree - chance) / max(1.0 - chance, 1e-9), 0.0, 1.0)
    names, copies = statements.sources, []
    for a, b, p in _unusual_pairs(shared, expected):
        first, second = sorted(chosen[[a, b]].tolist(), key=lambda n: (-claims[n], names[n]))
        counts = int(common[a, b]), int(shared[a, b]), float(expected[a, b])
        pair = belief.name, names[first], names[second]
        copies.append(Copying(*pair, *counts, p, float(dependence[a, b])))
    return sorted(copies, key=lambda one: (one.significance, -one.shared, one.original, one.copier))


def _unusual_pairs(shared: FloatArray, expected: FloatArray) -> list[tuple[int, int, float]]:
    """Return pairs whose agreement is significant, with the corrected significance."""
    from scipy.special import gammainc

    a, b = np.nonzero(np.triu(shared >= MIN_SHARED, 1))
    tests = len(shared) * (len(shared) - 1) / 2
    tail = gammainc(shared[a, b], np.maximum(expected[a, b], 1e-12)) * tests
    chosen = np.flatnonzero(tail < SIGNIFICANCE)
    return [(int(a[n]), int(b[n]), float(tail[n])) for n in chosen.tolist()]


def find_twins(belief: SlotBelief) -> list[Copied]:
    """Return pairs of sources that nearly always agree, though they agree with others less.

    This does not depend on what is believed.
    """
    statements = belief.parsed.statements
    claims = dict(zip(statements.sources, np.bincount(statements.source).tolist(), strict=True))
    twins = []
    for pair, rho in agreeing_pairs(statements, TRUTHS).items():
        if rho >= ALWAYS:
            original, copier = sorted(pair, key=lambda name: (-claims[name], name))
            twins.append((belief.name, original, copier))
    return twins


def without_copies(claims: Claims, copies: Iterable[Copied]) -> Claims:
    """Leave out the claims that a copier shares with its original."""
    names, slots = (
        {name: n for n, name in enumerate(listed)} for listed in (claims.sources, claims.slots)
    )
    key = (claims.object * len(claims.slots) + claims.slot) * len(claims.values) + claims.value
    copied = np.zeros(len(claims), dtype=np.bool_)
    for slot, original, copier in copies:
        stated = key[claims.source == names[original]]
        own = (claims.source == names[copier]) & (claims.slot == slots[slot])
        copied |= own & np.isin(key, stated)
    return claims.only(~copied)

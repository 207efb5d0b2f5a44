"""Which sets to key, one after another: the most bits saved beside what the others have told."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from partita.learning.choosing import Told, held, holding, saved, spread_of, total
from partita.records import FloatArray

AFRESH = 10  # choices that count what those before them told; those after them are made together
SHORTLIST = 40  # sets, the best at first, among which these choices are made
SITTING = 10  # templates that are placed at one go; a longer set is worth what ten of it are
LEAST = 1e-12  # bits: a set that saves less saves nothing


def choose(
    sets: Sequence[Told], keyed: Collection[int], precision: float, limit: int
) -> list[tuple[int, float]]:
    """Places of at most `limit` sets without a key, each with what it is expected to save: bits of
    the keys of all sets; of a set of more than ten templates for each ten of them."""
    if not sets:
        return []
    target = total(sets, features := sets[0].rows.shape[1])
    inverse = holding((sets[n] for n in keyed), features, precision)
    left = [n for n in range(len(sets)) if n not in keyed]
    found: list[tuple[int, float]] = []
    ranked = _ranked(inverse, sets, left, target)
    while ranked and len(found) < min(limit, AFRESH):
        found.append(ranked[0])
        inverse = held(inverse, sets[ranked[0][0]])
        near = [place for place, _ in ranked[1 : SHORTLIST + 1]]
        ranked = _ranked(inverse, sets, near, target) + ranked[SHORTLIST + 1 :]
    return found + sorted(ranked, key=_by_gain)[: max(0, limit - len(found))]


def _ranked(
    inverse: FloatArray, sets: Sequence[Told], among: Sequence[int], target: FloatArray
) -> list[tuple[int, float]]:
    """The sets that save something, those that save most first; equal ones in text order."""
    spread = spread_of(inverse, target)
    worth = [(n, saved(inverse, sets[n], spread) / _sittings(sets[n])) for n in among]
    return sorted((one for one in worth if one[1] > LEAST), key=_by_gain)


def _sittings(one: Told) -> float:
    return max(1.0, one.templates / SITTING)


def _by_gain(one: tuple[int, float]) -> tuple[float, int]:
    return -one[1], one[0]

"""Judgements on pairs of which each side has at most one match: rivals weaken each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partita.errors import InputError
from partita.fusion.belief import SlotBelief
from partita.fusion.matching import matched
from partita.records import IntArray

SAME = frozenset(("1", "SAME", "YES", "TRUE", "MATCH"))


def one_to_one(belief: SlotBelief, separator: str) -> SlotBelief:
    """The probabilities of "same" given all the others; objects are LEFT, separator, RIGHT."""
    same = _same(belief)
    left, right = _sides(belief, separator)
    is_same = belief.value == same
    given = np.zeros(len(left))
    given[belief.object[is_same]] = belief.probability[is_same]
    found = matched(left, right, given)
    now = found.probability[belief.object]
    probability = np.where(is_same, now, 1.0 - now)
    order = np.lexsort((belief.value, -probability, belief.object))
    told = f"{found.exact:,} pairs matched exactly"
    if found.approximate:
        told += f", {found.approximate:,} by belief propagation, which is approximate"
    return replace(belief, value=belief.value[order], probability=probability[order], method=told)


def _same(belief: SlotBelief) -> int:
    values = list(belief.read.said.values)
    found = [n for n, value in enumerate(values) if value in SAME]
    if belief.read.kind != "closed" or len(values) != 2 or len(found) != 1:
        said = ", ".join(values[:5])
        raise InputError(f"one to one needs judgements same (1, yes) or different, not {said}")
    return found[0]


def _sides(belief: SlotBelief, separator: str) -> tuple[IntArray, IntArray]:
    """Both sides of every object as numbers."""
    parts = [name.split(separator) for name in belief.read.said.objects]
    for name, part in zip(belief.read.said.objects, parts, strict=True):
        if len(part) != 2 or not all(part):
            raise InputError(f"object {name!r} is not a pair LEFT{separator}RIGHT")
    left, right = (np.unique([p[n] for p in parts], return_inverse=True)[1] for n in (0, 1))
    return left.reshape(-1), right.reshape(-1)

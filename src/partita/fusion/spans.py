"""Ragged ranges without a loop."""

from __future__ import annotations

import numpy as np

from partita.records import IntArray


def ranges(starts: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """For every n the numbers starts[n] … starts[n] + counts[n] − 1, and n beside each."""
    owner = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) - before[owner] + starts[owner]


def grouped(
    owner: IntArray, member: IntArray, wanted: IntArray, owners: int
) -> tuple[IntArray, IntArray]:
    """The members of every wanted owner, with the place of the wanted one beside each."""
    by_owner = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=owners)
    starts = np.cumsum(counts) - counts
    place, at = ranges(starts[wanted], counts[wanted])
    return place, member[by_owner][at]

"""What is known a priori to differ: different sorts, genders, counts, and a part and its whole.

Knowledge is sometimes wrong: `coverage` of the experiment says how much of the truth it leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partita.records import IntArray, Template
from partita.reference.kinds import NIL, PRONOUN, BoolArray, Kinds, kinds


def compatible(templates: Sequence[Template]) -> BoolArray:
    """For every two templates, which are in text order, whether they may corefer."""
    known = kinds(templates)
    clash = _differ(known.sort) | _differ(known.gender) | _differ(known.counted)
    allowed: BoolArray = ~(clash | _within(known))
    np.fill_diagonal(allowed, True)
    return allowed


def _differ(values: IntArray) -> BoolArray:
    """Both are known and not the same."""
    known = values != NIL
    differ: BoolArray = (values[:, None] != values[None, :]) & known[:, None] & known[None, :]
    return differ


def _within(known: Kinds) -> BoolArray:
    """A part that begins its whole (her in "her mother"), or that lies deeper than one level.

    What follows directly inside may say what the whole is: "a body calling itself Congress", and
    a pronoun at any depth may refer to the whole: "a man who lost his hat".
    """
    start, end, length = known.start, known.end, known.end - known.start
    longer = length[:, None] > length[None, :]
    inside = (start[:, None] <= start[None, :]) & (end[:, None] >= end[None, :]) & longer
    begins = inside & (start[:, None] == start[None, :])
    shortest = np.min(
        np.broadcast_to(length[:, None], inside.shape),
        axis=0,
        where=inside,
        initial=np.iinfo(np.int64).max,
    )
    deeper = inside & (length[:, None] > shortest[None, :]) & (known.form != PRONOUN)[None, :]
    part: BoolArray = begins | deeper
    return part | part.T

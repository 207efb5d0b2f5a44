"""Antecedents of definite expressions after Kameyama (1997): collect, filter, order, record.

Nothing is merged: every anaphor gets the ordered list of what it may refer back to. The first is
preferred, and preferred reference is transitive: see `preferred_chain`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from partita.records import Antecedent, IntArray, Template
from partita.reference.filters import admitted
from partita.reference.kinds import DEFINITE, NAME, PRONOUN, BoolArray, Kinds, kinds
from partita.templates.sorts import Hierarchy

EVERYTHING = 1 << 40
WINDOWS = {NAME: EVERYTHING, DEFINITE: 10, PRONOUN: 3}  # sentences before the anaphor's own


def with_antecedents(
    templates: Sequence[Template],
    *,
    sorts: Hierarchy | None = None,
    compatible: BoolArray | None = None,
) -> tuple[Template, ...]:
    """The templates, which are in text order, each with the antecedents that it may have.

    `compatible` rules out what is known a priori to differ.
    """
    known = kinds(templates, sorts)
    return tuple(
        replace(template, antecedents=_recorded(templates, _ordered(known, place, compatible)))
        for place, template in enumerate(templates)
    )


def preferred_chain(templates: Sequence[Template]) -> dict[str, tuple[str, ...]]:
    """For each template the chain of preferred referents that leads away from it, nearest first."""
    first = {
        template.id: next((one.id for one in template.antecedents if one.preferred), "")
        for template in templates
    }
    return {name: _chain(name, first) for name in first}


def _chain(name: str, first: dict[str, str]) -> tuple[str, ...]:
    """A heading may refer to what follows it, so a chain can come back to where it began."""
    chain: dict[str, None] = {}
    here = first[name]
    while here in first and here not in chain and here != name:
        chain[here] = None
        here = first[here]
    return tuple(chain)


def _recorded(templates: Sequence[Template], order: IntArray) -> tuple[Antecedent, ...]:
    return tuple(
        Antecedent(templates[n].id, preferred=k == 0) for k, n in enumerate(order.tolist())
    )


def _ordered(known: Kinds, anaphor: int, compatible: BoolArray | None) -> IntArray:
    if int(known.form[anaphor]) not in WINDOWS:
        return np.empty(0, dtype=np.int64)
    found = admitted(known, anaphor, _collected(known, anaphor, compatible))
    return _in_order(known, anaphor, _in_window(known, anaphor, found))


def _collected(known: Kinds, anaphor: int, compatible: BoolArray | None) -> IntArray:
    """What precedes and does not contain the anaphor; what heads the text sees all of it."""
    start, end = known.start[anaphor], known.end[anaphor]
    seen = (known.end <= start) | (known.start >= end)
    if not known.overhead[anaphor]:
        seen[anaphor:] = False
    if compatible is not None:
        seen = seen & compatible[anaphor]
    seen[anaphor] = False
    return np.flatnonzero(seen)


def _in_window(known: Kinds, anaphor: int, found: IntArray) -> IntArray:
    """Candidates not too many sentences back; where there is none, the nearest beyond."""
    reach = 0 if known.reflexive[anaphor] else WINDOWS[int(known.form[anaphor])]
    if known.overhead[anaphor] and reach:
        return found
    back = known.sentence[anaphor] - known.sentence[found]
    near = found[back <= reach]
    return near if len(near) else found[-1:]


def _in_order(known: Kinds, anaphor: int, found: IntArray) -> IntArray:
    """The same and the previous sentence left to right, earlier ones right to left, then later."""
    before, later = found[found < anaphor], found[found > anaphor]
    back = known.sentence[anaphor] - known.sentence[before]
    same, previous, earlier = before[back < 1], before[back == 1], before[back > 1]
    return np.concatenate((same, previous, earlier[::-1], later))

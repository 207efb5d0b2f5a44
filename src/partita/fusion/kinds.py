"""The kinds of slots, and how to guess them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from partita.core import IntArray
from partita.errors import InputError
from partita.fusion.claims import Claims, distinct
from partita.fusion.hierarchy import Nesting
from partita.fusion.people import NameLexicon
from partita.templates.slots import SlotType, StateGroup, symbol

Kind = Literal["closed", "open", "number", "date", "several", "people", "state", "typed"]
TYPED: Kind = "typed"  # by a slot type of a domain; not for users
STATE: Kind = "state"  # exclusive values that change in time
KINDS: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != TYPED)
SETS = ("several", "people")
MAX_CLOSED = 12  # distinct values of a closed slot
MIN_OBJECTS_PER_VALUE = 5  # in a closed slot


@dataclass(frozen=True, slots=True)
class Reading:
    """How values are parsed.

    `tolerance` is relative for numbers and in days for dates; `types` are those of a domain's
    slots, `states` the exclusive groups of values. With `most_detailed`, the first value is the
    most detailed one of the hierarchy within which the truth likely lies.
    """

    tolerance: float = 0.0
    nesting: Nesting | None = None
    types: Mapping[str, SlotType[Any]] = field(default_factory=dict, compare=False)
    lexicon: NameLexicon | None = field(default=None, compare=False)
    most_detailed: bool = False
    states: Mapping[str, tuple[StateGroup, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < float("inf"):
            raise InputError(f"tolerance {self.tolerance} is not a non-negative number")

    def orders(self, values: Iterable[str]) -> bool:
        """Return whether the hierarchy lists some of these values."""
        nesting = self.nesting
        return nesting is not None and any(symbol(value) in nesting for value in values)


_PLAIN_NUMBER = re.compile(
    r"[+-]?(?:0|[1-9][0-9]{0,14}|[1-9][0-9]{0,2}(?:,[0-9]{3})+)(?:\.[0-9]+)?"
)
_NUMBER_LIKE = re.compile(r"[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?")
MISSING = frozenset(("-", "?", "N/A", "NA", "NONE", "NULL", "NAN", "UNKNOWN", "NOT AVAILABLE"))
_DAY = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")


MAX_DAMAGED = 0.1  # of the claims; more values that cannot be read are no accident
MAX_CONFIRMED = 0.25  # of them; damage is rarely confirmed by another source


def likely_kind(claims: Claims, nested: bool) -> Kind:
    """Return "closed" if few values recur over many objects without an order.

    If not, return "number" or "date" if all values are numbers or days but for a few damaged ones,
    else "open".
    """
    numbers, objects = distinct(claims.value).tolist(), len(distinct(claims.object))
    if nested:
        return "open"
    if len(numbers) <= MAX_CLOSED and objects >= MIN_OBJECTS_PER_VALUE * len(numbers):
        return "closed"
    for kind, form in (("number", _PLAIN_NUMBER), ("date", _DAY)):
        other = np.array([n for n in numbers if not form.fullmatch(claims.values[n].strip())])
        if not len(other) or _are_damaged(claims, other):
            return checked_kind(kind)
    return "open"


def _are_damaged(claims: Claims, values: IntArray) -> bool:
    """Return whether values that do not have the form of the others seem to be damaged ones.

    They are few, contain something that is in no number (0123 is a code), and two sources
    hardly ever state the same one of an object.
    """
    chosen = np.isin(claims.value, values)
    if chosen.mean() > MAX_DAMAGED:
        return False
    if any(_NUMBER_LIKE.fullmatch(claims.values[n].strip()) for n in values.tolist()):
        return False
    rows = np.stack([claims.object, claims.value, claims.source])[:, chosen]
    pairs, sources = np.unique(np.unique(rows, axis=1)[:2], axis=1, return_counts=True)
    stated = [symbol(claims.values[n]) not in MISSING for n in pairs[1].tolist()]
    return bool((sources[stated] > 1).sum() <= MAX_CONFIRMED * len(sources))


def checked_kind(name: str) -> Kind:
    """Return the kind with this name; an unknown one is an error."""
    for kind in KINDS:
        if name == kind:
            return kind
    raise InputError(f"unknown kind {name!r}; expected one of {', '.join(KINDS)}")

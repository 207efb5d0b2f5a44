"""The kinds of slots, and how to guess them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from partita.errors import InputError
from partita.fusion.claims import Claims
from partita.fusion.hierarchy import Nesting
from partita.fusion.people import NameLexicon
from partita.templates.slots import SlotType, symbol

Kind = Literal["closed", "open", "number", "date", "several", "people", "typed"]
TYPED: Kind = "typed"  # by a slot type of a domain; not for users
KINDS: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != TYPED)
SETS = ("several", "people")
MAX_CLOSED = 12  # distinct values of a closed slot
MIN_OBJECTS_PER_VALUE = 5  # in a closed slot


@dataclass(frozen=True, slots=True)
class Reading:
    """How values are parsed.

    `tolerance` is relative for numbers and in days for dates; `types` are those of a domain's
    slots.
    """

    tolerance: float = 0.0
    nesting: Nesting | None = None
    types: Mapping[str, SlotType[Any]] = field(default_factory=dict, compare=False)
    lexicon: NameLexicon | None = field(default=None, compare=False)

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
_DAY = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")


def likely_kind(claims: Claims, nested: bool) -> Kind:
    """Return "closed" if few values recur over many objects without an order.

    If not, return "number" or "date" if all values are numbers or days, else "open".
    """
    numbers, objects = np.unique(claims.value).tolist(), len(np.unique(claims.object))
    if nested:
        return "open"
    if len(numbers) <= MAX_CLOSED and objects >= MIN_OBJECTS_PER_VALUE * len(numbers):
        return "closed"
    for kind, form in (("number", _PLAIN_NUMBER), ("date", _DAY)):
        if all(form.fullmatch(claims.values[n].strip()) for n in numbers):
            return checked_kind(kind)
    return "open"


def checked_kind(name: str) -> Kind:
    """Return the kind with this name; an unknown one is an error."""
    for kind in KINDS:
        if name == kind:
            return kind
    raise InputError(f"unknown kind {name!r}; expected one of {', '.join(KINDS)}")

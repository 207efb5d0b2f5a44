"""The kinds of slots, and how to guess the kind of a slot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from partita.errors import InputError
from partita.fusion.claims import Claims
from partita.fusion.hierarchy import Nesting
from partita.fusion.people import Lexicon
from partita.templates.slots import SlotType
from partita.templates.words import symbol

Kind = Literal["closed", "open", "number", "date", "several", "people", "typed"]
TYPED: Kind = "typed"  # by a slot type of a domain, which nobody has to name
KINDS: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != TYPED)
SETS = ("several", "people")
FEW = 12  # different values: a slot with more is open
OFTEN = 5  # objects for each value of a closed slot


@dataclass(frozen=True, slots=True)
class Reading:
    """How values are read: numbers as the same within a share, dates within days, a hierarchy;
    `types` are those of a domain's slots, by name."""

    tolerance: float = 0.0
    nesting: Nesting | None = None
    types: Mapping[str, SlotType[Any]] = field(default_factory=dict, compare=False)
    lexicon: Lexicon | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < float("inf"):
            raise InputError(f"tolerance {self.tolerance} is not a non-negative number")

    def orders(self, values: Iterable[str]) -> bool:
        """The hierarchy lists some of these values: it is about this slot."""
        nesting = self.nesting
        return nesting is not None and any(symbol(value) in nesting for value in values)


def likely_kind(claims: Claims, nested: bool) -> Kind:
    """Closed if few values recur over many objects and nothing orders them, else open."""
    values, objects = len(np.unique(claims.value)), len(np.unique(claims.object))
    return "closed" if not nested and values <= FEW and objects >= OFTEN * values else "open"


def checked_kind(name: str) -> Kind:
    """The kind of that name."""
    for kind in KINDS:
        if name == kind:
            return kind
    raise InputError(f"unknown kind {name!r}; expected one of {', '.join(KINDS)}")

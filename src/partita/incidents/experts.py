"""All models of the incidents, learned together."""

from __future__ import annotations

from dataclasses import dataclass

from partita.incidents.details import Judges
from partita.incidents.models import Choice
from partita.incidents.readings import Readers
from partita.learning.pair_parameters import PairParameters


@dataclass(frozen=True, slots=True, eq=False)
class Screeners:
    """The models that accept drafts and entities and choose days and places."""

    drafts: Choice
    entities: Choice
    days: Choice
    places: Choice


@dataclass(frozen=True, slots=True, eq=False)
class Experts:
    """Who reads, who says which events are one, who screens, who chooses from the lists."""

    readers: Readers
    pairs: PairParameters
    screeners: Screeners
    judges: Judges
    learned_from: str = ""

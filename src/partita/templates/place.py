"""The slot type of places: where something is, by containment, a ⊓ b = the innermost of a ∪ b.

Places of the gazetteer exclude each other as sorts do. A place that it does not list may lie in
any place that contains others, and is no other place: KINSTON may be in NORTH CAROLINA, not in
FAIRVIEW.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from partita.errors import InputError
from partita.templates.slots import Json, coherent, plain
from partita.templates.sorts import Hierarchy
from partita.templates.words import Aliases, texts


@dataclass(frozen=True, slots=True)
class Place:
    names: frozenset[str]

    def json(self) -> Json:
        return plain(self.names)

    def __str__(self) -> str:
        return " & ".join(sorted(self.names))


@dataclass(frozen=True, slots=True)
class PlaceType:
    """Places; the gazetteer is a hierarchy in which a place stands under what contains it."""

    gazetteer: Hierarchy = field(default_factory=Hierarchy)
    aliases: Aliases = field(default_factory=Aliases)

    @property
    def expects(self) -> str:
        return "a place or a list of places that contain each other"

    def read(self, given: object) -> Place:
        names = given.names if isinstance(given, Place) else texts(given, self.expects)
        places = frozenset(map(self.aliases.canonical, names))
        if coherent(places, places, self._compatible) is None:
            raise InputError(f"{sorted(places)!r} is not {self.expects}")
        return Place(self._innermost(places))

    def unify(self, left: Place, right: Place) -> Place | None:
        names = coherent(left.names, right.names, self._compatible)
        return None if names is None else Place(self._innermost(names))

    def _compatible(self, left: str, right: str) -> bool:
        listed = [name for name in (left, right) if name in self.gazetteer]
        if left == right or len(listed) == 2:
            return left == right or self.gazetteer.compatible(left, right)
        return bool(listed) and len(self.gazetteer.below[listed[0]]) > 1

    def _innermost(self, names: frozenset[str]) -> frozenset[str]:
        above = (self.gazetteer.above.get(name, frozenset()) - {name} for name in names)
        return names.difference(*above)

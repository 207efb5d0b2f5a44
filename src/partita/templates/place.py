"""Slot type: places, ordered by containment, a ⊓ b = the innermost of a ∪ b.

Places of the gazetteer exclude each other as types do. An unlisted place may lie in any place that
contains others, but is not one of the listed places: KINSTON may be in NORTH CAROLINA, not in
FAIRVIEW.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from partita.errors import InputError
from partita.templates.entity_types import Hierarchy
from partita.templates.slots import Json, compatible_union, plain_texts
from partita.templates.words import Aliases, text_list


@dataclass(frozen=True, slots=True)
class NamedPlace:
    names: frozenset[str]

    def json(self) -> Json:
        return plain_texts(self.names)

    def __str__(self) -> str:
        return " & ".join(sorted(self.names))


@dataclass(frozen=True, slots=True)
class PlaceType:
    """Places; in the gazetteer a place is below those that contain it."""

    gazetteer: Hierarchy = field(default_factory=Hierarchy)
    aliases: Aliases = field(default_factory=Aliases)

    @property
    def expects(self) -> str:
        return "a place or a list of places that contain each other"

    def read(self, value: object) -> NamedPlace:
        names = value.names if isinstance(value, NamedPlace) else text_list(value, self.expects)
        places = frozenset(map(self.aliases.canonical, names))
        if compatible_union(places, places, self._compatible) is None:
            raise InputError(f"{sorted(places)!r} is not {self.expects}")
        return NamedPlace(self._innermost(places))

    def unify(self, left: NamedPlace, right: NamedPlace) -> NamedPlace | None:
        names = compatible_union(left.names, right.names, self._compatible)
        return None if names is None else NamedPlace(self._innermost(names))

    def _compatible(self, left: str, right: str) -> bool:
        listed = [name for name in (left, right) if name in self.gazetteer]
        if left == right or len(listed) == 2:
            return left == right or self.gazetteer.compatible(left, right)
        return bool(listed) and len(self.gazetteer.below[listed[0]]) > 1

    def _innermost(self, names: frozenset[str]) -> frozenset[str]:
        above = (self.gazetteer.above.get(name, frozenset()) - {name} for name in names)
        return names.difference(*above)

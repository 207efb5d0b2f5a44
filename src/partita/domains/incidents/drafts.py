"""Incidents before their slots are filled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from partita.domains.incidents.readings import Event, RolePart


@dataclass(frozen=True, eq=False)
class Draft:
    """The events of one incident, in text order."""

    events: tuple[Event, ...]

    @cached_property
    def type(self) -> str:
        """The type that the events make most likely together."""
        names = self.events[0].types
        return max(names, key=lambda name: sum(event.types[name] for event in self.events))

    @cached_property
    def parts(self) -> tuple[RolePart, ...]:
        return tuple(part for event in self.events for part in event.parts)

    @cached_property
    def sentences(self) -> tuple[int, ...]:
        return tuple(event.sentence for event in self.events)

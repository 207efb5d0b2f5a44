"""Entities: the merged values of a cell's templates, with probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from warnings import warn

from partita.core.configurations import Figure, Interval
from partita.core.templates import Status

Plain = str | int | list[str]


class WithFigure:
    """The base of what has a probability as a figure: its bounds and its error."""

    __slots__ = ()
    figure: Figure

    @property
    def interval(self) -> Interval | None:
        """Bounds on the probability, where the method gives any."""
        return self.figure.bounds if self.figure.kind == "interval" else None

    @property
    def error(self) -> float | None:
        """The standard error of the probability, where it was sampled."""
        return self.figure.error


@dataclass(frozen=True, slots=True)
class SlotValue(WithFigure):
    """A value that a slot may have, in its plain form; None: nobody says anything about it.

    `templates` are those of the set that say it, or something more general. `status` is that of
    its least certain part; what is denied is no value.
    """

    value: Plain | None
    figure: Figure
    templates: tuple[str, ...] = ()
    status: Status = "asserted"

    @property
    def probability(self) -> float:
        """The probability that the slot has this value."""
        return self.figure.value


@dataclass(frozen=True, slots=True)
class Denial:
    """Values that an entity does not have, all of them together, by what some templates say."""

    slots: Mapping[str, Plain]
    templates: tuple[str, ...]
    cue: str = ""


@dataclass(frozen=True, slots=True)
class Entity(WithFigure):
    """A cell of the grouping that is shown, and what is known of the thing it stands for.

    `probability` is that of exactly this cell. The values of `slots` are those of the thing that
    the template `anchor` speaks of, whatever else speaks of it; of each slot they add up to 1.
    """

    id: str
    type: str
    templates: tuple[str, ...]
    anchor: str
    figure: Figure
    slots: Mapping[str, tuple[SlotValue, ...]]
    name: str = ""
    descriptions: tuple[str, ...] = ()
    denied: tuple[Denial, ...] = ()

    @property
    def probability(self) -> float:
        """The probability that exactly these templates refer to one entity."""
        return self.figure.value

    @property
    def sort(self) -> str:
        """The type, by its former name."""
        warn("Entity.sort is now Entity.type", DeprecationWarning, stacklevel=2)
        return self.type

"""What the domain phase says: contributions of rules to the template of a phrase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from partita.errors import InputError
from partita.extraction.building import Finder, Maker, Scene, finder, maker, one_value, together
from partita.extraction.compiling import Expression
from partita.extraction.domain import Contributing, Rule
from partita.extraction.phrases import Phrase
from partita.templates.schema import Schema


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """Slots that a rule's match fills in the template of the phrase `about`.

    `first` and `last` are the tokens of the match, `size` the phrases that it covers; where two
    fill the same slot, the larger one counts, then the higher `priority`, then the lower `order`.
    """

    about: Phrase
    slots: Mapping[str, Any]
    sort: tuple[str, ...]
    rule: str
    first: int
    last: int
    size: int
    priority: int = 0
    order: int = 0

    @property
    def rank(self) -> tuple[int, int, int]:
        """The smallest of several goes first."""
        return -self.size, -self.priority, self.order


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """A value that the slot's type does not take."""

    contribution: Contribution
    slot: str
    value: Any
    reason: str


@dataclass(slots=True)
class Contributor:
    """A rule's `template`, made ready."""

    rule: str
    about: Finder
    slots: list[tuple[str, Maker]]
    sort: Maker | None
    says: list[Maker]
    priority: int = 0
    order: int = 0

    @classmethod
    def of(cls, rule: Rule, given: Contributing, order: int, found: Expression) -> Contributor:
        return cls(
            rule.name,
            finder(found, given.about),
            [(slot, maker(value, found)) for slot, value in given.slots.items()],
            maker(given.sort, found) if given.sort is not None else None,
            [maker(value, found) for value in given.says],
            rule.priority,
            order,
        )

    def contribution(self, scene: Scene) -> Contribution | None:
        """What this match says; nothing, if the phrase that it is about was left out."""
        about = self.about(scene)
        if about is None:
            return None
        n, (start, end) = about[1] - 1, scene.spans[0]
        slots: dict[str, Any] = {}
        for make in self.says:
            slots.update(together(make(scene)))
        for slot, make in self.slots:
            value = make(scene)
            if value is not None:
                slots[slot] = value
        sort = self.sort(scene) if self.sort else None
        phrase = scene.phrase(n)
        first, last = scene.firsts[start], scene.firsts[end] - 1
        sorts = one_value("sort", sort) if sort is not None else ()
        return Contribution(
            phrase, slots, sorts, self.rule, first, last, end - start, self.priority, self.order
        )


def fitting(schema: Schema, slot: str, value: Any) -> tuple[Any, str]:
    """The value as far as the slot's type takes it, and why not all of it."""
    if slot not in schema.slots:
        return None, f"there is no slot {slot}"
    if value == "":  # a rule says that there is nothing
        return None, ""
    read = schema.slots[slot].read
    try:
        return read(list(value) if isinstance(value, tuple) else value).json(), ""
    except InputError as error:
        reason = error.problem
    if not isinstance(value, tuple):
        return None, reason
    kept = [one for one in value if _takes(schema, slot, one)]
    if not kept:
        return None, reason
    fits, _ = fitting(schema, slot, tuple(kept)) if len(kept) < len(value) else (None, reason)
    return fits, reason


def _takes(schema: Schema, slot: str, value: Any) -> bool:
    try:
        schema.slots[slot].read(value)
    except InputError:
        return False
    return True

"""What a template of the exam speaks of: the incident as a whole, and the things in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from partita.evaluation.muc.strings import judge
from partita.evaluation.muc.templates import SLOTS, Fill, Incident

WHOLE = (2, 3, 4, 5, 8, 17, 24)  # slots of the incident itself


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of thing: the slots of its strings, then the slots that say more of it.

    `nameless` if the text need not name it: whoever was shot was shot with a gun.
    """

    name: str
    strings: tuple[int, ...]
    more: tuple[int, ...] = ()
    nameless: bool = False


ROLES = (
    Role("instrument", (6,), (7,), nameless=True),
    Role("individual", (9,)),
    Role("organisation", (10,), (11,)),
    Role("target", (12,), (13, 14, 15, 16)),
    Role("victim", (18, 19), (20, 21, 22, 23)),
)


@dataclass(slots=True)
class Thing:
    """A thing of a template: its fill by slot; of a slot that is filled twice, the first."""

    role: Role
    fills: dict[int, str] = field(default_factory=dict)

    @property
    def strings(self) -> tuple[str, ...]:
        return tuple(self.fills[slot] for slot in self.role.strings if slot in self.fills)


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A template of a system."""

    source: str
    incident: Incident
    whole: Mapping[int, str]
    things: Mapping[str, tuple[Thing, ...]]


def report(source: str, incident: Incident) -> Report:
    whole = {slot: told[0].values[0] for slot in WHOLE if (told := _valid(incident, slot))}
    things = {role.name: tuple(_things(incident, role)) for role in ROLES}
    return Report(source, incident, whole, things)


def with_more(first: Report, second: Report) -> Report:
    """What a system says of an incident in two templates: the first's word, the things of both."""
    things = {
        role: (*mine, *(one for one in second.things[role] if not any(alike(one, o) for o in mine)))
        for role, mine in first.things.items()
    }
    return replace(first, whole={**second.whole, **first.whole}, things=things)


def _valid(incident: Incident, slot: int) -> list[Fill]:
    """The fills of a slot that are among its choices, if it has a list of them."""
    choices = SLOTS[slot].choices
    return [fill for fill in incident.of(slot) if not choices or fill.values[0] in choices]


def _things(incident: Incident, role: Role) -> list[Thing]:
    """Each string is a thing, unless its tag says that it describes one that is there."""
    found: list[Thing] = []
    for slot, value, tags in _fills(incident, role):
        open_to = [thing for thing in found if slot not in thing.fills]
        meant = max(open_to, key=lambda thing: _meant(thing, tags), default=None)
        if meant is not None and _meant(meant, tags):
            meant.fills[slot] = value
        elif slot in role.strings or (role.nameless and not tags):
            found.append(Thing(role, {slot: value}))
    return found


def _fills(incident: Incident, role: Role) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    for slot in (*role.strings, *role.more):
        for fill in _valid(incident, slot):
            yield slot, fill.values[0], fill.tags


def _meant(thing: Thing, tags: tuple[str, ...]) -> float:
    """How well a tag is one of the thing's strings; no tag means a thing without any."""
    if not tags:
        return float(not thing.strings)
    return max((judge(tag, text) for tag in tags for text in thing.strings), default=0.0)


def alike(left: Thing, right: Thing) -> float:
    """How far two things agree, from 0 to 1: by their names, if both have one, else by any string;
    without strings, by what is said of both."""
    name = left.role.strings[0]
    if name in left.fills and name in right.fills:
        return _agree((left.fills[name],), (right.fills[name],))
    if left.strings or right.strings:
        return _agree(left.strings, right.strings)
    both = [left.fills[slot] == right.fills[slot] for slot in left.fills if slot in right.fills]
    return sum(both) / len(both) if both else 0.0


def _agree(left: Sequence[str], right: Sequence[str]) -> float:
    return max((max(judge(a, b), judge(b, a)) for a in left for b in right), default=0.0)

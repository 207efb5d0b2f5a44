"""A response beside the key, message by message: the rows of the exam's report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from partita.evaluation.muc.mapping import mapped
from partita.evaluation.muc.slots import count
from partita.evaluation.muc.tally import Tally
from partita.evaluation.muc.templates import GROUPS, SCORED, SLOTS, Incident

TEMPLATE = SLOTS[1].name
Tallies = Mapping[str, Tally]
EMPTY = Tally()


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """Tallies by slot for each message: of mapped templates, missing ones and spurious ones."""

    messages: Mapping[str, Tallies]
    matched: Tallies
    missing: Tallies
    spurious: Tallies

    @property
    def slots(self) -> dict[str, Tally]:
        """Every slot over all templates."""
        parts = (self.matched, self.missing, self.spurious)
        return {s.name: sum((p.get(s.name, EMPTY) for p in parts), EMPTY) for s in SLOTS[1:]}

    @property
    def all_templates(self) -> Tally:
        return _total((self.matched, self.missing, self.spurious))

    @property
    def matched_only(self) -> Tally:
        return _total((self.matched,))

    @property
    def matched_missing(self) -> Tally:
        return _total((self.matched, self.missing))

    @property
    def matched_spurious(self) -> Tally:
        return _total((self.matched, self.spurious))

    @property
    def set_fills(self) -> Tally:
        """Of matched and missing templates, as the exam counts them."""
        return _total((self.matched, self.missing), "set")

    @property
    def string_fills(self) -> Tally:
        return _total((self.matched, self.missing), "string")

    @property
    def groups(self) -> dict[str, Tally]:
        slots = self.slots
        return {
            group: sum((slots[s.name] for s in SCORED if s.group == group), EMPTY)
            for group in GROUPS
        }


def _total(parts: Iterable[Tallies], kind: str = "") -> Tally:
    """Of all slots that are scored; the templates' own row is none of them."""
    chosen = [slot.name for slot in SCORED if not kind or slot.kind == kind]
    return sum((part.get(name, EMPTY) for part in parts for name in chosen), EMPTY)


def score(messages: Iterable[str], response: Sequence[Incident], key: Sequence[Incident]) -> Score:
    """All messages of the key; templates that the response has for others are spurious."""
    given, wanted = _by_message(response), _by_message(key)
    parts: tuple[dict[str, Tally], ...] = ({}, {}, {})
    told: dict[str, Tallies] = {}
    for message in dict.fromkeys((*messages, *given)):
        found = _message(given.get(message, ()), wanted.get(message, ()))
        told[message] = _added({}, *found)
        for part, tallies in zip(parts, found, strict=True):
            part.update(_added(part, tallies))
    return Score(told, *parts)


def _by_message(incidents: Iterable[Incident]) -> dict[str, list[Incident]]:
    found: dict[str, list[Incident]] = defaultdict(list)
    for incident in incidents:
        found[incident.message].append(incident)
    return dict(found)


def _message(
    response: Sequence[Incident], key: Sequence[Incident]
) -> tuple[Tallies, Tallies, Tallies]:
    pairs = mapped(response, key)
    mine, theirs = {id(r) for r, _ in pairs}, {id(k) for _, k in pairs}
    matched = [_compared(r, k) for r, k in pairs]
    lacking = [_missing(k) for k in key if id(k) not in theirs and not k.optional]
    over = [_spurious(r) for r in response if id(r) not in mine]
    return _added({}, *matched), _added({}, *lacking), _added({}, *over)


def _compared(response: Incident, key: Incident) -> Tallies:
    slots = {s.name: count(s, response.of(s.number), key.of(s.number)) for s in SCORED}
    return {TEMPLATE: Tally(correct=1), **slots}


def _missing(key: Incident) -> Tallies:
    needed = {s.name: sum(not f.optional for f in key.of(s.number)) for s in SCORED}
    return {TEMPLATE: Tally(missing=1), **{n: Tally(missing=c) for n, c in needed.items()}}


def _spurious(response: Incident) -> Tallies:
    given = {s.name: Tally(spurious=len(response.of(s.number))) for s in SCORED}
    return {TEMPLATE: Tally(spurious=1), **given}


def _added(*parts: Tallies) -> dict[str, Tally]:
    found: dict[str, Tally] = {}
    for part in parts:
        for name, tally in part.items():
            found[name] = found.get(name, EMPTY) + tally
    return found

"""Score a MUC-4 response."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.corpora.muc_templates import (
    CORRECT,
    GROUPS,
    PARTIAL,
    SCORED,
    SLOTS,
    Fill,
    Incident,
    Slot,
)
from partita.evaluation.muc.fills import compare
from partita.records import FloatArray


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of correct, partial, incorrect, spurious and missing fills."""

    correct: int = 0
    partial: int = 0
    incorrect: int = 0
    spurious: int = 0
    missing: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.correct + other.correct,
            self.partial + other.partial,
            self.incorrect + other.incorrect,
            self.spurious + other.spurious,
            self.missing + other.missing,
        )

    @property
    def possible(self) -> int:
        return self.correct + self.partial + self.incorrect + self.missing

    @property
    def actual(self) -> int:
        return self.correct + self.partial + self.incorrect + self.spurious

    @property
    def points(self) -> float:
        return self.correct + self.partial / 2

    @property
    def recall(self) -> float:
        return self.points / self.possible if self.possible else 0.0

    @property
    def precision(self) -> float:
        return self.points / self.actual if self.actual else 0.0

    def f(self, beta: float = 1.0) -> float:
        """Return F; with beta below 1 precision weighs more, above 1 recall."""
        below = beta**2 * self.precision + self.recall
        return (1 + beta**2) * self.precision * self.recall / below if below else 0.0


# Equal verdicts are told apart by these: fills that must be there are matched first.
_REQUIRED = 1e-3


def count(slot: Slot, response: Sequence[Fill], key: Sequence[Fill]) -> Tally:
    """Count the fills of two lists.

    What is left over on both sides is incorrect; beyond that, spurious or missing.

    What is left over on both sides is incorrect; beyond that, spurious or missing.
    """
    pairs = match_fills(slot, response, key)
    verdicts = [compare(slot, response[r], key[k]) for r, k in pairs]
    matched_keys = {k for _, k in pairs}
    required = sum(not fill.optional for k, fill in enumerate(key) if k not in matched_keys)
    over = len(response) - len(pairs)
    wrong = min(over, required)
    return Tally(
        sum(verdict == CORRECT for verdict in verdicts),
        sum(verdict == PARTIAL for verdict in verdicts),
        wrong,
        over - wrong,
        required - wrong,
    )


def match_fills(slot: Slot, response: Sequence[Fill], key: Sequence[Fill]) -> list[tuple[int, int]]:
    """Return pairs of places, each correct or partial, with the largest sum of verdicts."""
    if not response or not key:
        return []
    table: FloatArray = np.array([[compare(slot, r, k) for k in key] for r in response])
    if len(response) == len(key) == 1:
        return [(0, 0)] if table[0, 0] else []
    from scipy.optimize import linear_sum_assignment

    required = np.array([not fill.optional for fill in key])
    rows, columns = linear_sum_assignment(table + _REQUIRED * required * (table > 0), maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(r, k) for r, k in pairs if table[r, k] > 0]


CONTENT = (9, 10, 12, 13, 18, 19, 20)
TYPE = 4


def map_templates(
    response: Sequence[Incident], key: Sequence[Incident]
) -> list[tuple[Incident, Incident]]:
    """Return the pairs of one message."""
    if not response or not key:
        return []
    from scipy.optimize import linear_sum_assignment

    gains: FloatArray = np.array([[gain(r, k) for k in key] for r in response])
    rows, columns = linear_sum_assignment(gains, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(response[r], key[k]) for r, k in pairs if gains[r, k] > 0]


def gain(response: Incident, key: Incident) -> float:
    """Return the points of all slots; 0 for two that may not be mapped."""
    if not alike(response, key):
        return 0.0
    return sum(count(slot, response.of(slot.number), key.of(slot.number)).points for slot in SCORED)


def alike(response: Incident, key: Incident) -> bool:
    def meet(number: int) -> bool:
        return bool(match_fills(SLOTS[number], response.of(number), key.of(number)))

    return meet(TYPE) and any(map(meet, CONTENT))


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
    """Sum all scored slots; the templates' own row is not one of them."""
    chosen = [slot.name for slot in SCORED if not kind or slot.kind == kind]
    return sum((part.get(name, EMPTY) for part in parts for name in chosen), EMPTY)


def score(messages: Iterable[str], response: Sequence[Incident], key: Sequence[Incident]) -> Score:
    """Score all messages of the key; the response's templates for others are spurious."""
    responses, keys = _by_message(response), _by_message(key)
    parts: tuple[dict[str, Tally], ...] = ({}, {}, {})
    by_message: dict[str, Tallies] = {}
    for message in dict.fromkeys((*messages, *responses)):
        tallies_of_parts = _message(responses.get(message, ()), keys.get(message, ()))
        by_message[message] = _sum_tallies({}, *tallies_of_parts)
        for part, tallies in zip(parts, tallies_of_parts, strict=True):
            part.update(_sum_tallies(part, tallies))
    return Score(by_message, *parts)


def _by_message(incidents: Iterable[Incident]) -> dict[str, list[Incident]]:
    by_message: dict[str, list[Incident]] = defaultdict(list)
    for incident in incidents:
        by_message[incident.message].append(incident)
    return dict(by_message)


def _message(
    response: Sequence[Incident], key: Sequence[Incident]
) -> tuple[Tallies, Tallies, Tallies]:
    pairs = map_templates(response, key)
    mine, theirs = {id(r) for r, _ in pairs}, {id(k) for _, k in pairs}
    matched = [_compare_slots(r, k) for r, k in pairs]
    lacking = [_missing(k) for k in key if id(k) not in theirs and not k.optional]
    over = [_spurious(r) for r in response if id(r) not in mine]
    return _sum_tallies({}, *matched), _sum_tallies({}, *lacking), _sum_tallies({}, *over)


def _compare_slots(response: Incident, key: Incident) -> Tallies:
    slots = {s.name: count(s, response.of(s.number), key.of(s.number)) for s in SCORED}
    return {TEMPLATE: Tally(correct=1), **slots}


def _missing(key: Incident) -> Tallies:
    required = {s.name: sum(not f.optional for f in key.of(s.number)) for s in SCORED}
    return {TEMPLATE: Tally(missing=1), **{n: Tally(missing=c) for n, c in required.items()}}


def _spurious(response: Incident) -> Tallies:
    tallies = {s.name: Tally(spurious=len(response.of(s.number))) for s in SCORED}
    return {TEMPLATE: Tally(spurious=1), **tallies}


def _sum_tallies(*parts: Tallies) -> dict[str, Tally]:
    sums: dict[str, Tally] = {}
    for part in parts:
        for name, tally in part.items():
            sums[name] = sums.get(name, EMPTY) + tally
    return sums

"""Score MUC-4 responses: slots, templates, and entities by role."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import punctuation

import numpy as np

from partita.core import FloatArray
from partita.errors import InputError
from partita_incidents.exam_files import Exam, Problem, read_exam
from partita_incidents.exam_templates import (
    CORRECT,
    GROUPS,
    PARTIAL,
    SCORED,
    SLOTS,
    Fill,
    Incident,
    Slot,
)
from partita_incidents.fills import compare, compare_strings


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


# These break ties between equal verdicts: required fills are matched first.
_REQUIRED = 1e-3


def count(slot: Slot, response: Sequence[Fill], key: Sequence[Fill]) -> Tally:
    """Count the fills of two lists.

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
    responses, keys = _incidents_by_message(response), _incidents_by_message(key)
    parts: tuple[dict[str, Tally], ...] = ({}, {}, {})
    by_message: dict[str, Tallies] = {}
    for message in dict.fromkeys((*messages, *responses)):
        tallies_of_parts = _message(responses.get(message, ()), keys.get(message, ()))
        by_message[message] = _sum_tallies({}, *tallies_of_parts)
        for part, tallies in zip(parts, tallies_of_parts, strict=True):
            part.update(_sum_tallies(part, tallies))
    return Score(by_message, *parts)


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


ROLES: Mapping[str, tuple[int, ...]] = {
    "perpetrator individual": (9,),
    "perpetrator organisation": (10,),
    "target": (12,),
    "victim": (18, 19),
    "weapon": (6,),
}

Entity = tuple[frozenset[str], bool]  # its strings, and whether it may be missing


def score_entities(response: Iterable[Incident], key: Iterable[Incident]) -> dict[str, Tally]:
    """Return, for each role, how many entities are found, spurious and missing."""
    responses, keys = _incidents_by_message(response), _incidents_by_message(key)
    return {
        role: sum(
            (
                _compare_entities(responses.get(m, ()), keys.get(m, ()), slots)
                for m in {*responses, *keys}
            ),
            Tally(),
        )
        for role, slots in ROLES.items()
    }


def _incidents_by_message(incidents: Iterable[Incident]) -> defaultdict[str, list[Incident]]:
    by_message: defaultdict[str, list[Incident]] = defaultdict(list)
    for incident in incidents:
        by_message[incident.message].append(incident)
    return by_message


def _compare_entities(
    response: Sequence[Incident], key: Sequence[Incident], slots: tuple[int, ...]
) -> Tally:
    response_entities, key_entities = _entities(response, slots), _entities(key, slots)
    hits = _matched_keys([strings for strings, _ in response_entities], key_entities)
    required = sum(not optional for n, (_, optional) in enumerate(key_entities) if n not in hits)
    return Tally(len(hits), 0, 0, len(response_entities) - len(hits), required)


def _entities(incidents: Sequence[Incident], slots: tuple[int, ...]) -> list[Entity]:
    """Merge the fills of all templates that share a string into entities."""
    entities: list[Entity] = []
    for incident in incidents:
        for slot in slots:
            for fill in incident.of(slot):
                entities = _merge_entity(entities, _entity(fill, incident.optional))
    return entities


def _entity(fill: Fill, optional: bool) -> Entity:
    strings = (*fill.values, *fill.tags)
    return frozenset(" ".join(text.upper().split()) for text in strings), optional or fill.optional


def _merge_entity(entities: list[Entity], new: Entity) -> list[Entity]:
    apart = [entity for entity in entities if entity[0].isdisjoint(new[0])]
    same = [entity for entity in entities if not entity[0].isdisjoint(new[0])]
    strings = new[0].union(*(entity[0] for entity in same))
    return [*apart, (strings, new[1] and all(entity[1] for entity in same))]


def _matched_keys(response: Sequence[frozenset[str]], key: Sequence[Entity]) -> set[int]:
    """Return the places of the key's entities that are found."""
    if not response or not key:
        return set()
    from scipy.optimize import linear_sum_assignment

    table: FloatArray = np.array([[_inside(s, g) for g, _ in key] for s in response], dtype=float)
    required = np.array([not optional for _, optional in key])
    rows, columns = linear_sum_assignment(table * (1 + 1e-3 * required), maximize=True)
    return {k for r, k in zip(rows.tolist(), columns.tolist(), strict=True) if table[r, k]}


def _inside(strings: frozenset[str], entity: frozenset[str]) -> bool:
    return all(
        any(compare_strings(string, other) == CORRECT for other in entity) for string in strings
    )


# The published metric counts victims by their names alone.
REE_ROLES: Mapping[str, int] = {
    role: 18 if role == "victim" else slots[0] for role, slots in ROLES.items()
}
_PUNCTUATION = str.maketrans("", "", punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
Strings = tuple[str, ...]


def ceaf_ree(response: Iterable[Incident], key: Iterable[Incident]) -> dict[str, Tally]:
    """Return the counts of CEAF-REE (Du et al. 2021) for each role.

    The templates of a message are one event. An entity of the response is right if all its strings
    are strings of the key's entity with which it is aligned one to one; case, punctuation and
    articles do not count. Optional templates and fills of the key count as the others.
    """
    responses, keys = _incidents_by_message(response), _incidents_by_message(key)
    messages = {*responses, *keys}
    return {
        role: sum((_ree_tally(responses[m], keys[m], slot) for m in messages), Tally())
        for role, slot in REE_ROLES.items()
    }


def _ree_tally(response: Sequence[Incident], key: Sequence[Incident], slot: int) -> Tally:
    response_entities, key_entities = _ree_entities(response, slot), _ree_entities(key, slot)
    hits = 0
    if response_entities and key_entities:
        from scipy.optimize import linear_sum_assignment

        table = np.array(
            [[float(set(r) <= set(k)) for k in key_entities] for r in response_entities]
        )
        hits = round(table[linear_sum_assignment(table, maximize=True)].sum())
    return Tally(hits, 0, 0, len(response_entities) - hits, len(key_entities) - hits)


def _ree_entities(incidents: Sequence[Incident], slot: int) -> list[Strings]:
    """Return the entities of a slot; one whose strings are within another's, or contain them, is
    the same as the one before."""
    entities: list[set[str]] = []
    for incident in incidents:
        for fill in incident.of(slot):
            strings = {text.lower() for text in fill.values}
            if not any(strings <= entity or entity <= strings for entity in entities):
                entities.append(strings)
    return [tuple(map(_ree_string, sorted(entity))) for entity in entities]


def _ree_string(text: str) -> str:
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """The score by slots and by roles, and what in the files was not as it should be."""

    score: Score
    entities: dict[str, Tally]
    ceaf_ree: dict[str, Tally]
    problems: tuple[Problem, ...]
    unanswered: tuple[str, ...]


def mark(keys: Sequence[Path], response: Path) -> Marked:
    """A response beside the keys of its messages."""
    known = _together([read_exam(path) for path in keys])
    given = read_exam(response)
    if unknown := [message for message in given.messages if message not in known.messages]:
        raise InputError(f"answers {unknown[0]}, of which no key is given", file=given.file)
    return Marked(
        score(known.messages, given.incidents, known.incidents),
        score_entities(given.incidents, known.incidents),
        ceaf_ree(given.incidents, known.incidents),
        (*known.problems, *given.problems),
        tuple(message for message in known.messages if message not in given.messages),
    )


def _together(exams: Sequence[Exam]) -> Exam:
    """Several key files as one."""
    whole = Exam(", ".join(exam.file for exam in exams))
    for exam in exams:
        if twice := next((m for m in exam.messages if m in whole.messages), None):
            raise InputError(f"has a key for {twice}, as a file before it has", file=exam.file)
        whole.incidents += exam.incidents
        whole.messages |= exam.messages
        whole.problems += exam.problems
    return whole

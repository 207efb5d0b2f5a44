"""Group the things that several systems describe."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations, groupby, product

import numpy as np
from numpy.typing import NDArray

from partita.corpora.muc_templates import SLOTS, Fill, Incident, compare_dates
from partita.evaluation.muc.fills import compare_locations, compare_strings
from partita.records import FloatArray, IntArray

INCIDENT_SLOTS = (2, 3, 4, 5, 8, 17, 24)  # slots of the incident itself


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


def make_report(source: str, incident: Incident) -> Report:
    whole = {slot: told[0].values[0] for slot in INCIDENT_SLOTS if (told := _valid(incident, slot))}
    things = {role.name: tuple(_things(incident, role)) for role in ROLES}
    return Report(source, incident, whole, things)


def merge_reports(first: Report, second: Report) -> Report:
    """What a system says of an incident in two templates: the first's word, the things of both."""
    things = {
        role: (
            *mine,
            *(one for one in second.things[role] if not any(similarity(one, o) for o in mine)),
        )
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
        meant = max(open_to, key=lambda thing: _tag_match(thing, tags), default=None)
        if meant is not None and _tag_match(meant, tags):
            meant.fills[slot] = value
        elif slot in role.strings or (role.nameless and not tags):
            found.append(Thing(role, {slot: value}))
    return found


def _fills(incident: Incident, role: Role) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    for slot in (*role.strings, *role.more):
        for fill in _valid(incident, slot):
            yield slot, fill.values[0], fill.tags


def _tag_match(thing: Thing, tags: tuple[str, ...]) -> float:
    """How well a tag is one of the thing's strings; no tag means a thing without any."""
    if not tags:
        return float(not thing.strings)
    return max((compare_strings(tag, text) for tag in tags for text in thing.strings), default=0.0)


def similarity(left: Thing, right: Thing) -> float:
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
    return max(
        (max(compare_strings(a, b), compare_strings(b, a)) for a in left for b in right),
        default=0.0,
    )


ABSENT = -1
ROUNDS = 100
TOLERANCE = 1e-4
MAX_LOG_ODDS = 50.0  # log odds beyond which nothing is told apart
PSEUDOCOUNT = 1.0  # pairs at each level that are taken as seen before


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of records by number, with their levels; each record has a source."""

    left: IntArray
    right: IntArray
    levels: IntArray
    source: IntArray

    @property
    def apart(self) -> NDArray[np.bool_]:
        apart: NDArray[np.bool_] = self.source[self.left] == self.source[self.right]
        return apart

    def rivals(self) -> tuple[IntArray, IntArray]:
        """Two numbers for each pair; pairs that share one are rivals."""
        sources = int(self.source.max(initial=0)) + 1
        left = self.left * sources + self.source[self.right]
        right = self.right * sources + self.source[self.left]
        return np.unique(left, return_inverse=True)[1], np.unique(right, return_inverse=True)[1]


@dataclass(frozen=True, slots=True, eq=False)
class Linkage:
    """How probable levels are, by feature, of pairs that are one thing and of others."""

    same: FloatArray
    other: FloatArray

    def evidence(self, pairs: Pairs) -> FloatArray:
        """Σ log m/u of every pair; a feature that is absent tells nothing."""
        weights = np.log(self.same) - np.log(self.other)
        columns = np.arange(pairs.levels.shape[1])
        told = weights[columns, np.maximum(pairs.levels, 0)]
        evidence: FloatArray = np.where(pairs.levels == ABSENT, 0.0, told).sum(axis=1)
        return evidence


def fit_linkage(pairs: Pairs, depth: int) -> Linkage:
    """By expectation and maximisation, from higher levels being likelier of one thing."""
    rising = np.arange(1.0, depth + 1)
    start = np.tile(rising / rising.sum(), (pairs.levels.shape[1], 1))
    found = Linkage(start, start[:, ::-1])
    before = np.zeros(len(pairs.left))
    for _ in range(ROUNDS):
        one = _probability(pairs, found)
        found = Linkage(_rates(pairs.levels, one, depth), _rates(pairs.levels, 1 - one, depth))
        if np.max(np.abs(one - before), initial=0.0) < TOLERANCE:
            break
        before = one
    return found


def _probability(pairs: Pairs, linkage: Linkage) -> FloatArray:
    """That a pair is one thing, at most one among its k rivals and as likely as none of them."""
    rivals = pairs.rivals()
    many = np.max([np.bincount(rival)[rival] for rival in rivals], axis=0)
    odds = np.exp(np.minimum(linkage.evidence(pairs), MAX_LOG_ODDS)) / many
    odds[pairs.apart] = 0.0
    left, right = (np.bincount(rival, odds)[rival] for rival in rivals)
    probability: FloatArray = odds / (1 + left + right - odds)
    return probability


def _rates(levels: IntArray, weight: FloatArray, depth: int) -> FloatArray:
    counts = np.stack([(weight[:, None] * (levels == n)).sum(axis=0) for n in range(depth)], axis=1)
    rates: FloatArray = (counts + PSEUDOCOUNT) / (counts + PSEUDOCOUNT).sum(axis=1, keepdims=True)
    return rates


def cluster_records(gains: FloatArray, weights: FloatArray) -> list[list[int]]:
    """Groups of records: the two with the largest mean gain, by weight, are joined while above 0.

    Equal gains go to those that stand first: give records in an order of their own.
    """
    groups = [[n] for n in range(len(weights))]
    whole = np.outer(weights, weights)
    sums = np.where(np.eye(len(weights), dtype=bool), -np.inf, gains * whole)
    while len(groups) > 1:
        mean = sums / whole
        left, right = sorted(divmod(int(np.argmax(mean)), len(groups)))
        if mean[left, right] <= 0:
            break
        groups[left] += groups.pop(right)
        sums, whole = _join_rows(sums, left, right), _join_rows(whole, left, right)
    return [sorted(group) for group in groups]


def _join_rows(table: FloatArray, left: int, right: int) -> FloatArray:
    own = table[left, left]
    table[left] += table[right]
    table[:, left] += table[:, right]
    table[left, left] = own  # within a group nothing is to be gained any more
    joined: FloatArray = np.delete(np.delete(table, right, axis=0), right, axis=1)
    return joined


SAME_SYSTEM_LOG_ODDS = np.log(
    9.0
)  # log odds against two templates of one system being one incident
MIN_WEIGHT = 0.05  # the weight of systems that are trusted less
LEVELS = 3  # levels: another, partly the same, the same
HALF = 0.5

Comparison = Callable[[str, str], float]


def group_reports(
    reports: Sequence[Report], trust: Mapping[str, float] | None = None
) -> list[list[Report]]:
    """The reports of each incident, one of a system; how to tell is learned from them.

    What systems that are trusted more say counts more.
    """
    told = sorted(reports, key=lambda one: (one.incident.message, one.source, one.incident.line))
    pairs = _pairs(told)
    gains = fit_linkage(pairs, LEVELS).evidence(pairs) - SAME_SYSTEM_LOG_ODDS * pairs.apart
    weights = _weights([one.source for one in told], trust)
    return [
        list(_merge_by_system([told[n] for n in group]))
        for group in _groups_by_message(told, pairs, gains, weights)
    ]


def _weights(sources: Sequence[str], trust: Mapping[str, float] | None) -> FloatArray:
    return np.array([max(trust[source], MIN_WEIGHT) if trust else 1.0 for source in sources])


def _merge_by_system(told: Sequence[Report]) -> Iterator[Report]:
    """The templates of one system as one: what the first says, and the things of all."""
    for _, mine in groupby(told, key=lambda one: one.source):
        yield reduce(merge_reports, mine)


def _pairs(told: Sequence[Report]) -> Pairs:
    """All pairs of templates of one message."""
    messages: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(told):
        messages[one.incident.message].append(number)
    found = [pair for numbers in messages.values() for pair in combinations(numbers, 2)]
    left, right = np.array(found, dtype=np.int64).reshape(-1, 2).T
    levels = [comparison_levels(told[a], told[b]) for a, b in found] or np.empty(
        (0, 3 + len(ROLES))
    )
    sources = np.unique(np.array([one.source for one in told]), return_inverse=True)[1]
    return Pairs(left, right, np.array(levels, dtype=np.int64), sources)


def _groups_by_message(
    told: Sequence[Report], pairs: Pairs, gains: FloatArray, weights: FloatArray
) -> Iterator[list[int]]:
    """The groups of one message after another."""
    places = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    known = dict(zip(places, gains.tolist(), strict=True))
    for _, numbers in groupby(range(len(told)), key=lambda n: told[n].incident.message):
        here = list(numbers)
        table = _symmetric([[known.get((a, b), 0.0) for b in here] for a in here])
        for group in cluster_records(table, weights[here]):
            yield [here[n] for n in group]


def group_things(
    reports: Sequence[Report], role: str, trust: Mapping[str, float] | None = None
) -> list[dict[str, Thing]]:
    """The things of an incident that play a role, by the system that speaks of each."""
    told = [(one.source, thing) for one in reports for thing in one.things[role]]
    gains = [[_gain(a, b) if n < m else 0.0 for m, b in enumerate(told)]
             for n, a in enumerate(told)]  # fmt: skip
    groups = cluster_records(_symmetric(gains), _weights([source for source, _ in told], trust))
    return [dict(told[n] for n in reversed(group)) for group in groups]


def _gain(left: tuple[str, Thing], right: tuple[str, Thing]) -> float:
    """A system does not name a thing twice; to be partly the same is no reason for or against."""
    return -np.inf if left[0] == right[0] else similarity(left[1], right[1]) - HALF


def _symmetric(upper: Sequence[Sequence[float]]) -> FloatArray:
    """Both halves of a table of which the upper one is given."""
    table = np.array(upper, dtype=float).reshape(len(upper), len(upper))
    whole: FloatArray = table + table.T
    return whole


def comparison_levels(left: Report, right: Report) -> IntArray:
    """The level of every feature: type, date, place, and the things of each role."""
    levels = [
        _level(left.whole.get(4), right.whole.get(4), _compare_types),
        _level(left.whole.get(2), right.whole.get(2), compare_dates),
        _level(left.whole.get(3), right.whole.get(3), compare_locations),
        *(_things_level(left.things[role.name], right.things[role.name]) for role in ROLES),
    ]
    return np.array(levels, dtype=np.int64)


def _level(left: str | None, right: str | None, judge: Comparison) -> int:
    if left is None or right is None:
        return ABSENT
    return round(2 * max(judge(left, right), judge(right, left)))


def _compare_types(left: str, right: str) -> float:
    return 1.0 if left == right else HALF if "ATTACK" in (left, right) else 0.0


def _things_level(left: Sequence[Thing], right: Sequence[Thing]) -> int:
    if not left or not right:
        return ABSENT
    return round(2 * max(similarity(a, b) for a, b in product(left, right)))

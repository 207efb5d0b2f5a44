"""Group the incidents and things that several systems describe."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations, groupby, product

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita_incidents.exam_templates import SLOTS, Fill, Incident, compare_dates
from partita_incidents.fills import compare_locations, compare_strings

INCIDENT_SLOTS = (2, 3, 4, 5, 8, 17, 24)  # slots of the incident itself


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of thing: the slots of its strings, then the slots of its attributes.

    `nameless` if the text need not name it: people may be shot without a mention of a gun.
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
    """A thing of a template: its fill by slot, the first one if a slot has several."""

    role: Role
    fills: dict[int, str] = field(default_factory=dict)

    @property
    def strings(self) -> tuple[str, ...]:
        return tuple(self.fills[slot] for slot in self.role.strings if slot in self.fills)


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A template of a system: the fills of the incident and its things by role."""

    source: str
    incident: Incident
    whole: Mapping[int, str]
    things: Mapping[str, tuple[Thing, ...]]


def make_report(source: str, incident: Incident) -> Report:
    """Return a template of a system with its things."""
    whole = {
        slot: fills[0].values[0] for slot in INCIDENT_SLOTS if (fills := _valid(incident, slot))
    }
    things = {role.name: tuple(_things(incident, role)) for role in ROLES}
    return Report(source, incident, whole, things)


def merge_reports(first: Report, second: Report) -> Report:
    """Merge two templates of one system; where both have a fill, the first's is kept."""
    things = {
        role: (
            *first_things,
            *(
                thing
                for thing in second.things[role]
                if not any(similarity(thing, other) for other in first_things)
            ),
        )
        for role, first_things in first.things.items()
    }
    return replace(first, whole={**second.whole, **first.whole}, things=things)


def _valid(incident: Incident, slot: int) -> list[Fill]:
    """Return the fills of a slot that are among its choices, if it has a list of them."""
    choices = SLOTS[slot].choices
    return [fill for fill in incident.of(slot) if not choices or fill.values[0] in choices]


def _things(incident: Incident, role: Role) -> list[Thing]:
    """Return a thing for each string, unless its tag refers to an earlier thing."""
    collected: list[Thing] = []
    for slot, value, tags in _fills(incident, role):
        unfilled = [thing for thing in collected if slot not in thing.fills]
        target = max(unfilled, key=lambda thing: _tag_match(thing, tags), default=None)
        if target is not None and _tag_match(target, tags):
            target.fills[slot] = value
        elif slot in role.strings or (role.nameless and not tags):
            collected.append(Thing(role, {slot: value}))
    return collected


def _fills(incident: Incident, role: Role) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    for slot in (*role.strings, *role.more):
        for fill in _valid(incident, slot):
            yield slot, fill.values[0], fill.tags


def _tag_match(thing: Thing, tags: tuple[str, ...]) -> float:
    """Return how well a tag matches the thing's strings; no tag matches a thing without any."""
    if not tags:
        return float(not thing.strings)
    return max((compare_strings(tag, text) for tag in tags for text in thing.strings), default=0.0)


def similarity(left: Thing, right: Thing) -> float:
    """Return the similarity of two things from 0 to 1: of their names if both have one, otherwise
    of any strings; without strings, of the other slots."""
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
MAX_LOG_ODDS = 50.0  # larger log odds are cut
PSEUDOCOUNT = 1.0  # pairs added at each level


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of records by index, with their comparison levels; each record has a source."""

    left: IntArray
    right: IntArray
    levels: IntArray
    source: IntArray

    @property
    def apart(self) -> NDArray[np.bool_]:
        apart: NDArray[np.bool_] = self.source[self.left] == self.source[self.right]
        return apart

    def rivals(self) -> tuple[IntArray, IntArray]:
        """Return two numbers for each pair; pairs that share one exclude each other."""
        sources = int(self.source.max(initial=0)) + 1
        left = self.left * sources + self.source[self.right]
        right = self.right * sources + self.source[self.left]
        return np.unique(left, return_inverse=True)[1], np.unique(right, return_inverse=True)[1]


@dataclass(frozen=True, slots=True, eq=False)
class Linkage:
    """Probabilities of the levels of each feature for matching pairs and for others."""

    same: FloatArray
    other: FloatArray

    def evidence(self, pairs: Pairs) -> FloatArray:
        """Return Σ log m/u of every pair; an absent feature counts as 0."""
        weights = np.log(self.same) - np.log(self.other)
        columns = np.arange(pairs.levels.shape[1])
        terms = weights[columns, np.maximum(pairs.levels, 0)]
        evidence: FloatArray = np.where(pairs.levels == ABSENT, 0.0, terms).sum(axis=1)
        return evidence


def fit_linkage(pairs: Pairs, depth: int) -> Linkage:
    """Estimate the probabilities by expectation–maximisation, starting from rising levels."""
    rising = np.arange(1.0, depth + 1)
    start = np.tile(rising / rising.sum(), (pairs.levels.shape[1], 1))
    linkage = Linkage(start, start[:, ::-1])
    before = np.zeros(len(pairs.left))
    for _ in range(ROUNDS):
        matching = _probability(pairs, linkage)
        linkage = Linkage(
            _rates(pairs.levels, matching, depth), _rates(pairs.levels, 1 - matching, depth)
        )
        if np.max(np.abs(matching - before), initial=0.0) < TOLERANCE:
            break
        before = matching
    return linkage


def _probability(pairs: Pairs, linkage: Linkage) -> FloatArray:
    """Return the probability that a pair matches, where at most one of its k rivals does."""
    rivals = pairs.rivals()
    count = np.max([np.bincount(rival)[rival] for rival in rivals], axis=0)
    odds = np.exp(np.minimum(linkage.evidence(pairs), MAX_LOG_ODDS)) / count
    odds[pairs.apart] = 0.0
    left, right = (np.bincount(rival, odds)[rival] for rival in rivals)
    probability: FloatArray = odds / (1 + left + right - odds)
    return probability


def _rates(levels: IntArray, weight: FloatArray, depth: int) -> FloatArray:
    counts = np.stack([(weight[:, None] * (levels == n)).sum(axis=0) for n in range(depth)], axis=1)
    rates: FloatArray = (counts + PSEUDOCOUNT) / (counts + PSEUDOCOUNT).sum(axis=1, keepdims=True)
    return rates


def cluster_records(gains: FloatArray, weights: FloatArray) -> list[list[int]]:
    """Return groups of records: the two groups with the largest positive mean gain are joined
    first.

    Of equal gains the first is taken, so records should be in a fixed order.
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
MIN_WEIGHT = 0.05  # of systems with less trust
LEVELS = 3  # different, partly the same, the same
HALF = 0.5

Comparison = Callable[[str, str], float]


def group_reports(
    reports: Sequence[Report], trust: Mapping[str, float] | None = None
) -> list[list[Report]]:
    """Group reports by incident, one report of each system; the comparison is learned from them.

    Reports of more trusted systems have more weight.
    """
    ordered = sorted(
        reports, key=lambda report: (report.incident.message, report.source, report.incident.line)
    )
    pairs = _pairs(ordered)
    gains = fit_linkage(pairs, LEVELS).evidence(pairs) - SAME_SYSTEM_LOG_ODDS * pairs.apart
    weights = _weights([report.source for report in ordered], trust)
    return [
        list(_merge_by_system([ordered[n] for n in group]))
        for group in _groups_by_message(ordered, pairs, gains, weights)
    ]


def _weights(sources: Sequence[str], trust: Mapping[str, float] | None) -> FloatArray:
    return np.array([max(trust[source], MIN_WEIGHT) if trust else 1.0 for source in sources])


def _merge_by_system(reports: Sequence[Report]) -> Iterator[Report]:
    """Merge the templates of each system."""
    for _, of_system in groupby(reports, key=lambda report: report.source):
        yield reduce(merge_reports, of_system)


def _pairs(reports: Sequence[Report]) -> Pairs:
    """Return all pairs of templates of one message."""
    messages: dict[str, list[int]] = defaultdict(list)
    for number, report in enumerate(reports):
        messages[report.incident.message].append(number)
    index_pairs = [pair for numbers in messages.values() for pair in combinations(numbers, 2)]
    left, right = np.array(index_pairs, dtype=np.int64).reshape(-1, 2).T
    levels = [comparison_levels(reports[a], reports[b]) for a, b in index_pairs] or np.empty(
        (0, 3 + len(ROLES))
    )
    sources = np.unique(np.array([report.source for report in reports]), return_inverse=True)[1]
    return Pairs(left, right, np.array(levels, dtype=np.int64), sources)


def _groups_by_message(
    reports: Sequence[Report], pairs: Pairs, gains: FloatArray, weights: FloatArray
) -> Iterator[list[int]]:
    """Yield the groups of one message after another."""
    keys = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    gain_of = dict(zip(keys, gains.tolist(), strict=True))
    for _, numbers in groupby(range(len(reports)), key=lambda n: reports[n].incident.message):
        indices = list(numbers)
        table = _symmetric([[gain_of.get((a, b), 0.0) for b in indices] for a in indices])
        for group in cluster_records(table, weights[indices]):
            yield [indices[n] for n in group]


def group_things(
    reports: Sequence[Report], role: str, trust: Mapping[str, float] | None = None
) -> list[dict[str, Thing]]:
    """Group the things of one role in an incident, each by the system that names it."""
    named = [(report.source, thing) for report in reports for thing in report.things[role]]
    gains = [[_gain(a, b) if n < m else 0.0 for m, b in enumerate(named)]
             for n, a in enumerate(named)]  # fmt: skip
    groups = cluster_records(_symmetric(gains), _weights([source for source, _ in named], trust))
    return [dict(named[n] for n in reversed(group)) for group in groups]


def _gain(left: tuple[str, Thing], right: tuple[str, Thing]) -> float:
    """Return the gain of joining two things; a system does not name a thing twice."""
    return -np.inf if left[0] == right[0] else similarity(left[1], right[1]) - HALF


def _symmetric(upper: Sequence[Sequence[float]]) -> FloatArray:
    """Return a symmetric table from its upper half."""
    table = np.array(upper, dtype=float).reshape(len(upper), len(upper))
    whole: FloatArray = table + table.T
    return whole


def comparison_levels(left: Report, right: Report) -> IntArray:
    """Return the level of every feature: type, date, place, and the things of each role."""
    levels = [
        _level(left.whole.get(4), right.whole.get(4), _compare_types),
        _level(left.whole.get(2), right.whole.get(2), compare_dates),
        _level(left.whole.get(3), right.whole.get(3), compare_locations),
        *(_things_level(left.things[role.name], right.things[role.name]) for role in ROLES),
    ]
    return np.array(levels, dtype=np.int64)


def _level(left: str | None, right: str | None, compare: Comparison) -> int:
    if left is None or right is None:
        return ABSENT
    return round(2 * max(compare(left, right), compare(right, left)))


def _compare_types(left: str, right: str) -> float:
    return 1.0 if left == right else HALF if "ATTACK" in (left, right) else 0.0


def _things_level(left: Sequence[Thing], right: Sequence[Thing]) -> int:
    if not left or not right:
        return ABSENT
    return round(2 * max(similarity(a, b) for a, b in product(left, right)))

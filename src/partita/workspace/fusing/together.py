"""Templates of several systems put together: incidents of a message, things of an incident."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, groupby, product

import numpy as np

from partita.evaluation.muc import dates, locations
from partita.fusion.linkage import ABSENT, Pairs, agglomerated, learned
from partita.records import FloatArray, IntArray
from partita.workspace.fusing.things import ROLES, Report, Thing, alike, with_more

TWICE = np.log(9.0)  # log odds against two templates of one system being one incident
LEAST = 0.05  # the weight of systems that are trusted less
DEPTH = 3  # levels: another, partly the same, the same
HALF = 0.5

Judge = Callable[[str, str], float]


def incidents(
    reports: Sequence[Report], trust: Mapping[str, float] | None = None
) -> list[list[Report]]:
    """The reports of each incident, one of a system; how to tell is learned from them.

    What systems that are trusted more say counts more.
    """
    told = sorted(reports, key=lambda one: (one.incident.message, one.source, one.incident.line))
    pairs = _pairs(told)
    gains = learned(pairs, DEPTH).evidence(pairs) - TWICE * pairs.apart
    weights = _weights([one.source for one in told], trust)
    return [
        list(_one_each([told[n] for n in group])) for group in _grouped(told, pairs, gains, weights)
    ]


def _weights(sources: Sequence[str], trust: Mapping[str, float] | None) -> FloatArray:
    return np.array([max(trust[source], LEAST) if trust else 1.0 for source in sources])


def _one_each(told: Sequence[Report]) -> Iterator[Report]:
    """The templates of one system as one: what the first says, and the things of all."""
    for _, mine in groupby(told, key=lambda one: one.source):
        yield reduce(with_more, mine)


def _pairs(told: Sequence[Report]) -> Pairs:
    """All pairs of templates of one message."""
    messages: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(told):
        messages[one.incident.message].append(number)
    found = [pair for numbers in messages.values() for pair in combinations(numbers, 2)]
    left, right = np.array(found, dtype=np.int64).reshape(-1, 2).T
    levels = [compared(told[a], told[b]) for a, b in found] or np.empty((0, 3 + len(ROLES)))
    sources = np.unique(np.array([one.source for one in told]), return_inverse=True)[1]
    return Pairs(left, right, np.array(levels, dtype=np.int64), sources)


def _grouped(
    told: Sequence[Report], pairs: Pairs, gains: FloatArray, weights: FloatArray
) -> Iterator[list[int]]:
    """The groups of one message after another."""
    places = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    known = dict(zip(places, gains.tolist(), strict=True))
    for _, numbers in groupby(range(len(told)), key=lambda n: told[n].incident.message):
        here = list(numbers)
        table = _table([[known.get((a, b), 0.0) for b in here] for a in here])
        for group in agglomerated(table, weights[here]):
            yield [here[n] for n in group]


def things(
    reports: Sequence[Report], role: str, trust: Mapping[str, float] | None = None
) -> list[dict[str, Thing]]:
    """The things of an incident that play a role, by the system that speaks of each."""
    told = [(one.source, thing) for one in reports for thing in one.things[role]]
    gains = [[_gain(a, b) if n < m else 0.0 for m, b in enumerate(told)]
             for n, a in enumerate(told)]  # fmt: skip
    groups = agglomerated(_table(gains), _weights([source for source, _ in told], trust))
    return [dict(told[n] for n in reversed(group)) for group in groups]


def _gain(left: tuple[str, Thing], right: tuple[str, Thing]) -> float:
    """A system does not name a thing twice; to be partly the same is no reason for or against."""
    return -np.inf if left[0] == right[0] else alike(left[1], right[1]) - HALF


def _table(upper: Sequence[Sequence[float]]) -> FloatArray:
    """Both halves of a table of which the upper one is given."""
    table = np.array(upper, dtype=float).reshape(len(upper), len(upper))
    whole: FloatArray = table + table.T
    return whole


def compared(left: Report, right: Report) -> IntArray:
    """The level of every feature: type, date, place, and the things of each role."""
    levels = [
        _level(left.whole.get(4), right.whole.get(4), _types),
        _level(left.whole.get(2), right.whole.get(2), dates.judge),
        _level(left.whole.get(3), right.whole.get(3), locations.judge),
        *(_shared(left.things[role.name], right.things[role.name]) for role in ROLES),
    ]
    return np.array(levels, dtype=np.int64)


def _level(left: str | None, right: str | None, judge: Judge) -> int:
    if left is None or right is None:
        return ABSENT
    return round(2 * max(judge(left, right), judge(right, left)))


def _types(left: str, right: str) -> float:
    return 1.0 if left == right else HALF if "ATTACK" in (left, right) else 0.0


def _shared(left: Sequence[Thing], right: Sequence[Thing]) -> int:
    if not left or not right:
        return ABSENT
    return round(2 * max(alike(a, b) for a, b in product(left, right)))

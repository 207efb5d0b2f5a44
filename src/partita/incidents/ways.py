"""The exam's score under each way of merging events, everything else the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.evaluation.bootstrap import Interval, bootstrap
from partita.evaluation.muc.score import score
from partita.evaluation.muc.tally import Tally
from partita.evaluation.muc.templates import SCORED, Incident
from partita.incidents.answering import answered
from partita.incidents.experts import Experts
from partita.incidents.merging import Merge, all_in_one, by_agreement, by_model, each_alone
from partita.incidents.training import Read, School, Told
from partita.learning.pair_parameters import PairParameters


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """A way of merging: how many incidents were answered, and what each message scored."""

    way: str
    incidents: int
    messages: Sequence[Tally]

    @property
    def total(self) -> Tally:
        return sum(self.messages, Tally())


def ways(learned: PairParameters) -> dict[str, Merge]:
    """All that are compared."""
    return {
        "each alone": each_alone,
        "greedy": all_in_one,
        "greedy by agreement": by_agreement,
        **{name: by_model(learned, name) for name in ("merging", "evidential", "scaled")},
    }


def marked(
    school: School, learned: PairParameters, test: Sequence[Read], told: Told
) -> Iterator[Marked]:
    """Screening is learned anew for every way, from what that way makes of the training stories."""
    for name, merge in ways(learned).items():
        told(f"answering, events merged: {name}")
        experts = Experts(school.readers, learned, school.screeners(merge), school.judges)
        given = [answered(reading, experts, merge) for reading, _ in test]
        tallies = [
            _tally(reading.story.message.id, found, key)
            for (reading, key), found in zip(test, given, strict=True)
        ]
        yield Marked(name, sum(map(len, given)), tallies)


def _tally(message: str, given: Sequence[Incident], key: Sequence[Incident]) -> Tally:
    tallies: Mapping[str, Tally] = score([message], given, key).messages[message]
    return sum((tallies.get(slot.name, Tally()) for slot in SCORED), Tally())


def behind(other: Marked, best: Marked, seed: int = 0) -> Interval:
    """By how many points of F a way is behind, over messages drawn with replacement, 95 %."""
    pairs = list(zip(best.messages, other.messages, strict=True))

    def gap(drawn: Sequence[tuple[Tally, Tally]]) -> float:
        one, two = (sum(side, Tally()) for side in zip(*drawn, strict=True))
        return 100 * (one.f() - two.f())

    return bootstrap(pairs, gap, np.random.default_rng(seed))

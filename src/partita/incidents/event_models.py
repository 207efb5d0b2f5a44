"""Models of event sets for the paper's table: greedy by what agrees, and all models over pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from partita.configurations.greedy import GreedyParameters, GreedyPosterior, greedy_labels
from partita.evaluation.cuts import Cut
from partita.evaluation.experiment import Effort
from partita.evaluation.models import Fitted, Model
from partita.evaluation.set_models import Counts, Greedy, PairFitted, Uniform
from partita.incidents.characteristics import agreeing
from partita.incidents.training import learn_pairs
from partita.learning.greedy import Tally
from partita.learning.pair_parameters import PairParameters, training_of
from partita.records import IntArray, Posterior


def event_models(effort: Effort, counts: Counts) -> tuple[Model, ...]:
    """The paper's, over what is observed of events; greedy twice."""
    learner = EventLearner(effort.seed)
    return (
        Uniform(counts),
        Greedy(counts),
        ByAgreement(counts),
        *(OverEvents(name, learner, effort) for name in ("merging", "evidential", "scaled")),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ByAgreement:
    """A greedy merger for which events that tell other types, days or places are incompatible."""

    counts: Counts
    name: str = "greedy by agreement"

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        tallies = {2: Tally(), 3: Tally(), 4: Tally()}
        for cut in cuts:
            for members in cut.sets:
                made = agreed(cut, members)
                joined = cut.joined[np.ix_(members, members)]
                right = np.array_equal(made[:, None] == made[None, :], joined)
                tallies[min(len(members), 4)] += right
        shares = GreedyParameters(*(tallies[size].share for size in (2, 3, 4)))
        return AgreementFitted(self.counts, shares)


@dataclass(frozen=True, slots=True, eq=False)
class AgreementFitted:
    counts: Counts
    parameters: GreedyParameters
    whole: bool = False

    def posterior(self, cut: Cut, members: IntArray) -> Posterior:
        share = self.parameters.share(len(members))
        return GreedyPosterior(agreed(cut, members), share, self.counts.uniform(cut, members))


def agreed(cut: Cut, members: IntArray) -> IntArray:
    """What the merger makes of a set."""
    return greedy_labels(agreeing([cut.document.templates[n] for n in members.tolist()]))


@dataclass(slots=True)
class EventLearner:
    """The parameters of all models over pairs, learned once."""

    seed: int = 0
    cuts: Sequence[Cut] = ()
    known: list[PairParameters] = field(default_factory=list)

    def learn(self, cuts: Sequence[Cut]) -> PairParameters:
        if cuts is not self.cuts or not self.known:
            self.cuts, self.known = cuts, [learn_pairs(cuts, seed=self.seed)]
        return self.known[0]


@dataclass(frozen=True, slots=True, eq=False)
class OverEvents:
    """A model of configurations from learned probabilities of two events."""

    name: str
    learner: EventLearner
    effort: Effort

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        learned = self.learner.learn(cuts)
        pairs = learned.pair_model(training_of(self.name))
        scaled = learned.scaled if self.name == "scaled" else None
        budget = self.effort.merging if self.name == "merging" else self.effort.budget
        return PairFitted(self.name, pairs, scaled, budget, self.effort.seed)

"""Models that are trained on documents and evaluated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from partita.configurations.count import log2_bell
from partita.configurations.forest.model import ForestParameters
from partita.configurations.forest.posterior import forest
from partita.configurations.merging.decisions import merging
from partita.configurations.method_choice import engine_for
from partita.configurations.odds import PairKnowledge, ScaledParameters
from partita.configurations.pair_models import (
    GreedyParameters,
    GreedyPosterior,
    evidential,
    greedy_labels,
    split,
)
from partita.configurations.product_posterior import Engine
from partita.core import Budget, FloatArray, IntArray, Posterior
from partita.evaluation.splits import Cut
from partita.pairs.characteristics import PAPER, Characteristic
from partita.pairs.models import PairModel, pair_matrix
from partita.training.maxent import Contexts
from partita.training.pair_models import (
    KeyedTemplates,
    MergedSets,
    PairChoice,
    TrainingPairs,
    every_pair,
    merging_questions,
    select_features,
    select_pair_model,
    training_pairs,
)
from partita.training.selection import Selection


class Fitted(Protocol):
    """A fitted model."""

    def posterior(self, cut: Cut, members: IntArray) -> Posterior:
        """Return the distribution over the configurations of some templates of a document."""


class Model(Protocol):
    """A model that learns from documents with keys."""

    @property
    def name(self) -> str: ...

    def fit(self, cuts: Sequence[Cut]) -> Fitted: ...


EXACT = 18  # templates: beyond, an exact answer takes longer than the others together


def _engine(budget: Budget, seed: int) -> Engine:
    """Return exact posteriors of small sets and samples of large ones: all can be drawn from."""
    exact, sampled = (engine_for(budget, seed, method, None) for method in ("exact", "sampled"))
    return lambda theta, share: (exact if len(theta) <= EXACT else sampled)(theta, share)


@dataclass(slots=True)
class UniformPosteriors:
    """The uniform posteriors of a document's sets, cached for all models measured on it."""

    budget: Budget
    seed: int = 0
    cut: Cut | None = None
    known: dict[int, Posterior] = field(default_factory=dict)

    def uniform(self, cut: Cut, members: IntArray) -> Posterior:
        if cut is not self.cut:
            self.cut, self.known = cut, {}
        first = int(members[0])
        if first not in self.known:
            inside = cut.compatible[np.ix_(members, members)]
            theta = np.where(inside, 0.0, -np.inf)
            self.known[first] = split(theta, _engine(self.budget, self.seed))
        return self.known[first]

    def log2(self, cut: Cut, members: IntArray) -> float:
        """Return the logarithm of the number of configurations that knowledge allows."""
        if not cut.open(members):
            return log2_bell(len(members))
        return self.uniform(cut, members).log_normaliser.value / math.log(2)


@dataclass(frozen=True, slots=True, eq=False)
class Uniform:
    """All configurations that knowledge allows are equally probable."""

    counts: UniformPosteriors
    name: str = "uniform"

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        return self

    def posterior(self, cut: Cut, members: IntArray) -> Posterior:
        return self.counts.uniform(cut, members)


@dataclass(frozen=True, slots=True, eq=False)
class Greedy:
    """The greedy merger's configuration, with the share of sets where it is right, once fitted."""

    counts: UniformPosteriors
    parameters: GreedyParameters | None = None
    name: str = "greedy"

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        return replace(self, parameters=greedy_shares(cuts))

    def posterior(self, cut: Cut, members: IntArray) -> Posterior:
        assert self.parameters is not None, "fitted first"
        labels = greedy_labels(cut.compatible[np.ix_(members, members)])
        share = self.parameters.share(len(members))
        return GreedyPosterior(labels, share, self.counts.uniform(cut, members))


def greedy_tallies(cuts: Sequence[Cut]) -> tuple[MergedSets, MergedSets, MergedSets]:
    """Count sets of two, of three and of more templates, and those that greedy merges correctly."""
    tallies = {2: MergedSets(), 3: MergedSets(), 4: MergedSets()}
    for cut in cuts:
        for members in cut.sets:
            labels = greedy_labels(cut.compatible[np.ix_(members, members)])
            joined = labels[:, None] == labels[None, :]
            right = np.array_equal(joined, cut.joined[np.ix_(members, members)])
            tallies[min(len(members), 4)] += right
    return tallies[2], tallies[3], tallies[4]


def greedy_shares(cuts: Sequence[Cut]) -> GreedyParameters:
    """Measure how often a greedy merger is right."""
    return GreedyParameters(*(tally.share for tally in greedy_tallies(cuts)))


@dataclass(slots=True)
class PairLearner:
    """Pair probabilities by maximum entropy, fitted once for all models with the same questions.

    With `selected`, a precision, features are selected by their gain but for those `skipped`; their
    selections and training pairs are kept.
    """

    characteristics: tuple[Characteristic, ...] = PAPER
    seed: int = 0
    cuts: Sequence[Cut] = ()
    known: dict[str, PairModel] = field(default_factory=dict)
    selected: float = 1.0
    skipped: frozenset[str] = frozenset()
    selections: dict[str, Selection] = field(default_factory=dict)
    samples: dict[str, Contexts] = field(default_factory=dict)

    def learn(self, cuts: Sequence[Cut], ask: PairChoice) -> PairModel:
        if cuts is not self.cuts:
            self.cuts, self.known = cuts, {}
        if ask.__name__ not in self.known:
            pairs = training_pairs(
                [training_document(cut) for cut in cuts], ask, self.characteristics
            )
            self.known[ask.__name__] = self._trained(pairs, ask.__name__)
        return self.known[ask.__name__]

    def _trained(self, pairs: TrainingPairs, name: str) -> PairModel:
        chosen = select_features(pairs, precision=self.selected, skipped=self.skipped)
        self.selections[name], self.samples[name] = chosen, pairs.contexts()
        return select_pair_model(pairs, chosen, name=name, seed=self.seed)


def training_document(cut: Cut) -> KeyedTemplates:
    """Return a document as pair models are fitted to it."""
    templates = cut.document.templates
    return KeyedTemplates(cut.document.name, templates, cut.labels, cut.compatible, cut.schema)


@dataclass(frozen=True, slots=True, eq=False)
class PairBasedModel:
    """The merging or the evidential model, from fitted pair probabilities."""

    name: str
    learner: PairLearner
    budget: Budget
    seed: int = 0

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        ask = merging_questions if self.name == "merging" else every_pair
        pairs = self.learner.learn(cuts, ask)
        return FittedPairModel(self.name, pairs, None, self.budget, self.seed)


def training_sets(cuts: Sequence[Cut], pairs: PairModel) -> Iterator[tuple[FloatArray, IntArray]]:
    """Return the pair probabilities of every set, and the labels of its key."""
    for cut in cuts:
        matrix = pair_matrix(pairs, cut.document.templates, cut.compatible, cut.schema)
        for members in cut.sets:
            yield matrix[np.ix_(members, members)], cut.labels[members]


@dataclass(frozen=True, slots=True, eq=False)
class FittedPairModel:
    """A fitted model of configurations over pair probabilities."""

    name: str
    pairs: PairModel
    parameters: ScaledParameters | ForestParameters | None
    budget: Budget
    seed: int
    kept: dict[Cut, FloatArray] = field(default_factory=dict)

    def posterior(self, cut: Cut, members: IntArray) -> Posterior:
        inside = np.ix_(members, members)
        same = np.eye(len(members), dtype=np.bool_)
        knowledge = PairKnowledge(self.matrix(cut)[inside], cut.compatible[inside], same)
        if self.name == "merging":
            return merging(
                knowledge.p, knowledge.compatible, knowledge.must, self.budget, self.seed
            )
        if isinstance(self.parameters, ForestParameters):
            method = "exact" if len(members) <= EXACT else "auto"
            return forest(knowledge, self.parameters, self.budget, self.seed, method)
        scaled = self.parameters or ScaledParameters(1.0, 0.0)
        return evidential(knowledge, _engine(self.budget, self.seed), scaled)[0]

    def matrix(self, cut: Cut) -> FloatArray:
        """Return the pair probabilities of the document, cached while its sets are measured."""
        if cut not in self.kept:
            self.kept.clear()
            templates = cut.document.templates
            self.kept[cut] = pair_matrix(self.pairs, templates, cut.compatible, cut.schema)
        return self.kept[cut]

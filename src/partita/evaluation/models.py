"""Models that are trained on documents, and the paper's experiment: bits of the keys of sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from partita.core import Budget, FloatArray, IntArray, Posterior, restricted_growth
from partita.errors import InputError
from partita.evaluation.rows import TIE, mean, table
from partita.evaluation.splits import Cut, Excluded, allowed_bits, excluded_bits, learn_excluded
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


Progress = Callable[[str], None]
LISTED = 10  # configurations that a model reports


@dataclass(frozen=True, slots=True)
class ExperimentEffort:
    """The limits for one set of one model.

    By default a number of sweeps, or of questions to the merger: the same bytes on any machine.
    """

    budget: Budget = field(default_factory=lambda: Budget(work=2_000))
    merging: Budget = field(default_factory=lambda: Budget(work=10_000_000))
    seed: int = 0


@dataclass(frozen=True, slots=True)
class KeyedSetResult:
    """One set by one model: the bits of its key, and whether the key is its only best answer."""

    bits: float
    right: bool


Results = Sequence[KeyedSetResult]  # of a document


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One model: bits per set and how many sets are right, over all documents."""

    model: str
    sets: int
    bits_per_set: float
    right: int


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """The rows of all models, and the results of every document that they add up."""

    rows: tuple[PaperRow, ...]
    results: dict[str, tuple[Results, ...]]


def bits_per_set(results: Sequence[Results]) -> float:
    return mean([one.bits for document in results for one in document])


def run_experiment(
    train: Sequence[Cut],
    test: Sequence[Cut],
    models: Sequence[Model],
    *,
    effort: ExperimentEffort | None = None,
    progress: Progress | None = None,
) -> Experiment:
    """Run the experiment on documents that are already cut into sets."""
    if not train or not test:
        raise InputError("an experiment needs documents to learn from and documents to test on")
    chosen, report = effort or ExperimentEffort(), progress or (lambda _: None)
    counts, excluded = UniformPosteriors(chosen.budget, chosen.seed), learn_excluded(train)
    fitted = {}
    for model in models:
        report(f"learning {model.name} from {len(train)} documents")
        fitted[model.name] = model.fit(train)
    results: dict[str, list[Results]] = {model.name: [] for model in models}
    for number, cut in enumerate(test, 1):  # what models share is computed once for a document
        for name, learned in fitted.items():
            report(f"document {number} of {len(test)}, {name}")
            answers = ((members, learned.posterior(cut, members)) for members in cut.sets)
            found = [set_result(cut, *answer, excluded, counts) for answer in answers]
            results[name].append(found)
    rows = tuple(
        PaperRow(
            name, sum(map(len, found)), bits_per_set(found), sum(s.right for d in found for s in d)
        )
        for name, found in results.items()
    )
    return Experiment(rows, {name: tuple(found) for name, found in results.items()})


def set_result(
    cut: Cut, members: IntArray, posterior: Posterior, excluded: Excluded, counts: UniformPosteriors
) -> KeyedSetResult:
    """Measure one set; a key that knowledge excludes has its share of the excluded mass."""
    key = restricted_growth(cut.labels[members].tolist())
    best, total = posterior.best(LISTED), posterior.log_normaliser.value
    stated = np.exp(np.minimum(best.log_weights - total, 0.0))
    first = bool((best.labels[0] == key).all())
    right = first and (len(stated) < 2 or bool(stated[1] < stated[0] - TIE))
    mass = excluded.sets if cut.open(members) else 0.0
    if cut.broken(members):
        return KeyedSetResult(excluded_bits(len(key), counts.log2(cut, members), mass), right)
    return KeyedSetResult(allowed_bits(posterior.log_weight(key) - total, mass), right)


def paper_markdown(rows: Mapping[str, tuple[PaperRow, ...]]) -> str:
    """Return the paper's Table 2: a line for each model, bits and number right by split."""
    names = [row.model for row in next(iter(rows.values()), ())]
    lines = [
        [
            name,
            *(
                f"{r.bits_per_set:.2f} ({'—' if name == 'uniform' else r.right})"
                for e in rows.values()
                for r in e
                if r.model == name
            ),
        ]
        for name in names
    ]
    counts = ["sets", *(str(each[0].sets) for each in rows.values())]
    return table(["model", *rows], [counts, *lines])

"""Estimate the rates of sources by expectation maximisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from partita.core import FloatArray, IntArray
from partita.fusion.dependence import SharedErrors


@dataclass(frozen=True, slots=True, eq=False)
class CodedClaims:
    """The claims: source, item, and outcome for unrelated candidates.

    `density` is b; `flat` is the probability of the claim without any information, used for the
    part of the `confidence` that is missing. `value` numbers the pairs of an object and a value,
    and `weight` is the exponent of the claim's evidence, below 1 for dependent sources.
    """

    source: IntArray
    item: IntArray
    outcome: IntArray
    density: FloatArray
    confidence: FloatArray
    flat: float
    value: IntArray
    weight: FloatArray

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The possible truths: exactly one candidate of each item holds.

    `offset` is log P(k | its class).
    """

    item: IntArray
    group: IntArray
    kind: IntArray
    offset: FloatArray

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True, slots=True, eq=False)
class ValueRelations:
    """Claims with a special outcome for a candidate, with the factor a."""

    claim: IntArray
    candidate: IntArray
    outcome: IntArray
    factor: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class EstimationProblem:
    """The estimation problem of one slot.

    `kinds` is the number of candidate classes with a prior to estimate, `shrinkage` is λ, `mixed`
    is μ: 1 where a guess may be right by luck. `spread` is there where wrong claims may share a
    value.
    """

    claims: CodedClaims
    candidates: Candidates
    relations: ValueRelations
    sources: int
    items: int
    kinds: int
    start: FloatArray
    shrinkage: float
    mixed: float = 0.0
    spread: SharedErrors | None = None
    cells: RelationCells = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", RelationCells.of(self))

    @property
    def groups(self) -> int:
        return int(self.start.shape[0])

    @property
    def outcomes(self) -> int:
        return int(self.start.shape[1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the rates: sources, groups and outcomes."""
        return self.sources, self.groups, self.outcomes


@dataclass(frozen=True, slots=True, eq=False)
class RelationCells:
    """Where each relation finds its claim, rates and counts, in flat arrays.

    `plain` is the claim in the group of the candidate, `rate` and `guess` are the source's rates of
    the relation's outcome and of a guess, `known` is the factor times the confidence.
    """

    plain: IntArray
    rate: IntArray
    guess: IntArray
    known: FloatArray

    @classmethod
    def of(cls, problem: EstimationProblem) -> RelationCells:
        claims, relations = problem.claims, problem.relations
        claim, group = relations.claim, problem.candidates.group[relations.candidate]
        row = (claims.source[claim] * problem.groups + group) * problem.outcomes
        return cls(
            claim * problem.groups + group,
            row + relations.outcome,
            row + claims.outcome[claim],
            relations.factor * claims.confidence[claim],
        )


def no_relations() -> ValueRelations:
    empty = np.zeros(0, dtype=np.int64)
    return ValueRelations(empty, empty, empty, np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """θ[source, group, outcome], the prior of each class of candidates, and α of shared errors.

    Without α, wrong claims are independent.
    """

    theta: FloatArray
    prior: FloatArray
    concentration: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Probabilities of candidates, expected counts of outcomes, and log P(all claims)."""

    probability: FloatArray
    counts: FloatArray
    log_likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class Likelihoods:
    """P(c | k) of every claim by group where unrelated, and of every relation, in three parts."""

    plain: FloatArray
    plain_share: FloatArray
    related: FloatArray
    related_share: FloatArray
    guessed_share: FloatArray


def expect(problem: EstimationProblem, rates: Rates) -> Expected:
    """Return the posterior of all items under the rates."""
    likely = likelihoods(problem, rates.theta)
    logs = _log_joint(problem, rates.prior, likely)
    if problem.spread is not None and rates.concentration is not None:
        logs = logs + problem.spread.correction(
            problem.candidates, problem.relations, rates.concentration
        )
    probability, log_likelihood = _normalised(logs, problem.candidates.item, problem.items)
    return Expected(probability, _counts(problem, probability, likely), log_likelihood)


def soundness(problem: EstimationProblem, rates: Rates, probability: FloatArray) -> FloatArray:
    """Return for each claim the probability that its source knew (exactly or roughly)."""
    relations = problem.relations
    likely = likelihoods(problem, rates.theta)
    sound: FloatArray = np.bincount(
        relations.claim,
        probability[relations.candidate] * likely.related_share,
        minlength=len(problem.claims),
    ).astype(np.float64)
    return sound


def likelihoods(problem: EstimationProblem, theta: FloatArray) -> Likelihoods:
    claims, relations = problem.claims, problem.relations
    background = (1.0 - claims.confidence) * claims.flat
    informed = (
        theta[claims.source, :, claims.outcome] * (claims.density * claims.confidence)[:, None]
    )
    plain = informed + background[:, None]
    cells = problem.cells
    informed_part = theta.reshape(-1)[cells.rate] * cells.known
    guessed = problem.mixed * informed.reshape(-1)[cells.plain]
    related = informed_part + guessed + background[relations.claim]
    return Likelihoods(
        plain,
        _ratio(informed, plain),
        related,
        _ratio(informed_part, related),
        _ratio(guessed, related),
    )


def _log_joint(problem: EstimationProblem, prior: FloatArray, likely: Likelihoods) -> FloatArray:
    """Return log P(k, claims); zeros are counted separately to avoid ∞ − ∞."""
    candidates = problem.candidates
    logs = _summed(problem, likely, _log)
    with np.errstate(divide="ignore"):
        logs += np.log(prior)[candidates.kind] + candidates.offset
    if min(likely.plain.min(initial=1.0), likely.related.min(initial=1.0)) > 0:
        return logs
    return np.where(_summed(problem, likely, _zero) > 1e-9, -np.inf, logs)


def _summed(
    problem: EstimationProblem, likely: Likelihoods, part: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return the sum over the claims of each candidate: related ones, and plain for the rest."""
    relations, weight = problem.relations, problem.claims.weight
    plain = part(likely.plain) * weight[:, None]
    related = (
        part(likely.related) * weight[relations.claim] - plain.reshape(-1)[problem.cells.plain]
    )
    return _by_item(problem, plain) + np.bincount(
        relations.candidate, related, minlength=len(problem.candidates)
    )


def _by_item(problem: EstimationProblem, values: FloatArray) -> FloatArray:
    """Sum over the claims of each candidate's item and group."""
    claims, candidates = problem.claims, problem.candidates
    sums = [
        np.bincount(claims.item, values[:, g], minlength=problem.items)
        for g in range(problem.groups)
    ]
    sums_by_item = np.stack(sums, axis=1).astype(np.float64)
    return sums_by_item[candidates.item, candidates.group]


def _normalised(logs: FloatArray, item: IntArray, items: int) -> tuple[FloatArray, float]:
    """Normalise the candidates of each item; an impossible item gets all zeros."""
    top = np.full(items, -np.inf)
    np.maximum.at(top, item, logs)
    shift = np.where(np.isfinite(top), top, 0.0)
    weights = np.exp(logs - shift[item])
    totals = np.bincount(item, weights, minlength=items)
    log_likelihood = float(np.sum(np.log(totals[totals > 0])) + shift.sum())
    return weights / np.where(totals > 0, totals, 1.0)[item], log_likelihood


def _counts(problem: EstimationProblem, probability: FloatArray, likely: Likelihoods) -> FloatArray:
    """Return the expected count of each outcome by source and group."""
    claims, candidates, relations = problem.claims, problem.candidates, problem.relations
    shape = problem.shape
    counts = np.zeros(int(np.prod(shape)))
    place = claims.item * problem.groups
    mass = np.bincount(
        candidates.item * problem.groups + candidates.group,
        probability,
        minlength=problem.items * problem.groups,
    )
    weight = probability[relations.candidate]
    for g in range(problem.groups):
        cell = np.ravel_multi_index((claims.source, np.full(len(claims), g), claims.outcome), shape)
        counts += np.bincount(cell, mass[place + g] * likely.plain_share[:, g], len(counts))
    moved = likely.guessed_share - likely.plain_share.reshape(-1)[problem.cells.plain]
    counts += np.bincount(problem.cells.guess, weight * moved, len(counts))
    counts += np.bincount(problem.cells.rate, weight * likely.related_share, len(counts))
    return np.maximum(counts, 0.0).reshape(shape)


def _log(values: FloatArray) -> FloatArray:
    return np.log(values, out=np.zeros_like(values), where=values > 0)


def _zero(values: FloatArray) -> FloatArray:
    return (values <= 0).astype(np.float64)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


ROUNDS = 200
TOLERANCE = 1e-4  # largest change of a probability at convergence
START_CONCENTRATION = 1.0  # two wrong claims agree half of the time


@dataclass(frozen=True, slots=True, eq=False)
class SlotEstimate:
    """The result of the estimation: posterior, rates, and number of rounds."""

    expected: Expected
    rates: Rates
    pooled: FloatArray
    rounds: int
    converged: bool


def estimate_rates(
    problem: EstimationProblem,
    fixed: FloatArray | None = None,
    rounds: int = ROUNDS,
    start: Expected | None = None,
    more: FloatArray | float = 0.0,
) -> SlotEstimate:
    """Estimate rates by expectation maximisation; `fixed` rates (not NaN) stay.

    The estimation begins with the expectation `start`, or with the starting rates of the problem.
    `more` are counts of claims that are not part of the problem.
    """
    theta = np.repeat(problem.start[None], problem.sources, axis=0)
    rates = Rates(
        _kept(theta, fixed), np.full(problem.kinds, 1.0 / problem.kinds), START_CONCENTRATION
    )
    expected = start or expect(problem, rates)
    pooled = problem.start
    for done in range(1, rounds + 1):
        before = expected.probability
        pooled = _pooled(expected.counts + more, problem.start)
        theta = _shrunk(expected.counts + more, pooled, problem.shrinkage)
        rates = Rates(_kept(theta, fixed), _prior(problem, before), _concentration(problem, before))
        expected = expect(problem, rates)
        if np.max(np.abs(expected.probability - before), initial=0.0) < TOLERANCE:
            return SlotEstimate(expected, rates, pooled, done, True)
    return SlotEstimate(expected, rates, pooled, rounds, False)


def _concentration(problem: EstimationProblem, probability: FloatArray) -> float | None:
    if problem.spread is None:
        return None
    return problem.spread.concentration(problem.relations, probability)


def _pooled(counts: FloatArray, start: FloatArray) -> FloatArray:
    """Return the rates of all sources together, with the starting rates as one claim."""
    sums = counts.sum(axis=0) + start
    pooled: FloatArray = sums / sums.sum(axis=1, keepdims=True)
    return pooled


def _shrunk(counts: FloatArray, pooled: FloatArray, shrinkage: float) -> FloatArray:
    sums = counts + shrinkage * pooled
    shrunk: FloatArray = sums / sums.sum(axis=2, keepdims=True)
    return shrunk


def _prior(problem: EstimationProblem, probability: FloatArray) -> FloatArray:
    counts = np.bincount(problem.candidates.kind, probability, minlength=problem.kinds) + 1.0
    prior: FloatArray = counts / counts.sum()
    return prior


def _kept(theta: FloatArray, fixed: FloatArray | None) -> FloatArray:
    return theta if fixed is None else np.where(np.isnan(fixed), theta, fixed)

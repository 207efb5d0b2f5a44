"""Estimate the rates of sources by expectation maximisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """The claims: who, about which block of candidates, with which outcome if it is no relation.

    `density` is b; `flat` is what the claim's probability is where nothing is known, to which
    a claim of less than full `confidence` falls back.
    """

    source: IntArray
    block: IntArray
    outcome: IntArray
    density: FloatArray
    confidence: FloatArray
    flat: float

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What may be true: one candidate of every item is. `offset` is log P(k | its class)."""

    item: IntArray
    block: IntArray
    group: IntArray
    kind: IntArray
    offset: FloatArray

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """Claims that are not what they would be for any other candidate, with the factor a."""

    claim: IntArray
    candidate: IntArray
    outcome: IntArray
    factor: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One slot: sizes, what was said, what may be true, and the rates to start from.

    `kinds` is how many classes of candidates have a prior to be learned, `shrinkage` is the λ of
    learning, `mixed` is μ: 1 where a source that guesses may hit the truth by luck.
    """

    said: Said
    candidates: Candidates
    relations: Relations
    sources: int
    blocks: int
    items: int
    kinds: int
    start: FloatArray
    shrinkage: float
    mixed: float = 0.0

    @property
    def groups(self) -> int:
        return int(self.start.shape[0])

    @property
    def outcomes(self) -> int:
        return int(self.start.shape[1])


def no_relations() -> Relations:
    empty = np.zeros(0, dtype=np.int64)
    return Relations(empty, empty, empty, np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """θ[source, group, outcome] and the prior of every class of candidates."""

    theta: FloatArray
    prior: FloatArray


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


def expect(problem: Problem, rates: Rates) -> Expected:
    """The posterior of all items under the rates."""
    likely = likelihoods(problem, rates.theta)
    logs = _log_joint(problem, rates.prior, likely)
    probability, log_likelihood = _normalised(logs, problem.candidates.item, problem.items)
    return Expected(probability, _counts(problem, probability, likely), log_likelihood)


def soundness(problem: Problem, rates: Rates, probability: FloatArray) -> FloatArray:
    """Of every claim the probability that its source knew: it is true, if not the whole truth."""
    relations = problem.relations
    likely = likelihoods(problem, rates.theta)
    sound: FloatArray = np.bincount(
        relations.claim,
        probability[relations.candidate] * likely.related_share,
        minlength=len(problem.said),
    ).astype(np.float64)
    return sound


def likelihoods(problem: Problem, theta: FloatArray) -> Likelihoods:
    said, relations = problem.said, problem.relations
    spare = (1.0 - said.confidence) * said.flat
    sure = theta[said.source, :, said.outcome] * (said.density * said.confidence)[:, None]
    plain = sure + spare[:, None]
    group = problem.candidates.group[relations.candidate]
    claim = relations.claim
    rate = theta[said.source[claim], group, relations.outcome]
    known = rate * relations.factor * said.confidence[claim]
    guessed = problem.mixed * sure[claim, group]
    related = known + guessed + spare[claim]
    return Likelihoods(
        plain, _ratio(sure, plain), related, _ratio(known, related), _ratio(guessed, related)
    )


def _log_joint(problem: Problem, prior: FloatArray, likely: Likelihoods) -> FloatArray:
    """log P(k, claims); what has probability 0 is counted apart, so that nothing is ∞ − ∞."""
    candidates, relations = problem.candidates, problem.relations
    group, claim = candidates.group, relations.claim
    before = likely.plain[claim, group[relations.candidate]]
    logs, zeros = (
        _by_block(problem, part(likely.plain))
        + np.bincount(
            relations.candidate,
            part(likely.related) - part(before),
            minlength=len(candidates),
        )
        for part in (_log, _zero)
    )
    with np.errstate(divide="ignore"):
        logs += np.log(prior)[candidates.kind] + candidates.offset
    return np.where(zeros > 0.5, -np.inf, logs)


def _by_block(problem: Problem, each: FloatArray) -> FloatArray:
    """Sums over a block's claims, group by group, as its candidates see them."""
    said, candidates = problem.said, problem.candidates
    sums = [
        np.bincount(said.block, each[:, g], minlength=problem.blocks) for g in range(problem.groups)
    ]
    whole = np.stack(sums, axis=1).astype(np.float64)
    return whole[candidates.block, candidates.group]


def _normalised(logs: FloatArray, item: IntArray, items: int) -> tuple[FloatArray, float]:
    """Each item's candidates to 1; an item where nothing is possible comes out as all zeros."""
    top = np.full(items, -np.inf)
    np.maximum.at(top, item, logs)
    shift = np.where(np.isfinite(top), top, 0.0)
    weights = np.exp(logs - shift[item])
    totals = np.bincount(item, weights, minlength=items)
    log_likelihood = float(np.sum(np.log(totals[totals > 0])) + shift.sum())
    return weights / np.where(totals > 0, totals, 1.0)[item], log_likelihood


def _counts(problem: Problem, probability: FloatArray, likely: Likelihoods) -> FloatArray:
    """How often each source is expected to have done what, by group and outcome."""
    said, candidates, relations = problem.said, problem.candidates, problem.relations
    shape = (problem.sources, problem.groups, problem.outcomes)
    counts = np.zeros(int(np.prod(shape)))
    place = said.block * problem.groups
    mass = np.bincount(
        candidates.block * problem.groups + candidates.group,
        probability,
        minlength=problem.blocks * problem.groups,
    )
    group = candidates.group[relations.candidate]
    source, claim = said.source[relations.claim], relations.claim
    weight = probability[relations.candidate]
    for g in range(problem.groups):
        cell = np.ravel_multi_index((said.source, np.full(len(said), g), said.outcome), shape)
        counts += np.bincount(cell, mass[place + g] * likely.plain_share[:, g], len(counts))
    default = np.ravel_multi_index((source, group, said.outcome[claim]), shape)
    moved = likely.guessed_share - likely.plain_share[claim, group]
    counts += np.bincount(default, weight * moved, len(counts))
    cell = np.ravel_multi_index((source, group, relations.outcome), shape)
    counts += np.bincount(cell, weight * likely.related_share, len(counts))
    return np.maximum(counts, 0.0).reshape(shape)


def _log(values: FloatArray) -> FloatArray:
    return np.log(np.where(values > 0, values, 1.0))


def _zero(values: FloatArray) -> FloatArray:
    return (values <= 0).astype(np.float64)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return part / np.where(whole > 0, whole, 1.0)


ROUNDS = 200
CLOSE = 1e-4  # no probability moves by more


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What came out, by which rates, after how many rounds."""

    expected: Expected
    rates: Rates
    pooled: FloatArray
    rounds: int
    converged: bool


def learn(
    problem: Problem,
    given: FloatArray | None = None,
    rounds: int = ROUNDS,
) -> Learned:
    """Expectation and maximisation in turn; sources whose rates are `given` (not NaN) keep them."""
    theta = np.repeat(problem.start[None], problem.sources, axis=0)
    rates = Rates(_kept(theta, given), np.full(problem.kinds, 1.0 / problem.kinds))
    expected = expect(problem, rates)
    pooled = problem.start
    for done in range(1, rounds + 1):
        before = expected.probability
        pooled = _pooled(expected.counts, problem.start)
        theta = _shrunk(expected.counts, pooled, problem.shrinkage)
        rates = Rates(_kept(theta, given), _prior(problem, before))
        expected = expect(problem, rates)
        if np.max(np.abs(expected.probability - before), initial=0.0) < CLOSE:
            return Learned(expected, rates, pooled, done, True)
    return Learned(expected, rates, pooled, rounds, False)


def _pooled(counts: FloatArray, start: FloatArray) -> FloatArray:
    """All sources as one, with one claim's worth of the rates to start from."""
    sums = counts.sum(axis=0) + start
    pooled: FloatArray = sums / sums.sum(axis=1, keepdims=True)
    return pooled


def _shrunk(counts: FloatArray, pooled: FloatArray, shrinkage: float) -> FloatArray:
    sums = counts + shrinkage * pooled
    shrunk: FloatArray = sums / sums.sum(axis=2, keepdims=True)
    return shrunk


def _prior(problem: Problem, probability: FloatArray) -> FloatArray:
    counts = np.bincount(problem.candidates.kind, probability, minlength=problem.kinds) + 1.0
    prior: FloatArray = counts / counts.sum()
    return prior


def _kept(theta: FloatArray, given: FloatArray | None) -> FloatArray:
    return theta if given is None else np.where(np.isnan(given), theta, given)

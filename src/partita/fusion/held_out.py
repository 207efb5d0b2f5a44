"""Hold claims out, predict them from the others, and learn how far a posterior is to be believed.

No truths are needed. One claim of an object is held out, with the claims of sources that depend on
its source, and the rates are estimated again. If the posterior q of the other claims is right, the
held-out claim is predicted by q; if their agreement is not what it seems, it is predicted by q^τ
(errors are correlated) or by their shares (claims repeat other claims).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray, Pair
from partita.fusion.belief import HeldOutBin, HeldOutFit
from partita.fusion.dependence import dependent_claims
from partita.fusion.estimation import (
    EstimationProblem,
    Rates,
    SlotEstimate,
    estimate_rates,
    expect,
    likelihoods,
)
from partita.fusion.hierarchy import Order
from partita.fusion.kinds import Kind
from partita.fusion.open_slots import EXACT, GENERAL, GUESS, NamedValues, NestedPairs, ranges
from partita.fusion.value_reading import ClaimStatements

HELD_CLAIMS = 30_000  # claims of the objects from which claims are held out
MIN_HELD, MAX_HELD = 20, 8_000  # held-out claims that are predicted
FOLDS = 6  # claims held out of one object
MIN_CONFIDENCE = 0.5  # of a claim that is held out: it is predicted as if it were certain
ROUNDS = 30  # of the estimation without them
CORRELATIONS = np.array([0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2.0, 4.0])
SHARES = np.array([0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.85])
UNKNOWN_FACTORS = np.geomspace(1 / 16, 16, 13)
MIXTURE_ROUNDS = 12  # of expectation maximisation of the weights, from those of the cell before
BINS = 8
TAIL = 0.025
MEAN_RATE = 20.0  # claims by which the rate of a source is drawn to the mean
FEW_SHARE, FEW_OBJECTS = 0.24, 20.0  # weight of shares where rates are hardly known


@dataclass(frozen=True, slots=True)
class HeldOutPrior:
    """What is assumed before claims are held out; chosen leaving families out (docs/fusion.md).

    `default` is the probability that the default tempering is right; otherwise `correlation` and
    `share` are the means of exponential priors, and `plain` is the probability that shares have no
    weight. `weight` is the odds of doubt to repetition, which predict the same claims. `reliable`
    is the share of the held-out claims that is used: those of the most reliable sources, which are
    nearest to the truth. `spread` is the standard deviation of the logarithm of the factor on
    unknown.
    """

    default: float = 0.3
    correlation: float = 0.1
    share: float = 0.3
    plain: float = 0.0
    weight: float = 2.0
    reliable: float = 0.6
    spread: float = 2.0

    def of_kind(self, kind: Kind) -> HeldOutPrior:
        """Return the prior of a kind of slots.

        Shares have a weight in closed slots, which have few values, and rarely among numbers, but
        where objects are few they always have one: rates of sources are then hardly known. A
        claim far from all others is rarely a sign that nobody states a number.
        """
        if kind == "closed":
            return self
        if kind in ("number", "date"):
            return replace(self, plain=0.8, spread=self.spread / 3)
        return replace(self, plain=1.0)


UNTEMPERED = HeldOutPrior(default=1.0, spread=0.01)  # where groups say how sources err together


def agreement_shares(
    pairs: tuple[IntArray, IntArray, FloatArray], claims: FloatArray, order: Order
) -> FloatArray:
    """Return the share of the claims about an object that agree with each of its values.

    `pairs` are objects and values, sorted, with their probabilities; `claims` is the number of
    claims of each. A claim that is more general than other values is divided among them and itself
    as they are probable. Values that are impossible have no share.
    """
    objects, values, probability = pairs
    count = int(max(values.max(initial=0), len(order.heights) - 1)) + 1
    shares = claims * (probability > 0)
    if len(order.above) and len(values):
        nested = NestedPairs.of(NamedValues(objects, values, objects, objects), order, count)
        ways = np.maximum(order.heights[values], 1)
        below = (probability / ways)[nested.low]
        total = probability + np.bincount(nested.high, below, minlength=len(values))
        each = claims / np.where(total > 0, total, 1.0)
        shares = probability * each
        shares += np.bincount(nested.low, below * each[nested.high], minlength=len(values))
    sums = np.bincount(objects, shares)[objects] if len(objects) else shares
    return np.where(sums > 0, shares / np.where(sums > 0, sums, 1.0), probability)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutTask:
    """What is needed to hold claims of a slot out.

    `value` is the value of every candidate (negative: none), `stated` before values within a margin
    became one. `near` says that values are stated with errors. `more` are counts of claims that are
    not part of the problem. `apart` is the source of known truths, which is never held out.
    """

    statements: ClaimStatements
    order: Order
    problem: EstimationProblem
    value: IntArray
    stated: IntArray
    near: bool
    rates: Rates
    fixed: FloatArray
    more: FloatArray
    dependence: Mapping[Pair, float]
    shared_errors: Callable[[EstimationProblem], EstimationProblem]
    apart: str

    @property
    def closed(self) -> bool:
        """Whether every value is possible for every object."""
        return self.problem.groups == self.problem.outcomes


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """The pairs of an object and a value (−1: unknown) of a problem, sorted, and who has them.

    `of` is the pair of each candidate, `own` that of each claim; `agree` are claims, pairs that
    agree with them and how likely these make the claim, `named` says which pairs have a value.
    """

    object: IntArray
    value: IntArray
    of: IntArray
    own: IntArray
    agree: tuple[IntArray, IntArray, FloatArray]

    @property
    def named(self) -> BoolArray:
        return self.value >= 0

    @classmethod
    def of_task(cls, task: HeldOutTask) -> _Pairs:
        problem, statements = task.problem, task.statements
        item, count = problem.candidates.item, len(statements.values) + 1
        keys, pair = np.unique(item * count + np.maximum(task.value, -1) + 1, return_inverse=True)
        named = np.flatnonzero(task.stated >= 0)
        stated = item[named] * count + task.stated[named]
        order = np.argsort(stated, kind="stable")
        place = np.searchsorted(stated[order], statements.object * count + statements.value)
        own = pair[named[order[place]]]
        claims, relations = np.arange(len(statements)), problem.relations
        general = np.flatnonzero((relations.outcome == GENERAL) & (len(task.order.above) > 0))
        known = task.rates.theta.sum(axis=0)[0]
        rough = known[GENERAL] / known[EXACT] if len(general) else 0.0
        agree = (
            np.concatenate([claims, relations.claim[general]]),
            np.concatenate([own, pair[relations.candidate[general]]]),
            np.concatenate([np.ones(len(claims)), rough * relations.factor[general]]),
        )
        return cls(keys // count, keys % count - 1, pair, own, agree)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutClaims:
    """Held-out claims, and the values that other claims state about their objects.

    Row n is a value of the object of claim `owner[n]`: its probability without the claim, its share
    of the other claims, and how likely it makes the claim (0 or 1, unless values have errors).
    `unknown`, `evidence` (the number of other claims) and `outside` (how likely the claim is if the
    truth is unknown), `guess` and `elsewhere` (the same if it is a guess among the stated values,
    or elsewhere), `reliability` and numbers of its source and object are for every claim.
    """

    owner: IntArray
    probability: FloatArray
    share: FloatArray
    likelihood: FloatArray
    unknown: FloatArray
    evidence: FloatArray
    outside: FloatArray
    guess: FloatArray
    elsewhere: FloatArray
    reliability: FloatArray
    source: IntArray
    object: IntArray

    def __len__(self) -> int:
        return len(self.unknown)

    @classmethod
    def joined(cls, parts: Sequence[HeldOutClaims]) -> HeldOutClaims:
        """Return all claims of several parts."""
        columns = [[getattr(one, name) for one in parts] for name in cls.__slots__]
        starts = np.cumsum([0, *(len(one) for one in parts)])[:-1].tolist()
        owners = [owner + start for owner, start in zip(columns[0], starts, strict=True)]
        return cls(*(np.concatenate(column) for column in (owners, *columns[1:])))

    def tempered(self, correlation: float, factor: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """Return the probabilities of rows, and of unknown with a factor, raised to τ."""
        tau = exponents_of(self.evidence, correlation)
        return raised(self.owner, self.probability, self.unknown, tau, factor)

    def mixed(self, values: FloatArray, unknown: FloatArray, share: float) -> FloatArray:
        """Return the probabilities of rows, a part of them divided as the other claims are."""
        return (1.0 - share) * values + share * (1.0 - unknown)[self.owner] * self.share

    def first(self, stated: FloatArray) -> IntArray:
        """Return the row of the most probable value of every claim that has any."""
        order = np.lexsort((-stated, self.owner))
        best: IntArray = order[np.flatnonzero(np.diff(self.owner[order], prepend=-1))]
        return best

    def only(self, chosen: BoolArray) -> HeldOutClaims:
        """Return some of the claims."""
        rows = chosen[self.owner]
        kept = {name: rows if name in ("probability", "share", "likelihood") else chosen
                for name in self.__slots__[1:]}  # fmt: skip
        columns = {name: getattr(self, name)[some] for name, some in kept.items()}
        return HeldOutClaims((np.cumsum(chosen) - 1)[self.owner[rows]], **columns)


def exponents_of(evidence: FloatArray, correlation: float) -> FloatArray:
    """Return τ = 1 / (1 + ρ (n − 1)) for n claims."""
    tau: FloatArray = 1.0 / (1.0 + correlation * np.maximum(evidence - 1.0, 0.0))
    return tau


def raised(
    owner: IntArray, values: FloatArray, unknown: FloatArray, tau: FloatArray, factor: float
) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities of values and of unknown, raised to the τ of their objects."""
    values = values ** tau[owner]
    rest: FloatArray = factor * np.maximum(unknown, 0.0) ** tau
    total = np.bincount(owner, values, minlength=len(rest)) + rest
    total = np.where(total > 0, total, 1.0)
    return values / total[owner], rest / total


def hold_out(task: HeldOutTask) -> HeldOutClaims | None:
    """Hold claims out, some from every object with several, and compare them with the others.

    There are none if they would be too few to learn from.
    """
    held_out = list(_folds(task))
    if sum(len(held) for held, _ in held_out) < MIN_HELD:
        return None
    pairs = _Pairs.of_task(task)
    return HeldOutClaims.joined([_fold(task, pairs, held, out) for held, out in held_out])


def _folds(task: HeldOutTask) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield claims to hold out, at most one per object, and all that are left out with them."""
    statements = task.statements
    objects = len(statements.objects)
    known = np.array([source == task.apart for source in statements.sources])[statements.source]
    decided = np.bincount(statements.object[known], minlength=objects) > 0
    order = np.lexsort((np.random.default_rng(0).random(len(statements)), statements.object))
    count = np.bincount(statements.object, minlength=objects)
    rank = np.empty(len(statements), dtype=np.int64)
    starts = np.cumsum(count) - count
    rank[order] = np.arange(len(statements)) - starts[statements.object[order]]
    usable = (count[statements.object] > 1) & ~decided[statements.object]
    usable &= statements.confidence >= MIN_CONFIDENCE
    for fold in range(FOLDS):
        held = usable & (rank == fold)
        out = dependent_claims(statements, held, task.dependence)
        rest = np.bincount(statements.object[~out], minlength=objects) > 0
        yield np.flatnonzero(held & rest[statements.object]), out


def _fold(task: HeldOutTask, pairs: _Pairs, held: IntArray, out: BoolArray) -> HeldOutClaims:
    """Estimate without the claims of one fold, and compare them with the others."""
    estimate = _without(task, out)
    statements, named = task.statements, pairs.named
    probability = np.bincount(
        pairs.of, estimate.expected.probability, minlength=len(pairs.object)
    ).astype(np.float64)
    weight = np.where(out, 0.0, statements.confidence)
    claims = np.bincount(pairs.own, weight, minlength=len(pairs.object)).astype(np.float64)
    share = np.zeros(len(claims))
    columns = (pairs.object[named], pairs.value[named], probability[named])
    share[named] = agreement_shares(columns, claims[named], task.order)
    possible = named & ((claims > 0) | task.closed)
    object_ = statements.object[held]
    starts = np.searchsorted(pairs.object, np.arange(task.problem.items + 1))
    owner, pair = ranges(starts[object_], np.diff(starts)[object_])
    likelihood, outside = _agreement(task, pairs, held, (owner, pair), possible, estimate)
    rest = np.maximum(1.0 - np.bincount(owner, probability[pair] * possible[pair], len(held)), 0.0)
    kept = possible[pair]
    owner, pair, likelihood = owner[kept], pair[kept], likelihood[kept]
    stated = np.maximum(np.bincount(owner, minlength=len(held)), 1)
    agrees = np.bincount(owner, likelihood, len(held))
    evidence = np.bincount(
        statements.object, weight * task.problem.claims.weight, minlength=task.problem.items
    ).astype(np.float64)
    flat = task.problem.claims.flat
    return HeldOutClaims(
        owner,
        probability[pair],
        share[pair],
        likelihood,
        rest,
        evidence[object_],
        outside,
        np.full(len(held), flat) if task.near else agrees / stated,
        np.full(len(held), flat) if task.near else (agrees == 0).astype(np.float64),
        _reliability(task, estimate)[statements.source[held]],
        statements.source[held],
        object_,
    )


def _without(task: HeldOutTask, out: BoolArray) -> SlotEstimate:
    """Estimate the rates without some claims."""
    claims = task.problem.claims
    confidence, weight = (np.where(out, 0.0, one) for one in (claims.confidence, claims.weight))
    kept = replace(claims, confidence=confidence, weight=weight)
    problem = task.shared_errors(replace(task.problem, claims=kept))
    start = expect(problem, task.rates)
    return estimate_rates(problem, task.fixed, ROUNDS, start, task.more)


def _agreement(
    task: HeldOutTask,
    pairs: _Pairs,
    held: IntArray,
    rows: tuple[IntArray, IntArray],
    possible: BoolArray,
    estimate: SlotEstimate,
) -> tuple[FloatArray, FloatArray]:
    """Return how likely each row's value makes its claim, and how likely unknown makes it."""
    owner, pair = rows
    count = len(pairs.object)
    if task.near:
        return _near(task, pairs, held, rows, possible, estimate)
    number = np.full(len(task.statements), -1)
    number[held] = np.arange(len(held))
    claim, agreeing, likely = pairs.agree
    chosen = number[claim] >= 0
    place = np.searchsorted(owner * count + pair, number[claim[chosen]] * count + agreeing[chosen])
    agrees = np.bincount(place, likely[chosen], len(owner)) * possible[pair]
    inside = np.bincount(owner, agrees, len(held)) > 0
    return agrees.astype(np.float64), (~inside).astype(np.float64)


def _near(
    task: HeldOutTask,
    pairs: _Pairs,
    held: IntArray,
    rows: tuple[IntArray, IntArray],
    possible: BoolArray,
    estimate: SlotEstimate,
) -> tuple[FloatArray, FloatArray]:
    """Return P(claim | value) where values are stated with errors, by the rates without it."""
    owner, pair = rows
    problem, count = task.problem, len(pairs.object)
    certain = replace(problem.claims, confidence=np.ones(len(problem.claims)))
    likely = likelihoods(replace(problem, claims=certain), estimate.rates.theta)
    weight = np.maximum(estimate.expected.probability, 1e-300)
    total = np.bincount(pairs.of, weight, minlength=count)
    relations = problem.relations
    number = np.full(len(task.statements), -1)
    number[held] = np.arange(len(held))
    chosen = number[relations.claim] >= 0
    candidate, claim = relations.candidate[chosen], relations.claim[chosen]
    excess = (likely.related[chosen] - likely.plain[claim, 0]) * weight[candidate]
    keys = owner * count + pair
    place = np.searchsorted(keys, number[claim] * count + pairs.of[candidate])
    likelihood = likely.plain[held[owner], 0] + np.bincount(place, excess, len(keys)) / total[pair]
    mass = total[pair] * ~possible[pair]
    rest = np.bincount(owner, mass, len(held))
    outside = np.bincount(owner, mass * likelihood, len(held)) / np.maximum(rest, 1e-300)
    return likelihood, outside


def _reliability(task: HeldOutTask, estimate: SlotEstimate) -> FloatArray:
    """Return the reliability of every source by the rates."""
    theta = estimate.rates.theta
    if not task.closed:
        reliability: FloatArray = 1.0 - theta[:, 0, GUESS]
        return reliability
    diagonal: FloatArray = np.diagonal(theta, axis1=1, axis2=2) @ estimate.rates.prior
    return diagonal


def fit_held_out(
    claims: HeldOutClaims | None,
    default: float,
    prior: HeldOutPrior | None = None,
    logs: FloatArray | None = None,
) -> HeldOutFit:
    """Return the correlation, the weight of shares and of unknown that predict held-out claims.

    `default` is the correlation of the default tempering. `logs` are the log likelihoods of the
    claims of the most reliable sources, if they are known.
    """
    assumed = prior or HeldOutPrior()
    posterior, used = _prior(default, assumed), None
    if claims is not None:
        used = most_reliable(claims, assumed.reliable)
        logs = log_likelihoods(used) if logs is None else logs
        posterior = np.exp(logs - logs.max()) * posterior
        posterior /= posterior.sum()
    below = np.cumsum(posterior.sum(axis=1))
    low, high = (CORRELATIONS[int(np.searchsorted(below, t))] for t in (TAIL, 1 - TAIL - 1e-9))
    correlation = float(posterior.sum(axis=1) @ CORRELATIONS)
    by_share = posterior.sum(axis=0)
    share = float(by_share @ (SHARES / (SHARES + (1.0 - SHARES) / assumed.weight)))
    if assumed.plain:
        objects = 0 if used is None else len(np.unique(used.object))
        share = max(share, FEW_SHARE / (1.0 + (objects / FEW_OBJECTS) ** 2))
    if used is None:
        return HeldOutFit(0, correlation, (float(low), float(high)), share, ())
    unknown = _unknown_factor(used, correlation, float(by_share @ SHARES), assumed.spread)
    bins = tuple(_bins(used, correlation, share, unknown))
    return HeldOutFit(len(used), correlation, (float(low), float(high)), share, bins, unknown)


def _unknown_factor(
    claims: HeldOutClaims, correlation: float, share: float, spread: float
) -> float:
    """Return the factor on unknown: do as many claims lie outside the others' as it says?"""
    if not claims.unknown.any():
        return 1.0
    prediction, logs = _Prediction.of(claims), np.zeros(len(UNKNOWN_FACTORS))
    for n, factor in enumerate(UNKNOWN_FACTORS.tolist()):
        logs[n] = prediction.log_likelihood(*claims.tempered(correlation, factor), share)
    steps = np.log(UNKNOWN_FACTORS)
    score = logs - logs.max() - (steps / spread) ** 2 / 2
    posterior = np.exp(score - score.max())
    return float(np.exp(posterior @ steps / posterior.sum()))


def most_reliable(claims: HeldOutClaims, share: float) -> HeldOutClaims:
    """Return the share of the claims whose sources are the most reliable, at most MAX_HELD."""
    chosen = claims.reliability >= np.quantile(claims.reliability, 1.0 - share)
    numbers = np.flatnonzero(chosen)
    if len(numbers) > MAX_HELD:
        chosen[np.random.default_rng(0).permutation(numbers)[MAX_HELD:]] = False
    return claims.only(chosen)


def _prior(default: float, assumed: HeldOutPrior) -> FloatArray:
    """Return the prior of correlations and shares: the default without shares, or anything."""
    width = np.gradient(CORRELATIONS + CORRELATIONS[1])
    first = np.exp(-CORRELATIONS / assumed.correlation) * width
    second = np.exp(-SHARES / assumed.share) * np.gradient(SHARES)
    second = (1.0 - assumed.plain) * second / second.sum()
    second[0] += assumed.plain
    prior = np.outer(first / first.sum(), second) * (1.0 - assumed.default)
    above = min(max(int(np.searchsorted(CORRELATIONS, default)), 1), len(CORRELATIONS) - 1)
    step = CORRELATIONS[above] - CORRELATIONS[above - 1]
    part = min(max((default - CORRELATIONS[above - 1]) / step, 0.0), 1.0)
    prior[above - 1, 0] += assumed.default * (1.0 - part)
    prior[above, 0] += assumed.default * part
    return prior


def log_likelihoods(claims: HeldOutClaims) -> FloatArray:
    """Return log P(held-out claims) for every correlation and share.

    Claims about one object are not independent evidence, so that they count as one.
    """
    logs, prediction = np.zeros((len(CORRELATIONS), len(SHARES))), _Prediction.of(claims)
    for n, correlation in enumerate(CORRELATIONS.tolist()):
        values, unknown = claims.tempered(correlation)
        for m, share in enumerate(SHARES.tolist()):
            logs[n, m] = prediction.log_likelihood(values, unknown, share)
    return logs


@dataclass(slots=True, eq=False)
class _Prediction:
    """How held-out claims are predicted: source s knows the truth at a rate, or is wrong.

    What it knows is a mixture of the posterior and the shares of the other claims. A wrong claim is
    a guess among the stated values, or another value, or repeats a wrong claim, as sources do that
    are out of date alike: then agreement with the best value does not rise with its share. `rate`
    is for every source, `slips` are the weights of the three.
    """

    claims: HeldOutClaims
    copied: FloatArray
    count: FloatArray
    objects: int
    rate: FloatArray
    slips: FloatArray

    @classmethod
    def of(cls, claims: HeldOutClaims) -> _Prediction:
        copied = np.bincount(claims.owner, claims.share * claims.likelihood, len(claims))
        count = np.bincount(claims.source).astype(np.float64)
        rate, slips = np.full(len(count), 0.8), np.full(3, 1 / 3)
        objects = len(np.unique(claims.object))
        return cls(claims, copied.astype(np.float64), count, objects, rate, slips)

    def log_likelihood(self, values: FloatArray, unknown: FloatArray, share: float) -> float:
        """Return log P(claims), per claim of an object, with the most likely rates and weights.

        The rates are drawn to their mean, and begin from those that were found before.
        """
        claims, (known, repeated) = self.claims, self._known(values, unknown, share)
        ways = np.stack([claims.guess, claims.elsewhere, repeated], axis=1)
        self.slips, self.rate = 0.97 * self.slips + 0.01, 0.97 * self.rate + 0.02
        for _ in range(MIXTURE_ROUNDS):
            rate = self.rate[claims.source]
            knows = rate * known
            total = np.maximum(knows + (1.0 - rate) * (ways @ self.slips), 1e-300)
            slips = self.slips * (((1.0 - rate) / total) @ ways) + 1e-3
            self.slips = slips / slips.sum()
            right = np.bincount(claims.source, knows / total)
            mean = right.sum() / self.count.sum()
            self.rate = (right + MEAN_RATE * mean) / (self.count + MEAN_RATE)
        rate = self.rate[claims.source]
        likely = rate * known + (1.0 - rate) * (ways @ self.slips)
        return float(np.log(np.maximum(likely, 1e-300)).sum()) * self.objects / len(claims)

    def _known(
        self, values: FloatArray, unknown: FloatArray, share: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return P(claim) if its source knows the truth, and if it repeats a wrong claim."""
        claims, owner, count = self.claims, self.claims.owner, len(self.claims)
        known = np.bincount(owner, values * claims.likelihood, count) + unknown * claims.outside
        mixed = claims.mixed(values, unknown, share)
        others = 1.0 - claims.share  # of the other claims: they are wrong if this value is true
        each = np.where(others > 1e-9, mixed / np.maximum(others, 1e-9), 0.0)
        wrong = np.bincount(owner, each, count) + unknown
        chance = claims.share * (wrong[owner] - each)
        repeated = np.bincount(owner, chance * claims.likelihood, count)
        return (1.0 - share) * known + share * self.copied, repeated.astype(np.float64)


def _bins(
    claims: HeldOutClaims, correlation: float, share: float, factor: float
) -> Iterator[HeldOutBin]:
    """Yield what is stated of the best value of the others, and how often the claim agrees."""
    values, unknown = claims.tempered(correlation, factor)
    stated = claims.mixed(values, unknown, share)
    first = claims.first(stated)
    agreed = claims.likelihood[first] / np.maximum(claims.likelihood.max(), 1e-300)
    for part in np.array_split(first[np.argsort(stated[first], kind="stable")], BINS):
        if len(part):
            rows = np.isin(first, part)
            yield HeldOutBin(len(part), float(stated[part].mean()), float(agreed[rows].mean()))

"""Temper fused probabilities: sources that err together count as fewer than they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray
from partita.fusion.belief import SlotBelief, Tempering
from partita.fusion.dependence import claim_weights
from partita.fusion.held_out import agreement_shares, exponents_of
from partita.pairs.models import probability

SHARE = 0.5  # of the rate at which wrong claims agree; chosen by benchmarks/bench_fusion.py
CLOSED_CORRELATION = 0.1  # of closed slots and sets, where agreement of wrong claims tells little
CORRELATIONS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5)
SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7)
UNKNOWN_FACTORS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
FOLDS = 5
PRIOR_WEIGHT = 2.0  # of the default, against the log likelihood of the truths
STANDARD_ERRORS = 1.0  # by which a fit must be better than the default on held-out truths
MIN_PROBABILITY = 1e-6
MIN_SLOPE = 0.05
MIN_TRUTHS = 50  # for a level and slope of the log odds
NEWTON_STEPS = 20


def default_correlation(concentration: float | None) -> float:
    """Return the correlation of errors that the agreement of wrong claims suggests."""
    return CLOSED_CORRELATION if concentration is None else SHARE / (1.0 + concentration)


def temper(belief: SlotBelief) -> SlotBelief:
    """Return the belief with tempered probabilities, the most probable value first."""
    values, unknown = tempered(belief)
    order = np.lexsort((np.arange(len(values)), -values, belief.object))
    inside = None if belief.inside is None else belief.inside[order]
    exponent = exponents(belief)
    temper = float(exponent.mean()) if len(exponent) else 1.0
    return replace(
        belief, value=belief.value[order], probability=values[order], unknown=unknown,
        inside=inside, temper=temper,
    )  # fmt: skip


def tempered(belief: SlotBelief) -> tuple[FloatArray, FloatArray]:
    """Return P(values) and P(unknown), raised to τ = 1 / (1 + ρ (n − 1)) for n claims.

    The probability of stated values is then divided partly as the claims are. What is impossible
    stays impossible. In a closed slot sources have confusion matrices, so that a claim may speak
    for another value than its own: shares do not change the order of values there.
    """
    tempering = belief.parameters.tempering
    exponent = exponents(belief)
    each = exponent[belief.object]
    values = belief.probability**each
    if tempering.evidence:
        values = values * belief.parameters.prior[belief.value] ** (1.0 - each)
    unknown = tempering.unknown * np.maximum(belief.unknown, 0.0) ** exponent
    total = np.bincount(belief.object, values, minlength=len(unknown)) + unknown
    values, unknown = values / total[belief.object], unknown / total
    if tempering.share:
        stated = (1.0 - unknown)[belief.object] * claim_shares(belief)
        mixed = (1.0 - tempering.share) * values + tempering.share * stated
        values = _in_order(mixed, values, belief) if belief.parsed.kind == "closed" else mixed
    if (tempering.level, tempering.slope) == (0.0, 1.0):
        return values, unknown
    return _recalibrated(belief, values, unknown)


def _recalibrated(
    belief: SlotBelief, values: FloatArray, unknown: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Change the log odds of the best values; the others share the rest as before, none overtakes.

    What is certain stays.
    """
    tempering = belief.parameters.tempering
    objects = np.flatnonzero(np.diff(belief.starts) > 0)
    order = np.lexsort((-values, belief.object))
    best = order[belief.starts[objects]]
    first = values[best]
    last = belief.starts[objects + 1] - 1
    second = values[order[np.minimum(belief.starts[objects] + 1, last)]]
    odds = np.where(last > belief.starts[objects], second, 0.0) / np.maximum(1.0 - first, 1e-12)
    changed = probability(tempering.level + tempering.slope * _log_odds(first))
    changed = np.where(first < 1.0, np.maximum(changed, odds / (1.0 + odds)), 1.0)
    rest = np.ones(len(unknown))
    rest[objects] = (1.0 - changed) / np.maximum(1.0 - first, 1e-12)
    values = values * rest[belief.object]
    values[best] = changed
    return values, unknown * rest


def _log_odds(values: FloatArray) -> FloatArray:
    inside = np.clip(values, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
    logs: FloatArray = np.log(inside) - np.log1p(-inside)
    return logs


def _in_order(mixed: FloatArray, before: FloatArray, belief: SlotBelief) -> FloatArray:
    """Return mixed probabilities; those of an object that contradict the order get their mean."""
    order = np.lexsort((-before, belief.object))
    pooled = mixed[order]
    rising = np.flatnonzero((np.diff(pooled) > 0) & (np.diff(belief.object[order]) == 0))
    for n in np.unique(belief.object[order][rising]).tolist():
        rows = slice(belief.starts[n], belief.starts[n + 1])
        pooled[rows] = _falling(pooled[rows].tolist())
    values = np.empty_like(pooled)
    values[order] = pooled
    return values


def _falling(values: Sequence[float]) -> list[float]:
    """Return the nearest values that do not increase, by pooling neighbours."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (a, n), (b, m) = pools.pop(-2), pools.pop()
            pools.append(((a * n + b * m) / (n + m), n + m))
    return [value for value, count in pools for _ in range(count)]


def claim_shares(belief: SlotBelief) -> FloatArray:
    """Return the share of the claims about an object that agree with each value, by pair."""
    statements, count = belief.parsed.statements, len(belief.parsed.statements.values)
    order = np.lexsort((belief.value, belief.object))
    objects, values = belief.object[order], belief.value[order]
    place = np.searchsorted(objects * count + values, statements.object * count + statements.value)
    claims = np.bincount(place, _weights(belief), minlength=len(order)).astype(np.float64)
    shares = np.empty(len(order))
    columns = (objects, values, belief.probability[order])
    shares[order] = agreement_shares(columns, claims, belief.parsed.order)
    return shares


def _weights(belief: SlotBelief) -> FloatArray:
    """Return the weight of every claim: its confidence times a reliability that the user set."""
    statements = belief.parsed.statements
    given = {one.source: one.reliability for one in belief.trust if one.given}
    known = np.array([given.get(source, 1.0) for source in statements.sources])
    weights: FloatArray = known[statements.source] * statements.confidence
    return weights


def _evidence(belief: SlotBelief) -> FloatArray:
    """Return the number of claims about every object; those of dependent sources count less."""
    statements = belief.parsed.statements
    weights = claim_weights(statements, belief.parameters.dependence) * _weights(belief)
    claims = np.bincount(statements.object, weights, minlength=len(statements.objects))
    return claims.astype(np.float64)


def exponents(belief: SlotBelief) -> FloatArray:
    """Return τ of every object of a belief."""
    return exponents_of(_evidence(belief), belief.parameters.tempering.correlation)


def effective_claims(belief: SlotBelief) -> tuple[float, float, tuple[float, float] | None]:
    """Return the mean number of claims about an object, and like how many independent ones it is.

    The interval is that of the correlation; there is none if known truths gave the correlation.
    """
    statements, tempering = belief.parsed.statements, belief.parameters.tempering
    evidence = _evidence(belief)
    count = len(statements) / max(len(statements.objects), 1)

    def effective(correlation: float) -> float:
        return float((evidence * exponents_of(evidence, correlation)).mean())

    fit = belief.held_out
    if fit is None or tempering.fitted:
        return count, effective(tempering.correlation), None
    low, high = fit.interval
    return count, effective(fit.correlation), (effective(high), effective(low))


def fit_tempering(belief: SlotBelief, truths: dict[int, int], default: Tempering) -> Tempering:
    """Fit the tempering to true values by likelihood, as far as cross-validation supports it.

    `truths` are values by object, both as numbers; `belief` was computed without them. A value that
    no source states counts as unknown.
    """
    if len(truths) < FOLDS:
        return default
    known = _KnownTruths.of(belief, truths)
    plain = [replace(default, correlation=rho) for rho in CORRELATIONS]
    families = [plain, [replace(one, share=share) for one in plain for share in SHARES]]
    if belief.parsed.kind == "closed":
        families.append([Tempering(rho, evidence=True) for rho in CORRELATIONS])
    else:
        factors = [(rho, factor) for rho in CORRELATIONS for factor in UNKNOWN_FACTORS]
        families += [
            [Tempering(rho, share, factor) for rho, factor in factors]
            for share in {0.0, default.share}
        ]
    before = known.scores(default)
    best, most = [default], 0.0
    for family in families:
        gain = _held_out(family, known, default) - before
        if gain.sum() > max(most, STANDARD_ERRORS * np.sqrt(len(gain)) * gain.std()):
            best, most = family, float(gain.sum())
    fitted = replace(_best(best, known, default, before <= 0), fitted=len(truths))
    return _with_odds(belief, truths, fitted)


def _with_odds(belief: SlotBelief, truths: dict[int, int], tempering: Tempering) -> Tempering:
    """Return the tempering with a level and slope of log odds, if held-out truths support them.

    There are none in a closed slot: truths change its confusion matrices, and with them the odds.
    """
    if len(truths) < MIN_TRUTHS or belief.parsed.kind == "closed":
        return tempering
    objects = np.array(sorted(truths))
    parameters = replace(belief.parameters, tempering=tempering)
    values, _ = tempered(replace(belief, parameters=parameters))
    best = np.lexsort((-values, belief.object))[belief.starts[objects]]
    right = belief.value[best] == np.array([truths[n] for n in objects.tolist()])
    odds, folds, gain = _log_odds(values[best]), np.arange(len(best)) % FOLDS, np.zeros(len(best))
    for fold in range(FOLDS):
        level, slope = _logistic(odds[folds != fold], right[folds != fold])
        here = folds == fold
        sign = np.where(right[here], 1.0, -1.0)
        gain[here] = np.logaddexp(0.0, -sign * odds[here])
        gain[here] -= np.logaddexp(0.0, -sign * (level + slope * odds[here]))
    if gain.sum() <= STANDARD_ERRORS * np.sqrt(len(gain)) * gain.std():
        return tempering
    level, slope = _logistic(odds, right)
    return replace(tempering, level=level, slope=slope)


def _logistic(odds: FloatArray, right: BoolArray) -> tuple[float, float]:
    """Return level and slope by Newton's method, with a normal prior around 0 and 1."""
    columns, start = np.stack([np.ones(len(odds)), odds], axis=1), np.array([0.0, 1.0])
    found = start.copy()
    for _ in range(NEWTON_STEPS):
        stated = probability(columns @ found)
        curvature = (columns * (stated * (1.0 - stated))[:, None]).T @ columns + np.eye(2)
        found += np.linalg.solve(curvature, columns.T @ (right - stated) - (found - start))
        found[1] = max(found[1], MIN_SLOPE)
    return float(found[0]), float(found[1])


def _held_out(family: Sequence[Tempering], known: _KnownTruths, default: Tempering) -> FloatArray:
    """Return the log probability of every truth, fitted to the truths of the other folds."""
    folds = np.arange(len(known.truth)) % FOLDS
    table = np.stack([known.scores(one) for one in family])
    penalty = PRIOR_WEIGHT * np.array([_distance(one, default) for one in family])
    scores = np.zeros(len(folds))
    for fold in range(FOLDS):
        best = int(np.argmax(table[:, folds != fold].sum(axis=1) - penalty))
        scores[folds == fold] = table[best, folds == fold]
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class _KnownTruths:
    """Objects whose truth is known: probabilities, priors and shares of their values.

    Row n is a value of object `owner[n]`; `truth` is the row of the true value of an object, -1 if
    it is unknown.
    """

    owner: IntArray
    probability: FloatArray
    prior: FloatArray
    share: FloatArray
    unknown: FloatArray
    truth: IntArray
    evidence: FloatArray

    @classmethod
    def of(cls, belief: SlotBelief, truths: dict[int, int]) -> _KnownTruths:
        """Return the truths; a value that no source states is part of unknown."""
        statements, objects = belief.parsed.statements, np.array(sorted(truths))
        count = len(statements.values)
        closed = belief.parsed.kind == "closed"
        keys = belief.object * count + belief.value
        stated = np.isin(keys, statements.object * count + statements.value) | closed
        rows = np.flatnonzero(stated & np.isin(belief.object, objects))
        owner = np.searchsorted(objects, belief.object[rows])
        probability = belief.probability[rows]
        sums = np.bincount(owner, probability, minlength=len(objects))
        true = np.array([n * count + truths[n] for n in objects.tolist()])
        place = {key: n for n, key in enumerate(keys[rows].tolist())}
        prior = belief.parameters.prior[belief.value[rows]] if closed else np.ones(len(rows))
        return cls(
            owner,
            probability,
            prior,
            claim_shares(belief)[rows],
            np.maximum(1.0 - sums, 0.0),
            np.array([place.get(key, -1) for key in true.tolist()]),
            _evidence(belief)[objects],
        )

    def scores(self, tempering: Tempering) -> FloatArray:
        """Return the log probability of every truth."""
        exponents = exponents_of(self.evidence, tempering.correlation)
        each = exponents[self.owner]
        values = self.probability**each
        if tempering.evidence:
            values = values * self.prior ** (1.0 - each)
        unknown = tempering.unknown * self.unknown**exponents
        total = np.bincount(self.owner, values, minlength=len(unknown)) + unknown
        values, unknown = values / total[self.owner], unknown / total
        stated = (1.0 - unknown)[self.owner] * self.share
        values = (1.0 - tempering.share) * values + tempering.share * stated
        true = np.where(self.truth >= 0, np.append(values, 0.0)[self.truth], unknown)
        logs: FloatArray = np.log(np.maximum(true, MIN_PROBABILITY))
        return logs


def _best(
    family: Sequence[Tempering], known: _KnownTruths, default: Tempering, chosen: BoolArray
) -> Tempering:
    return max(
        family,
        key=lambda one: (
            float(known.scores(one)[chosen].sum()) - PRIOR_WEIGHT * _distance(one, default)
        ),
    )


def _distance(one: Tempering, default: Tempering) -> float:
    """Return how far a tempering is from the default, in steps that are about equally likely."""
    steps = (
        np.log((one.correlation + 0.05) / (default.correlation + 0.05)),
        np.log(one.unknown / default.unknown),
        (one.share - default.share) / 0.4,
    )
    return float(sum(step**2 for step in steps)) / 2

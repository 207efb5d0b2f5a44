"""Temper fused probabilities: sources that err together count as fewer than they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from partita.core import BoolArray, FloatArray
from partita.fusion.belief import SlotBelief, Tempering
from partita.fusion.dependence import claim_weights
from partita.fusion.held_out import (
    CORRELATIONS,
    SHARES,
    UNKNOWN_FACTORS,
    HeldOutClaims,
    agreement_shares,
    exponents_of,
    raised,
)
from partita.pairs.models import probability

SHARE = 0.5  # of the rate at which wrong claims agree; chosen by benchmarks/bench_fusion.py
CLOSED_CORRELATION = 0.1  # of closed slots and sets, where agreement of wrong claims tells little
DOUBT = 0.05  # a correlation that is little beside it hardly matters
MIN_PROBABILITY = 1e-6
MIN_SLOPE = 0.05
CERTAIN = 1e-9  # what is left of a best value that is not changed
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
    values, unknown = raised(
        belief.object, belief.probability, belief.unknown, exponents(belief), tempering.unknown
    )
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
    left = 1.0 - first
    sure = left < CERTAIN
    odds = np.where(last > belief.starts[objects], second, 0.0) / np.where(sure, 1.0, left)
    changed = probability(tempering.level + tempering.slope * _log_odds(first))
    changed = np.where(sure, first, np.maximum(changed, odds / (1.0 + odds)))
    rest = np.ones(len(unknown))
    rest[objects] = np.where(sure, 1.0, (1.0 - changed) / np.where(sure, 1.0, left))
    values = values * rest[belief.object]
    values[best] = changed
    return values, unknown * rest


def _log_odds(values: FloatArray) -> FloatArray:
    inside = np.clip(values, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
    logs: FloatArray = np.log(inside) - np.log1p(-inside)
    return logs


def _in_order(mixed: FloatArray, before: FloatArray, belief: SlotBelief) -> FloatArray:
    """Return mixed probabilities; those of an object that contradict the order get their mean."""
    from scipy.optimize import isotonic_regression

    order = np.lexsort((-before, belief.object))
    pooled = mixed[order]
    rising = np.flatnonzero((np.diff(pooled) > 0) & (np.diff(belief.object[order]) == 0))
    for n in np.unique(belief.object[order][rising]).tolist():
        rows = slice(belief.starts[n], belief.starts[n + 1])
        pooled[rows] = isotonic_regression(pooled[rows], increasing=False).x
    values = np.empty_like(pooled)
    values[order] = pooled
    return values


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


def fit_tempering(
    known: Sequence[tuple[SlotBelief, dict[int, int]]], default: Tempering
) -> Tempering:
    """Fit the tempering to true values: the mean of all, weighted by prior and likelihood.

    `known` are true values by object, both as numbers, each with a belief that was computed without
    them. A value that no source states counts as unknown. The default is as probable as all others.
    """
    truths = HeldOutClaims.joined([_known_truths(*one) for one in known])
    if not len(truths):
        return default
    closed = known[0][0].parsed.kind == "closed"
    factors = [1.0] if closed else default.unknown * UNKNOWN_FACTORS
    cells = [*product(CORRELATIONS, SHARES, factors),
             (default.correlation, default.share, default.unknown)]  # fmt: skip
    scores = np.array([_score(truths, Tempering(*cell)) for cell in cells])
    scores[-1] += np.log(len(cells) - 1)
    weights = np.exp(scores - scores.max())
    logs = np.array(cells) + np.array([DOUBT, 0.0, 0.0])
    logs[:, [0, 2]] = np.log(logs[:, [0, 2]])
    correlation, share, unknown = (weights @ logs / weights.sum()).tolist()
    correlation, unknown = max(float(np.exp(correlation)) - DOUBT, 0.0), float(np.exp(unknown))
    stated = truths.mixed(*truths.tempered(correlation, unknown), share)
    best = truths.first(stated)
    level, slope = _calibrating_line(stated[best], truths.likelihood[best] > 0)
    return Tempering(correlation, share, unknown, len(truths), level, slope)


def _calibrating_line(stated: FloatArray, right: BoolArray) -> tuple[float, float]:
    """Return a level and slope of the log odds of the best values.

    They have a standard normal prior around 0 and 1, and count with the probability that there is
    such a line, which was as likely as none before the truths were seen.
    """
    columns = np.stack([np.ones(len(stated)), _log_odds(stated)], axis=1)
    signs, plain = np.where(right, 1.0, -1.0), np.array([0.0, 1.0])
    line = plain.copy()
    for _ in range(NEWTON_STEPS):
        likely = probability(columns @ line)
        curvature = (columns * (likely * (1.0 - likely))[:, None]).T @ columns + np.eye(2)
        line += np.linalg.solve(curvature, columns.T @ (right - likely) - (line - plain))
        line[1] = max(line[1], MIN_SLOPE)
    losses = [float(np.logaddexp(0.0, -signs * (columns @ one)).sum()) for one in (plain, line)]
    evidence = losses[0] - losses[1] - float(((line - plain) ** 2).sum()) / 2
    evidence -= float(np.linalg.slogdet(curvature)[1]) / 2
    line = plain + float(probability(np.array(evidence))) * (line - plain)
    return float(line[0]), float(line[1])


def _known_truths(belief: SlotBelief, truths: dict[int, int]) -> HeldOutClaims:
    """Return known truths as held-out claims; one that no source states is that of unknown."""
    statements, objects = belief.parsed.statements, np.array(sorted(truths), dtype=np.int64)
    count, nothing = len(statements.values), np.zeros(len(objects))
    keys = belief.object * count + belief.value
    stated = np.isin(keys, statements.object * count + statements.value)
    stated |= belief.parsed.kind == "closed"
    rows = np.flatnonzero(stated & np.isin(belief.object, objects))
    owner = np.searchsorted(objects, belief.object[rows])
    probability = belief.probability[rows]
    true = np.array([n * count + truths[n] for n in objects.tolist()], dtype=np.int64)
    right = (keys[rows] == true[owner]).astype(np.float64)
    sums = np.bincount(owner, probability, len(objects))
    unstated = nothing + ~np.isin(true, keys[rows])
    return HeldOutClaims(
        owner,
        probability,
        claim_shares(belief)[rows],
        right,
        np.maximum(1.0 - sums, 0.0),
        _evidence(belief)[objects],
        unstated,
        guess=nothing,
        elsewhere=nothing,
        reliability=nothing + 1.0,
        source=0 * objects,
        object=objects,
    )


def _score(truths: HeldOutClaims, tempering: Tempering) -> float:
    """Return the log probability of known truths at a tempering."""
    values, unknown = truths.tempered(tempering.correlation, tempering.unknown)
    stated = truths.mixed(values, unknown, tempering.share) * truths.likelihood
    likely = np.bincount(truths.owner, stated, len(truths)) + unknown * truths.outside
    return float(np.log(np.maximum(likely, MIN_PROBABILITY)).sum())

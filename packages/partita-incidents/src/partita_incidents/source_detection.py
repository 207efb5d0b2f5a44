"""The probability of facts that sources report or omit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray

SPREADS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
NODES = 9  # quadrature nodes for z
ROUNDS = 200
TOLERANCE = 1e-4
STEPS = 3  # Newton steps per round
SHRINKAGE = 1.0  # towards the mean of all sources, in claims
MIN_PROBABILITY = 1e-9  # clip probabilities to this distance from 0 and 1
MAX_LOG_ODDS = -np.log(MIN_PROBABILITY)
HALVINGS = 60
HIT_LOGIT, FALSE_LOGIT = 0.5, -1.5  # starting logits: true facts are reported more often


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """P(the fact holds) for each fact, the logits α and β by source, the share that holds, σ."""

    probability: FloatArray
    hit_logits: FloatArray
    false_logits: FloatArray
    share: float
    spread: float
    likelihood: float


def detect(
    reported: FloatArray, eligible: FloatArray, weights: FloatArray | None = None
) -> Detection:
    """Estimate which facts hold from which sources report them.

    `reported` and `eligible` are matrices of facts × sources: 1 where the source reports the fact,
    and 1 where it had reason to. `weights` is the weight of each source.
    """
    fits = [fit(reported, eligible, spread) for spread in SPREADS]
    best = max(fits, key=lambda fit: fit.likelihood)
    if weights is None:
        return best
    return fit(reported * weights, eligible * weights, best.spread)


def fit(reported: FloatArray, eligible: FloatArray, spread: float) -> Detection:
    """Fit by expectation maximisation for a fixed σ."""
    logits = np.array([[HIT_LOGIT], [FALSE_LOGIT]]) + np.zeros((2, reported.shape[1]))
    prior, before = 0.5, -np.inf
    for _ in range(ROUNDS):
        weight, likelihood = _expectation(reported, eligible, logits, prior, spread)
        if likelihood - before < TOLERANCE:
            break
        before = likelihood
        prior = float((weight[0].sum() + 1) / (len(reported) + 2))
        logits = _maximisation(reported, eligible, weight, logits, spread)
    return Detection(weight[0].sum(axis=1), logits[0], logits[1], prior, spread, likelihood)


@cache
def _nodes(spread: float) -> tuple[FloatArray, FloatArray]:
    """Return the shifts for true and false facts, and the log weights of the nodes."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(NODES)
    return np.outer((spread, 0.0), nodes), np.log(shares / shares.sum())


def _expectation(
    reported: FloatArray, eligible: FloatArray, logits: FloatArray, prior: float, spread: float
) -> tuple[FloatArray, float]:
    """Return P(holds or not, z | reports), 2 × facts × nodes, and the log likelihood."""
    shift, shares = _nodes(spread)
    eta = logits[:, :, None] + shift[:, None, :]
    joint = reported @ eta - eligible @ np.logaddexp(0.0, eta) + shares
    joint += np.log([prior, 1 - prior])[:, None, None]
    total = np.logaddexp.reduce(joint, axis=(0, 2))
    return np.exp(joint - total[None, :, None]), float(total.sum())


def _maximisation(
    reported: FloatArray,
    eligible: FloatArray,
    weight: FloatArray,
    logits: FloatArray,
    spread: float,
) -> FloatArray:
    """Return the logits that maximise the expected likelihood, shrunk to their mean."""
    reports, total = reported.T @ weight, eligible.T @ weight
    shift = _nodes(spread)[0][:, None, :]
    for _ in range(STEPS):
        rate = 1 / (1 + np.exp(-(logits[:, :, None] + shift)))
        shrinkage = SHRINKAGE * (logits - logits.mean(axis=1, keepdims=True))
        slope = (reports - total * rate).sum(axis=2) - shrinkage
        bend = (total * rate * (1 - rate)).sum(axis=2) + SHRINKAGE
        logits = logits + np.clip(slope / bend, -1.0, 1.0)
    return logits


def _log_odds(probability: FloatArray) -> FloatArray:
    odds: FloatArray = np.log(np.clip(probability, MIN_PROBABILITY, None)) - np.log(
        np.clip(1 - probability, MIN_PROBABILITY, None)
    )
    return odds


def balance(
    probability: FloatArray, reported: FloatArray, eligible: FloatArray, trust: FloatArray
) -> FloatArray:
    """Shift the log-odds of all facts alike so that their expected number matches the reports.

    Σ_s trust_s Σ_i eligible_is·p_i = Σ_s trust_s Σ_i reported_is: trusted sources are assumed to
    omit about as much as they invent.
    """
    share, wanted = eligible @ trust, float((reported @ trust).sum())
    odds = _log_odds(probability)
    low, high = -2 * MAX_LOG_ODDS, 2 * MAX_LOG_ODDS
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        too_few = share @ (1 / (1 + np.exp(-(odds + middle)))) < wanted
        low, high = (middle, high) if too_few else (low, middle)
    balanced: FloatArray = 1 / (1 + np.exp(-(odds + low)))
    return balanced


MAX_DEVIATIONS = 5.0  # standard deviations from the median pair
MIN_PAIRS = 10  # pairs needed to estimate the spread
DEVIATIONS_PER_MAD = 1.4826  # standard deviations in a median absolute deviation


def correlations(reported: FloatArray, eligible: FloatArray) -> FloatArray:
    """Return the residual correlation of every two sources; arguments as for `detect`."""
    sources = reported.shape[1]
    matrix = np.zeros((sources, sources))
    spread = detect(reported, eligible).spread
    for left, right in combinations(range(sources), 2):
        others = eligible.copy()
        others[:, [left, right]] = 0.0
        belief = fit(reported * others, others, spread).probability
        both = (eligible[:, left] > 0) & (eligible[:, right] > 0)
        residual = _residual_correlation(reported[both][:, [left, right]], belief[both])
        matrix[left, right] = matrix[right, left] = residual
    return matrix


def independence(correlation: FloatArray) -> FloatArray:
    """Return the weight of each source, reduced by unusual correlations."""
    weights: FloatArray = 1 / (
        1 + np.where(unusual_pairs(correlation), correlation, 0.0).sum(axis=1)
    )
    return weights


def unusual_pairs(correlation: FloatArray) -> NDArray[np.bool_]:
    """Return which pairs agree far more than is usual."""
    pairs = correlation[np.triu_indices(len(correlation), 1)]
    if len(pairs) < MIN_PAIRS:
        return np.zeros(correlation.shape, dtype=bool)
    middle = np.median(pairs)
    spread = DEVIATIONS_PER_MAD * np.median(np.abs(pairs - middle))
    far: NDArray[np.bool_] = correlation > max(middle + MAX_DEVIATIONS * spread, 0.0)
    return far


def _residual_correlation(pair: FloatArray, belief: FloatArray) -> float:
    """Return the correlation of two sources that the belief does not explain linearly."""
    if len(pair) < 4:
        return 0.0
    plane = np.stack([np.ones(len(belief)), belief], axis=1)
    residual = pair - plane @ np.linalg.lstsq(plane, pair, rcond=None)[0]
    size = np.sqrt((residual**2).sum(axis=0))
    if not size.all():
        return 0.0
    return float(residual[:, 0] @ residual[:, 1] / size.prod())

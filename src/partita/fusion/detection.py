"""The probability of facts that sources report or omit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from partita.records import FloatArray

SPREADS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
NODES = 9  # of the quadrature over z
ROUNDS = 200
CLOSE = 1e-4
STEPS = 3  # of Newton's method in a round
PULL = 1.0  # how strongly a source's rate is drawn to the mean of all, in claims
TINY = 1e-9  # probabilities nearer to 0 or 1 are not told apart
LOWEST = -np.log(TINY)
HALVINGS = 60
HIT, MISS = 0.5, -1.5  # logits to start from: what holds is reported more often


@dataclass(frozen=True, slots=True, eq=False)
class Detected:
    """P(the fact holds) of each, the logits α and β by source, the share that holds, σ."""

    probability: FloatArray
    found: FloatArray
    invented: FloatArray
    share: float
    spread: float
    likelihood: float


def detect(reported: FloatArray, asked: FloatArray, weights: FloatArray | None = None) -> Detected:
    """Facts × sources: 1 where reported, 1 where the source had reason to; learned from these.

    `weights` say how much the word of each source counts.
    """
    fits = [fitted(reported, asked, spread) for spread in SPREADS]
    best = max(fits, key=lambda fit: fit.likelihood)
    if weights is None:
        return best
    return fitted(reported * weights, asked * weights, best.spread)


def fitted(reported: FloatArray, asked: FloatArray, spread: float) -> Detected:
    """By expectation and maximisation, with a σ that is given."""
    logits = np.array([[HIT], [MISS]]) + np.zeros((2, reported.shape[1]))
    prior, before = 0.5, -np.inf
    for _ in range(ROUNDS):
        weight, likelihood = _expected(reported, asked, logits, prior, spread)
        if likelihood - before < CLOSE:
            break
        before = likelihood
        prior = float((weight[0].sum() + 1) / (len(reported) + 2))
        logits = _maximised(reported, asked, weight, logits, spread)
    return Detected(weight[0].sum(axis=1), logits[0], logits[1], prior, spread, likelihood)


@cache
def _nodes(spread: float) -> tuple[FloatArray, FloatArray]:
    """Shifts of what holds and of what does not, and log shares of the nodes."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(NODES)
    return np.outer((spread, 0.0), nodes), np.log(shares / shares.sum())


def _expected(
    reported: FloatArray, asked: FloatArray, logits: FloatArray, prior: float, spread: float
) -> tuple[FloatArray, float]:
    """P(it holds or not, z | what is reported), 2 × facts × nodes, and the log likelihood."""
    shift, shares = _nodes(spread)
    eta = logits[:, :, None] + shift[:, None, :]
    joint = reported @ eta - asked @ np.logaddexp(0.0, eta) + shares
    joint += np.log([prior, 1 - prior])[:, None, None]
    whole = np.logaddexp.reduce(joint, axis=(0, 2))
    return np.exp(joint - whole[None, :, None]), float(whole.sum())


def _maximised(
    reported: FloatArray, asked: FloatArray, weight: FloatArray, logits: FloatArray, spread: float
) -> FloatArray:
    """The logits that make the expected reports most probable, drawn to their mean."""
    told, whole = reported.T @ weight, asked.T @ weight
    shift = _nodes(spread)[0][:, None, :]
    for _ in range(STEPS):
        rate = 1 / (1 + np.exp(-(logits[:, :, None] + shift)))
        pull = PULL * (logits - logits.mean(axis=1, keepdims=True))
        slope = (told - whole * rate).sum(axis=2) - pull
        bend = (whole * rate * (1 - rate)).sum(axis=2) + PULL
        logits = logits + np.clip(slope / bend, -1.0, 1.0)
    return logits


def _log_odds(probability: FloatArray) -> FloatArray:
    odds: FloatArray = np.log(np.clip(probability, TINY, None)) - np.log(
        np.clip(1 - probability, TINY, None)
    )
    return odds


def balanced(
    probability: FloatArray, reported: FloatArray, asked: FloatArray, trust: FloatArray
) -> FloatArray:
    """The odds of all facts changed alike, so that as many hold as sources, by trust, report.

    Σ_s trust_s Σ_i asked_is·p_i = Σ_s trust_s Σ_i reported_is: what sources that are trusted pass
    over and what they make up is taken to be about as much.
    """
    share, wanted = asked @ trust, float((reported @ trust).sum())
    odds = _log_odds(probability)
    low, high = -2 * LOWEST, 2 * LOWEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        few = share @ (1 / (1 + np.exp(-(odds + middle)))) < wanted
        low, high = (middle, high) if few else (low, middle)
    even: FloatArray = 1 / (1 + np.exp(-(odds + low)))
    return even


FAR = 5.0  # standard deviations from the median pair
FEWEST = 10  # pairs, to know what is usual
NORMAL = 1.4826  # standard deviations in a median absolute deviation


def correlations(reported: FloatArray, asked: FloatArray) -> FloatArray:
    """Sources × sources; facts × sources as for `detect`."""
    many = reported.shape[1]
    found = np.zeros((many, many))
    spread = detect(reported, asked).spread
    for left, right in combinations(range(many), 2):
        others = asked.copy()
        others[:, [left, right]] = 0.0
        belief = fitted(reported * others, others, spread).probability
        both = (asked[:, left] > 0) & (asked[:, right] > 0)
        beyond = _beyond(reported[both][:, [left, right]], belief[both])
        found[left, right] = found[right, left] = beyond
    return found


def independence(found: FloatArray) -> FloatArray:
    """How much the word of each source counts."""
    weights: FloatArray = 1 / (1 + np.where(striking(found), found, 0.0).sum(axis=1))
    return weights


def striking(found: FloatArray) -> NDArray[np.bool_]:
    """Which pairs agree far more than is usual."""
    pairs = found[np.triu_indices(len(found), 1)]
    if len(pairs) < FEWEST:
        return np.zeros(found.shape, dtype=bool)
    middle = np.median(pairs)
    usual = NORMAL * np.median(np.abs(pairs - middle))
    far: NDArray[np.bool_] = found > max(middle + FAR * usual, 0.0)
    return far


def _beyond(two: FloatArray, belief: FloatArray) -> float:
    """What is left of the correlation when each is explained by the belief as far as it can be."""
    if len(two) < 4:
        return 0.0
    plane = np.stack([np.ones(len(belief)), belief], axis=1)
    rest = two - plane @ np.linalg.lstsq(plane, two, rcond=None)[0]
    size = np.sqrt((rest**2).sum(axis=0))
    if not size.all():
        return 0.0
    return float(rest[:, 0] @ rest[:, 1] / size.prod())

"""Temper fused probabilities: sources that err together count as fewer than they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.fusion.belief import SlotBelief, Tempering
from partita.fusion.dependence import claim_weights

SHARE = 0.5  # of the rate at which wrong claims agree; chosen by benchmarks/bench_fusion.py
CLOSED_CORRELATION = 0.1  # of closed slots and sets, where agreement of wrong claims tells little
CORRELATIONS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0)
UNKNOWN_FACTORS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
FOLDS = 5
PRIOR_WEIGHT = 4.0  # of the default, against the log likelihood of the truths
STANDARD_ERRORS = 2.0  # by which a fit must be better than the default on held-out truths
MIN_PROBABILITY = 1e-6


def default_tempering(concentration: float | None) -> Tempering:
    """Return the correlation of errors that the agreement of wrong claims suggests."""
    if concentration is None:
        return Tempering(CLOSED_CORRELATION)
    return Tempering(SHARE / (1.0 + concentration))


def temper(belief: SlotBelief) -> SlotBelief:
    """Return the belief with probabilities raised to τ = 1 / (1 + ρ (n − 1)) for n claims.

    The order of the values of an object stays the same.
    """
    tempering = belief.parameters.tempering
    exponent = exponents(belief)
    each = exponent[belief.object]
    values = belief.probability**each
    if tempering.evidence:
        values = values * belief.parameters.prior[belief.value] ** (1.0 - each)
    unknown = tempering.unknown * np.maximum(belief.unknown, 0.0) ** exponent
    total = np.bincount(belief.object, values, minlength=len(unknown)) + unknown
    values = values / total[belief.object]
    if tempering.evidence:
        values = _in_order(values, belief.starts)
    return replace(
        belief,
        probability=values,
        unknown=unknown / total,
        temper=float(exponent.mean()) if len(exponent) else 1.0,
    )


def _in_order(values: FloatArray, starts: IntArray) -> FloatArray:
    """Replace values of an object that increase by their mean."""
    values = values.copy()
    rising = np.flatnonzero(np.diff(values) > 0)
    owner = np.searchsorted(starts, rising, side="right") - 1
    for n in np.unique(owner[rising + 1 < starts[owner + 1]]).tolist():
        values[starts[n] : starts[n + 1]] = _pooled(values[starts[n] : starts[n + 1]].tolist())
    return values


def _pooled(values: Sequence[float]) -> list[float]:
    """Return the nearest values that do not increase, by pooling neighbours."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (a, n), (b, m) = pools.pop(-2), pools.pop()
            pools.append(((a * n + b * m) / (n + m), n + m))
    return [value for value, count in pools for _ in range(count)]


def _evidence(belief: SlotBelief) -> FloatArray:
    """Return the number of claims about every object.

    A claim counts less if sources depend on each other, or by a reliability that the user set.
    """
    statements = belief.parsed.statements
    given = {one.source: one.reliability for one in belief.trust if one.given}
    known = np.array([given.get(source, 1.0) for source in statements.sources])
    weights = claim_weights(statements, belief.parameters.dependence) * known[statements.source]
    claims: FloatArray = np.bincount(
        statements.object, weights * statements.confidence, minlength=len(statements.objects)
    ).astype(np.float64)
    return claims


def exponents(belief: SlotBelief) -> FloatArray:
    """Return τ of every object of a belief."""
    return _exponents(_evidence(belief), belief.parameters.tempering)


def _exponents(evidence: FloatArray, tempering: Tempering) -> FloatArray:
    """Return τ of every object."""
    exponents: FloatArray = 1.0 / (1.0 + tempering.correlation * np.maximum(evidence - 1.0, 0.0))
    return exponents


def fit_tempering(belief: SlotBelief, truths: dict[int, int], default: Tempering) -> Tempering:
    """Fit the tempering to true values by likelihood, as far as cross-validation supports it.

    `truths` are values by object, both as numbers; `belief` was computed without them. A value that
    no source states counts as unknown.
    """
    if len(truths) < FOLDS:
        return default
    known = _KnownTruths.of(belief, truths)
    closed = belief.parsed.kind == "closed"
    families = [
        [replace(default, correlation=rho) for rho in CORRELATIONS],
        [replace(default, correlation=rho, evidence=True) for rho in CORRELATIONS]
        if closed
        else [Tempering(rho, factor) for rho in CORRELATIONS for factor in UNKNOWN_FACTORS],
    ]
    before = known.scores(default)
    best, most = [default], 0.0
    for family in families:
        gain = _held_out(family, known, default) - before
        if gain.sum() > max(most, STANDARD_ERRORS * np.sqrt(len(gain)) * gain.std()):
            best, most = family, float(gain.sum())
    return replace(_best(best, known, default, before <= 0), fitted=len(truths))


def _held_out(family: Sequence[Tempering], known: _KnownTruths, default: Tempering) -> FloatArray:
    """Return the log probability of every truth, fitted to the truths of the other folds."""
    folds = np.arange(len(known.tables)) % FOLDS
    scores = np.zeros(len(folds))
    for fold in range(FOLDS):
        fitted = _best(family, known, default, folds != fold)
        scores[folds == fold] = known.scores(fitted)[folds == fold]
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class _KnownTruths:
    """Objects whose truth is known: probabilities of the outcomes, and which of them is true."""

    tables: Sequence[tuple[FloatArray, FloatArray, int]]
    evidence: FloatArray

    @classmethod
    def of(cls, belief: SlotBelief, truths: dict[int, int]) -> _KnownTruths:
        statements = belief.parsed.statements
        stated = set(zip(statements.object.tolist(), statements.value.tolist(), strict=True))
        objects = sorted(truths)
        tables = [_outcomes(belief, n, truths[n], stated) for n in objects]
        return cls(tables, _evidence(belief)[objects])

    def scores(self, tempering: Tempering) -> FloatArray:
        """Return the log probability of every truth."""
        logs = []
        exponents = _exponents(self.evidence, tempering).tolist()
        for (probabilities, prior, truth), exponent in zip(self.tables, exponents, strict=True):
            weights = probabilities**exponent
            if tempering.evidence:
                weights *= prior ** (1.0 - exponent)
            weights[-1] *= tempering.unknown
            logs.append(np.log(max(weights[truth] / weights.sum(), MIN_PROBABILITY)))
        return np.array(logs)


Chosen = NDArray[np.bool_]


def _best(
    family: Sequence[Tempering], known: _KnownTruths, default: Tempering, chosen: Chosen
) -> Tempering:
    return max(
        family,
        key=lambda one: (
            float(known.scores(one)[chosen].sum()) - PRIOR_WEIGHT * _distance(one, default)
        ),
    )


def _distance(one: Tempering, default: Tempering) -> float:
    steps = (one.correlation - default.correlation) / 0.2, np.log(one.unknown / default.unknown)
    return float(sum(step**2 for step in steps)) / 2


def _outcomes(
    belief: SlotBelief, thing: int, truth: int, stated: set[tuple[int, int]]
) -> tuple[FloatArray, FloatArray, int]:
    """Return the probabilities of values and unknown, the values' priors, and what is true.

    A value that no source states is part of unknown; values of a closed slot are always known.
    """
    closed = belief.parsed.kind == "closed"
    values = [(v, p) for v, p in belief.of(thing) if closed or (thing, v) in stated]
    unknown = max(0.0, 1.0 - sum(p for _, p in values))
    names = [v for v, _ in values]
    prior = [*belief.parameters.prior[names], 1.0] if closed else [1.0] * (len(names) + 1)
    place = names.index(truth) if truth in names else len(names)
    return np.array([*(p for _, p in values), unknown]), np.array(prior), place

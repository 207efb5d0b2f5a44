"""Scale a and bias b by maximum likelihood of keys:  log P(key) = a·S + b·m − log Z(a, b).

S is the sum of the log-odds of the pairs that the key joins, m their number; the gradient is S and
m less their expectations, which the pair marginals give. The likelihood is concave in (a, b); a
Gaussian prior around (1, 0), the evidential model, keeps separable data finite and few keys modest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.configurations.odds import (
    ScaledParameters,
    checked_knowledge,
    odds_of,
    scale_log_odds,
)
from partita.core import FloatArray, IntArray, Posterior, components
from partita.errors import InputError
from research.solve_parameters.greedy import KeyedSet

PosteriorOf = Callable[[FloatArray], Posterior]

EVIDENTIAL = ScaledParameters(1.0, 0.0)
DEVIATION = 0.5  # of the prior: with ten or forty keys, a wider one cost bits on held-out sets


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A connected part of a set, must-links contracted, and what the key says of it.

    `theta` and `numbers` are the log-odds and the pairs between groups, 0 where incompatible.
    """

    theta: FloatArray
    numbers: FloatArray
    compatible: FloatArray
    score: float
    joined: float

    def scaled(self, parameters: ScaledParameters) -> FloatArray:
        theta = np.where(self.compatible > 0, self.theta, -np.inf)
        return scale_log_odds(theta, parameters, self.numbers)


@dataclass(frozen=True, slots=True)
class ScaledLearned:
    """The parameters, and mean bits per set of the keys they were learned from.

    Sets whose key is impossible a priori cost infinitely many bits under any parameters: they
    teach nothing here, and are counted.
    """

    parameters: ScaledParameters
    sets: int
    impossible: int
    bits_evidential: float
    bits_scaled: float


def learn_scaled(
    sets: Iterable[KeyedSet], posterior: PosteriorOf, deviation: float = DEVIATION
) -> ScaledLearned:
    """The parameters under which the keys are most probable; `posterior` answers for any θ."""
    given = [parts(one) for one in sets]
    possible = [one for one in given if one is not None]
    flat = [part for one in possible for part in one]
    if not flat:
        raise InputError("no keyed set leaves anything to decide; expected sets to learn from")
    parameters = _most_probable(flat, posterior, 1 / deviation**2)
    before, after = (_bits(flat, posterior, p) for p in (EVIDENTIAL, parameters))
    n = len(possible)
    return ScaledLearned(parameters, n, len(given) - n, before / n, after / n)


def key_bits(one: KeyedSet, posterior: PosteriorOf, parameters: ScaledParameters) -> float:
    """−log₂ P(key) in the scaled model; infinite where the key is impossible a priori."""
    found = parts(one)
    return math.inf if found is None else _bits(found, posterior, parameters)


def parts(one: KeyedSet) -> list[Part] | None:
    """The parts of a set in which something is to decide; None where its key is impossible."""
    odds = odds_of(checked_knowledge(one.pairs))
    labels = _group_labels(one.key.labels(one.pairs.set.ids), odds.home)
    if labels is None or _joins_incompatible(labels, odds.theta):
        return None
    numbers = pair_numbers(odds.home)
    home = components(odds.theta > -np.inf)
    chosen = [np.flatnonzero(home == n) for n in range(home.max(initial=-1) + 1)]
    return [_part(odds.theta, numbers, labels, members) for members in chosen if len(members) > 1]


def pair_numbers(home: IntArray) -> FloatArray:
    """For every two groups the number of pairs between them; `home` gives each template's group."""
    sizes = np.bincount(home).astype(np.float64)
    numbers = np.outer(sizes, sizes)
    np.fill_diagonal(numbers, 0.0)
    return numbers


def _group_labels(labels: IntArray, home: IntArray) -> IntArray | None:
    """The key's cell of every group that must-links make; None where the key splits a group."""
    _, first = np.unique(home, return_index=True)
    grouped = labels[first]
    return grouped if np.array_equal(grouped[home], labels) else None


def _joins_incompatible(labels: IntArray, theta: FloatArray) -> bool:
    together = labels[:, None] == labels[None, :]
    return bool((together & np.isneginf(theta)).any())


def _part(theta: FloatArray, numbers: FloatArray, labels: IntArray, members: IntArray) -> Part:
    inside = np.ix_(members, members)
    compatible = (theta[inside] > -np.inf).astype(np.float64)
    known = np.where(compatible > 0, theta[inside], 0.0)
    pairs = numbers[inside] * compatible
    together = np.triu(labels[members][:, None] == labels[members][None, :], 1)
    return Part(
        known, pairs, compatible, float(known[together].sum()), float(pairs[together].sum())
    )


def _bits(found: Sequence[Part], posterior: PosteriorOf, parameters: ScaledParameters) -> float:
    nats = (
        posterior(part.scaled(parameters)).log_normaliser.value
        - parameters.scale * part.score
        - parameters.bias * part.joined
        for part in found
    )
    return max(0.0, math.fsum(nats) / math.log(2))


def _most_probable(
    found: Sequence[Part], posterior: PosteriorOf, precision: float
) -> ScaledParameters:
    """By a quasi-Newton method; a scale below 0 would turn evidence around, so 0 is its bound."""
    from scipy.optimize import minimize

    result = minimize(
        lambda x: _objective(
            ScaledParameters(float(x[0]), float(x[1])), found, posterior, precision
        ),
        np.array([EVIDENTIAL.scale, EVIDENTIAL.bias]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None), (None, None)],
        options={"ftol": 1e-14, "gtol": 1e-9 * len(found), "maxiter": 200},
    )
    return ScaledParameters(float(result.x[0]), float(result.x[1]))


def _objective(
    at: ScaledParameters, found: Sequence[Part], posterior: PosteriorOf, precision: float
) -> tuple[float, FloatArray]:
    """Minus the log of likelihood times prior, and its gradient, in nats."""
    away = np.array([at.scale - EVIDENTIAL.scale, at.bias - EVIDENTIAL.bias])
    terms = [_term(at, part, posterior) for part in found]
    loss = math.fsum(loss for loss, _ in terms) + precision * float(away @ away) / 2
    return loss, np.sum([gradient for _, gradient in terms], axis=0) + precision * away


def _term(at: ScaledParameters, part: Part, posterior: PosteriorOf) -> tuple[float, FloatArray]:
    """What one part adds: log Z less the key's log-weight; expected less observed statistics."""
    answer = posterior(part.scaled(at))
    pairs = np.triu(answer.pairs().value, 1)
    loss = answer.log_normaliser.value - at.scale * part.score - at.bias * part.joined
    expected = np.array([(part.theta * pairs).sum(), (part.numbers * pairs).sum()])
    return loss, expected - np.array([part.score, part.joined])

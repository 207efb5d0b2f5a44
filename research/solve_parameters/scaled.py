"""Scale a and bias b by maximum likelihood of keys:  log P(key) = a·S + b·m − log Z(a, b).

S is the sum of the log-odds of the pairs that the key joins, m their number. A Gaussian prior
around (1, 0), the evidential model, keeps separable data finite and few keys modest. Likelihood and
optimiser are those of `partita train`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from partita.configurations.odds import ScaledParameters
from partita.core import FloatArray
from partita.errors import InputError
from partita.training import key_likelihood
from partita.training.key_likelihood import KeyLikelihood, fit_scaled
from research.solve_parameters.greedy import KeyedSet

EVIDENTIAL = ScaledParameters(1.0, 0.0)
DEVIATION = 0.5  # of the prior: with ten or forty keys, a wider one cost bits on held-out sets


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


def learn_scaled(sets: Iterable[KeyedSet], deviation: float = DEVIATION) -> ScaledLearned:
    """The parameters under which the keys are most probable."""
    given = [open_set(one) for one in sets]
    possible = [one for one in given if one is not None]
    if not any(len(odds) for _, odds in possible):
        raise InputError("no keyed set leaves anything to decide; expected sets to learn from")
    likelihood = KeyLikelihood(tuple(one for one, _ in possible))
    odds = np.concatenate([odds for _, odds in possible])
    found = fit_scaled(likelihood, odds, EVIDENTIAL, 1 / deviation**2)
    before, after = (bits(likelihood, odds, p) for p in (EVIDENTIAL, found))
    n = len(possible)
    return ScaledLearned(found, n, len(given) - n, before / n, after / n)


def key_bits(one: KeyedSet, parameters: ScaledParameters) -> float:
    """−log₂ P(key) in the scaled model; infinite where the key is impossible a priori."""
    found = open_set(one)
    if found is None:
        return math.inf
    return bits(KeyLikelihood((found[0],)), found[1], parameters)


def open_set(one: KeyedSet) -> tuple[key_likelihood.KeyedSet, FloatArray] | None:
    """A set with its key and the log-odds of its open pairs; None where the key is impossible.

    Probabilities of 0 are incompatible pairs; none is 1.
    """
    p, labels = one.pairs.matrix, one.key.labels(one.pairs.set.ids)
    left, right = np.nonzero(np.triu(p > 0, 1))
    if ((p == 0) & (labels[:, None] == labels)).any():
        return None
    odds = np.log(p[left, right]) - np.log1p(-p[left, right])
    return key_likelihood.KeyedSet(len(p), left, right, labels[None, :], np.ones(1)), odds


def bits(likelihood: KeyLikelihood, odds: FloatArray, parameters: ScaledParameters) -> float:
    """Bits of all keys together."""
    nats, _ = likelihood(parameters.scale * odds + parameters.bias)
    return max(0.0, -nats / math.log(2))

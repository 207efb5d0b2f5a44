"""Bits of held-out keys, quickly, by pair weights that some keys give.

Merging: what the merger's answers on its way to the key cost; a cell that is closed to a template
is not asked. Evidential: (log Z − Σ θ of the pairs together) / log 2, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partita.evaluation.adapted import PRECISION, Lesson
from partita.learning.choosing import places
from partita.learning.maxent import Codes, adapt, contexts, loss
from partita.learning.pair_parameters import PairParameters
from partita.pairs.models import MaximumEntropy
from partita.records import FloatArray

Seen = Sequence[tuple[Codes, NDArray[np.bool_]]]
MODELS = ("merging", "evidential")


def sizes_of(model: MaximumEntropy) -> tuple[int, ...]:
    return tuple(len(one.values) for one in model.characteristics)


def merging_weights(keys: Sequence[Lesson], start: PairParameters) -> FloatArray:
    """Learned from the questions on the way to some keys."""
    return _weights(start.questions, [one.questions for one in keys])


def held_out_bits(
    keys: Sequence[Lesson], held: Sequence[Lesson], start: PairParameters
) -> dict[str, float]:
    """Bits per template of what is held out, by the parameters that the keys give."""
    asked, every = merging_weights(keys, start), [(one.pairs, one.open.yes) for one in keys]
    weights, sizes = _weights(start.every_pair, every), sizes_of(start.every_pair)
    spent = (
        _merging_bits(held, asked, sizes_of(start.questions)),
        math.fsum(evidential_bits(one, weights, sizes) for one in held),
    )
    templates = sum(len(one.cut.labels) for one in held)
    return {model: each / templates for model, each in zip(MODELS, spent, strict=True)}


def evidential_bits(one: Lesson, weights: FloatArray, sizes: Sequence[int]) -> float:
    """Of one key that nothing known denies."""
    scores = weights[places(one.pairs, sizes)].sum(axis=1)
    theta = np.full(one.cut.compatible.shape, -np.inf)
    np.fill_diagonal(theta, 0.0)
    theta[one.open.left, one.open.right] = theta[one.open.right, one.open.left] = scores
    return (_log_normaliser(theta) - float(scores[one.open.yes].sum())) / math.log(2)


def _weights(model: MaximumEntropy, seen: Seen) -> FloatArray:
    codes, yes = (np.concatenate(side) for side in zip(*seen, strict=True))
    return adapt(contexts(codes, yes, sizes_of(model)), model.weights, PRECISION)


def _merging_bits(held: Sequence[Lesson], weights: FloatArray, sizes: Sequence[int]) -> float:
    codes, yes = (np.concatenate(side) for side in zip(*(o.questions for o in held), strict=True))
    asked = contexts(codes, yes, sizes)
    return loss(asked, asked.scores(weights)) / math.log(2)


def _log_normaliser(theta: FloatArray) -> float:
    """In compiled loops, which pay where there are thousands of sets."""
    from partita.configurations.dense.positive_kernels import extend
    from partita.configurations.dense.subsets import log_cell_weights

    log_w = log_cell_weights(theta)
    log_z = np.zeros(len(log_w))
    for i in range(len(theta)):
        extend(log_w, log_z, i, 0, 1 << i)
    return float(log_z[-1])

"""The joint model over coreference sets: their templates in, distributions out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from partita.configurations.joint.model import JointModel
from partita.configurations.joint.within import within
from partita.configurations.odds import knowledge
from partita.configurations.report import best_or_above, listing, remainder
from partita.errors import PartitaError
from partita.learning.joint import joint_posterior
from partita.pairs.columns import Columns
from partita.records import Distribution, FloatArray, IntArray, PairProbabilities


class Even:
    """A pair model that knows nothing: the joint model looks at cells, not at pairs."""

    def pair_probabilities(self, columns: Columns, left: IntArray, right: IntArray) -> FloatArray:
        return np.full(len(left), 0.5)


def solve_joint(
    sets: Sequence[PairProbabilities],
    model: JointModel,
    *,
    top: int | None = None,
    threshold: float | None = None,
    seed: int = 0,
) -> Iterator[Distribution | PartitaError]:
    """The distributions of all sets; what they say of a pair "as given" is the joint model's
    probability before it is known which templates are incompatible."""
    for pairs in sets:
        try:
            yield _distribution(pairs, model, top, threshold, seed)
        except PartitaError as error:
            yield error


def _distribution(
    pairs: PairProbabilities, model: JointModel, top: int | None, threshold: float | None, seed: int
) -> Distribution:
    joint = joint_posterior(pairs.set.templates, model, seed=seed)
    compatible = knowledge(pairs).compatible
    posterior = within(joint, compatible, seed)
    best = best_or_above(posterior, top, threshold)
    found = listing(posterior, pairs.set.ids, best)
    bits, count = posterior.log2_count(), posterior.count()
    return Distribution(
        set=pairs.set,
        model="joint",
        method=posterior.method,
        reason=posterior.reason,
        probabilities=np.where(compatible, joint.pairs().value, 0.0),
        marginals=posterior.pairs(),
        configurations=found,
        remainder=remainder(found, count, bits.value),
        entropy_bits=posterior.entropy(),
        conflict=None,
        log_normaliser=posterior.log_normaliser,
        log2_count=bits,
        count=count,
        seed=seed,
        posterior=posterior,
        gap=best.gap,
    )

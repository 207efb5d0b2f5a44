"""Apply the joint model to coreference sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from partita.configurations.joint.features import joint_columns
from partita.configurations.joint.model import JointModel
from partita.configurations.joint.posterior import JointPosterior, constrained, draw_count
from partita.configurations.report import best_or_above, listing, remainder
from partita.core import CoreferenceSet, Distribution, Figures, Template, compatible_pairs
from partita.errors import PartitaError


def joint_posterior(
    templates: Sequence[Template],
    model: JointModel,
    *,
    seed: int = 0,
    draws: int | None = None,
    precision: float = 1.0,
) -> JointPosterior:
    """Return the model's distribution over the configurations of templates.

    Pair probabilities of large sets come from `draws` draws, and more until their standard errors
    are at most `precision`.
    """
    draws = draw_count(len(templates)) if draws is None else draws
    columns = joint_columns(templates, model.lexemes)
    return JointPosterior(columns.order, columns.mentions, model.network, seed, draws, precision)


def solve_joint(
    sets: Sequence[CoreferenceSet],
    model: JointModel,
    *,
    top: int | None = None,
    threshold: float | None = None,
    seed: int = 0,
    draws: int | None = None,
) -> Iterator[Distribution | PartitaError]:
    """Yield the distribution of each set, or its error; pairs from so many draws.

    The pair probabilities are the joint model's before incompatible templates are excluded.
    """
    for group in sets:
        try:
            yield _distribution(group, model, top, threshold, seed, draws)
        except PartitaError as error:
            yield error


def _distribution(
    group: CoreferenceSet,
    model: JointModel,
    top: int | None,
    threshold: float | None,
    seed: int,
    draws: int | None,
) -> Distribution:
    joint = joint_posterior(group.templates, model, seed=seed, draws=draws)
    compatible = compatible_pairs(group)
    posterior = constrained(joint, compatible, seed) if group.incompatible else joint
    best = best_or_above(posterior, top, threshold)
    listed = listing(posterior, group.ids, best)
    bits, count = posterior.log2_count(), posterior.count()
    return Distribution(
        set=group,
        model="joint",
        method=posterior.method,
        reason=posterior.reason,
        probabilities=np.where(compatible, joint.pairs().value, 0.0),
        marginals=posterior.pairs(),
        configurations=listed,
        remainder=remainder(listed, count, bits.value),
        figures=Figures(posterior.entropy(), posterior.log_normaliser, bits),
        conflict=None,
        count=count,
        seed=seed,
        posterior=posterior,
        gap=best.gap,
    )

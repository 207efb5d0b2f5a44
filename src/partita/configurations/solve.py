"""Solve one set: pair probabilities → distribution, by any model and the method that fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from partita.configurations import METHODS, PAIR_MODELS
from partita.configurations.count import log2_of
from partita.configurations.method_choice import engine_for
from partita.configurations.odds import Knowledge, ScaledParameters, checked_knowledge
from partita.configurations.pair_models import GreedyParameters, evidential, greedy, uniform
from partita.configurations.report import best_or_above, listing, remainder
from partita.core import Budget, Distribution, Figure, Figures, PairProbabilities, Posterior
from partita.errors import InputError

if TYPE_CHECKING:
    from partita.configurations.forest.model import ForestParameters

Parameters: TypeAlias = "GreedyParameters | ScaledParameters | ForestParameters"


def solve_set(
    pairs: PairProbabilities,
    model: str = "evidential",
    *,
    parameters: Parameters | None = None,
    top: int | None = None,
    threshold: float | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    method: str = "auto",
    progress: Callable[[str], None] | None = None,
) -> Distribution:
    """Return the distribution over the configurations of one coreference set."""
    limits = budget or Budget()
    posterior, conflict = _posterior(
        checked_knowledge(pairs), model, parameters, limits, seed, method, progress
    )
    best = best_or_above(posterior, top, threshold)
    listed = listing(posterior, pairs.set.ids, best)
    total, count = posterior.log_normaliser, posterior.count()
    bits = posterior.log2_count() if count is None else Figure.exact(log2_of(count))
    return Distribution(
        set=pairs.set,
        model=model,
        method=posterior.method,
        reason=posterior.reason,
        probabilities=pairs.matrix,
        marginals=posterior.pairs(),
        configurations=listed,
        remainder=remainder(listed, count, bits.value),
        figures=Figures(posterior.entropy(), total, bits),
        conflict=conflict,
        count=count,
        seed=seed,
        posterior=posterior,
        converged=getattr(posterior, "converged", None),
        gap=best.gap,
        pruned=-math.expm1(total.low - total.high) if total.kind == "interval" else 0.0,
    )


def _posterior(
    knowledge: Knowledge,
    model: str,
    parameters: Parameters | None,
    budget: Budget,
    seed: int,
    method: str,
    progress: Callable[[str], None] | None,
) -> tuple[Posterior, float | None]:
    """Return the posterior of the named model, and the conflict κ where the model has one."""
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}, expected one of {', '.join(METHODS)}")
    engine = engine_for(budget, seed, method, progress)
    if model == "evidential":
        return evidential(knowledge, engine)
    if model == "scaled" and isinstance(parameters, ScaledParameters):
        return evidential(knowledge, engine, parameters)
    if model == "forest":
        return _forest(knowledge, parameters, budget, seed, method), None
    if model == "uniform":
        return uniform(knowledge, engine), None
    if model == "greedy" and isinstance(parameters, GreedyParameters):
        return greedy(knowledge, engine, parameters), None
    if model == "merging":
        from partita.configurations.merging.decisions import merging

        merged = merging(knowledge.p, knowledge.compatible, knowledge.must, budget, seed, method)
        return merged, None
    raise InputError(_model_error(model))


def _forest(
    knowledge: Knowledge, parameters: Parameters | None, budget: Budget, seed: int, method: str
) -> Posterior:
    from partita.configurations.forest.model import ForestParameters
    from partita.configurations.forest.posterior import forest

    if not isinstance(parameters, ForestParameters):
        raise InputError(_model_error("forest"))
    return forest(knowledge, parameters, budget, seed, method)


def _model_error(model: str) -> str:
    if model in ("greedy", "scaled", "forest"):
        return f"the {model} model needs its trained parameters"
    return f"unknown model {model!r}, expected one of {', '.join(PAIR_MODELS)}"

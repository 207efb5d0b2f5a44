"""Solve one set: pair probabilities → distribution, by any model and the method that fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from partita.configurations import METHODS, PAIR_MODELS
from partita.configurations.method_choice import engine_for
from partita.configurations.odds import PairKnowledge, ScaledParameters, checked_knowledge
from partita.configurations.pair_models import GreedyParameters, evidential, greedy, uniform
from partita.configurations.report import distribution_of
from partita.core import Budget, Distribution, PairProbabilities, Posterior
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
    posterior, conflict = model_posterior(
        checked_knowledge(pairs), model, parameters, limits, seed, method, progress
    )
    return distribution_of(
        posterior,
        pairs.set,
        pairs.matrix,
        model,
        top=top,
        threshold=threshold,
        seed=seed,
        conflict=conflict,
    )


def model_posterior(
    knowledge: PairKnowledge,
    model: str,
    parameters: Parameters | None,
    budget: Budget,
    seed: int,
    method: str,
    progress: Callable[[str], None] | None = None,
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
    knowledge: PairKnowledge, parameters: Parameters | None, budget: Budget, seed: int, method: str
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

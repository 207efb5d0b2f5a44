"""The evidential, uniform and greedy models of a whole set."""

from __future__ import annotations

import math

import numpy as np

from partita.configurations.greedy import GreedyParameters, GreedyPosterior, greedy_labels
from partita.configurations.odds import UNSCALED, Knowledge, Odds, ScaledParameters, log_odds
from partita.configurations.product_posterior import Contracted, Engine, Part, Product
from partita.core import FloatArray, Posterior, components


def evidential(
    knowledge: Knowledge, engine: Engine, scaled: ScaledParameters = UNSCALED
) -> tuple[Posterior, float]:
    """Return the posterior and the conflict κ; parameters make it the scaled model."""
    odds = log_odds(knowledge, scaled)
    posterior = with_groups(odds, split(odds.theta, engine))
    conflict = abs(math.expm1(min(0.0, odds.base + posterior.log_normaliser.value)))
    return posterior, conflict


def split(theta: FloatArray, engine: Engine) -> Posterior:
    """Solve each component on its own: the largest one decides the difficulty.

    Small ones come first, and each may take its share of the time that is left, by its pairs.
    """
    home = components(np.isfinite(theta))
    if len(theta) and home.max() == 0:
        return engine(theta, 1.0)
    places = [np.flatnonzero(home == number) for number in range(home.max(initial=-1) + 1)]
    pairs = np.array([len(place) ** 2 for place in places])
    parts: dict[int, Part] = {}
    for n in np.argsort(pairs, kind="stable").tolist():
        share = float(pairs[n] / pairs[[m for m in range(len(places)) if m not in parts]].sum())
        parts[n] = Part(places[n], engine(theta[np.ix_(places[n], places[n])], share))
    return Product(len(theta), [parts[n] for n in range(len(places))])


def with_groups(odds: Odds, groups: Posterior) -> Posterior:
    """Return the posterior of the templates, from that of the groups which must corefer."""
    return groups if groups.size == len(odds.home) else Contracted(groups, odds.home)


def uniform(knowledge: Knowledge, engine: Engine) -> Posterior:
    """Return the posterior with all weights equal: the evidential form with θ = 0."""
    odds = log_odds(knowledge)
    return with_groups(odds, split(np.where(np.isfinite(odds.theta), 0.0, -np.inf), engine))


def greedy(knowledge: Knowledge, engine: Engine, parameters: GreedyParameters) -> Posterior:
    """Return the greedy model: its configuration with its measured share, the others evenly."""
    odds = log_odds(knowledge)
    compatible = np.isfinite(odds.theta)
    flat = split(np.where(compatible, 0.0, -np.inf), engine)
    share = parameters.share(len(odds.home))
    return with_groups(odds, GreedyPosterior(greedy_labels(compatible), share, flat))

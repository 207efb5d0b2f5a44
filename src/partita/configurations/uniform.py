"""The uniform model: every configuration that knowledge allows is as probable as any other."""

from __future__ import annotations

import numpy as np

from partita.configurations.evidential import split, with_groups
from partita.configurations.greedy import GreedyParameters, GreedyPosterior, greedy_labels
from partita.configurations.odds import Knowledge, log_odds
from partita.configurations.whole import Engine
from partita.records import Posterior


def uniform(known: Knowledge, engine: Engine) -> Posterior:
    """All weights equal: the evidential form with θ = 0."""
    odds = log_odds(known)
    return with_groups(odds, split(np.where(np.isfinite(odds.theta), 0.0, -np.inf), engine))


def greedy(known: Knowledge, engine: Engine, parameters: GreedyParameters) -> Posterior:
    """What a greedy merger makes of the groups, with its measured share; the rest uniformly."""
    odds = log_odds(known)
    compatible = np.isfinite(odds.theta)
    flat = split(np.where(compatible, 0.0, -np.inf), engine)
    share = parameters.share(len(odds.home))
    return with_groups(odds, GreedyPosterior(greedy_labels(compatible), share, flat))

"""Keyed sets, and how often the greedy merger is right on them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from partita.configurations.odds import checked_knowledge, odds_of
from partita.configurations.pair_models import GreedyParameters, greedy_labels
from partita.core import Configuration, PairProbabilities
from partita.errors import InputError
from partita.training.pair_models import MergedSets


@dataclass(frozen=True, slots=True, eq=False)
class KeyedSet:
    """Pair probabilities of a coreference set with its key: what the models learn from."""

    pairs: PairProbabilities
    key: Configuration

    def __post_init__(self) -> None:
        known = {member for cell in self.key for member in cell}
        if odd := known ^ set(self.pairs.set.ids):
            where = f" of set {self.pairs.set.name}" if self.pairs.set.name else ""
            raise InputError(f"template {min(odd)} is not in both the key and the templates{where}")


def learn_greedy(sets: Iterable[KeyedSet]) -> list[MergedSets]:
    """Counts for p₂, p₃ and p_{>3}; sets of one template leave nothing to decide."""
    tallies = {2: MergedSets(), 3: MergedSets(), 4: MergedSets()}
    for one in sets:
        if (size := min(len(one.pairs.set), 4)) > 1:
            tallies[size] += greedy_is_right(one)
    return list(tallies.values())


def greedy_is_right(one: KeyedSet) -> bool:
    """Whether the merger, given what must corefer, makes the key's configuration."""
    odds = odds_of(checked_knowledge(one.pairs))
    made = greedy_labels(odds.theta > -np.inf)[odds.home]
    return np.array_equal(made, one.key.labels(one.pairs.set.ids))


def key_bits(one: KeyedSet, parameters: GreedyParameters, log2_count: float) -> float:
    """−log₂ P(key) in the greedy model, given the number of possible configurations."""
    if log2_count < 0.5:
        return 0.0
    share = parameters.share(len(one.pairs.set))
    if greedy_is_right(one):
        return -math.log2(share)
    return log2_count + math.log2(-math.expm1(-log2_count * math.log(2)) / (1 - share))

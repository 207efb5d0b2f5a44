"""Multinomial maximum entropy models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.records import FloatArray
from partita.training.maxent import fit_sparse

Features = Sequence[str]
NONE = "NONE"  # what is chosen where nothing has been learned


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Outcomes, the features that count with their rows in the table of weights, and the table."""

    outcomes: tuple[str, ...]
    places: Mapping[str, int]
    weights: FloatArray

    def probabilities(self, features: Iterable[str]) -> FloatArray:
        """One for each outcome."""
        known = [self.places[name] for name in features if name in self.places]
        scores = self.weights[known].sum(0)
        odds = np.exp(scores - scores.max())
        found: FloatArray = odds / odds.sum()
        return found

    def best(self, features: Iterable[str]) -> tuple[str, float]:
        found = self.probabilities(features)
        place = int(found.argmax())
        return self.outcomes[place], float(found[place])

    def chance(self, outcome: str, features: Iterable[str]) -> float:
        """Of one outcome; none, if it has never been seen."""
        if outcome not in self.outcomes:
            return 0.0
        return float(self.probabilities(features)[self.outcomes.index(outcome)])


def learn(
    seen: Sequence[tuple[Features, str]],
    least: int = 2,
    precision: float = 1.0,
    weight: FloatArray | None = None,
) -> Choice:
    """The choice that makes the outcomes seen most probable; features seen fewer than `least` times
    are left out. What has always had the same outcome will have it again."""
    counts = Counter(name for features, _ in seen for name in features)
    names = sorted(name for name, count in counts.items() if count >= least)
    places = {name: n for n, name in enumerate(names)}
    outcomes = tuple(sorted({outcome for _, outcome in seen})) or (NONE,)
    if len(outcomes) == 1:
        return Choice(outcomes, {}, np.zeros((0, 1)))
    rows = [sorted({places[name] for name in f if name in places}) for f, _ in seen]
    given = np.array([outcomes.index(outcome) for _, outcome in seen], dtype=np.int64)
    weights = fit_sparse(rows, given, (len(names), len(outcomes)), precision, weight)
    return Choice(outcomes, places, weights)

"""Why two templates were (not) thought to be the same: first the pair alone, then the set.

The pair: log p/(1−p) = Σ λ_i over the features that it has. The set: the other templates are added
one after another, and each step is what one of them did:  p = p₀ + Σ (p_k − p_{k−1}).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.errors import InputError
from partita.pairs.columns import Columns
from partita.pairs.models import MaximumEntropy, probability
from partita.records import CoreferenceSet, FloatArray, PairProbabilities

MarginalsOf = Callable[[PairProbabilities], FloatArray]

MOST = 8


@dataclass(frozen=True, slots=True)
class Contribution:
    """A feature that the pair has, its weight, and what its characteristic observes."""

    feature: str
    weight: float
    documentation: str


@dataclass(frozen=True, slots=True)
class PairExplanation:
    """The contributions, which sum up to the log-odds of the probability."""

    left: str
    right: str
    contributions: tuple[Contribution, ...]
    log_odds: float
    probability: float


@dataclass(frozen=True, slots=True)
class Influence:
    """What the pair's probability was before and after these templates were looked at as well."""

    templates: tuple[str, ...]
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class SetExplanation:
    """How the rest of the set took a pair from its own probability to its marginal."""

    left: str
    right: str
    probability: float
    marginal: float
    influences: tuple[Influence, ...]


def explain_pair(model: MaximumEntropy, columns: Columns, left: str, right: str) -> PairExplanation:
    """Each feature of a pair with its weight, the heaviest first."""
    s, t = sorted((_place(columns.ids, left), _place(columns.ids, right)))
    codes = model.codes(columns, np.array([s]), np.array([t]))[0].tolist()
    found, first = [], 0
    for characteristic, code in zip(model.characteristics, codes, strict=True):
        feature, weight = characteristic.features[code], float(model.weights[first + code])
        found.append(Contribution(feature, weight, characteristic.documentation))
        first += len(characteristic.values)
    found.sort(key=lambda one: -abs(one.weight))
    total = sum(one.weight for one in found)
    p = float(probability(np.array([total]))[0])
    return PairExplanation(columns.ids[s], columns.ids[t], tuple(found), total, p)


def explain_set(
    pairs: PairProbabilities,
    left: str,
    right: str,
    marginal: float,
    marginals: MarginalsOf,
    most: int = MOST,
) -> SetExplanation:
    """What the other templates did to a pair.

    `marginal` is what the model made of the pair in its whole set, and `marginals` gives the
    marginals of a smaller set. The templates that would move the pair most if each stood alone
    with it are added one by one; all others make up the last step.
    """
    ids = pairs.set.ids
    s, t = sorted((_place(ids, left), _place(ids, right)))
    ranked = _ranked(pairs.matrix, s, t)
    chosen = ranked if len(ranked) <= most + 1 else ranked[:most]
    given = float(pairs.matrix[s, t])
    steps, before = [], given
    for count in range(1, len(chosen) + 1):
        whole = count == len(ranked)
        after = marginal if whole else _within(pairs, s, t, chosen[:count], marginals)
        steps.append(Influence((ids[chosen[count - 1]],), before, after))
        before = after
    if rest := ranked[len(chosen) :]:
        steps.append(Influence(tuple(ids[n] for n in sorted(rest)), before, marginal))
    return SetExplanation(ids[s], ids[t], given, marginal, tuple(steps))


def _place(ids: Sequence[str], name: str) -> int:
    if name not in ids:
        raise InputError(f"no template {name}; expected one of {', '.join(ids[:20])}")
    return ids.index(name)


def _ranked(matrix: FloatArray, s: int, t: int) -> list[int]:
    """The others, by how far each one alone would move the pair.

    With odds a of the pair and b, c of the third with either, transitivity leaves five
    configurations, and P(pair) = (a + abc)/(1 + a + b + c + abc): multiplied out by the
    probabilities, so that 0 and 1 do no harm.
    """
    others = [n for n in range(len(matrix)) if n not in (s, t)]
    p, q, r = matrix[s, t], matrix[s, others], matrix[t, others]
    together = p * (1 - q) * (1 - r) + p * q * r
    apart = (1 - p) * (1 - q * r)
    whole = together + apart
    moved = np.abs(np.divide(together, whole, out=np.full(len(others), p), where=whole > 0) - p)
    return [others[n] for n in np.argsort(-moved, kind="stable").tolist()]


def _within(
    pairs: PairProbabilities, s: int, t: int, others: Sequence[int], marginals: MarginalsOf
) -> float:
    """The marginal of the pair in the set that holds only these others."""
    members = sorted([s, t, *others])
    part = PairProbabilities(_part(pairs.set, members), pairs.matrix[np.ix_(members, members)])
    return float(marginals(part)[members.index(s), members.index(t)])


def _part(given: CoreferenceSet, members: Sequence[int]) -> CoreferenceSet:
    templates = tuple(given.templates[n] for n in members)
    kept = {template.id for template in templates}
    incompatible, must = (
        frozenset(two for two in known if kept.issuperset(two))
        for known in (given.incompatible, given.must)
    )
    return CoreferenceSet(templates, incompatible, must, given.name)

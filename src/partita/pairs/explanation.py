"""Explain the probability of a pair: by its own features, and by the rest of its set.

The pair: log p/(1−p) = Σ λ_i over its features. The set: the other templates are added one by one,
and each step is the influence of one template:  p = p₀ + Σ (p_k − p_{k−1}).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.core import CoreferenceSet, FloatArray, PairProbabilities
from partita.errors import InputError
from partita.pairs.columns import TemplateColumns
from partita.pairs.models import MaximumEntropy, probability, tied

MarginalsOf = Callable[[PairProbabilities], FloatArray]

MOST = 8
IDENTITY_IS = "Whether one is an apposition to the other or its asserted predicate; not learned."


@dataclass(frozen=True, slots=True)
class FeatureContribution:
    """A feature of the pair, its weight, and the documentation of its characteristic."""

    feature: str
    weight: float
    documentation: str


@dataclass(frozen=True, slots=True)
class JointDecision:
    """A decision of the joint model: whether `template` joins the entity that has `members`.

    `carrier` is the member without which the log-odds fall most, by `carrier_change`. `runner_up`
    are the members of the best other choice, none if that is a new entity.
    """

    sentence: str
    template: str
    members: tuple[str, ...]
    carrier: str
    carrier_change: float
    runner_up: tuple[str, ...]
    runner_up_probability: float


@dataclass(frozen=True, slots=True)
class PairExplanation:
    """The contributions, which add up to the log-odds of the probability."""

    left: str
    right: str
    contributions: tuple[FeatureContribution, ...]
    log_odds: float
    probability: float


@dataclass(frozen=True, slots=True)
class Influence:
    """The probability of the pair before and after these templates were added."""

    templates: tuple[str, ...]
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class SetExplanation:
    """The steps from a pair's own probability to its marginal in the set."""

    left: str
    right: str
    probability: float
    marginal: float
    influences: tuple[Influence, ...]


def explain_pair(
    model: MaximumEntropy, columns: TemplateColumns, left: str, right: str
) -> PairExplanation:
    """Return the features of a pair with their weights, the heaviest first."""
    s, t = sorted((_position(columns.ids, left), _position(columns.ids, right)))
    codes = model.codes(columns, np.array([s]), np.array([t]))[0].tolist()
    contributions, first = [], 0
    for characteristic, code in zip(model.characteristics, codes, strict=True):
        feature, weight = characteristic.features[code], float(model.weights[first + code])
        contributions.append(FeatureContribution(feature, weight, characteristic.documentation))
        first += len(characteristic.values)
    if model.identity and tied(columns, np.array([s]), np.array([t]))[0]:
        one = FeatureContribution("identity: said in the sentence", model.identity, IDENTITY_IS)
        contributions.append(one)
    contributions.sort(key=lambda each: -abs(each.weight))
    total = sum(each.weight for each in contributions)
    p = float(probability(np.array([total]))[0])
    return PairExplanation(columns.ids[s], columns.ids[t], tuple(contributions), total, p)


def explain_set(
    pairs: PairProbabilities,
    left: str,
    right: str,
    marginal: float,
    marginals: MarginalsOf,
    most: int = MOST,
) -> SetExplanation:
    """Return the influence of the other templates on a pair.

    `marginal` is the pair's marginal in the whole set; `marginals` computes those of a smaller set.
    The templates that would each move the pair most are added one by one; all others form the last
    step.
    """
    ids = pairs.set.ids
    s, t = sorted((_position(ids, left), _position(ids, right)))
    ranked = _ranked(pairs.matrix, s, t)
    chosen = ranked if len(ranked) <= most + 1 else ranked[:most]
    own = float(pairs.matrix[s, t])
    steps, before = [], own
    for count in range(1, len(chosen) + 1):
        whole = count == len(ranked)
        after = marginal if whole else _marginal_in_subset(pairs, s, t, chosen[:count], marginals)
        steps.append(Influence((ids[chosen[count - 1]],), before, after))
        before = after
    if rest := ranked[len(chosen) :]:
        steps.append(Influence(tuple(ids[n] for n in sorted(rest)), before, marginal))
    return SetExplanation(ids[s], ids[t], own, marginal, tuple(steps))


def _position(ids: Sequence[str], name: str) -> int:
    if name not in ids:
        raise InputError(f"unknown template {name} (expected one of {', '.join(ids[:20])})")
    return ids.index(name)


def _ranked(matrix: FloatArray, s: int, t: int) -> list[int]:
    """Return the other templates, ordered by how far each alone would move the pair.

    With odds a of the pair and b, c of the third template with either one, transitivity leaves five
    configurations, and P(pair) = (a + abc)/(1 + a + b + c + abc). It is computed from
    probabilities, so that 0 and 1 are allowed.
    """
    others = [n for n in range(len(matrix)) if n not in (s, t)]
    p, q, r = matrix[s, t], matrix[s, others], matrix[t, others]
    together = p * (1 - q) * (1 - r) + p * q * r
    apart = (1 - p) * (1 - q * r)
    whole = together + apart
    moved = np.abs(np.divide(together, whole, out=np.full(len(others), p), where=whole > 0) - p)
    return [others[n] for n in np.argsort(-moved, kind="stable").tolist()]


def _marginal_in_subset(
    pairs: PairProbabilities, s: int, t: int, others: Sequence[int], marginals: MarginalsOf
) -> float:
    """Return the marginal of the pair in the subset with only these others."""
    members = sorted([s, t, *others])
    inside = np.ix_(members, members)
    compared = None if pairs.compared is None else pairs.compared[inside]
    part = PairProbabilities(_subset(pairs.set, members), pairs.matrix[inside], compared)
    return float(marginals(part)[members.index(s), members.index(t)])


def _subset(whole: CoreferenceSet, members: Sequence[int]) -> CoreferenceSet:
    templates = tuple(whole.templates[n] for n in members)
    ids = {template.id for template in templates}
    incompatible, must = (
        frozenset(link for link in links if ids.issuperset(link))
        for links in (whole.incompatible, whole.must)
    )
    return CoreferenceSet(templates, incompatible, must, whole.name)

"""The evidential, uniform and greedy models of a whole set.

The greedy model is  P(greedy configuration) = p_k,  every other one  q = (1−p_k)/(count−1).

p_k depends on the number k of templates alone (p₂, p₃, p_{>3}, measured on training sets). In
terms of the uniform distribution U over the same configurations, with e = 1/count:
P(event) = p_k·[greedy has it] + (1−p_k)·(U(event) − e·[greedy has it])/(1−e).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.odds import UNSCALED, Odds, PairKnowledge, ScaledParameters, odds_of
from partita.configurations.product_posterior import Contracted, Engine, Part, Product
from partita.core import (
    Best,
    Figure,
    FloatArray,
    IntArray,
    Marginals,
    Method,
    Posterior,
    components,
    restricted_growth,
)
from partita.errors import InputError


def greedy_labels(compatible: NDArray[np.bool_]) -> IntArray:
    """Return the configuration that a greedy merger makes of templates in text order.

    Each template is tried against the objects made so far, the one most recently produced (by a
    template or by a merge) first, and joins the first whose members are all compatible with it.
    No second merge can follow: any two objects hold an incompatible pair from the start.
    """
    objects: list[list[int]] = []
    for template in range(len(compatible)):
        fits = (n for n, members in enumerate(objects) if compatible[template, members].all())
        position = next(fits, None)
        merged = [] if position is None else objects.pop(position)
        objects.insert(0, [*merged, template])
    home = {template: n for n, members in enumerate(objects) for template in members}
    return restricted_growth(home[template] for template in range(len(compatible)))


@dataclass(frozen=True, slots=True)
class GreedyParameters:
    """How often the greedy merger is right on sets of two, of three, and of more templates."""

    p2: float
    p3: float
    p_more: float

    def __post_init__(self) -> None:
        for name, value in (("p2", self.p2), ("p3", self.p3), ("p_more", self.p_more)):
            if not 0 < value < 1:
                raise InputError(f"{name} of the greedy model is {value}, not between 0 and 1")

    def share(self, n: int) -> float:
        """Return p_k of a coreference set of n templates."""
        return {2: self.p2, 3: self.p3}.get(n, self.p_more)


class GreedyPosterior:
    """The greedy model of one coreference set, from the uniform posterior of the same set.

    Log-weights are those of the uniform posterior (0 wherever possible) but for the greedy
    configuration, so what is not exactly known of the count is in the normaliser alone.
    """

    def __init__(self, labels: IntArray, share: float, uniform: Posterior) -> None:
        self.labels = restricted_growth(labels.tolist())
        self.share = share
        self.uniform = uniform
        self.size = uniform.size
        self.method: Method = uniform.method
        self.reason = uniform.reason
        self.log_normaliser = self._through(self._log_normaliser)

    @property
    def alone(self) -> bool:
        """Whether the greedy configuration is the only one (no two templates are compatible)."""
        return int(self.labels.max(initial=-1)) + 1 == self.size

    def log_weight(self, labels: IntArray) -> float:
        if np.array_equal(restricted_growth(labels.tolist()), self.labels):
            return self._log_weight_of_greedy()
        return self.uniform.log_weight(labels)

    def count(self) -> int | None:
        return self.uniform.count()

    def log2_count(self) -> Figure:
        return self.uniform.log2_count()

    def entropy(self) -> Figure:
        return self._through(self._entropy)

    def pairs(self) -> Marginals:
        uniform = self.uniform.pairs()
        if self.alone:
            return uniform
        joined = (self.labels[:, None] == self.labels[None, :]).astype(np.float64)
        value = self._mixed(uniform.value, joined, self.uniform.log_normaliser.value)
        if uniform.kind == "exact":
            return Marginals.exact(value)
        low, high = self._mixed_bounds(uniform, joined)
        return Marginals(value, np.minimum(low, value), np.maximum(high, value), uniform.kind)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        if self.alone:
            yield from self.uniform.cells()
            return
        produced = _cells(self.labels)
        slope, step = self._line(self.uniform.log_normaliser.value)
        for cell, probability in self.uniform.cells():
            mixed = slope * probability + (step if cell in produced else 0.0)
            yield cell, min(max(mixed, 0.0), 1.0)

    def best(self, k: int) -> Best:
        """List greedy first or, where the others are more probable, after all of them."""
        if self.alone:
            return self.uniform.best(k)
        first = self._log_weight_of_greedy() >= 0
        uniform = self.uniform.best(k if first else k + 1)
        others = uniform.labels[(uniform.labels != self.labels).any(axis=1)]
        rows = np.vstack([self.labels[None, :], others]) if first else others
        if not first and len(others) + 1 == self.count():
            rows = np.vstack([others, self.labels[None, :]])
        rows = rows[: max(k, 0)]
        return Best(rows, np.array([self.log_weight(row) for row in rows], dtype=np.float64))

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        """Draw greedy with its share, else from the uniform posterior without greedy."""
        if self.alone:
            return self.uniform.draws(count, rng)
        rows = np.tile(self.labels, (count, 1))
        open_ = np.flatnonzero(rng.random(count) >= self.share)
        while len(open_):
            draws = self.uniform.draws(len(open_), rng)
            other = (draws != self.labels).any(axis=1)
            rows[open_[other]] = draws[other]
            open_ = open_[~other]
        return rows

    def _log_weight_of_greedy(self) -> float:
        if self.alone:
            return self.uniform.log_weight(self.labels)
        odds = math.log(self.share) - math.log1p(-self.share)
        return odds + _log_others(self.uniform.log_normaliser.value)

    def _log_normaliser(self, log_count: float) -> float:
        return _log_others(log_count) - math.log1p(-self.share)

    def _entropy(self, log_count: float) -> float:
        p, rest = self.share, 1 - self.share
        nats = -p * math.log(p) - rest * math.log1p(-p) + rest * _log_others(log_count)
        return nats / math.log(2)

    def _through(self, formula: Callable[[float], float]) -> Figure:
        """Evaluate a formula that grows with the count at its value and at both bounds."""
        log_count = self.uniform.log_normaliser
        if self.alone:
            return Figure.exact(0.0)
        return Figure(
            formula(log_count.value),
            formula(log_count.low),
            formula(log_count.high),
            log_count.kind,
        )

    def _line(self, log_count: float) -> tuple[float, float]:
        """Return P(event) as a line in U(event): slope, and step where greedy has the event."""
        each = math.exp(-_two_at_least(log_count))
        slope = (1 - self.share) / (1 - each)
        return slope, self.share - slope * each

    def _mixed(self, uniform: FloatArray, greedy: FloatArray, log_count: float) -> FloatArray:
        slope, step = self._line(log_count)
        return np.clip(slope * uniform + step * greedy, 0.0, 1.0)

    def _mixed_bounds(
        self, uniform: Marginals, joined: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bound an event over both ends of the count.

        It grows with the count if greedy has it, else it shrinks.
        """
        figure = self.uniform.log_normaliser
        ends = (figure.low, figure.high)
        low = np.minimum(*(self._mixed(uniform.low, joined, end) for end in ends))
        high = np.maximum(*(self._mixed(uniform.high, joined, end) for end in ends))
        return low, high


def _two_at_least(log_count: float) -> float:
    """Raise a bound or an estimate to 2: greedy is not the only configuration."""
    return max(log_count, math.log(2))


def _log_others(log_count: float) -> float:
    """Return log(count − 1)."""
    log_count = _two_at_least(log_count)
    return log_count + math.log1p(-math.exp(-log_count))


def _cells(labels: IntArray) -> set[tuple[int, ...]]:
    return {tuple(np.flatnonzero(labels == n).tolist()) for n in range(labels.max() + 1)}


def evidential(
    knowledge: PairKnowledge, engine: Engine, scaled: ScaledParameters = UNSCALED
) -> tuple[Posterior, float]:
    """Return the posterior and the conflict κ; parameters make it the scaled model."""
    odds = odds_of(knowledge, scaled)
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


def uniform(knowledge: PairKnowledge, engine: Engine) -> Posterior:
    """Return the posterior with all weights equal: the evidential form with θ = 0."""
    odds = odds_of(knowledge)
    return with_groups(odds, split(np.where(np.isfinite(odds.theta), 0.0, -np.inf), engine))


def greedy(knowledge: PairKnowledge, engine: Engine, parameters: GreedyParameters) -> Posterior:
    """Return the greedy model: its configuration with its measured share, the others evenly."""
    odds = odds_of(knowledge)
    compatible = np.isfinite(odds.theta)
    flat = split(np.where(compatible, 0.0, -np.inf), engine)
    share = parameters.share(len(odds.home))
    return with_groups(odds, GreedyPosterior(greedy_labels(compatible), share, flat))

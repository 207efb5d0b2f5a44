"""Which configurations are listed, and what is known of those that are not."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from oracles.instances import log_odds, uniform_pairs
from oracles.posteriors import ListedPosterior
from partita.configurations.product_posterior import Contracted, Part, Product
from partita.configurations.report import MOST, best_or_above, listing, remainder
from partita.configurations.solve import solve_set
from partita.core import Best, Budget, CoreferenceSet, Figure, PairProbabilities


@dataclass
class Ranked:
    """A posterior of which only the best are asked; it notes how many."""

    shares: list[float]
    gap: float = 0.0
    asked: int = 0
    log_normaliser: Figure = field(default_factory=lambda: Figure.exact(0.0))

    def best(self, k: int) -> Best:
        self.asked = k
        logs = np.array([math.log(share) for share in self.shares[:k]])
        return Best(np.arange(len(logs))[:, None], logs, self.gap)


def kept(shares: list[float], top: int | None, threshold: float | None) -> int:
    return len(best_or_above(Ranked(shares), top, threshold).labels)


@pytest.mark.parametrize(
    ("threshold", "count"), [(0.5, 1), (0.25, 2), (0.125, 4), (0.126, 2), (0.6, 1), (0.01, 4)]
)
def test_a_configuration_exactly_at_the_threshold_is_listed(threshold: float, count: int) -> None:
    """The most probable one is listed in any case."""
    assert kept([0.5, 0.25, 0.125, 0.125], None, threshold) == count


def test_two_even_configurations_are_both_listed_at_one_half() -> None:
    even = PairProbabilities(CoreferenceSet.of("AB"), np.array([[1.0, 0.5], [0.5, 1.0]]))
    assert [one.probability for one in solve_set(even, threshold=0.5).configurations] == [0.5, 0.5]
    assert len(solve_set(even, threshold=0.5 + 1e-12).configurations) == 1


@pytest.mark.parametrize("above", [1, 15, 16, 17, 63, 64, 65, 300])
def test_a_threshold_alone_lists_all_above_it_however_many(above: int) -> None:
    shares = [0.002] * above + [0.001] * 20
    assert kept(shares, None, 0.0015) == above
    assert kept(shares, above + 5, 0.0015) == above
    assert kept(shares, max(1, above - 1), 0.0015) == max(1, above - 1)


def test_no_more_are_asked_for_than_may_be_listed() -> None:
    """Ten without any wish."""
    many = Ranked([1e-9] * (MOST + 5))
    assert len(best_or_above(many, None, 1e-12).labels) == many.asked == MOST
    assert len(best_or_above(many, 40, 1e-12).labels) == many.asked == 40
    assert len(best_or_above(many, None, None).labels) == many.asked == 10
    assert len(best_or_above(many, 3, None).labels) == many.asked == 3


@pytest.mark.parametrize("threshold", [None, 0.3])
def test_what_is_not_proved_is_told(threshold: float | None) -> None:
    assert best_or_above(Ranked([0.5, 0.25], gap=2.0), None, threshold).gap == 2.0
    assert best_or_above(Ranked([0.5, 0.25]), None, threshold).gap == 0.0


def test_the_gap_of_an_answer_is_that_of_its_search() -> None:
    """Of a set for which the work allowed proves nothing, also beside another set and with
    templates that must corefer."""
    p = uniform_pairs(45, 0.3, 0.7, np.random.default_rng(2))
    hard = np.eye(48)
    hard[:45, :45] = p
    hard[45, 46] = hard[46, 45] = 0.5
    hard[44, 47] = hard[47, 44] = 1.0
    hard[47, :44] = hard[:44, 47] = p[44, :44]
    budget = Budget(math.inf, work=2000)
    found = solve_set(_named(hard), top=3, budget=budget, method="certified")
    alone = solve_set(_named(p), top=3, budget=budget, method="certified")
    assert 0.0 < alone.gap < math.inf
    assert 0.0 < found.gap < math.inf
    small = PairProbabilities(CoreferenceSet.of("AB"), np.array([[1.0, 0.5], [0.5, 1.0]]))
    assert solve_set(small, budget=budget, method="certified").gap == 0.0


def _named(p: np.ndarray) -> PairProbabilities:
    return PairProbabilities(CoreferenceSet.of([f"T{n}" for n in range(len(p))]), p)


class Overlooking(ListedPosterior):
    """Its lists leave out one of the best and say how far that exceeds their last."""

    def __init__(self, theta: np.ndarray, overlooked: int) -> None:
        super().__init__(theta)
        self.overlooked = overlooked

    def best(self, k: int) -> Best:
        every = super().best(len(self.weights))
        listed = np.delete(np.arange(len(every.labels)), self.overlooked)[:k]
        beyond = every.log_weights[self.overlooked] - every.log_weights[listed[-1]]
        return Best(every.labels[listed], every.log_weights[listed], max(0.0, float(beyond)))


@pytest.mark.parametrize("seed", range(12))
def test_nothing_unlisted_exceeds_the_gap_of_a_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = [
        Overlooking(log_odds(uniform_pairs(n, 0.1, 0.9, rng)), int(rng.integers(3))) for n in (4, 3)
    ]
    product = Product(7, [Part(np.arange(4), sides[0]), Part(np.arange(4, 7), sides[1])])
    for posterior in (product, Contracted(product, np.array([0, 1, 2, 3, 4, 5, 6, 6]))):
        found = posterior.best(6)
        listed = {tuple(row[:7]) for row in found.labels.tolist()}
        others = [
            one + other
            for first, one in sides[0].weights.items()
            for second, other in sides[1].weights.items()
            if _joined(first, second) not in listed
        ]
        assert 0.0 < found.gap < math.inf
        assert max(others) <= found.log_weights[-1] + found.gap + 1e-12


def _joined(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return (*first, *(max(first) + 1 + label for label in second))


def test_a_product_of_proved_lists_is_proved() -> None:
    rng = np.random.default_rng(0)
    sides = [ListedPosterior(log_odds(uniform_pairs(3, 0.1, 0.9, rng))) for _ in range(2)]
    product = Product(6, [Part(np.arange(3), sides[0]), Part(np.arange(3, 6), sides[1])])
    for k in (1, 4, 25, 30):
        assert product.best(k).gap == 0.0


def test_the_remainder_has_the_interval_of_what_is_listed() -> None:
    """Z between 8 and 10, weights 4 and 2: they have 6/10 to 6/8 of the probability."""
    ranked = Ranked([4.0, 2.0], log_normaliser=Figure.interval(math.log(8), math.log(10)))
    found = listing(ranked, ("A",), ranked.best(2))
    assert found.intervals == [pytest.approx((0.4, 0.5)), pytest.approx((0.2, 0.25))]
    rest = remainder(found, 7, math.log2(7))
    assert (rest.count, rest.log2_count) == (5, math.log2(5))
    assert rest.interval == pytest.approx((0.25, 0.4))
    assert rest.probability == pytest.approx(1 - 6 / math.sqrt(80))
    assert remainder(found, 2, 1.0).interval is None
    assert remainder(found, 2, 1.0).probability == 0.0

"""The dense engine against rationals, brute force and an independent positive recursion."""

from __future__ import annotations

import math
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.instances import log_odds, planted_pairs, symmetric, uniform_pairs, with_holes
from oracles.partitions import (
    cell_marginals,
    distribution,
    entropy_bits,
    joined,
    pair_marginals,
    rational_weights,
)
from oracles.positive import dense_normalisers
from partita.configurations.count import bell, count_configurations
from partita.configurations.exact import ranked
from partita.configurations.exact import tables as exact_tables
from partita.configurations.exact.kernels import fill_normalisers, fill_together
from partita.configurations.exact.posterior import SubsetPosterior, exact
from partita.configurations.exact.subsets import MAX, SUM, log_cell_weights, pair_sums, recursion
from partita.configurations.exact.tables import (
    LARGEST,
    LOGARITHMS,
    PLAIN,
    POSITIVE,
    RANKED,
    PairWeights,
    SubsetTables,
    normalisers,
    predicted_bytes,
    predicted_seconds,
    way,
)

any_probability = st.one_of(
    st.floats(0.0, 1.0, exclude_max=True),
    st.sampled_from([0.0, 1e-300, 1e-16, 0.5, 1 - 1e-16, 1 - 1e-9]),
)


@st.composite
def pair_matrices(draw: st.DrawFn, largest: int) -> np.ndarray:
    n = draw(st.integers(1, largest))
    values = draw(st.lists(any_probability, min_size=n * n, max_size=n * n))
    return symmetric(np.array(values).reshape(n, n))


def thetas(seed: int, largest: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest + 1))
    low = rng.uniform(0.01, 0.45)
    return log_odds(with_holes(uniform_pairs(n, low, 1 - low, rng), rng.random(), rng))


@settings(max_examples=60, deadline=None)
@given(pair_matrices(6))
def test_pairs_and_cells_equal_rational_arithmetic(p: np.ndarray) -> None:
    n = len(p)
    weights = rational_weights([[Fraction(x) for x in row] for row in p.tolist()])
    total = sum(weights.values())
    truth = {labels: float(weight / total) for labels, weight in weights.items()}
    found = exact(log_odds(p))
    assert np.abs(found.pairs().value - pair_marginals(truth, n)).max() <= 1e-9
    cells = dict(found.cells())
    for cell, probability in cell_marginals(truth).items():
        assert abs(cells.get(cell, 0.0) - probability) <= 1e-9


def test_eight_templates_equal_rational_arithmetic() -> None:
    rng = np.random.default_rng(8)
    p = symmetric(rng.choice([1e-300, 1e-12, 0.2, 0.5, 0.9, 1 - 1e-12, 1 - 1e-16], (8, 8)))
    weights = rational_weights([[Fraction(x) for x in row] for row in p.tolist()])
    total = sum(weights.values())
    truth = {labels: float(weight / total) for labels, weight in weights.items()}
    found = exact(log_odds(p))
    assert np.abs(found.pairs().value - pair_marginals(truth, 8)).max() <= 1e-9
    cells = dict(found.cells())
    assert all(abs(cells[c] - q) <= 1e-9 for c, q in cell_marginals(truth).items())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_every_answer_equals_brute_force(seed: int) -> None:
    theta = thetas(seed, 7)
    truth = distribution(theta)
    found = exact(theta)
    assert np.abs(found.pairs().value - pair_marginals(truth, len(theta))).max() < 1e-12
    assert found.entropy().value == pytest.approx(entropy_bits(truth), abs=1e-10)
    assert found.count() == len(truth)
    assert found.log2_count().value == pytest.approx(math.log2(len(truth)))
    assert dict(found.cells()) == pytest.approx(cell_marginals(truth), abs=1e-12)
    best = found.best(len(truth) + 5)
    assert [truth[tuple(row)] for row in best.labels.tolist()] == pytest.approx(
        sorted(truth.values(), reverse=True)
    )
    assert len({tuple(row) for row in best.labels.tolist()}) == len(truth)
    log_p = [found.log_weight(row) - found.log_normaliser.value for row in best.labels]
    assert np.exp(log_p) == pytest.approx([truth[tuple(row)] for row in best.labels.tolist()])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_draws_have_the_right_frequencies(seed: int) -> None:
    theta = thetas(seed, 5)
    truth = distribution(theta)
    rows = exact(theta).draws(4000, np.random.default_rng(seed)).tolist()
    for labels, probability in truth.items():
        share = sum(tuple(row) == labels for row in rows) / len(rows)
        assert abs(share - probability) <= 6 * math.sqrt(probability / len(rows)) + 6 / len(rows)
    assert {tuple(row) for row in rows} <= set(truth)


KINDS = ("flat", "mid", "sharp", "holes", "wild", "extreme")
LARGE = [(n, kind) for n in (12, 13, 15, 16, 17, 18) for kind in KINDS] + [
    (19, "flat"),
    (20, "holes"),
]


def cell_probabilities(log_w: np.ndarray, log_z: np.ndarray) -> np.ndarray:
    """P(C) = w(C)·Z(N∖C)/Z(N); the complement of a mask is its mirror image."""
    return np.exp(log_w + log_z[::-1] - log_z[-1])


@pytest.mark.parametrize(("n", "kind"), LARGE)
def test_large_sets_equal_an_independent_positive_recursion(n: int, kind: str) -> None:
    theta = _instance(n, kind, np.random.default_rng(n))
    found = SubsetTables(PairWeights(theta))
    log_z = dense_normalisers(theta)
    expected = cell_probabilities(found.log_w, log_z)
    assert found.log_total == pytest.approx(log_z[-1], rel=1e-12, abs=1e-10)
    assert np.abs(found.cells - expected).max() <= 1e-9
    assert np.abs(found.pairs - pair_sums(expected)).max() <= 1e-9
    assert np.abs(np.diagonal(found.pairs) - 1.0).max() <= 1e-10


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 12, 13, 17])
def test_rare_cells_keep_their_digits_where_nothing_is_subtracted(n: int, kind: str) -> None:
    theta = _instance(n, kind, np.random.default_rng(n))
    found = SubsetTables(PairWeights(theta))
    expected = cell_probabilities(found.log_w, dense_normalisers(theta))
    there = expected > 1e-250
    logs = np.abs(found.log_w[there]).max(initial=1.0)  # rounding of a logarithm is one of P
    assert np.abs(found.cells[there] / expected[there] - 1.0).max() <= 1e-12 + 1e-14 * logs


def test_a_poor_scaling_is_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any scaling rounding loses too much, which the sums of the cells show."""
    theta, near_dual = _instance(18, "wild", np.random.default_rng(18)), exact_tables.near_dual
    tried = []

    def poor(log_w: np.ndarray, precise: bool) -> np.ndarray:
        tried.append(precise)
        return near_dual(log_w, precise) if precise else np.zeros(len(theta))

    monkeypatch.setattr(exact_tables, "near_dual", poor)
    found = SubsetTables(PairWeights(theta))
    assert tried == [False, True]
    assert found.way == RANKED
    assert found.name == "ranked subset transform"
    expected = cell_probabilities(found.log_w, dense_normalisers(theta))
    assert np.abs(found.cells - expected).max() <= 1e-9


def test_where_no_scaling_helps_nothing_is_subtracted(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = _instance(18, "mid", np.random.default_rng(18))
    monkeypatch.setattr(exact_tables.SubsetTables, "covers", lambda made: made.way == POSITIVE)
    found = SubsetTables(PairWeights(theta))
    assert found.way == POSITIVE
    expected = cell_probabilities(found.log_w, dense_normalisers(theta))
    assert found.cells == pytest.approx(expected, rel=1e-11, abs=0.0)


@pytest.mark.parametrize("n", [3, 12, 13])
def test_logarithms_are_the_last_resort(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    theta = _instance(n, "mid", np.random.default_rng(n))
    expected = SubsetTables(PairWeights(theta))
    monkeypatch.setattr(exact_tables.SubsetTables, "covers", lambda _: False)
    found = SubsetTables(PairWeights(theta))
    assert found.way == LOGARITHMS
    assert found.log_total == pytest.approx(expected.log_total, rel=1e-13)
    assert found.cells == pytest.approx(expected.cells, rel=1e-11, abs=0.0)
    assert found.pairs == pytest.approx(expected.pairs, rel=1e-11)
    assert found.log_z == pytest.approx(expected.log_z, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 11, 12])
def test_numpy_compiled_loops_and_ranked_transforms_sum_alike(n: int) -> None:
    rng = np.random.default_rng(n)
    w = rng.random(1 << n) * (rng.random(1 << n) < 0.8)
    z = normalisers(w, PLAIN)
    assert normalisers(w, POSITIVE) == pytest.approx(z, rel=1e-13)
    if n > ranked.FIRST:
        assert normalisers(w, RANKED) == pytest.approx(z, rel=1e-9)


@pytest.mark.parametrize("n", range(1, 8))
def test_the_recursion_by_definition(n: int) -> None:
    rng = np.random.default_rng(n)
    w = rng.random(1 << n)
    weights = {labels: _product(w, labels) for labels in _all_labels(n)}
    assert recursion(w, SUM)[-1] == pytest.approx(sum(weights.values()))
    assert recursion(np.log(w), MAX)[-1] == pytest.approx(math.log(max(weights.values())))
    fill_normalisers(w, z := np.empty_like(w))
    cells = fill_together(w, z, together := np.empty_like(w))
    numbers = {labels: max(labels) + 1 for labels in weights}
    expected = sum(numbers[labels] * p for labels, p in weights.items()) / z[-1]
    assert cells == pytest.approx(expected)
    for mask in range(1, 1 << n):
        inside = [i for i in range(n) if mask >> i & 1]
        share = sum(p for labels, p in weights.items() if len({labels[i] for i in inside}) == 1)
        assert together[mask] == pytest.approx(share / z[-1])


def _all_labels(n: int) -> list[tuple[int, ...]]:
    labels: list[tuple[int, ...]] = [()]
    for _ in range(n):
        labels = [(*row, new) for row in labels for new in range(max(row, default=-1) + 2)]
    return labels


def _product(w: np.ndarray, labels: tuple[int, ...]) -> float:
    cells = (sum(1 << i for i, own in enumerate(labels) if own == n) for n in set(labels))
    return math.prod(w[cell] for cell in cells)


class AnyWeights:
    """Weights of cells that are no products over pairs."""

    theta = None

    def __init__(self, log_w: np.ndarray) -> None:
        self.log_w = log_w
        n = len(log_w).bit_length() - 1
        self.compatible = np.ones((n, n), dtype=bool)

    def log_table(self) -> np.ndarray:
        return self.log_w


@pytest.mark.parametrize("spread", [1.0, 40.0, 400.0])
@pytest.mark.parametrize("n", [3, 6, 7])
def test_any_weight_of_cells_has_every_answer(n: int, spread: float) -> None:
    rng = np.random.default_rng(n)
    log_w = np.concatenate([[-np.inf], rng.normal(0.0, spread, (1 << n) - 1)])
    rows = _all_labels(n)
    masks = [[sum(1 << i for i in range(n) if row[i] == c) for c in set(row)] for row in rows]
    logs = np.array([log_w[cells].sum() for cells in masks])
    total = np.logaddexp.reduce(logs)
    truth = {row: math.exp(log - total) for row, log in zip(rows, logs, strict=True)}
    found = SubsetPosterior(AnyWeights(log_w))
    assert found.log_normaliser.value == pytest.approx(total, rel=1e-12)
    assert found.pairs().value == pytest.approx(pair_marginals(truth, n), abs=1e-11)
    assert dict(found.cells()) == pytest.approx(cell_marginals(truth), abs=1e-11)
    assert found.entropy().value == pytest.approx(entropy_bits(truth), abs=1e-8)
    best = found.best(5)
    assert best.log_weights == pytest.approx(np.sort(logs)[::-1][:5])
    assert [found.log_weight(row) for row in best.labels] == pytest.approx(best.log_weights)


@pytest.mark.parametrize("n", [9, 13])
def test_the_best_of_any_weights_are_in_order_and_drawn_as_often_as_they_should(n: int) -> None:
    rng = np.random.default_rng(n)
    log_w = np.concatenate([[-np.inf], rng.normal(0.0, 3.0, (1 << n) - 1)])
    found = SubsetPosterior(AnyWeights(log_w))
    best = found.best(20)
    assert best.gap == 0.0
    assert np.all(np.diff(best.log_weights) <= 0.0)
    rows = found.draws(3000, rng)
    assert best.log_weights[0] >= max(found.log_weight(row) for row in rows) - 1e-9
    together = (rows[:, :, None] == rows[:, None, :]).mean(axis=0)
    assert np.abs(together - found.pairs().value).max() < 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_no_weight_is_much_larger_than_its_scale(kind: str) -> None:
    theta = _instance(16, kind, np.random.default_rng(1))
    log_w = log_cell_weights(theta)
    a = exact_tables.near_dual(log_w, precise=False)
    held = np.arange(len(log_w))[:, None] >> np.arange(16) & 1
    assert (log_w - held @ a).max() <= exact_tables.SLACK + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_the_entropy_is_that_of_the_cells(kind: str) -> None:
    found = exact(_instance(18, kind, np.random.default_rng(2)))
    p, log_w = found.tables.cells, found.tables.log_w
    expected = p[p > 0.0] @ log_w[p > 0.0]
    bits = (found.log_normaliser.value - expected) / math.log(2.0)
    assert found.entropy().value == pytest.approx(max(0.0, bits), abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 14, 15])
def test_sums_over_pairs_of_bits_by_definition(n: int) -> None:
    values, masks = np.random.default_rng(n).random(1 << n), np.arange(1 << n)
    held = (masks[:, None] >> np.arange(n) & 1).astype(float)
    assert pair_sums(values) == pytest.approx(held.T @ (values[:, None] * held))


def _instance(n: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    made = {
        "flat": lambda: log_odds(uniform_pairs(n, 0.3, 0.7, rng)),
        "mid": lambda: log_odds(uniform_pairs(n, 0.05, 0.95, rng)),
        "sharp": lambda: log_odds(planted_pairs(n, rng)),
        "holes": lambda: log_odds(with_holes(uniform_pairs(n, 0.05, 0.95, rng), 0.2, rng)),
        "wild": lambda: symmetric(rng.normal(0, 5, (n, n))),
        "extreme": lambda: symmetric(rng.uniform(-690, 690, (n, n))),
    }
    return made[kind]()


def test_draws_and_best_of_a_large_set_follow_the_tables() -> None:
    rng = np.random.default_rng(4)
    found = exact(log_odds(planted_pairs(16, rng)))
    rows = found.draws(3000, rng)
    together = (rows[:, :, None] == rows[:, None, :]).mean(axis=0)
    assert np.abs(together - found.pairs().value).max() < 0.05
    weights = found.best(20).log_weights
    assert np.all(np.diff(weights) <= 0)
    likeliest = max(found.log_weight(row) for row in rows)
    assert weights[0] >= likeliest - 1e-9


@pytest.mark.parametrize(
    ("largest", "together", "threads"),
    [(9, 1, 99), (9, 3, 10), (11, 4, 99), (17, 7, 10)],
)
def test_the_disjoint_product_by_definition(
    largest: int, together: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in parts, and in parts of parts."""
    monkeypatch.setattr(ranked, "LARGEST", largest)
    monkeypatch.setattr(ranked, "TOGETHER", together)
    monkeypatch.setattr(ranked, "THREADS", threads)
    rng = np.random.default_rng(0)
    f, g, h = rng.random((3, 1 << 13))
    with ThreadPoolExecutor(2) as pool:
        ranked.disjoint_product(f, g, h, ranked.Arenas(13), pool)
    for s in rng.integers(0, 1 << 13, 50).tolist():
        parts = [c for c in range(s + 1) if c & s == c]
        assert h[s] == pytest.approx(sum(f[c] * g[s ^ c] for c in parts), rel=1e-10)


def test_bell_numbers_when_all_pairs_are_even() -> None:
    assert [bell(n) for n in range(1, 9)] == [1, 2, 5, 15, 52, 203, 877, 4140]
    found = exact(np.zeros((15, 15)))
    assert found.count() == 1_382_958_545
    assert found.log_normaliser.value == pytest.approx(math.log(1_382_958_545), abs=1e-9)
    assert found.entropy().value == pytest.approx(math.log2(1_382_958_545), abs=1e-8)
    assert np.all(found.best(50).log_weights == 0.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_counts_of_larger_sets_with_holes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, share = int(rng.integers(15, 18)), float(rng.choice([0.02, 0.1, 0.4, 0.8]))
    compatible = np.isfinite(log_odds(with_holes(np.full((n, n), 0.5), share, rng)))
    log_count = SubsetTables(PairWeights(np.where(compatible, 0.0, -np.inf))).log_z[-1]
    assert count_configurations(compatible) == round(math.exp(log_count))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_invariants(seed: int) -> None:
    theta = thetas(seed, 9)
    n = len(theta)
    found = exact(theta)
    pairs = found.pairs().value
    for i in range(n):
        assert sum(p for cell, p in found.cells() if i in cell) == pytest.approx(1.0, abs=1e-12)
    order = np.random.default_rng(seed).permutation(n)
    turned = exact(theta[np.ix_(order, order)])
    assert turned.log_normaliser.value == pytest.approx(found.log_normaliser.value, abs=1e-10)
    assert turned.pairs().value == pytest.approx(pairs[np.ix_(order, order)], abs=1e-12)
    excess = pairs[:, :, None] + pairs[None, :, :] - pairs[:, None, :]
    assert excess.max() <= 1 + 1e-12
    assert not np.isnan(pairs).any()
    assert pairs.min() >= 0.0


def test_the_gradient_of_the_normaliser_is_the_pair_marginal() -> None:
    theta = log_odds(uniform_pairs(7, 0.2, 0.8, np.random.default_rng(3)))
    pairs, step = exact(theta).pairs().value, 1e-5
    for i, j in joined((0, 0, 0, 1, 1, 1, 1)):
        moved = [theta.copy(), theta.copy()]
        for sign, matrix in zip((1, -1), moved, strict=True):
            matrix[i, j] = matrix[j, i] = theta[i, j] + sign * step
        up, down = (exact(matrix).log_normaliser.value for matrix in moved)
        assert (up - down) / (2 * step) == pytest.approx(pairs[i, j], abs=1e-8)


def test_where_configurations_are_not_counted_equal_weights_tell_how_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "partita.configurations.exact.posterior.count_configurations", lambda _: None
    )
    for n in (3, 10):
        theta = symmetric(np.random.default_rng(0).normal(size=(n, n)))
        assert exact(theta).log2_count().value == pytest.approx(math.log2(bell(n)))


@pytest.mark.parametrize("n", [10, 14, 16, 18])
def test_the_memory_of_tables_is_predicted(n: int) -> None:
    theta, rng = (
        log_odds(uniform_pairs(n, 0.1, 0.9, np.random.default_rng(n))),
        np.random.default_rng(0),
    )
    exact(theta).draws(10, rng)  # loads and compiles what it needs
    tracemalloc.start()
    exact(theta).draws(10, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    fixed = 100 << 20 if way(n) == RANKED else 2 << 20
    assert peak <= predicted_bytes(n) <= 5 * peak + fixed


def test_each_template_more_is_predicted_to_take_at_most_three_times_as_long() -> None:
    """The quickest way is taken, so no size is predicted to be quicker than a smaller one."""
    seconds = [predicted_seconds(n) for n in range(2, LARGEST + 1)]
    growth = [later / earlier for earlier, later in pairwise(seconds)]
    assert all(1.0 < ratio < 3.0 + 1e-9 for ratio in growth)
    assert [way(n) for n in (2, 12, 13, 17)] == [PLAIN, PLAIN, POSITIVE, POSITIVE]
    assert way(18) == way(LARGEST) == RANKED

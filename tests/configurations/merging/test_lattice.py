"""The lattice of decisions: plain and packed states, everything it answers, what it drops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.lattice_states import small_pair_marginals as lattice_pairs
from oracles.lattice_states import small_states
from oracles.merging import knowledge, normalised, replayed
from oracles.merging_checks import agrees, sets
from oracles.partitions import entropy_bits, pair_marginals
from partita.configurations.merging.lattice import LatticePosterior, lattice, packed_states
from partita.configurations.merging.lattice import pair_marginals as packed_marginals
from partita.configurations.merging.listed import MassBounds
from partita.configurations.merging.model import Merger, merger
from partita.errors import Contradiction, InputError, Unavailable

Given = tuple[np.ndarray, np.ndarray, np.ndarray]


def decided(model: Merger, decisions: float = math.inf) -> LatticePosterior:
    grown = lattice(packed_states(model), model.size, decisions)
    return LatticePosterior(model, grown.mass, grown, 1 << 30, "")


@settings(deadline=None, max_examples=60)
@given(sets())
def test_equals_brute_force(given_set: Given) -> None:
    weights = replayed(*given_set)
    assume(weights)
    agrees(decided(merger(*given_set)), weights)


@settings(deadline=None, max_examples=60)
@given(sets(largest=8), st.integers(1, 8), st.integers(1, 1 << 20))
def test_packed_states_are_the_same(given_set: Given, reach: int, memory: int) -> None:
    p, compatible, must = given_set
    n = len(p)
    far = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > reach
    assume(not (far & must).any())
    p, compatible = np.where(far, 0.0, p), compatible & ~far
    try:
        model = merger(p, compatible, must)
        plain = lattice(small_states(model), n, math.inf)
    except (Contradiction, InputError) as refused:
        with pytest.raises(type(refused)):
            lattice(packed_states(merger(p, compatible, must)), n, math.inf)
        return
    packed = lattice(packed_states(model), n, math.inf)
    assert [len(s.target) for s in packed.steps] == [len(s.target) for s in plain.steps]
    assert packed.mass.kept == pytest.approx(plain.mass.kept, abs=1e-12)
    assert packed_marginals(packed, memory) == pytest.approx(lattice_pairs(plain), abs=1e-12)


@settings(deadline=None, max_examples=100)
@given(sets(), st.integers(1, 60))
def test_what_is_dropped_is_bounded(given_set: Given, decisions: int) -> None:
    weights = replayed(*given_set)
    assume(weights)
    expected, found = normalised(weights), decided(merger(*given_set), decisions)
    total = math.log(math.fsum(weights.values()))
    near = 0.0 if found.method == "certified" else 1e-12
    assert found.log_normaliser.low - near <= total <= found.log_normaliser.high + near
    pairs, truth = found.pairs(), pair_marginals(expected, found.size)
    assert (pairs.low <= truth + 1e-12).all()
    assert (truth <= pairs.high + 1e-12).all()
    bits = found.entropy()
    assert bits.low - 1e-12 <= entropy_bits(expected) <= bits.high + 1e-12
    best = found.best(4)
    listed = {tuple(row) for row in best.labels.tolist()}
    others = [math.log(weight) for labels, weight in weights.items() if labels not in listed]
    if listed and others:
        assert max(others) <= best.log_weights[-1] + best.gap + 1e-12


@pytest.mark.parametrize("states", [small_states, packed_states])
def test_intervals_narrow_as_the_budget_grows(states) -> None:  # type: ignore[no-untyped-def]
    model = merger(*knowledge(12, np.random.default_rng(5), 0.3))
    masses = [lattice(states(model), 12, room).mass for room in (100, 1000, 10_000, math.inf)]
    residuals = [mass.residual for mass in masses]
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[-1] == 0.0 < residuals[1]
    truth = masses[-1].kept
    for mass in masses[:-1]:
        assert mass.log_normaliser().low <= truth <= mass.log_normaliser().high


def test_draws_follow_the_distribution() -> None:
    given_set = knowledge(6, np.random.default_rng(6), 0.3, 1)
    expected = normalised(replayed(*given_set))
    drawn = decided(merger(*given_set)).draws(20_000, np.random.default_rng(7))
    rows, counts = np.unique(drawn, axis=0, return_counts=True)
    met = dict(zip(map(tuple, rows.tolist()), (counts / 20_000).tolist(), strict=True))
    assert set(met) <= set(expected)
    for labels, share in expected.items():
        assert abs(met.get(labels, 0.0) - share) < 6 * math.sqrt(share / 20_000) + 1e-3


def test_long_sets_of_near_relations_are_exact() -> None:
    """Each compatible with the four before it; blocks of 60 cut by a wall agree with the whole."""
    n, rng = 180, np.random.default_rng(8)
    p, compatible, must = knowledge(n, rng)
    far = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 4
    wall = np.subtract.outer(np.arange(n) // 60, np.arange(n) // 60) != 0
    p, compatible = np.where(far | wall, 0.0, p), compatible & ~far & ~wall
    whole = lattice(packed_states(merger(p, compatible, must)), n, math.inf)
    parts = [slice(start, start + 60) for start in (0, 60, 120)]
    models = [merger(p[s, s], compatible[s, s], must[s, s]) for s in parts]
    blocks = [lattice(packed_states(model), 60, math.inf) for model in models]
    assert whole.mass.kept == pytest.approx(sum(b.mass.kept for b in blocks), abs=1e-9)
    pairs = packed_marginals(whole, 1 << 22)
    for part, block in zip(parts, blocks, strict=True):
        assert pairs[part, part] == pytest.approx(packed_marginals(block, 1 << 22), abs=1e-12)


def test_cells_are_unavailable_where_they_would_need_a_list() -> None:
    model = merger(*knowledge(12, np.random.default_rng(9), 0.05))
    with pytest.raises(Unavailable, match="pair probabilities"):
        decided(model).cells()


def test_bounds_of_pairs_allow_for_rounding_on_both_sides() -> None:
    mass = MassBounds(kept=0.0, dropped=-60.0, size=1000)
    within = np.array([[1.0, 0.5], [0.5, 1.0]])
    pairs = mass.pairs(within)
    assert mass.slack > 1e-10
    assert pairs.low[0, 1] <= 0.5 - mass.slack
    assert 0.5 + mass.slack <= pairs.high[0, 1] < 0.5 + 2 * mass.slack


def test_where_all_was_dropped_nothing_is_known_of_pairs() -> None:
    pairs = MassBounds(kept=-1000.0, dropped=0.0).pairs(np.full((2, 2), 0.5))
    assert (pairs.low[0, 1], pairs.high[0, 1]) == (0.0, 1.0)

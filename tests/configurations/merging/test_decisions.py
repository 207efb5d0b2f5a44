"""Merging decisions: the paper's numbers, brute force at every density, conditions, any size."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.merging import knowledge, normalised, replayed, simulated
from oracles.merging_checks import agrees, sets
from oracles.partitions import pair_marginals
from partita.configurations.merging.decisions import merging
from partita.core import Budget, Posterior
from partita.errors import Contradiction, InputError, TooLarge
from patience import PATIENCE

BUDGET = Budget(seconds=math.inf)
TABLE_1 = {"AB": 0.671, "AC": 0.0, "AD": 0.505, "BC": 0.0, "BD": 0.752, "CD": 0.504}


def matrices(table: dict[str, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p = np.zeros((4, 4))
    for (left, right), value in table.items():
        i, j = "ABCD".index(left), "ABCD".index(right)
        p[i, j] = p[j, i] = value
    return p, (p > 0) | np.eye(4, dtype=bool), np.eye(4, dtype=bool)


def listed(posterior: Posterior, k: int = 100_000) -> dict[tuple[int, ...], float]:
    best = posterior.best(k)
    shares = np.exp(best.log_weights - posterior.log_normaliser.value)
    return {
        tuple(row): float(share) for row, share in zip(best.labels.tolist(), shares, strict=True)
    }


def test_the_paper_s_example() -> None:
    found = listed(merging(*matrices(TABLE_1), BUDGET))
    expected = {
        (0, 0, 1, 0): 0.2503,
        (0, 0, 1, 1): 0.3382,
        (0, 0, 1, 2): 0.0825,
        (0, 1, 2, 0): 0.0204,
        (0, 1, 2, 1): 0.1227,
        (0, 1, 2, 2): 0.1658,
        (0, 1, 2, 3): 0.0200,
    }
    assert {labels: round(share, 4) for labels, share in found.items()} == expected


def test_a_forbidden_yes_is_dropped_and_the_rest_normalised() -> None:
    posterior = merging(*matrices(TABLE_1 | {"BC": 0.5}), BUDGET)
    found = listed(posterior)
    assert math.exp(posterior.log_normaliser.value) == pytest.approx(0.6645, abs=5e-5)
    assert found[0, 0, 1, 1] == pytest.approx(0.2545, abs=5e-5)
    assert found[0, 0, 1, 0] == pytest.approx(0.1883, abs=5e-5)


@settings(deadline=None, max_examples=60)
@given(sets())
def test_equals_brute_force(given_set: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights = replayed(*given_set)
    other = simulated(*given_set)
    assume(weights)
    assert other == pytest.approx(weights, abs=1e-12)
    agrees(merging(*given_set, BUDGET), weights)


@pytest.mark.parametrize("holes", [0.0, 0.2, 0.5])
def test_equals_brute_force_with_eight(holes: float) -> None:
    given_set = knowledge(8, np.random.default_rng(8), holes, 1)
    agrees(merging(*given_set, BUDGET), replayed(*given_set))


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("links", [0, 1])
@pytest.mark.parametrize("holes", [0.0, 0.3, 0.6])
def test_the_methods_for_larger_sets_equal_brute_force(
    monkeypatch: pytest.MonkeyPatch, holes: float, links: int, kept: bool
) -> None:
    """Sets of six, as if four were the most that are enumerated in one pass over a table."""
    monkeypatch.setattr("partita.configurations.merging.decisions.LARGEST", 4)
    given_set = knowledge(6, np.random.default_rng(6), holes, links, kept)
    weights = replayed(*given_set)
    posterior = merging(*given_set, BUDGET)
    assert posterior.count() == len(weights)
    agrees(posterior, weights)


def test_ten_templates_are_listed() -> None:
    """Of twelve that are related to few others all configurations are listed too."""
    ten = merging(*knowledge(10, np.random.default_rng(1)), BUDGET, method="exact")
    assert ten.reason == "all 115975 configurations listed"
    twelve = merging(*knowledge(12, np.random.default_rng(1), 0.4), BUDGET)
    assert twelve.method == "exact"
    assert twelve.pairs().kind == "exact"


def test_one_way_to_merge_nearly_all_mass_is_followed() -> None:
    """Where almost every answer is certain, few beginnings have all but .01 of the mass."""
    p, compatible, must = knowledge(16, np.random.default_rng(1))
    p = np.where(p > 0.8, 0.9999, 0.0001)
    posterior = merging(p, compatible, must, BUDGET)
    assert posterior.method == "certified"
    drawn = merging(p, compatible, must, BUDGET, method="sampled").pairs()
    pairs = posterior.pairs()
    assert (pairs.low - 0.01 <= drawn.value).all()
    assert (drawn.value <= pairs.high + 0.01).all()


def test_certified_intervals_narrow_as_the_budget_grows() -> None:
    given_set = knowledge(12, np.random.default_rng(5), 0.2)
    found = [
        merging(*given_set, Budget(work=work), method="certified") for work in (10**4, 10**6, 10**8)
    ]
    widths = [f.log_normaliser.high - f.log_normaliser.low for f in found]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1] == 0.0
    truth = found[-1].log_normaliser.value
    assert all(f.log_normaliser.low <= truth <= f.log_normaliser.high for f in found)


def test_where_incompatible_pairs_do_not_bite_the_estimated_total_is_one() -> None:
    """In the paper's Table 1 nobody who is compatible with C may be with A or B before C."""
    total = merging(*matrices(TABLE_1), Budget(work=10**6), method="sampled").log_normaliser
    assert (total.kind, total.value) == ("estimate", pytest.approx(0.0, abs=1e-12))
    assert total.high == pytest.approx(0.0, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(sets())
def test_impossible_configurations_have_no_weight(
    given_set: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    weights = replayed(*given_set)
    assume(weights)
    posterior = merging(*given_set, BUDGET)
    together, apart = np.zeros(posterior.size, int), np.arange(posterior.size)
    for labels in (together, apart):
        possible = tuple(labels.tolist()) in weights
        assert (posterior.log_weight(labels) > -math.inf) == possible


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 11), st.integers(0, 2**32))
def test_the_total_is_one_if_nothing_bites(n: int, seed: int) -> None:
    posterior = merging(*knowledge(n, np.random.default_rng(seed)), BUDGET)
    assert posterior.log_normaliser.value == pytest.approx(0.0, abs=1e-12)


def test_depends_on_the_order() -> None:
    p, compatible, must = knowledge(6, np.random.default_rng(1), 0.2)
    order = np.array([3, 1, 5, 0, 2, 4])
    before = merging(p, compatible, must, BUDGET).pairs().value[np.ix_(order, order)]
    turned = [matrix[np.ix_(order, order)] for matrix in (p, compatible, must)]
    after = merging(*turned, BUDGET).pairs().value
    assert np.abs(before - after).max() > 0.01
    assert after == pytest.approx(pair_marginals(normalised(replayed(*turned)), 6), abs=1e-9)


@pytest.mark.parametrize("tiny", [1e-300, 1e-16, 5e-324])
@pytest.mark.parametrize("holes", [0.0, 0.4])
def test_extreme_probabilities(tiny: float, holes: float) -> None:
    rng = np.random.default_rng(2)
    p, compatible, must = knowledge(7, rng, holes)
    extreme = np.where(rng.random((7, 7)) < 0.5, tiny, 1 - 1e-16)
    extreme = np.triu(extreme, 1) + np.triu(extreme, 1).T
    p = np.where(compatible, extreme, 0.0)
    posterior = merging(p, compatible, must, BUDGET)
    pairs = posterior.pairs().value
    assert math.isfinite(posterior.log_normaliser.value)
    assert np.isfinite(pairs).all()
    assert (pairs >= 0).all()
    assert sum(listed(posterior).values()) == pytest.approx(1.0, abs=1e-9)
    assert posterior.entropy().value >= 0


def test_a_must_link_conditions() -> None:
    """It does not contract: who asks the first of the two still meets the no of the other."""
    p, compatible, must = knowledge(4, np.random.default_rng(3))
    must[0, 2] = must[2, 0] = True
    found = listed(merging(p, compatible, must, BUDGET))
    free = listed(merging(p, compatible, np.eye(4, dtype=bool), BUDGET))
    kept = {labels: share for labels, share in free.items() if labels[0] == labels[2]}
    assert found == pytest.approx(normalised(kept), abs=1e-12)


def test_all_incompatible_has_one_configuration() -> None:
    p, eye = np.zeros((12, 12)), np.eye(12, dtype=bool)
    posterior = merging(p, eye, eye, BUDGET)
    assert listed(posterior) == {tuple(range(12)): pytest.approx(1.0)}
    assert posterior.count() == 1


def test_parts_that_never_ask_each_other_multiply() -> None:
    rng = np.random.default_rng(4)
    p, compatible, must = knowledge(8, rng, 0.2)
    apart = (np.arange(8)[:, None] + np.arange(8)) % 2 == 1
    p[apart], compatible[apart] = 0.0, False
    agrees(merging(p, compatible, must, BUDGET), replayed(p, compatible, must))


def test_an_excluded_pair_keeps_parts_together() -> None:
    """A–D excluded by assumption still says no with 1 − p, which depends on what both did."""
    p = np.zeros((4, 4))
    for i, j, value in ((0, 1, 0.5), (2, 3, 0.6), (0, 3, 0.7), (1, 2, 0.4)):
        p[i, j] = p[j, i] = value
    compatible = np.eye(4, dtype=bool)
    compatible[[0, 1, 2, 3], [1, 0, 3, 2]] = True
    given_set = p, compatible, np.eye(4, dtype=bool)
    agrees(merging(*given_set, BUDGET), replayed(*given_set))


def test_counts() -> None:
    p, compatible, must = knowledge(8, np.random.default_rng(5), 0.3, 1)
    posterior = merging(p, compatible, must, BUDGET)
    assert posterior.count() == len(replayed(np.full((8, 8), 0.5), compatible, must))
    everything = np.full((15, 15), 0.5), np.ones((15, 15), bool), np.eye(15, dtype=bool)
    large = merging(*everything, BUDGET)
    assert large.count() == 1_382_958_545
    assert large.log2_count().value == pytest.approx(math.log2(1_382_958_545))


def test_contradictions_and_bad_input() -> None:
    p, compatible, must = knowledge(3, np.random.default_rng(6))
    must[0, 1] = must[1, 0] = must[1, 2] = must[2, 1] = True
    compatible[0, 2] = compatible[2, 0] = False
    with pytest.raises(Contradiction):
        merging(p, compatible, must, BUDGET)
    with pytest.raises(InputError, match="between 0 and 1"):
        merging(p + 1, compatible, np.eye(3, dtype=bool), BUDGET)
    with pytest.raises(InputError, match="unknown method"):
        merging(p, compatible, np.eye(3, dtype=bool), BUDGET, method="best")


def test_exact_is_refused_with_what_it_needs() -> None:
    given_set = knowledge(40, np.random.default_rng(7), 0.3)
    with pytest.raises(TooLarge, match=r"40 templates .* configurations"):
        merging(*given_set, Budget(work=20_000), method="exact")


def test_beyond_the_budget_it_is_sampled_and_says_so() -> None:
    given_set = knowledge(40, np.random.default_rng(8), 0.3)
    posterior = merging(*given_set, Budget(work=300_000))
    assert posterior.method == "sampled"
    assert "draws" in posterior.reason
    pairs = posterior.pairs()
    assert pairs.kind == "estimate"
    assert (pairs.low <= pairs.value).all()
    assert (pairs.value <= pairs.high).all()
    assert posterior.best(3).gap > 0
    assert posterior.draws(5, np.random.default_rng(0)).shape == (5, 40)


def test_the_same_seed_gives_the_same_bytes() -> None:
    given_set = knowledge(30, np.random.default_rng(9), 0.3)
    first, second, other = (
        merging(*given_set, Budget(work=100_000), seed).pairs().value for seed in (1, 1, 2)
    )
    assert first.tobytes() == second.tobytes()
    assert first.tobytes() != other.tobytes()


def test_small_sets_need_no_compiled_code() -> None:
    code = (
        "import sys, numpy as np\n"
        "from partita.configurations.merging.decisions import merging\n"
        "from partita.core import Budget\n"
        "rng = np.random.default_rng(0)\n"
        "for n, closed in ((4, 0), (12, 0), (12, 1), (14, 1)):\n"
        "    p = np.triu(rng.random((n, n)), 1); p += p.T\n"
        "    ok = np.ones((n, n), bool)\n"
        "    if closed: ok[0, n - 1] = ok[n - 1, 0] = False; p[~ok] = 0\n"
        "    m = merging(p, ok, np.eye(n, dtype=bool), Budget(seconds=np.inf))\n"
        "    m.pairs(); m.entropy(); m.best(3); m.log2_count()\n"
        "    m.draws(3, rng)\n"
        "assert 'numba' not in sys.modules and 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)

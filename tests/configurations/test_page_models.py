"""The models answer as an implementation that was made from docs/how-it-works.md alone."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import partita
from oracles import page_models as page
from oracles.page_models import Answer, Pair
from partita import Configuration, CoreferenceSet, Distribution, PairProbabilities
from partita.configurations.forest.model import ForestParameters
from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.configurations.solve import solve_set

SCORES = st.one_of(
    st.floats(0.01, 0.99),
    st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12]),
)
Pairs = dict[Pair, float]
MUST, CANNOT, MISSING = 1.0, 0.0, -1.0


@st.composite
def pair_values(draw: st.DrawFn, most: int, missing: bool) -> tuple[int, Pairs]:
    """A set whose pairs have scores or are certain, without contradictions; some are missing."""
    n = draw(st.integers(2, most))
    pairs = list(itertools.combinations(range(n), 2))
    special = [MUST, CANNOT, CANNOT, *([MISSING] * 3 if missing else [])]
    rarely = draw(st.booleans())
    kinds = st.one_of(SCORES, SCORES, SCORES if rarely else st.sampled_from(special))
    values = {both: draw(kinds) for both in pairs}
    homes = page.connected(n, {both for both in pairs if values[both] == MUST})
    for home in homes:  # what must-links connect has no cannot-link inside
        for both in itertools.combinations(home, 2):
            if values[both] == CANNOT:
                values[both] = 0.25
    return n, values


def members(n: int) -> CoreferenceSet:
    return CoreferenceSet.of([f"t{i}" for i in range(n)])


def matrix(n: int, values: Pairs, default: float = 0.5) -> np.ndarray:
    found = np.zeros((n, n))
    for (i, j), value in values.items():
        found[i, j] = found[j, i] = default if value == MISSING else value
    return found


def check(found: Distribution, expected: Answer, n: int) -> None:
    """Every configuration and every pair has the probability that is expected."""
    assert math.fsum(expected.values()) == pytest.approx(1.0)
    pairs = np.eye(n)
    for cells in page.all_partitions(n):
        p = expected.get(cells, 0.0)
        named = Configuration([[f"t{i}" for i in cell] for cell in cells])
        log = found.log_probability(named)
        assert math.exp(log) == pytest.approx(p, rel=1e-6, abs=1e-14), cells
        for i, j in page.together(cells):
            pairs[i, j] += p
            pairs[j, i] += p
    assert found.marginals.value == pytest.approx(pairs, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(pair_values(6, missing=False))
@example((4, {**dict.fromkeys(itertools.combinations(range(4), 2), 0.5), (0, 1): 0.0, (1, 2): 0.0}))
def test_the_models_of_the_paper(drawn: tuple[int, Pairs]) -> None:
    n, p = drawn
    given_pairs = PairProbabilities(members(n), matrix(n, p))
    evidential, conflict = page.evidential(n, p)
    found = solve_set(given_pairs, "evidential")
    check(found, evidential, n)
    assert found.conflict == pytest.approx(conflict, abs=1e-9)
    check(solve_set(given_pairs, "uniform"), page.uniform(n, p), n)
    check(
        solve_set(given_pairs, "scaled", parameters=ScaledParameters(0.7, -0.25)),
        page.scaled(n, p, 0.7, -0.25), n,
    )  # fmt: skip
    check(
        solve_set(given_pairs, "greedy", parameters=GreedyParameters(0.6, 0.5, 0.35)),
        page.greedy(n, p, (0.6, 0.5, 0.35)), n,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(pair_values(6, missing=False))
def test_merging(drawn: tuple[int, Pairs]) -> None:
    n, p = drawn
    check(solve_set(PairProbabilities(members(n), matrix(n, p)), "merging"), page.merging(n, p), n)


def forest_both(
    n: int, values: Pairs, a: float = 1.0, c: float = 0.0, floor: float = 0.0
) -> tuple[Distribution, Answer]:
    """The distribution, and what the page says."""
    compared = np.ones((n, n), dtype=np.bool_)
    for (i, j), value in values.items():
        compared[i, j] = compared[j, i] = value != MISSING
    given_pairs = PairProbabilities(members(n), matrix(n, values), compared)
    found = solve_set(given_pairs, "forest", parameters=ForestParameters(a, c, floor=floor))
    scores = {both: p for both, p in values.items() if p not in (MUST, CANNOT, MISSING)}
    must, cannot = ({x for x, p in values.items() if p == known} for known in (MUST, CANNOT))
    return found, page.forest(n, scores, must, cannot, a, c, floor)


@settings(max_examples=120, deadline=None)
@given(pair_values(6, missing=True), st.sampled_from([(1.0, 0.0, 0.0), (0.4, -0.5, 0.02)]))
@example((3, {(0, 1): 0.9, (1, 2): 0.8, (0, 2): 0.1}), (1.0, 0.0, 0.0))
@example((3, {(0, 1): 1 - 1e-12, (1, 2): 1 - 1e-12, (0, 2): MISSING}), (1.0, 0.0, 0.0))
@example((4, dict.fromkeys(itertools.combinations(range(4), 2), MISSING)), (1.0, 0.0, 0.0))
def test_the_forest(drawn: tuple[int, Pairs], parameters: tuple[float, float, float]) -> None:
    n, values = drawn
    check(*forest_both(n, values, *parameters), n)


@pytest.mark.parametrize("seed", range(3))
def test_the_forest_of_seven_templates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    special = [MISSING, MISSING, CANNOT, 1 - 1e-9, 1e-9]
    values = {
        both: float(rng.choice(special)) if rng.random() < 0.3 else float(rng.random())
        for both in itertools.combinations(range(7), 2)
    }
    check(*forest_both(7, values), 7)


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 6), st.data())
def test_cluster_weighs_sets_as_the_page_says(n: int, data: st.DataObject) -> None:
    """Scores of 0 and 1 are evidence; pairs outside of the table were not compared."""
    chain = {(i, i + 1): data.draw(SCORES | st.just(1.0)) for i in range(n - 1)}
    others = set(itertools.combinations(range(n), 2)) - set(chain)
    further = data.draw(st.dictionaries(st.sampled_from(sorted(others)), SCORES | st.just(0.0)))
    scores = {**{both: max(p, 0.001) for both, p in chain.items()}, **further}
    table = partita.cluster([(i, j, p) for (i, j), p in scores.items()]).to_pandas("pairs")
    expected = page.forest(n, scores, set(), set())
    for row in table.itertuples():
        both = page.pair(int(row[1]), int(row[2]))
        p = math.fsum(w for cells, w in expected.items() if both in page.together(cells))
        assert row.probability == pytest.approx(p, abs=1e-6), both

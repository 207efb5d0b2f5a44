"""Worlds: draws of all clusters together agree with the stated probabilities."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import partita
from partita.app.solve import learned_parameters
from partita.configurations.forest.model import ForestScores, log_odds, weigh
from partita.core import Budget
from partita.errors import InputError
from partita.linkage.answers import draw_worlds, first_members
from partita.linkage.grouping import Evidence, group
from partita.linkage.pairs import read_pairs

WORLDS = 4000
SURE = 1e-7  # of a false alarm, for each probability


def inside(share: float, p: float) -> bool:
    """Return whether a share of WORLDS draws is possible with probability p."""
    low, high = binom.ppf([SURE, 1 - SURE], WORLDS, p) / WORLDS
    return bool(low <= share <= high)


def partitions(frame: Any) -> list[frozenset[frozenset[Any]]]:
    """Return the clusters of each world."""
    found = []
    for _, world in frame.groupby("world"):
        cells = world.groupby("cluster")["record"].agg(frozenset)
        found.append(frozenset(cells))
    return found


def all_partitions(members: list[int]) -> list[list[list[int]]]:
    if not members:
        return [[]]
    first, *rest = members
    found = []
    for cells in all_partitions(rest):
        found.append([[first], *cells])
        found += [[*cells[:n], [first, *cells[n]], *cells[n + 1 :]] for n in range(len(cells))]
    return found


def cell_weight(weights: Any, cell: list[int]) -> float:
    """Return |C| times the sum over spanning trees, by the matrix-tree theorem."""
    inside = weights[np.ix_(cell, cell)]
    laplacian = np.diag(inside.sum(axis=1)) - inside
    return len(cell) * float(np.linalg.det(laplacian[1:, 1:]))


@pytest.mark.parametrize("seed", range(4))
def test_small_sets_have_the_probabilities_of_all_partitions(seed: int) -> None:
    scores = np.random.default_rng(seed).uniform(0.02, 0.98, 6)
    left, right = (np.array(ends) for ends in zip(*combinations(range(4), 2), strict=True))
    none = np.zeros((0, 2), dtype=np.int64)
    rows = ForestScores(np.arange(4), left, right, log_odds(scores), none, complete=True)
    weights = weigh(rows, learned_parameters("forest")).dense()
    every = all_partitions([0, 1, 2, 3])
    weight = np.array([np.prod([cell_weight(weights, cell) for cell in one]) for one in every])
    pairs = list(zip(left.tolist(), right.tolist(), scores.tolist(), strict=True))
    found = partita.cluster(pairs, worlds=WORLDS).to_pandas("worlds")
    counts = Counter(partitions(found))
    for cells, p in zip(every, weight / weight.sum(), strict=True):
        assert inside(counts[frozenset(map(frozenset, cells))] / WORLDS, p)


def chain(records: int) -> list[tuple[int, int, float]]:
    rng = np.random.default_rng(3)
    return [
        (a, b, float(rng.uniform(0.05, 0.95)))
        for a in range(records)
        for b in range(a + 1, min(records, a + 4))
    ]


@pytest.mark.parametrize("records", [9, 40])
def test_pairs_are_together_as_often_as_stated(records: int) -> None:
    pairs = chain(records)
    found = partita.cluster(pairs, worlds=WORLDS, budget=Budget(work=20_000))
    frame = found.to_pandas("worlds").pivot(index="world", columns="record", values="cluster")
    for row in found.to_pandas("pairs").itertuples():
        share = float((frame[row.left] == frame[row.right]).mean())
        wider = 6.0 * row.error  # of what is stated, where that comes from draws
        low, high = max(0.0, row.probability - wider), min(1.0, row.probability + wider)
        assert low <= share <= high or inside(share, low) or inside(share, high)


def test_labels_assumptions_and_records_without_pairs_hold_in_every_world() -> None:
    found = partita.cluster(
        chain(40), records=[*range(41)], assume=["3=9", "5!=6"], worlds=200
    ).to_pandas("worlds")
    frame = found.pivot(index="world", columns="record", values="cluster")
    assert frame.shape == (200, 41)
    assert (frame[3] == frame[9]).all()
    assert (frame[5] != frame[6]).all()
    assert (frame[40] == 40).all()


def test_the_same_seed_gives_the_same_worlds() -> None:
    pairs = chain(30)
    one, two = (partita.cluster(pairs, worlds=20).to_pandas("worlds") for _ in range(2))
    other = partita.cluster(pairs, worlds=20, seed=1).to_pandas("worlds")
    assert one.equals(two)
    assert not one.equals(other)
    assert (partita.cluster(pairs).to_arrow()) == partita.cluster(pairs, worlds=20).to_arrow()


def test_a_cluster_is_called_by_its_first_record() -> None:
    assert first_members(np.array([[1, 0, 1], [0, 0, 1]])).tolist() == [[0, 1, 0], [0, 0, 2]]
    sets = group(read_pairs([("b", "a", 0.999), ("a", "c", 0.999)]), evidence=Evidence(0.001))
    worlds = draw_worlds(sets, learned_parameters("forest"), 50, Budget(work=1))
    assert (worlds <= np.arange(3)).all()


@pytest.mark.parametrize("worlds", [0, -1, 2.5])
def test_the_number_of_worlds_is_checked(worlds: Any) -> None:
    with pytest.raises(InputError, match="not a positive number of draws"):
        partita.cluster([(1, 2, 0.5)], worlds=worlds)

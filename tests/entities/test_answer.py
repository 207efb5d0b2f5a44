"""Which grouping is the answer of a set."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from oracles.joint_mentions import random_model, random_templates
from partita.configurations.joint.posterior import solve_joint
from partita.core import Configuration, CoreferenceSet, restricted_growth
from partita.core.configurations import mean_linkage
from partita.entities.answer import (
    LINKED,
    answer,
    entity_shares,
    settled,
)


@given(st.integers(2, 9), st.integers(0, 10**6), st.sampled_from([0.25, 0.5]))
@settings(deadline=None, max_examples=50)
def test_clusters_are_joined_while_their_mean_pair_probability_is_high(
    n: int, seed: int, least: float
) -> None:
    half = np.triu(np.random.default_rng(seed).random((n, n)), 1)
    pairs = half + half.T + np.eye(n)
    cells = [[i] for i in range(n)]

    def mean(a: list[int], b: list[int]) -> float:
        return float(pairs[np.ix_(a, b)].mean())

    while len(cells) > 1:
        a, b = max(itertools.combinations(cells, 2), key=lambda two: mean(*two))
        if mean(a, b) < least:
            break
        cells = [*(cell for cell in cells if cell not in (a, b)), a + b]
    labels = mean_linkage(pairs, least)
    together = {frozenset(cell) for cell in cells}
    assert {frozenset(np.flatnonzero(labels == c).tolist()) for c in labels} == together


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=20)
def test_clusters_of_sparse_pairs_are_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = np.triu(rng.random((60, 60)) * (rng.random((60, 60)) < 0.05), 1)
    pairs = half + half.T + np.eye(60)
    tree = linkage(squareform(1.0 - pairs, checks=False), "average")
    labels = fcluster(tree, 0.75, "distance")
    assert (mean_linkage(pairs, 0.25) == restricted_growth(labels)).all()


def symmetric(n: int, **pairs: float) -> np.ndarray:
    """Return pair probabilities, named as in p01=.5; those of other pairs are 0."""
    matrix = np.eye(n)
    for name, p in pairs.items():
        a, b = int(name[1]), int(name[2])
        matrix[a, b] = matrix[b, a] = p
    return matrix


def test_the_share_of_an_entity_is_that_of_its_closest_earlier_member() -> None:
    pairs = symmetric(4, p01=0.9, p03=0.3, p13=0.4, p23=0.2)
    assert entity_shares(pairs[3, :3], np.array([0, 0, 1])).tolist() == [0.4, 0.2]


def test_the_largest_share_stays_where_doubtful_members_overlap() -> None:
    # "him" is listed with Larsen, and may be Zelensky: "Zelensky" is no less surely the President
    row, labels = np.array([0.1, 0.3, 0.96]), np.array([0, 0, 1])
    assert np.allclose(entity_shares(row, labels), [0.04, 0.96])
    assert np.allclose(entity_shares(np.array([0.8, 0.6]), np.array([0, 1])), [0.8, 0.2])
    assert np.allclose(entity_shares(np.array([1.0 + 1e-12, 0.6]), np.array([0, 1])), [1.0, 0.0])


def test_a_mention_that_is_most_probably_new_starts_an_entity() -> None:
    """What follows goes along if it is closer to it."""
    pairs = symmetric(4, p01=0.9, p02=0.32, p12=0.3, p03=0.3, p13=0.3, p23=0.8)
    together = np.zeros(4, dtype=np.int64)
    assert settled(pairs, together).tolist() == [0, 0, 1, 1]
    pairs = symmetric(4, p01=0.9, p02=0.32, p12=0.3, p03=0.8, p13=0.8)
    assert settled(pairs, together).tolist() == [0, 0, 1, 0]
    assert settled(symmetric(2, p01=0.5), np.zeros(2, int)).tolist() == [0, 0]
    assert settled(symmetric(2, p01=0.4), np.zeros(2, int)).tolist() == [0, 1]


def test_a_mention_moves_to_its_most_probable_entity() -> None:
    pairs = symmetric(3, p01=0.1, p02=0.3, p12=0.6)
    assert settled(pairs, np.array([0, 1, 0])).tolist() == [0, 1, 1]


@given(st.integers(0, 10**6), st.integers(2, 12))
@settings(deadline=None, max_examples=50)
def test_no_linked_mention_has_a_more_probable_reading(seed: int, n: int) -> None:
    half = np.triu(np.random.default_rng(seed).random((n, n)) ** 3, 1)
    pairs = half + half.T + np.eye(n)
    labels = settled(pairs, mean_linkage(pairs, LINKED))
    for place in range(1, n):
        shares = entity_shares(pairs[place, :place], labels[:place])
        if labels[place] in labels[:place]:
            assert shares[labels[place]] == shares.max() >= 1.0 - shares.sum()


def test_the_answer_of_a_text() -> None:
    """Few mentions: from the most probable configuration; many: the best agreement."""
    model, rng = random_model(np.random.default_rng(0)), np.random.default_rng(3)
    for size in (6, 20):
        group = CoreferenceSet(tuple(random_templates(size, rng)), name="text")
        (found,) = solve_joint([group], model)
        pairs, best = found.marginals.value, found.most_probable.labels(group.ids)
        start = best if size == 6 else mean_linkage(pairs, LINKED)
        labels = settled(pairs, start)
        assert answer(found) == Configuration.from_labels(group.ids, labels)


def test_incompatible_templates_are_never_in_one_entity() -> None:
    model, rng = random_model(np.random.default_rng(0)), np.random.default_rng(5)
    templates = tuple(random_templates(14, rng))
    apart = frozenset({(templates[0].id, templates[1].id), (templates[2].id, templates[9].id)})
    (found,) = solve_joint([CoreferenceSet(templates, apart, name="text")], model)
    assert found.method == "sampled"
    assert not any(answer(found).together(*both) for both in apart)


@given(st.integers(2, 9), st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_the_most_probable_reading_joins_nothing_that_is_apart(n, seed):
    rng = np.random.default_rng(seed)
    chances, apart = np.triu(rng.random((n, n)), 1), np.triu(rng.random((n, n)) < 0.3, 1)
    apart |= apart.T
    pairs = np.where(apart, 0.0, chances + chances.T) + np.eye(n)
    labels = settled(pairs, mean_linkage(np.where(apart, -1e6, pairs), 0.3), apart)
    assert not ((labels[:, None] == labels[None, :]) & apart).any()

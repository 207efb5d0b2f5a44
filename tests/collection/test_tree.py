"""The tree of entities: coherent pair probabilities, exact draws, labels that hold."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.collection.tree import (
    CONFLICT,
    KEPT,
    LEAST,
    SURE,
    UNLISTED,
    EntityTree,
    Joined,
    average_linkage,
)
from partita.configurations.forest.model import log_odds, logistic

PLAIN = {"bias": 0.0, "score": 1.0, "pairs": 0.0, "score_by_pairs": 0.0, "compared": 0.0}


def pairs_of(count, seed):
    rng = np.random.default_rng(seed)
    left, right = (
        np.array(one, dtype=np.int64) for one in zip(*combinations(range(count), 2), strict=True)
    )
    return left, right, rng.random(len(left)) ** 2


@st.composite
def trees(draw):
    count, seed = draw(st.integers(2, 9)), draw(st.integers(0, 10_000))
    left, right, scores = pairs_of(count, seed)
    return EntityTree.of(average_linkage(count, left, right, scores), PLAIN), left, right


def test_average_linkage_is_that_of_scipy():
    from scipy.cluster.hierarchy import linkage

    for seed in range(20):
        left, right, scores = pairs_of(8, seed)
        scores = 0.05 + 0.9 * scores
        joined = average_linkage(8, left, right, scores)
        expected = linkage(1.0 - scores, "average")
        np.testing.assert_allclose(np.sort(1.0 - joined.mean), np.sort(expected[:, 2]))


def plain_linkage(count, left, right, scores):
    """Join the closest two clusters by the definition of the mean, looking at all pairs again."""
    known = {(a, b): p for a, b, p in zip(left, right, scores, strict=True) if p >= KEPT}
    clusters, means = [{n} for n in range(count)], []

    def mean(one, two):
        listed = [known[min(a, b), max(a, b)] for a, b in product(one, two)
                  if (min(a, b), max(a, b)) in known]  # fmt: skip
        rest = len(one) * len(two) - len(listed)
        return sum(listed) / (len(listed) + UNLISTED * rest) if listed else 0.0

    while len(clusters) > 1:
        best, one, two = max(((mean(*both), *both) for both in combinations(clusters, 2)),
                             key=lambda found: found[0])  # fmt: skip
        if best < LEAST:
            break
        clusters = [c for c in clusters if c not in (one, two)] + [one | two]
        means.append(best)
    return means, {frozenset(one) for one in clusters}


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 12), st.floats(0.1, 0.9), st.integers(0, 10_000))
def test_average_linkage_of_some_pairs_is_that_of_its_definition(count, share, seed):
    left, right, scores = pairs_of(count, seed)
    some = np.random.default_rng(seed + 1).random(len(left)) < share
    left, right, scores = left[some], right[some], scores[some]
    joined = average_linkage(count, left, right, scores)
    means, clusters = plain_linkage(count, left.tolist(), right.tolist(), scores.tolist())
    np.testing.assert_allclose(np.sort(joined.mean), np.sort(means))  # one tree after the other
    parts = {n: {n} for n in range(count)}
    for n, (a, b) in enumerate(zip(joined.first.tolist(), joined.second.tolist(), strict=True)):
        parts[count + n] = parts.pop(a) | parts.pop(b)
    assert {frozenset(one) for one in parts.values()} == clusters


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(2, 6), min_size=1, max_size=4), st.integers(0, 10_000))
def test_components_may_be_joined_each_on_its_own(sizes, seed):
    """The trees of each, one after the other, are those of all together."""
    rng, count = np.random.default_rng(seed), sum(sizes)
    home = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    left, right, scores = pairs_of(count, seed)
    inside = home[left] == home[right]
    whole = average_linkage(count, left[inside], right[inside], scores[inside])
    columns = {name: [] for name in ("first", "second", "mean", "pairs", "listed")}
    for part in rng.permutation(len(sizes)):
        members, chosen = np.flatnonzero(home == part), home[left] == part
        chosen &= inside
        ends = (np.searchsorted(members, one[chosen]) for one in (left, right))
        made = average_linkage(len(members), *ends, scores[chosen])
        shift = count + len(columns["first"]) - len(members)
        nodes = np.concatenate([members, len(members) + shift + np.arange(len(made.first))])
        for name, values in columns.items():
            found = getattr(made, name)
            values.extend(nodes[found] if name in ("first", "second") else found)
    ends = (np.array(columns[name], dtype=np.int64) for name in ("first", "second"))
    rest = (np.array(columns[name]) for name in ("mean", "pairs", "listed"))
    joined = Joined(count, *ends, *rest).ordered()
    for name in columns:
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))


@settings(max_examples=60, deadline=None)
@given(trees())
def test_pairs_are_coherent(made):
    """Of three records, two pairs that are the same imply the third."""
    tree, _, _ = made
    p = np.ones((tree.count, tree.count))
    for a, b in combinations(range(tree.count), 2):
        p[a, b] = p[b, a] = tree.pair_probabilities(np.array([a]), np.array([b]))[0]
    assert ((p >= 0.0) & (p <= 1.0)).all()
    for a, b, c in combinations(range(tree.count), 3):
        low, _, high = sorted((p[a, b], p[b, c], p[a, c]))
        assert low >= high + sorted((p[a, b], p[b, c], p[a, c]))[1] - 1.0 - 1e-9
        assert abs(low - sorted((p[a, b], p[b, c], p[a, c]))[1]) < 1e-9  # an ultrametric


@settings(max_examples=15, deadline=None)
@given(trees())
def test_draws_have_the_stated_pair_probabilities(made):
    tree, left, right = made
    draws = tree.worlds(2000, seed=1)
    seen = (draws[:, left] == draws[:, right]).mean(axis=0)
    stated = tree.pair_probabilities(left, right)
    assert (np.abs(seen - stated) < 5 * np.sqrt(stated * (1 - stated) / 2000) + 1e-3).all()
    entities = np.array([len(np.unique(one)) for one in draws])
    error = 5 * entities.std() / np.sqrt(2000) + 1e-3
    assert abs(entities.mean() - tree.expected_entities()) < error


def test_the_cut_has_the_nodes_of_at_least_this_probability():
    left, right, scores = pairs_of(7, 3)
    tree = EntityTree.of(average_linkage(7, left, right, scores), PLAIN)
    for least in (0.1, 0.3, 0.6):
        labels = tree.cut(least)
        together = labels[left] == labels[right]
        assert (together == (tree.pair_probabilities(left, right) >= least)).all()


def test_labels_hold():
    left, right, scores = pairs_of(8, 5)
    joined = average_linkage(8, left, right, scores, same=[(0, 7), (7, 3)], different=[(1, 2)])
    tree = EntityTree.of(joined, PLAIN)
    sure = tree.pair_probabilities(np.array([0, 0, 1]), np.array([7, 3, 2]))
    assert (sure[:2] > 0.999).all()
    assert sure[2] == 0.0
    draws = tree.worlds(300)
    assert (draws[:, 0] == draws[:, 3]).all()
    assert (draws[:, 1] != draws[:, 2]).all()


def test_records_that_were_not_compared_stay_apart():
    tree = EntityTree.of(average_linkage(3, np.array([0]), np.array([1]), np.array([0.8])), PLAIN)
    assert tree.pair_probabilities(np.array([0, 0]), np.array([1, 2])).round(6).tolist() == [0.8, 0]
    empty = EntityTree.of(average_linkage(2, *[np.zeros(0, np.int64)] * 2, np.zeros(0)), PLAIN)
    assert empty.cut(0.5).tolist() == [0, 1]
    assert empty.worlds(3).tolist() == [[0, 1]] * 3


def test_log_odds_are_finite():
    assert np.isfinite(log_odds(np.array([0.0, 1.0]), SURE)).all()
    np.testing.assert_allclose(logistic(log_odds(np.array([0.2, 0.7]), SURE)), [0.2, 0.7])


def test_a_conflict_weighs_as_many_pairs():
    left, right = np.array([0, 1, 0]), np.array([1, 2, 2])
    scores, conflicts = np.array([0.8, 0.7, 0.01]), np.array([False, False, True])
    plain = average_linkage(3, left, right, scores)
    held = average_linkage(3, left, right, scores, conflicts=conflicts)
    assert plain.mean[1] == pytest.approx((0.7 + 0.01) / 2)
    assert held.mean[1] == pytest.approx((0.7 + CONFLICT * 0.01) / (1.0 + CONFLICT))

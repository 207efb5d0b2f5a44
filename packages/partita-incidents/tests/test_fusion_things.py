"""Records of several sources put together."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from partita_incidents.fusion_things import ABSENT, Pairs, cluster_records, fit_linkage


def test_what_tells_things_apart_is_learned_without_being_told():
    rng = np.random.default_rng(3)
    things, sources = 60, 4
    source = np.repeat(np.arange(sources), things)
    thing = np.tile(np.arange(things), sources)
    pairs = [
        (a, b) for a, b in combinations(range(len(source)), 2) if (thing[a] - thing[b]) % 20 == 0
    ]
    left, right = np.array(pairs).T
    same = thing[left] == thing[right]
    tells = np.where(rng.random(len(pairs)) < 0.85, same, ~same) * 2
    noise = rng.integers(0, 3, len(pairs))
    silent = np.full(len(pairs), ABSENT)
    table = Pairs(left, right, np.column_stack([tells, noise, silent]), source)
    found = fit_linkage(table, 3)
    weights = np.log(found.same / found.other)
    assert weights[0, 2] > 1
    assert weights[0, 0] < -1
    assert np.abs(weights[1]).max() < 0.5
    assert np.abs(weights[2]).max() < 1e-9
    evidence = found.evidence(table)
    assert np.median(evidence[same]) > 1 > -1 > np.median(evidence[~same])


def test_the_largest_mean_gain_is_joined_first_and_never_is():
    gains = np.array([[0, 2, 1], [2, 0, -3], [1, -3, 0]], dtype=float)
    assert cluster_records(gains, np.ones(3)) == [[0, 1], [2]]
    apart = np.where(gains == 2, -np.inf, gains)
    assert cluster_records(apart, np.ones(3)) == [[0, 2], [1]]


def test_who_weighs_more_decides():
    gains = np.array([[0, 9, 1], [9, 0, -2], [1, -2, 0]], dtype=float)
    assert cluster_records(gains, np.array([1.0, 1.0, 1.0])) == [[0, 1], [2]]
    assert cluster_records(gains, np.array([9.0, 1.0, 1.0])) == [[0, 1, 2]]


def test_nothing_gives_nothing():
    assert cluster_records(np.zeros((0, 0)), np.ones(0)) == []

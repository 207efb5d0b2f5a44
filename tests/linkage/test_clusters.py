"""Hard answers: the most probable configuration, or only what is probable enough."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita
from oracles.answers import TABLE_1, brute
from partita.core import Distribution
from partita.linkage import clusters
from partita.linkage.cluster_tables import Merges, chosen_threshold
from partita.linkage.clusters import cluster_rows
from partita.tables.writing import csv_text


def together(distribution: Distribution, members: set[str]) -> float:
    """By adding up every configuration."""
    ids = distribution.set.ids
    at = [n for n, name in enumerate(ids) if name in members]
    rows = distribution.posterior.listed
    return math.fsum(p for labels, p in rows if len({labels[n] for n in at}) == 1)


def members(rows) -> list[set[str]]:
    found: dict[str, set[str]] = {}
    for name, cluster, _ in rows:
        found.setdefault(cluster, set()).add(name)
    return list(found.values())


def test_table_1():
    rows = cluster_rows(brute(list("ABCD"), TABLE_1))
    assert [(a, b) for a, b, _ in rows] == [("A", "A"), ("B", "A"), ("C", "C"), ("D", "A")]
    assert rows[0][2] == pytest.approx(0.3826, abs=1e-4)
    assert rows[2][2] == 1.0


def test_text_order_and_prefix():
    rows = cluster_rows(brute(["b", "a"], {("b", "a"): 0.9}), prefix="s:")
    assert [row[:2] for row in rows] == [("b", "s:b"), ("a", "s:b")]
    assert [row[2] for row in rows] == pytest.approx([0.9, 0.9])


sizes = st.integers(2, 6)


@settings(deadline=None, max_examples=40)
@given(sizes, st.data(), st.sampled_from([0.3, 0.5, 0.8, 0.95, 1.0]))
def test_cautious_merges_only_what_is_probable_enough(n, data, least):
    ids = list("ABCDEF"[:n])
    given = {
        (a, b): data.draw(st.sampled_from([0.0, 0.2, 0.6, 0.9, 0.99]))
        for k, a in enumerate(ids)
        for b in ids[k + 1 :]
    }
    distribution = brute(ids, given)
    rows = cluster_rows(distribution, least)
    told = {name: p for name, _, p in rows}
    groups = members(rows)
    assert set().union(*groups) == set(ids)
    for group in groups:
        p = together(distribution, group)
        assert p >= least - 1e-9 or len(group) == 1
        assert all(told[name] == pytest.approx(p) for name in group)
    for a in groups:
        for b in groups:  # nothing that could still be merged was left apart
            assert a == b or together(distribution, a | b) < least + 1e-9


@settings(deadline=None, max_examples=40)
@given(sizes, st.data())
def test_the_bound_for_large_sets_holds(n, data):
    ids = list("ABCDEF"[:n])
    given = {
        (a, b): data.draw(st.floats(0.05, 0.99)) for k, a in enumerate(ids) for b in ids[k + 1 :]
    }
    distribution = brute(ids, given)
    for size in range(1, n + 1):
        some = tuple(range(size))
        bound = clusters._tree_bound(distribution, some)
        assert 0.0 <= bound <= together(distribution, set(ids[:size])) + 1e-9
        if size == 2:
            assert bound == pytest.approx(distribution.marginals.value[0, 1])


def test_large_sets_use_the_bound(monkeypatch):
    monkeypatch.setattr(clusters, "TABLE_LIMIT", 2)
    distribution = brute(list("ABCD"), TABLE_1)
    rows = cluster_rows(distribution)
    value = distribution.marginals.value
    assert rows[0][2] == pytest.approx(value[0, 1] + value[1, 3] - 1)
    assert members(cluster_rows(distribution, 0.55)) == [{"A", "B"}, {"C"}, {"D"}]
    assert members(cluster_rows(distribution, 0.19)) == [{"A", "B", "D"}, {"C"}]


def test_bounds_of_intervals_are_taken_from_below():
    exact = brute(list("AB"), {("A", "B"): 0.9})
    value = exact.marginals.value
    wide = replace(exact.marginals, low=value - 0.2, kind="interval")
    assert clusters._tree_bound(replace(exact, marginals=wide), (0, 1)) == pytest.approx(0.7)


def test_written_as_csv():
    written = csv_text([clusters.HEADER, ("a,b", "c", 0.5)])
    assert written == 'id,cluster,probability\n"a,b",c,0.5\n'


def test_the_threshold_is_the_lowest_that_reaches_the_target() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        count = int(rng.integers(0, 8))
        height = rng.choice([0.45, 0.5, 0.6, 0.6, 0.75, 0.9, 1.0], count)
        between = rng.integers(1, 9, count).astype(float)
        certain, target = int(rng.integers(0, 4)), float(rng.uniform(0.4, 1.0))
        found = chosen_threshold(Merges(height, between, certain), target, 0.45)
        reaching = [
            h for h in {*height.tolist()}
            if certain + (between * height)[height >= h].sum()
            >= target * (certain + between[height >= h].sum())
        ]  # fmt: skip
        assert found == min(reaching, default=np.nextafter(height.max(initial=0.45), 2.0))


@given(st.lists(st.floats(0.9, 1.0), min_size=1, max_size=40))
@settings(deadline=None, max_examples=30)
def test_no_stated_share_is_above_one(scores: list[float]) -> None:
    """Expected pairs are sums of rounded numbers; a recall was stated as 1.0000000000357638."""
    pairs = [(f"a{n}", f"b{n}", score) for n, score in enumerate(scores)]
    summary = partita.cluster(pairs).summary
    for share in (summary.precision, summary.recall):
        assert share is not None
        assert 0.0 <= share.low <= share.value <= share.high <= 1.0

"""Clusters of many sets against the distribution of each of them."""

from __future__ import annotations

import csv
import re
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import partita
from partita.app.cluster import first_rule
from partita.cli import app
from partita.configurations.exact.posterior import SubsetPosterior
from partita.configurations.forest.batch_kernels import MergeRule
from partita.configurations.forest.model import ForestParameters, scores_of, weigh
from partita.configurations.forest.posterior import TreeWeights
from partita.configurations.odds import checked_knowledge
from partita.configurations.solve import solve_set
from partita.core import Budget
from partita.linkage import labels as learning
from partita.linkage.answers import Clustering, cluster_sets, row_probabilities
from partita.linkage.cluster_tables import cluster_summary, totals
from partita.linkage.grouping import Evidence, group
from partita.linkage.labels import pairs_to_label
from partita.linkage.pairs import PairTable
from partita.linkage.sets import Sets, conditioned
from partita.tables.writing import write_table

PARAMETERS = ForestParameters()


@st.composite
def scored(draw: st.DrawFn, most: int = 6) -> list[tuple[str, str, float]]:
    n = draw(st.integers(2, most))
    pairs = [(f"r{a}", f"r{b}") for a, b in combinations(range(n), 2)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    value = st.sampled_from([0.0, 0.001, 0.2, 0.5, 0.8, 0.99, 1.0])
    return [(*ends, draw(value)) for ends in chosen]


def sets_of(rows: list[tuple[str, str, float]], assume: tuple[str, ...] = ()) -> Sets:
    names = list(dict.fromkeys(name for row in rows for name in row[:2]))
    ends = np.array([[names.index(row[0]), names.index(row[1])] for row in rows])
    p = np.array([row[2] for row in rows])
    table = PairTable("scores", names, ends[:, 0], ends[:, 1], p, np.arange(len(rows)) + 1)
    grouped = group(table, evidence=Evidence(PARAMETERS.unlisted_probability))
    return conditioned(grouped, assume)


def answered(sets: Sets, threshold: float = 0.5) -> Clustering:
    return cluster_sets(sets, PARAMETERS, MergeRule.fixed(threshold), Budget())


def check(sets: Sets) -> None:
    """Compare with the tables of the forest model, set by set."""
    clustering = answered(sets)
    answers, ids = clustering.answers, list(sets.ids)
    cluster = clustering.cluster_of_node()[clustering.node]
    for k, pairs in enumerate(sets.pairs()):
        found = solve_set(pairs, "forest", parameters=PARAMETERS)
        cells = {frozenset(c): p for c, p in found.posterior.cells()}
        marginals, first = found.marginals.value, int(sets.starts[k])
        members = range(int(sets.starts[k + 1]) - first)
        assert answers.entities[k] == pytest.approx(sum(cells.values()))
        for row in range(int(sets.row_starts[k]), int(sets.row_starts[k + 1])):
            expected = marginals[sets.left[row], sets.right[row]]
            assert answers.pair[row] == pytest.approx(expected, abs=1e-9)
        for i in members:
            own = [j for j in members if cluster[first + j] == cluster[first + i]]
            node = clustering.node[first + i]
            assert answers.exact[node] == pytest.approx(cells.get(frozenset(own), 0), abs=1e-9)
            mean = np.mean([marginals[i, j] for j in own if j != i] or [1.0])
            assert answers.membership[node] == pytest.approx(mean, abs=1e-9)
        for number in {int(cluster[first + i]) for i in members}:
            inside = [i for i in members if cluster[first + i] == number]
            _check_merge(answers, number, cluster[first + np.array(members)], cells)
            assert all(ids[first + i] for i in inside)


def _check_merge(answers: Any, number: int, labels: Any, cells: Any) -> None:
    own = frozenset(np.flatnonzero(labels == number).tolist())
    others = [frozenset(np.flatnonzero(labels == n).tolist()) for n in set(labels) - {number}]
    best = max((cells.get(own | other, 0.0) for other in others), default=0.0)
    assert answers.merge[number] == pytest.approx(best, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(scored())
def test_small_sets_are_exact(rows: list[tuple[str, str, float]]) -> None:
    check(sets_of(rows))


@settings(max_examples=40, deadline=None)
@given(scored(), st.data())
def test_known_pairs_are_kept_exactly(rows: list[tuple[str, str, float]], data: Any) -> None:
    sets = sets_of(rows)
    if not len(sets):
        return
    names = list(sets.ids[: int(sets.starts[1])])
    one, other = data.draw(st.permutations(names))[:2]
    check(conditioned(sets, [f"{one}={other}"]))
    check(conditioned(sets, [f"{one}!={other}"]))


def merged(p: Any, rule: MergeRule) -> set[frozenset[int]]:
    """Average linkage and the rule of merges from their definitions."""
    alone = [frozenset({n}) for n in range(len(p))]
    clusters, steps = alone, []
    while len(clusters) > 1:
        ends = list(combinations(clusters, 2))
        means = [float(p[np.ix_(sorted(a), sorted(b))].mean()) for a, b in ends]
        a, b = ends[int(np.argmax(means))]
        steps.append((max(means), len(a) * len(b), a, b))
        clusters = [one for one in clusters if one not in (a, b)] + [a | b]
    found = set(alone)
    for height, k, a, b in steps:
        factor = rule.lowered + (1 - rule.lowered) * min(1, 2 / k) ** 2
        factor = max(factor, min(0.75, rule.lowered * (k / 8) ** 0.3))
        if {a, b} <= found and height >= rule.least * factor:
            found = found - {a, b} | {a | b}
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.sampled_from([0.3, 0.6, 1.0]))
def test_merges_follow_the_rule(seed: int, n: int, scale: float) -> None:
    """Distinct scores, so that no two merges are equally probable."""
    rng = np.random.default_rng(seed)
    home = rng.integers(0, max(1, n // 3), n)
    rows = []
    for a, b in combinations(range(n), 2):
        theta = scale * rng.normal(2.0 if home[a] == home[b] else -3.0, 3.0)
        rows.append((f"r{a}", f"r{b}", float(1.0 / (1.0 + np.exp(-theta)))))
    sets = sets_of(rows)
    for rule in (first_rule(None, None), first_rule(0.7, None), MergeRule(0.45, 1.0)):
        clustering = cluster_sets(sets, PARAMETERS, rule, Budget())
        cluster = clustering.cluster_of_node()[clustering.node]
        for k, pairs in enumerate(sets.pairs()):
            marginals = solve_set(pairs, "forest", parameters=PARAMETERS).marginals.value
            own = cluster[int(sets.starts[k]) : int(sets.starts[k + 1])]
            found = {frozenset(np.flatnonzero(own == c).tolist()) for c in set(own.tolist())}
            assert found == merged(marginals, rule)


def test_splits_are_the_most_probable_ones() -> None:
    sets = sets_of([("a", "b", 0.9), ("b", "c", 0.8), ("a", "c", 0.7), ("c", "d", 0.9)])
    clustering = answered(sets)
    assert set(clustering.answers.label) == {0}
    found = solve_set(sets.pairs()[0], "forest", parameters=PARAMETERS, top=15)
    two = [one for one in found.configurations if len(one.configuration.cells) == 2]
    assert clustering.answers.split[0] == pytest.approx(two[0].probability)


def test_draws_of_a_larger_set_agree_with_the_tables() -> None:
    rng = np.random.default_rng(3)
    pairs = [(f"r{a}", f"r{a + step}") for a in range(16) for step in (1, 2)]
    rows = [(*ends, float(rng.uniform(0.05, 0.95))) for ends in pairs]
    sets = sets_of(rows)
    assert sets.sizes.tolist() == [18]
    clustering = cluster_sets(sets, PARAMETERS, MergeRule.fixed(0.5), Budget(work=20000))
    knowledge = checked_knowledge(sets.pairs()[0])
    exact = SubsetPosterior(TreeWeights(weigh(scores_of(knowledge), PARAMETERS)))
    expected = exact.pairs().value[sets.left, sets.right]
    assert np.abs(clustering.answers.pair - expected).max() < 0.02
    cells = {frozenset(c): p for c, p in exact.cells()}
    for label in set(clustering.answers.label.tolist()):
        own = frozenset(np.flatnonzero(clustering.answers.label == label).tolist())
        assert clustering.answers.exact[label] == pytest.approx(cells[own], abs=0.02)


def test_the_target_is_reached_with_as_many_merges_as_possible() -> None:
    rng = np.random.default_rng(5)
    rows = [(2 * n, 2 * n + 1, float(p)) for n, p in enumerate(rng.uniform(0.3, 1.0, 200))]
    for target in (0.8, 0.9, 0.97):
        found = partita.cluster(rows, target_precision=target).summary
        assert found.precision.value >= target
        merged = found.records - found.clusters
        scores = np.sort([row[2] for row in rows])[::-1]
        assert scores[: merged + 1].mean() < target or scores[merged] < 0.5
        assert found.precision.low <= found.precision.value <= found.precision.high


def test_the_order_and_company_of_sets_change_nothing() -> None:
    rng = np.random.default_rng(7)
    ends = [(20 * s + int(a), 20 * s + int(a + 1)) for s in range(9) for a in range(1 + 2 * s)]
    rows = [(*pair, float(rng.uniform(0.2, 0.9))) for pair in ends]
    together = {one.record: one for one in partita.cluster(rows)}
    for s in range(9):
        alone = partita.cluster([row for row in rows if row[0] // 20 == s])
        assert all(together[one.record] == one for one in alone)


def test_alternatives_say_what_changes() -> None:
    found = partita.cluster([("a", "b", 0.6), ("b", "c", 0.4), ("d", "e", 0.9)])
    rows = found.to_pandas("alternatives")
    assert [(row.cluster, row.change, row.records) for row in rows.itertuples()] == [
        ("a", "split", ["b"]), ("a", "merge", []), ("d", "split", ["e"]),
    ]  # fmt: skip
    assert rows["with"][1] == "c"
    assert rows["probability"][2] == pytest.approx(0.1)
    assert list(rows["probability"]) == sorted(rows["probability"], reverse=True)


def test_pairs_that_connect_nothing_count_in_the_recall() -> None:
    rows = [("a", "b", 0.6), ("b", "c", 0.4), ("d", "e", 0.9)]
    whole = partita.cluster(rows).summary.recall
    less = partita.cluster([*rows, ("e", "f", 0.01)], link_above=0.05).summary.recall
    assert whole.high == 1.0
    assert 0.99 < less.high < 1.0
    assert whole.value - 0.01 < less.value < whole.value


@pytest.mark.parametrize("columns", [{"a": [1], "b": [["x", "y"]]}, {"a": [], "b": []}])
def test_tables_of_one_row_and_of_none(tmp_path: Path, columns: dict[str, list[Any]]) -> None:
    path = tmp_path / "t.csv"
    write_table(path, columns)
    assert path.read_text() == "a,b\n" + "1,x|y\n" * len(columns["a"])
    write_table(path.with_suffix(".jsonl"), columns)
    assert (tmp_path / "t.jsonl").read_text().count("\n") == len(columns["a"])


def test_other_shapes_of_tables() -> None:
    weights = {"unique_id_l": [1, 3], "unique_id_r": [2, 4], "match_weight": [2.0, -3.0]}
    table = partita.cluster(pd.DataFrame(weights)).to_pandas("pairs")
    assert table["score"].tolist() == pytest.approx([0.8, 1 / 9])
    dedupe = pd.DataFrame({"id_1": [1], "id_2": [2], "score": [0.75], "x": ["y"]})
    assert partita.cluster(dedupe).clusters == {1: [1, 2]}
    own = pd.DataFrame({"a": ["x"], "b": ["y"], "prob": [0.9], "left": ["z"]})
    assert partita.cluster(own, columns=("a", "b", "prob")).clusters == {"x": ["x", "y"]}


SCORES = "unique_id_l,unique_id_r,match_probability\n1,2,1.0\n2,3,.4\n4,5,.00001\n"
RECORDS = "unique_id,name\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n"


def run(*args: object) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_the_command_writes_all_tables(tmp_path: Path, suffix: str) -> None:
    scores, records = tmp_path / "s.csv", tmp_path / "r.csv"
    scores.write_text(SCORES)
    records.write_text(RECORDS)
    names = ("out", "alternatives", "pairs", "review")
    files = [part for name in names for part in (f"--{name}", tmp_path / f"{name}{suffix}")]
    done = run("cluster", scores, "--records", records, *files)
    assert done.exit_code == 0
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "expected precision" in done.stdout
    assert all((tmp_path / f"{name}{suffix}").stat().st_size for name in names)
    if suffix == ".csv":
        with (tmp_path / "out.csv").open() as stream:
            rows = list(csv.reader(stream))
        assert rows[0] == ["record", "cluster", "membership", "exact"]
        assert [row[:2] for row in rows[1:]] == [
            [*"11"],
            [*"21"],
            [*"33"],
            [*"44"],
            [*"55"],
            [*"66"],
        ]
        assert 0.999 < float(rows[1][2]) < 1.0


@pytest.mark.parametrize(
    ("scores", "records", "said"),
    [
        ("left,right,probability\n", RECORDS, "s.csv: has no rows"),
        ("left,right\n1,2\n", RECORDS, "s.csv, line 1: has no column probability"),
        ("left,right,probability\n1,2,\n", RECORDS, "s.csv, line 2: the probability of 1 and 2 is"),
        ("left,right,probability\n1,2,nan\n", RECORDS, "line 2: .* is nan, not a number"),
        ("left,right,probability\n1,2,1.5\n", RECORDS, "line 2: .* is 1.5, outside 0 to 1"),
        ("left,right,probability\n1,2,.5\n2,1,.6\n", RECORDS, "line 3: .* is 0.6, and 0.5 in"),
        ("left,right,probability\n1,2,1e-5\n2,1,2e-5\n", RECORDS, "line 3: .* in line 2"),
        ("left,right,probability\n1,9,.5\n", RECORDS, "line 2: refers to 9, which .* does not"),
        (SCORES, "unique_id\n1\n1\n", "r.csv, line 3: lists record 1 again, after line 2"),
        (SCORES, "unique_id\n1\n\n,x\n", "r.csv, line 4: has 2 values"),
        (SCORES, "name\nx\n", "r.csv, line 1: has no column id or unique_id"),
        (SCORES, "unique_id\n", "r.csv: has no rows"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(tmp_path: Path, scores: str, records: str, said: str) -> None:
    (tmp_path / "s.csv").write_text(scores)
    (tmp_path / "r.csv").write_text(records)
    out = tmp_path / "clusters.csv"
    done = run("cluster", tmp_path / "s.csv", "--records", tmp_path / "r.csv", "--out", out)
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    assert re.search(said, done.stderr), done.stderr
    assert not out.exists()


def simulated(seed: int, sets: int, shift: float) -> tuple[list[Any], dict[tuple[int, int], int]]:
    """Scores of pairs whose log-odds are too low by `shift`, and the truth."""
    rng = np.random.default_rng(seed)
    rows, truth = [], {}
    for n in range(sets):
        same = bool(rng.random() < 0.6)
        theta = rng.normal(1.5 if same else -1.5, 1.7) - shift
        rows.append((2 * n, 2 * n + 1, float(1 / (1 + np.exp(-theta)))))
        truth[2 * n, 2 * n + 1] = int(same)
    return rows, truth


def test_few_labels_move_little_and_many_move_much() -> None:
    rows, truth = simulated(1, 400, 2.0)
    p, same = np.array([row[2] for row in rows]), np.array([*truth.values()], dtype=np.float64)
    theta = np.log(p) - np.log1p(-p)
    biases = [abs(learning.fit_level(theta[:n], same[:n])[1]) for n in (5, 20, 400)]
    assert biases[0] == 0.0
    assert biases[0] <= biases[1] <= 2.5
    assert biases[2] >= 1.5
    labels = [(*ends, same) for ends, same in truth.items()][:300]
    found = partita.cluster(rows, labels=labels).to_pandas("pairs")["probability"].to_numpy()[300:]
    moved = np.log(found / (1.0 - found)) - theta[300:]
    assert 1.9 <= moved.mean() <= 2.9  # 2 and the log-odds of .6 are right


def test_labels_learn_that_some_low_scores_are_wrong() -> None:
    rng = np.random.default_rng(5)
    rows, labels = [], []
    for n in range(400):
        same = rng.random() < (0.95 if n % 2 else 0.08)
        rows.append((2 * n, 2 * n + 1, 0.95 if n % 2 else 0.001))
        labels.append((2 * n, 2 * n + 1, int(same)))
    clusters = partita.cluster(rows, labels=labels[:300])
    p = clusters.to_pandas("pairs")["probability"].to_numpy()[300:]
    assert 0.02 <= p[::2].max() <= 0.12
    assert p[1::2].min() >= 0.85


def test_labels_hold_exactly_and_join_sets() -> None:
    rows = [("a", "b", 0.9), ("b", "c", 0.9), ("d", "e", 0.8), ("f", "g", 0.2)]
    labels = pd.DataFrame({"left": list("acf"), "right": list("cdg"), "same": [0, 1, 1]})
    found = partita.cluster(rows, records=list("abcdefg"), labels=labels)
    cluster = {one.record: one.cluster for one in found}
    assert cluster["a"] != cluster["c"] == cluster["d"]
    assert cluster["f"] == cluster["g"]
    table = found.to_pandas("pairs").set_index(["left", "right"])["probability"]
    assert table["f", "g"] == 1.0
    keys = pd.DataFrame({"id": list("abc"), "cluster": [1, 1, 2]})
    assert partita.cluster(rows, labels=keys).clusters["a"] == ["a", "b"]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("left,right,same\n1,2,maybe\n", "l.csv, line 2: the label is 'maybe'"),
        ("left,right,same\n1,2,1\n2,1,0\n", "line 3: labels 2 and 1 both the same and different"),
        ("left,right,same\n1,2,1\n2,3,1\n1,3,0\n", "1 and 3 are labelled both the same and"),
        ("left,right,same\n1,99,1\n", "l.csv: labels 99, which is neither in the scores nor"),
        ("left,right\n1,2\n", "l.csv, line 1: has no labels"),
        ("id,cluster\n1,x\n1,y\n", "line 3: puts 1 into two clusters"),
    ],
)
def test_bad_labels(tmp_path: Path, labels: str, said: str) -> None:
    (tmp_path / "s.csv").write_text(SCORES)
    (tmp_path / "l.csv").write_text(labels)
    done = run("cluster", tmp_path / "s.csv", "--labels", tmp_path / "l.csv")
    assert done.exit_code == 1
    assert re.search(said, done.stderr), done.stderr


def test_a_large_set_is_answered_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    rows = [(n, n + 1, float(rng.choice([0.03, 0.95]))) for n in range(60)]
    whole = partita.cluster(rows)
    monkeypatch.setattr("partita.linkage.answers.DENSE", 20)
    blocks = partita.cluster(rows)
    assert whole.clusters == blocks.clusters
    assert whole.summary.cut_pairs == 0
    pairs = blocks.to_pandas("pairs")
    low = pairs[pairs["probability"] < 0.05]
    assert blocks.summary.cut_pairs == len(low) > 5
    assert blocks.summary.cut_true_pairs == pytest.approx(low["probability"].sum(), rel=0.2)
    for one, other in zip(whole, blocks, strict=True):
        assert one.exact == pytest.approx(other.exact, abs=1e-12)


def test_many_cannot_links_of_a_large_set_hold_in_the_clusters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learning, "FEWEST", 100)  # the parameters stay as they are
    names = [f"r{n}" for n in range(40)]
    rows = [(a, b, 0.95) for a, b in combinations(names, 2)]
    labels = [(names[n], names[n + 20], 0) for n in range(20)]
    found = partita.cluster(rows, labels=labels)
    cluster = {one.record: one.cluster for one in found}
    assert all(cluster[left] != cluster[right] for left, right, _ in labels)
    table = found.to_pandas("pairs").set_index(["left", "right"])["probability"]
    assert all(table[left, right] == 0.0 for left, right, _ in labels)
    assert found.summary.relaxed_sets == 1


def test_ids_persist_and_changes_are_listed() -> None:
    old = [(1, 2, 0.99), (2, 3, 0.99), (5, 6, 0.99), (8, 9, 0.99)]
    new = [(0, 2, 0.99), (3, 5, 0.999), (8, 9, 0.01), (20, 21, 0.99), (9, 10, 0.99)]
    first = partita.cluster(old)
    added = partita.cluster([*old[:3], *new], previous=first)
    assert first.clusters == {1: [1, 2, 3], 5: [5, 6], 8: [8, 9]}
    assert sorted(map(sorted, added.clusters.values())) == [
        [0, 1, 2, 3, 5, 6],
        [8],
        [9, 10],
        [20, 21],
    ]
    assert {name: sorted(own) for name, own in added.clusters.items()}[1] == [0, 1, 2, 3, 5, 6]
    rows = {tuple(row) for row in added.to_pandas("changes")[["cluster", "change"]].to_numpy()}
    assert rows == {
        (1, "merged"), (1, "grown"), (8, "split"), (9, "split"), (9, "grown"), (20, "created")
    }  # fmt: skip


def test_foreign_ids_and_bad_previous_clusters(tmp_path: Path) -> None:
    previous = [{"record": "a", "cluster": "C1"}, {"record": "b", "cluster": "a"}]
    found = partita.cluster([("b", "c", 0.9), ("a", "d", 0.01)], previous=previous)
    assert found.clusters == {"a": ["b", "c"], "C1": ["a"], "d": ["d"]}
    huge = [{"record": "a", "cluster": "C1", "membership": 10**400, "exact": 1}]
    with pytest.raises(partita.InputError, match="expected numbers from 0 to 1"):
        partita.cluster([("a", "b", 0.9)], previous=huge)
    twice = tmp_path / "clusters.csv"
    twice.write_text("record,cluster\na,1\na,2\n")
    with pytest.raises(partita.InputError, match=r"clusters.csv, line 3: lists record a again"):
        partita.cluster([("a", "b", 0.9)], previous=twice)


def test_the_score_of_a_pair_counts_like_one_more_draw() -> None:
    """Few draws make no probability 0 or 1, and many outweigh the score."""
    n = 30  # too many to be exact
    rng = np.random.default_rng(0)
    rows = [(f"r{a}", f"r{b}", float(rng.uniform(0.2, 0.7))) for a, b in combinations(range(n), 2)]
    sets = sets_of(rows)
    every = np.arange(len(rows))
    one, few, many = (row_probabilities(sets, PARAMETERS, every, d, 0) for d in (1, 20, 500))
    below = sets.probability < 0.5
    assert (one[below] >= sets.probability[below] / 2 - 1e-12).all()
    assert (one[below] <= (1.0 + sets.probability[below]) / 2 + 1e-12).all()
    assert (np.abs(few - many) < 5 * 0.5 / np.sqrt(20) + 1 / 21).all()
    assert many == pytest.approx(answered(sets).answers.pair, abs=5 * 0.5 / np.sqrt(500) + 0.01)


def test_the_summary_has_the_expected_quality_of_the_clusters() -> None:
    clustering = answered(sets_of([("a", "b", 0.9), ("c", "d", 0.8), ("e", "f", 0.1)]))
    p = clustering.answers.pair
    found = cluster_summary(totals(clustering), MergeRule.fixed(0.5), None)
    assert found.clusters == 4
    assert found.entities.value == pytest.approx(6 - p.sum(), abs=1e-6)
    assert found.precision.value == pytest.approx(p[:2].mean(), abs=1e-6)
    assert found.recall.value == pytest.approx(p[:2].sum() / p.sum(), abs=1e-6)


def test_the_line_of_a_pair_is_found_in_either_order() -> None:
    sets = sets_of([("a", "b", 0.9), ("x", "y", 0.9), ("b", "c", 0.8)])
    assert [sets.line(0, *ends) for ends in ("ab", "ba", "bc", "cb", "ac")] == [1, 1, 3, 3, None]
    assert sets.line(1, "x", "y") == 2


def test_labels_correct_what_is_stated_of_other_pairs() -> None:
    rows = [(f"a{n}", f"b{n}", 0.99 if n < 200 else 0.02) for n in range(400)]
    labels = [(*row[:2], int(n % 20 > 0)) for n, row in enumerate(rows) if n % 10 == 0]
    found = partita.cluster(rows, labels=labels).to_pandas("pairs")
    others = found[~found["probability"].isin([0.0, 1.0])]
    high = others["score"] > 0.5
    assert others["probability"][high].mean() == pytest.approx(0.55, abs=0.15)
    assert others["probability"][~high].mean() == pytest.approx(0.45, abs=0.15)
    assert {*others["score"]} == {0.99, 0.02}  # scores are shown as they were given


@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), min_size=10, max_size=60),
    st.lists(st.floats(0.0, 1.0), max_size=100),
    st.randoms(use_true_random=False),
)
def test_a_calibration_rises_and_does_not_depend_on_the_order(
    judged: list[tuple[float, bool]], others: list[float], random: Random
) -> None:
    def fitted(rows: list[tuple[float, bool]], stated: list[float]) -> learning.PairCalibration:
        p, same = (np.array([row[n] for row in rows], dtype=np.float64) for n in (0, 1))
        found = learning.PairCalibration.fitted(np.array(stated), p, same)
        assert found is not None
        return found

    stated = [p for p, _ in judged] + others
    found = fitted(judged, stated)
    assert (np.diff(found.odds) > 0.0).all()
    assert (np.diff(found.right) >= 0.0).all()
    assert ((found.right > 0.0) & (found.right < 1.0)).all()
    again = fitted(random.sample(judged, len(judged)), random.sample(stated, len(stated)))
    assert (again.right == found.right).all()
    assert learning.PairCalibration.fitted(np.array(stated), *np.zeros((2, 9))) is None


def test_what_labels_stand_for_does_not_depend_on_how_many_there_are() -> None:
    """Most pairs are like the few labels that are wrong; asked for were the others."""
    stated = np.array([0.9] * 900 + [0.95] * 100)
    p, same = np.array([0.9] * 10 + [0.95] * 90), np.array([0.0] * 10 + [1.0] * 90)
    found = learning.PairCalibration.fitted(stated, p, same)
    assert found is not None
    assert found.right[0] < 0.4
    assert found.right[1] > 0.9


def test_a_share_of_nothing_is_unknown_and_none_exceeds_one() -> None:
    nothing = partita.cluster([("a", "b", 0.0)], records=["a", "b", "c"]).summary
    assert nothing.precision is None
    assert nothing.recall is None
    for count in (1, 2, 40):  # all are sure, but so few tell little about others
        recall = partita.cluster([(f"a{n}", f"b{n}", 1.0) for n in range(count)]).summary.recall
        assert recall is not None
        assert recall.low <= recall.value * count / (count + 2.9)
    sure = partita.cluster([(f"a{n}", f"b{n}", 1.0) for n in range(300)]).summary
    for value in (sure.precision, sure.recall):
        assert value is not None
        assert value.low <= value.value <= value.high <= 1.0


def test_two_of_the_same_do_not_make_a_third_more_probable() -> None:
    """Both say the same about the third: its probability stays what each of them says."""
    for p in (0.02, 0.2):
        found = partita.cluster([(1, 2, 0.9999), (1, 3, p), (2, 3, p)]).to_pandas("pairs")
        assert found["probability"].iloc[1:].to_numpy() == pytest.approx([p, p], rel=0.1)


def test_pairs_to_label_are_spread_and_uncertain_ones_come_more_often() -> None:
    theta = np.linspace(-8.0, 8.0, 4000)
    p = 1.0 / (1.0 + np.exp(-theta))
    chosen = pairs_to_label(p, 50)
    assert len(set(chosen.tolist())) == 50
    assert chosen.tolist() == pairs_to_label(p, 50).tolist()
    for few in (chosen[:8], chosen):
        assert theta[few].min() < -1.5
        assert theta[few].max() > 1.5
    assert (np.abs(theta[chosen]) < 4.0).mean() > 0.6
    assert len(pairs_to_label(p[:3], 50)) == 3
    assert not len(pairs_to_label(p[:0], 50))


def test_answered_questions_are_labels_and_others_are_skipped() -> None:
    scores = [(n, n + 1, 0.1 + 0.08 * (n % 10)) for n in range(0, 200, 2)]
    table = partita.cluster(scores).to_pandas("to_label")
    assert table.columns.tolist() == ["left", "right", "score", "probability", "same"]
    assert len(table) == 50
    table["same"] = table["same"].astype(object)
    table.loc[:11, "same"] = 1
    again = partita.cluster(scores, labels=table)
    assert again.summary.labels == 12

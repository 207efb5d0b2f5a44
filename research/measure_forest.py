"""Measure clusters and probabilities of record tables, beside raw scores and other methods.

    python -m research.measure_forest TABLES [--scores DIR] [--only NAME]

The command scores the tables (research/score_records.py says which, and what it needs) and prints
one table as Markdown; --scores keeps the scores, and uses those that are there. `make figures
ONLY=records` writes it into docs/clusters.md.

For every table: bits per set and per compared pair, and the reliability error of pairs, of all
models in sets of at most MOST records (the first SETS), and of evidential and forest in all sets
where none has more than EVERY records; then, in sets of every size, raw scores, forest, and forest
with LABELS labelled pairs, with F1 of pairs and B³, beside connected components at .5, .9, .95 and
at the best of 20 thresholds, and dedupe's clustering at .5 (centroid linkage of 1 − score within
components, cut at ½, by scipy; a pair that was not compared has the distance 1). Pairs that were
not compared have probability .5 for evidential, merging and scaled. The rows with labels have
TIMES draws of LABELS random pairs, more where few pairs are left: bits and error are those of the
pairs without labels of all draws together, F1 and B³ are means.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from partita.app.cluster import first_rule
from partita.app.solve import learned_parameters
from partita.configurations.forest.model import ForestParameters, ForestScores, log_odds, weigh
from partita.configurations.forest.posterior import of_graph
from partita.configurations.solve import solve_set
from partita.core import (
    Budget,
    CoreferenceSet,
    FloatArray,
    IntArray,
    PairProbabilities,
    linked_components,
    restricted_growth_rows,
)
from partita.evaluation.calibration import reliability, reliability_error
from partita.linkage.answers import cluster_sets
from partita.linkage.clusters import read_record_ids
from partita.linkage.grouping import Evidence, group
from partita.linkage.labels import (
    Labels,
    PairCalibration,
    judged_rows,
    labelled,
    read_labels,
    stated_probabilities,
)
from partita.linkage.pairs import read_pairs
from partita.linkage.sets import Sets
from research.score_records import write_scores

MOST = 9
EVERY = 12
CLIP = 1e-9
PAPER = ("evidential", "merging", "scaled")
SETS = 300
LABELS = 200
DRAWS = 400
FILTERED = 0.01  # scores up to here do not count for dedupe's clustering
TIMES, UNLABELLED = 3, 2000
HEADER = ("table", "sets", "model", "bits per set", "bits per pair", "error", "F1", "B³")


@dataclass(frozen=True, slots=True, eq=False)
class KeyedScores:
    """The scores of one component, and the true clusters of its records."""

    left: IntArray
    right: IntArray
    p: FloatArray
    labels: IntArray

    @property
    def same(self) -> FloatArray:
        return (self.labels[self.left] == self.labels[self.right]).astype(np.float64)


@dataclass(slots=True)
class Sums:
    """Bits of sets, and stated and true values of pairs."""

    bits: list[float] = field(default_factory=list)
    stated: list[FloatArray] = field(default_factory=list)
    true: list[FloatArray] = field(default_factory=list)

    def cells(self) -> list[str]:
        p, y = np.concatenate(self.stated), np.concatenate(self.true)
        sets = f"{np.mean(self.bits):.3f}" if self.bits else ""
        return [sets, *quality(p, y)]


def quality(p: FloatArray, y: FloatArray) -> list[str]:
    """Return bits per pair and the reliability error."""
    if not len(p):
        return ["", ""]
    p = np.clip(p, CLIP, 1.0 - CLIP)
    bits = -float((y * np.log2(p) + (1 - y) * np.log2(1 - p)).mean())
    error = reliability_error(reliability(p, y > 0.5, equal_width=True))
    return [f"{bits:.4f}", f"{error:.3f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", type=Path)
    parser.add_argument("--scores", type=Path, help="folder of the scores")
    parser.add_argument("--only", action="append", default=[])
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = given.scores or Path(temporary)
        write_scores(given.tables, folder, given.only)
        for row in all_rows(folder, given.only):
            print(_line(row), flush=True)


def all_rows(folder: Path, only: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the rows of all tables of scores in a folder."""
    yield from (HEADER, ["---"] * len(HEADER))
    for truth in sorted(folder.glob("*.truth.csv")):
        name = truth.name.removesuffix(".truth.csv")
        if not only or name in only:
            yield from table_rows(name, folder / f"{name}.csv", truth)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table_rows(name: str, scores: Path, truth: Path) -> Iterator[list[str]]:
    """Yield the rows of one table of scores."""
    sets = list(components(scores, truth))
    small = [one for one in sets if len(one.labels) <= MOST][:SETS]
    for model in (*PAPER, "forest", "raw") if small else ():
        yield [name, f"≤ {MOST}", model, *measured(small, model).cells(), "", ""]
    if max(len(one.labels) for one in sets) <= EVERY:
        for model in (PAPER[0], "forest"):
            yield [name, "all, exact", model, *measured(sets, model).cells(), "", ""]
    whole = Whole(scores, truth)
    yield [name, "all", "components at .5", "", *whole.raw(), *whole.components(0.5)]
    for threshold in (0.9, 0.95):
        cells = whole.components(threshold)
        yield [name, "all", f"components at {threshold:g}", "", "", "", *cells]
    best = max((whole.components(t), t) for t in np.linspace(0.05, 0.99, 20).tolist())
    yield [name, "all", f"components at {best[1]:.2f} (best)", "", "", "", *best[0]]
    yield [name, "all", "dedupe's clustering at .5", "", "", "", *whole.centroids(0.5)]
    found = whole.forest(learned_parameters("forest"))
    yield [name, "all", "forest", "", *quality(*found[0]), *(f"{value:.4f}" for value in found[1])]
    if len(whole.table.left) > LABELS:
        raw, cells = whole.with_labels()
        yield [name, "all", "raw, pairs without labels", "", *raw, "", ""]
        yield [name, "all", f"forest, {LABELS} labels", "", *cells]


class Whole:
    """A whole table of scores with the true clusters."""

    def __init__(self, scores: Path, truth: Path) -> None:
        self.table, self.listed = read_pairs(scores), read_record_ids(str(truth))
        with truth.open(encoding="utf-8", newline="") as stream:
            self.truth = {row["id"]: row["cluster"] for row in csv.DictReader(stream)}
        self.sets = self._grouped()

    def _grouped(self, joined: tuple[tuple[str, str], ...] = ()) -> Sets:
        evidence = Evidence(learned_parameters("forest").unlisted_probability, joined=joined)
        return group(self.table, listed=self.listed, evidence=evidence)

    def _same(self, sets: Sets) -> FloatArray:
        number = {name: n for n, name in enumerate(dict.fromkeys(self.truth.values()))}
        numbers = np.array([number[self.truth[name]] for name in sets.ids])
        offset = np.repeat(sets.starts[:-1], np.diff(sets.row_starts))
        same = numbers[sets.left + offset] == numbers[sets.right + offset]
        return same.astype(np.float64)

    def raw(self) -> list[str]:
        return quality(self.sets.probability, self._same(self.sets))

    def components(self, threshold: float) -> tuple[str, str]:
        place = {name: n for n, name in enumerate(self.truth)}
        number = np.array([place[name] for name in self.table.names])
        kept = self.table.probability >= threshold
        left, right = number[self.table.left[kept]], number[self.table.right[kept]]
        return agreement(linked_components(len(place), left, right), list(self.truth.values()))

    def centroids(self, threshold: float) -> tuple[str, str]:
        """Cluster each set as dedupe does, from pairs above .01 on."""
        place = {name: n for n, name in enumerate(self.truth)}
        number = np.array([place[name] for name in self.table.names])
        kept = self.table.probability > FILTERED
        left, right = number[self.table.left[kept]], number[self.table.right[kept]]
        p, labels = self.table.probability[kept], np.arange(len(place))
        home = linked_components(len(place), left, right)
        order = np.argsort(home[left], kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(home[left][order])) + 1):
            members = np.unique([left[rows], right[rows]])
            a, b = np.searchsorted(members, left[rows]), np.searchsorted(members, right[rows])
            distance = np.ones((len(members), len(members)))
            distance[a, b] = distance[b, a] = 1.0 - p[rows]
            np.fill_diagonal(distance, 0.0)
            tree = linkage(squareform(distance), method="centroid")
            found = fcluster(tree, 1.0 - threshold, criterion="distance")
            labels[members] = len(place) + members[0] * len(place) + found
        return agreement(labels, list(self.truth.values()))

    def forest(
        self,
        parameters: ForestParameters,
        sets: Sets | None = None,
        labels: Labels | None = None,
        hidden: Sequence[int] = (),
    ) -> tuple[tuple[FloatArray, FloatArray], tuple[float, float]]:
        """Return stated and true values of the pairs that are not hidden, and F1 and B³."""
        rule = first_rule(None, labels)  # as partita cluster
        sets = self.sets if sets is None else sets
        found = cluster_sets(sets, parameters, rule, Budget(work=DRAWS))
        counted = np.ones(len(sets.left), dtype=np.bool_)
        counted[list(hidden)] = False
        alone = [template.id for template in sets.singletons]
        clusters = found.cluster_of_node()[found.node].tolist()
        labels = np.array(clusters + [-1 - n for n in range(len(alone))])
        truth = [self.truth[name] for name in (*sets.ids, *alone)]
        f1, b3 = map(float, agreement(labels, truth))
        return (found.answers.pair[counted], self._same(sets)[counted]), (f1, b3)

    def with_labels(self) -> tuple[list[str], list[str]]:
        """Label random pairs, fit, and count the others, several times; raw scores come first."""
        left = len(self.table.left) - LABELS
        drawn = [self._labelled_once(seed) for seed in range(max(TIMES, UNLABELLED // left))]
        raw, p, y = (np.concatenate([pairs[k] for pairs, _ in drawn]) for k in range(3))
        means = (f"{np.mean([e[1][k] for e in drawn]):.4f}" for k in (0, 1))
        return quality(raw, y), [*quality(p, y), *means]

    def _labelled_once(
        self, seed: int
    ) -> tuple[tuple[FloatArray, FloatArray, FloatArray], tuple[float, float]]:
        """Return raw scores, stated and true values of the pairs without labels, F1 and B³."""
        names, table = self.table.names, self.table
        chosen = np.random.default_rng(seed).permutation(len(table.left))[:LABELS]
        ends = [(names[table.left[k]], names[table.right[k]]) for k in chosen.tolist()]
        judged = [(a, b, int(self.truth[a] == self.truth[b])) for a, b in ends]
        labels = read_labels(judged)
        parameters = learned_parameters("forest")
        sets = labelled(self._grouped(labels.same()), labels)
        stated, rows = stated_probabilities(sets, parameters, 0), judged_rows(sets, labels)
        calibration = PairCalibration.fitted(stated, stated[rows[0]], rows[1])
        moved = sets if calibration is None else calibration.moved(sets, stated, 1.0)
        known = {frozenset(both) for both in ends}
        offset = np.repeat(sets.starts[:-1], np.diff(sets.row_starts))
        rows = zip((sets.left + offset).tolist(), (sets.right + offset).tolist(), strict=True)
        hidden = [
            n for n, (a, b) in enumerate(rows) if frozenset((sets.ids[a], sets.ids[b])) in known
        ]
        pairs, agreements = self.forest(parameters, moved, labels, hidden)
        return (np.delete(sets.probability, hidden), *pairs), agreements


def agreement(labels: IntArray, truth: list[str]) -> tuple[str, str]:
    """Return F1 of pairs and B³."""
    numbers = {name: n for n, name in enumerate(dict.fromkeys(truth))}
    true = np.array([numbers[name] for name in truth])
    both = np.unique(np.stack([labels, true], axis=1), axis=0, return_inverse=True)[1].ravel()
    mine, yours, shared = (_sizes(a) for a in (labels, true, both))
    right, made, real = (float((_sizes(a) - 1.0).sum()) for a in (both, labels, true))
    precision, recall = float((shared / mine).mean()), float((shared / yours).mean())
    f1 = 2.0 * right / max(made + real, 1.0)
    return f"{f1:.4f}", f"{2.0 * precision * recall / (precision + recall):.4f}"


def _sizes(labels: IntArray) -> FloatArray:
    """Return for each record the size of its group."""
    inverse = np.unique(labels, return_inverse=True)[1].ravel()
    return np.bincount(inverse)[inverse].astype(np.float64)


def components(scores: Path, truth: Path) -> Iterator[KeyedScores]:
    """Yield the connected components of a table."""
    with truth.open(encoding="utf-8", newline="") as stream:
        cluster = {row["id"]: row["cluster"] for row in csv.DictReader(stream)}
    place = {name: n for n, name in enumerate(cluster)}
    numbers = {name: n for n, name in enumerate(dict.fromkeys(cluster.values()))}
    labels = np.array([numbers[name] for name in cluster.values()])
    with scores.open(encoding="utf-8", newline="") as stream:
        rows = [
            (place[r["left"]], place[r["right"]], float(r["probability"]))
            for r in csv.DictReader(stream)
        ]
    left, right = (np.array([row[k] for row in rows]) for k in (0, 1))
    p, home = np.array([row[2] for row in rows]), linked_components(len(place), left, right)
    order = np.argsort(home[left], kind="stable")
    for chosen in np.split(order, np.flatnonzero(np.diff(home[left][order])) + 1):
        members = np.unique([left[chosen], right[chosen]])
        a, b = np.searchsorted(members, left[chosen]), np.searchsorted(members, right[chosen])
        yield KeyedScores(a, b, p[chosen], restricted_growth_rows(labels[members][None])[0])


def measured(sets: list[KeyedScores], model: str) -> Sums:
    """Measure one model on sets."""
    sums, answer = Sums(), {"raw": _raw, "forest": _forest}.get(model) or _paper(model)
    for one in sets:
        bits, stated = answer(one)
        sums.bits += [] if bits is None else [bits]
        sums.stated.append(stated)
        sums.true.append(one.same)
    return sums


def _raw(one: KeyedScores) -> tuple[float | None, FloatArray]:
    return None, one.p


def _forest(one: KeyedScores) -> tuple[float | None, FloatArray]:
    n, none = len(one.labels), np.zeros((0, 2), dtype=np.int64)
    complete = 2 * len(one.left) == n * (n - 1)
    scores = ForestScores(np.arange(n), one.left, one.right, log_odds(one.p), none, complete)
    posterior = of_graph(weigh(scores, learned_parameters("forest")), Budget(work=2000))
    log = posterior.log_weight(one.labels) - posterior.log_normaliser.value
    stated = posterior.pairs().value[one.left, one.right]
    if posterior.method == "sampled":  # a share of draws is never quite 0 or 1
        stated = (stated * 2000 + 0.25) / 2000.5
    return -log / math.log(2.0), stated


def _paper(model: str) -> Callable[[KeyedScores], tuple[float | None, FloatArray]]:
    def answer(one: KeyedScores) -> tuple[float | None, FloatArray]:
        n = len(one.labels)
        matrix = np.full((n, n), 0.5)
        p = np.clip(one.p, CLIP, 1.0 - CLIP)
        matrix[one.left, one.right] = matrix[one.right, one.left] = p
        pairs = PairProbabilities(CoreferenceSet.of(map(str, range(n))), matrix)
        found = solve_set(pairs, model, parameters=learned_parameters(model), top=1)
        log = found.posterior.log_weight(one.labels) - found.log_normaliser
        return -log / math.log(2.0), found.marginals.value[one.left, one.right]

    return answer


if __name__ == "__main__":
    main()

"""Tables and a summary of clusters: records, alternatives, pairs, questions for review."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from partita.configurations.forest.batch_kernels import MergeRule
from partita.core import FloatArray, Id, IntArray
from partita.linkage.answers import DRAWS, Clustering
from partita.linkage.sets import Sets

MIN_LISTED_ALTERNATIVE = 0.001  # probability from which an alternative is listed
BITS = 0.05  # that an answer must remove to be asked for
LEVEL = (0.025, 0.975)
# Where n true pairs are expected and all are in clusters, a share of missed ones up to 3/n stays
# possible with 95 % (the rule of three).
POSSIBLY_MISSED = 3.0

Original = Callable[[Sequence[str]], Sequence[Id]]
Columns = dict[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class ExpectedValue:
    """An expected value, and the interval that has it with 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """The quality of clusters as the distribution expects it.

    `across` counts compared pairs whose scores are too low to connect sets, `relaxed_sets` the sets
    in which cannot-links hold for their own pairs only, because hardly any draw keeps them all.
    `cut_pairs` counts compared pairs between the blocks of sets that are too large to be clustered
    whole, and `cut_true_pairs` how many of them are expected to be true; no cluster has both ends.
    Clusters were merged from the mean probability `threshold` on, from `threshold_many` on where
    several pairs lay between them. `precision` is None where no cluster has two records, `recall`
    where no pair is expected to be true; both are those of compared pairs, and of pairs that
    compared ones connect. `kept` counts
    records whose clusters are those of an earlier run; all else is without them.
    """

    records: int
    pairs: int
    across: int
    sets: int
    sampled_sets: int
    relaxed_sets: int
    cut_pairs: int
    cut_true_pairs: float
    largest_set: int
    clusters: int
    largest_cluster: int
    threshold: float
    threshold_many: float
    target_precision: float | None
    labels: int
    parameters: Mapping[str, float] | None
    entities: ExpectedValue
    precision: ExpectedValue | None
    recall: ExpectedValue | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a dict."""
        return asdict(self)


def record_columns(clustering: Clustering, order: Mapping[str, int], original: Original) -> Columns:
    """Return record, cluster, membership and exact of every record, and its set if named."""
    sets, answers = clustering.sets, clustering.answers
    ids, node = list(sets.ids), clustering.node
    first = clustering.first_record()[clustering.cluster_of_node()][node].tolist()
    names = [ids[n] for n in first]
    singles = [template.id for template in sets.singletons]
    if sets.named:
        homes = np.repeat(np.arange(len(sets)), sets.sizes).tolist()
        names = [f"{sets.names[home]}:{name}" for home, name in zip(homes, names, strict=True)]
    alone = [1.0] * len(singles)
    columns: Columns = {
        "record": original([*ids, *singles]),
        "cluster": original([*names, *singles]),
        "membership": [*answers.membership[node].tolist(), *alone],
        "exact": [*answers.exact[node].tolist(), *alone],
    }
    if sets.named:
        columns["set"] = [*(sets.names[home] for home in homes), *([""] * len(singles))]
    if order:
        places = np.array([order[name] for name in (*ids, *singles)], dtype=np.int64)
        by_place = np.argsort(places, kind="stable").tolist()
        columns = {name: [values[n] for n in by_place] for name, values in columns.items()}
    return columns


def alternatives(clustering: Clustering, original: Original) -> Columns:
    """Return the best split and the best merge of clusters, the most probable first.

    `probability` is that of exactly the two parts of a split, or of exactly the merged cluster.
    """
    answers, names = clustering.answers, _node_names(clustering, original)
    base = clustering.starts[:-1][clustering.set_of_node]
    merges = np.flatnonzero(
        (answers.merge >= MIN_LISTED_ALTERNATIVE) & (answers.label + base == _numbers(base))
    )
    partner = base[merges] + answers.merge_with[merges]
    both = np.stack([np.minimum(merges, partner), np.maximum(merges, partner)], axis=1)
    both, at = np.unique(both, axis=0, return_index=True)
    splits = np.flatnonzero(answers.split >= MIN_LISTED_ALTERNATIVE)
    leaving = _leaving(clustering, splits, original)
    rows: list[tuple[Any, ...]] = [
        (answers.merge[m], "merge", names[a], names[b], [])
        for m, (a, b) in zip(merges[at].tolist(), both.tolist(), strict=True)
    ]
    rows += [(answers.split[n], "split", names[n], None, leaving[n]) for n in splits.tolist()]
    rows.sort(key=lambda row: -row[0])
    return {
        "cluster": [row[2] for row in rows],
        "change": [row[1] for row in rows],
        "with": [row[3] for row in rows],
        "records": [row[4] for row in rows],
        "probability": [float(row[0]) for row in rows],
    }


def world_columns(sets: Sets, worlds: IntArray, original: Original) -> Columns:
    """Return record, world (from 1 on) and cluster of every record in every draw."""
    names = [*sets.ids, *(template.id for template in sets.singletons)]
    alone = np.arange(len(sets.ids), len(names))
    clusters = np.hstack([worlds, np.broadcast_to(alone, (len(worlds), len(alone)))])
    ids = np.array(original(names), dtype=object)
    return {
        "record": np.tile(ids, len(worlds)).tolist(),
        "world": np.repeat(np.arange(1, len(worlds) + 1), len(names)).tolist(),
        "cluster": ids[clusters.ravel()].tolist(),
    }


def pair_columns(clustering: Clustering, original: Original) -> Columns:
    """Return the score and the probability of every compared pair.

    The error is a standard error, 0 where the answer is exact. Pairs in different sets keep their
    scores.
    """
    sets, rows = clustering.sets, np.diff(clustering.sets.row_starts)
    offset = np.repeat(sets.starts[:-1], rows)
    left, right = (
        original([sets.ids[n] for n in (ends + offset).tolist()])
        for ends in (sets.left, sets.right)
    )
    p, across = clustering.answers.pair, sets.across
    scores = sets.probability if sets.given is None else sets.given
    draws = np.repeat(clustering.draws, rows)
    error = np.sqrt(p * (1.0 - p) / np.maximum(draws, 1)) * (draws > 0)
    return {
        "left": [*left, *original(across.left)],
        "right": [*right, *original(across.right)],
        "score": [*scores.tolist(), *across.probability.tolist()],
        "probability": [*p.tolist(), *across.probability.tolist()],
        "error": [*error.tolist(), *([0.0] * len(across.left))],
    }


def review(clustering: Clustering, original: Original) -> Columns:
    """Return the questions whose answers remove most uncertainty, one for each merge.

    Whether a pair is the same follows from the configuration, so that the answer is expected to
    remove H(p) bits of its entropy. `together` says whether the pair is in one cluster now,
    `pairs` how many pairs lie between the two parts.
    """
    answers, names = clustering.answers, _node_names(clustering, original)
    base = clustering.starts[:-1][clustering.set_of_node]
    bits = binary_entropy(answers.ask)
    asked = np.flatnonzero(bits >= BITS)
    asked = asked[np.lexsort((asked, -answers.between[asked], -bits[asked]))]
    left, right = base[asked] + answers.ask_left[asked], base[asked] + answers.ask_right[asked]
    together = answers.label[left] == answers.label[right]
    return {
        "left": [names[n] for n in left.tolist()],
        "right": [names[n] for n in right.tolist()],
        "probability": answers.ask[asked].tolist(),
        "bits": bits[asked].tolist(),
        "together": together.tolist(),
        "pairs": answers.between[asked].astype(np.int64).tolist(),
    }


FIXED = 2.0**24  # sums are of multiples of 1/FIXED: the same in every order


def fixed(values: FloatArray) -> int:
    """Return a sum as a multiple of 1/FIXED, which does not depend on the order of the values."""
    return int(np.rint(values * FIXED).astype(np.int64).sum())


@dataclass(frozen=True, slots=True)
class Totals:
    """What the summary needs of some sets; totals of others can be added.

    `reported` counts the pairs within clusters. `entities`, `true_pairs`, `right`, `lost` and
    `cut_true` are expected numbers in units of 1/FIXED. For each draw of all sets, `draws` has the
    numbers of entities, true pairs, and true pairs within clusters.
    """

    records: int
    pairs: int
    across: int
    sets: int
    sampled: int
    relaxed: int
    cut_pairs: int
    cut_true: int
    clusters: int
    reported: int
    entities: int
    true_pairs: int
    right: int
    lost: int
    draws: tuple[tuple[int, ...], ...]
    largest_set: int
    largest_cluster: int

    def __add__(self, other: Totals) -> Totals:
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in self.__slots__
            if isinstance(getattr(self, name), int)
        }
        draws = tuple(
            tuple(a + b for a, b in zip(*both, strict=True))
            for both in zip(self.draws, other.draws, strict=True)
        )
        largest = {name: max(getattr(self, name), getattr(other, name)) for name in LARGEST}
        return Totals(**(sums | largest), draws=draws)


LARGEST = ("largest_set", "largest_cluster")


def alone(singles: int, pairs: int = 0, lost: int = 0) -> Totals:
    """Return the totals of records that are in no set, and of compared pairs between sets."""
    none, largest = ((0,) * DRAWS,) * 2, min(1, singles)
    counts = (singles, pairs, pairs, 0, 0, 0, 0, 0, singles, 0, int(FIXED) * singles, lost, 0, lost)
    return Totals(
        *counts, draws=((singles,) * DRAWS, *none), largest_set=largest, largest_cluster=largest
    )


def totals(clustering: Clustering) -> Totals:
    """Return the totals of all sets and of the records and pairs outside them."""
    sets, answers = clustering.sets, clustering.answers
    sizes = np.bincount(clustering.cluster_of_node()[clustering.node])
    sizes = sizes[sizes > 0]
    inside = Totals(
        records=len(sets.ids),
        pairs=len(sets.left),
        across=0,
        sets=len(sets),
        sampled=int((clustering.draws > 0).sum()),
        relaxed=clustering.relaxed,
        cut_pairs=clustering.cut[0],
        cut_true=fixed(np.array([clustering.cut[1]])),
        clusters=len(sizes),
        reported=int((sizes * (sizes - 1) // 2).sum()),
        entities=fixed(answers.entities),
        true_pairs=fixed(answers.true_pairs),
        right=_expected_right(clustering),
        lost=0,
        draws=tuple(tuple(map(int, row)) for row in answers.drawn.tolist()),
        largest_set=int(sets.sizes.max(initial=0)),
        largest_cluster=int(sizes.max(initial=0)),
    )
    return inside + alone(
        len(sets.singletons), len(sets.across.left), fixed(sets.across.probability)
    )


def cluster_summary(
    of: Totals,
    rule: MergeRule,
    target: float | None,
    parameters: Any = None,
    labels: int = 0,
) -> ClusterSummary:
    """Return the expected quality with intervals."""
    entities, true_pairs, right = (np.array(row, dtype=np.float64) for row in of.draws)
    return ClusterSummary(
        records=of.records,
        pairs=of.pairs,
        across=of.across,
        sets=of.sets,
        sampled_sets=of.sampled,
        relaxed_sets=of.relaxed,
        cut_pairs=of.cut_pairs,
        cut_true_pairs=of.cut_true / FIXED,
        largest_set=of.largest_set,
        clusters=of.clusters,
        largest_cluster=of.largest_cluster,
        threshold=rule.least,
        threshold_many=rule.least * rule.lowered,
        target_precision=target,
        labels=labels,
        parameters=None if parameters is None else asdict(parameters),
        entities=estimated(of.entities / FIXED, entities),
        precision=_ratio(of.right / FIXED, float(of.reported), right, float(of.reported)),
        recall=possible_recall(
            _ratio(of.right / FIXED, of.true_pairs / FIXED, right, true_pairs + of.lost / FIXED),
            of.true_pairs / FIXED,
        ),
    )


class Merges(NamedTuple):
    """Merges that may be made: mean probability and number of pairs of each, and pairs that are
    certain."""

    height: FloatArray
    between: FloatArray
    certain: int


def possible_merges(clustering: Clustering, least: float) -> Merges:
    """Return the merges whose mean probability is at least `least`."""
    height, sizes = clustering.answers.height, clustering.sizes
    kept = np.flatnonzero(height >= least)
    return Merges(
        height[kept], clustering.answers.between[kept], int((sizes * (sizes - 1) // 2).sum())
    )


def chosen_threshold(merges: Merges, target: float, least: float) -> float:
    """Return the lowest threshold from `least` on with which the expected precision is reached.

    Merges are taken from the most probable on, while the mean over all pairs reaches the target;
    equal ones together.
    """
    order = np.argsort(-merges.height, kind="stable")
    height, between = merges.height[order], merges.between[order]
    pairs = merges.certain + np.cumsum(between)
    right = merges.certain + np.cumsum(np.rint(between * height * FIXED)) / FIXED
    last = np.append(np.diff(height) != 0.0, True)[: len(height)]
    reached = np.flatnonzero(last & (right >= target * pairs))
    if not len(reached):
        return math.nextafter(float(height.max(initial=least)), 2.0)
    return float(height[reached[-1]])


def _expected_right(clustering: Clustering) -> int:
    """Return the expected number of true pairs within clusters, in units of 1/FIXED."""
    node = clustering.node
    members = np.bincount(clustering.cluster_of_node()[node])[clustering.cluster_of_node()[node]]
    return fixed(0.5 * clustering.answers.membership[node] * (members - 1))


def estimated(value: float, draws: FloatArray) -> ExpectedValue:
    """Return a value with the interval that the draws have."""
    low, high = (float(np.quantile(draws, level)) for level in LEVEL)
    return ExpectedValue(value, min(low, value), max(high, value))


def _ratio(
    part: float, whole: float, parts: FloatArray, wholes: FloatArray | float
) -> ExpectedValue | None:
    """Return a share with its interval over draws, or None: a share of nothing is unknown."""
    if whole <= 0.0:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(np.asarray(wholes) > 0.0, parts / wholes, 1.0)
    return estimated(min(1.0, part / whole), np.minimum(ratios, 1.0))


def possible_recall(recall: ExpectedValue | None, true: float) -> ExpectedValue | None:
    """Return a recall whose interval has what so few expected true pairs or matches say."""
    if recall is None:
        return None
    return replace(recall, low=min(recall.low, recall.value * true / (true + POSSIBLY_MISSED)))


def binary_entropy(p: FloatArray) -> FloatArray:
    """Return the entropy of a yes or no in bits; 0 where there is no question."""
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -(p * np.log2(p) + (1.0 - p) * np.log2(1.0 - p))
    return np.nan_to_num(bits)


def _numbers(like: IntArray) -> IntArray:
    return np.arange(len(like))


def _node_names(clustering: Clustering, original: Original) -> Sequence[Id]:
    ids = clustering.sets.ids
    return original([ids[n] for n in clustering.first_record().tolist()])


def _leaving(clustering: Clustering, splits: IntArray, original: Original) -> dict[int, list[Id]]:
    """Return for the first node of each cluster the records that a split takes away."""
    answers, ids = clustering.answers, original(clustering.sets.ids)
    cluster = clustering.cluster_of_node()[clustering.node]
    leaving = answers.side[clustering.node] & np.isin(cluster, splits)
    found: dict[int, list[Id]] = {n: [] for n in splits.tolist()}
    for n in np.flatnonzero(leaving).tolist():
        found[int(cluster[n])].append(ids[n])
    return found

"""Tables and a summary of clusters: records, alternatives, pairs, questions for review."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from partita.linkage.answers import Clustering, Threshold
from partita.records import FloatArray, Id, IntArray

LEAST = 0.001  # probability from which an alternative is listed
BITS = 0.05  # that an answer must remove to be asked for
LEVEL = (0.025, 0.975)

Original = Callable[[Sequence[str]], Sequence[Id]]
Columns = dict[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An expected value, and the interval that has it with 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The quality of clusters as the distribution expects it.

    `across` counts compared pairs whose scores are too low to connect sets, `relaxed_sets` the sets
    in which cannot-links hold for their own pairs only, because hardly any draw keeps them all.
    `cut_pairs` counts compared pairs between the blocks of sets that are too large to be clustered
    whole, and `cut_true_pairs` how many of them are expected to be true; no cluster has both ends.
    Clusters were merged from the mean probability `threshold` on, from `threshold_many` on where
    many pairs lay between them. `kept` counts records whose clusters are those of an
    earlier run; all else is without them.
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
    entities: Estimate
    precision: Estimate
    recall: Estimate
    kept: int = 0

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
    merges = np.flatnonzero((answers.merge >= LEAST) & (answers.label + base == _numbers(base)))
    partner = base[merges] + answers.merge_with[merges]
    both = np.stack([np.minimum(merges, partner), np.maximum(merges, partner)], axis=1)
    both, at = np.unique(both, axis=0, return_index=True)
    splits = np.flatnonzero(answers.split >= LEAST)
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
    draws = np.repeat(clustering.draws, rows)
    error = np.sqrt(p * (1.0 - p) / np.maximum(draws, 1)) * (draws > 0)
    return {
        "left": [*left, *original(across.left)],
        "right": [*right, *original(across.right)],
        "score": [*sets.probability.tolist(), *across.probability.tolist()],
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
    bits = _entropy(answers.ask)
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


def summary(
    clustering: Clustering,
    threshold: Threshold,
    target: float | None,
    parameters: Any = None,
    labels: int = 0,
) -> Summary:
    """Return the expected quality with intervals."""
    sets, answers = clustering.sets, clustering.answers
    sizes = np.bincount(clustering.cluster_of_node()[clustering.node])
    sizes, singles = sizes[sizes > 0], len(sets.singletons)
    reported = float((sizes * (sizes - 1) // 2).sum())
    lost = float(sets.across.probability.sum())
    right = _expected_right(clustering)
    draws = _Draws(*answers.drawn)
    truth = float(answers.true_pairs.sum()) + lost
    return Summary(
        records=len(sets.ids) + singles,
        pairs=len(sets.left) + len(sets.across.left),
        across=len(sets.across.left),
        sets=len(sets),
        sampled_sets=int((clustering.draws > 0).sum()),
        relaxed_sets=clustering.relaxed,
        cut_pairs=clustering.cut[0],
        cut_true_pairs=clustering.cut[1],
        largest_set=int(sets.sizes.max(initial=min(1, singles))),
        clusters=len(sizes) + singles,
        largest_cluster=int(sizes.max(initial=min(1, singles))),
        threshold=threshold[0],
        threshold_many=threshold[1],
        target_precision=target,
        labels=labels,
        parameters=None if parameters is None else asdict(parameters),
        entities=_estimate(float(answers.entities.sum()) + singles, draws.entities + singles),
        precision=_estimate(_ratio(right, reported), _ratios(draws.right, reported)),
        recall=_estimate(_ratio(right, truth), _ratios(draws.right, draws.true_pairs + lost)),
    )


def chosen_threshold(clustering: Clustering, target: float, least: float) -> float:
    """Return the lowest threshold from `least` on with which the expected precision is reached.

    Merges are taken from the most probable on, while the mean over all pairs reaches the target.
    """
    height, between = clustering.answers.height, clustering.answers.between
    own = clustering.sizes * (clustering.sizes - 1) / 2
    merges = np.flatnonzero(height >= least)
    merges = merges[np.argsort(-height[merges], kind="stable")]
    pairs = float(own.sum()) + np.cumsum(between[merges])
    right = float(own.sum()) + np.cumsum(between[merges] * height[merges])
    reached = np.flatnonzero(right >= target * pairs)
    if not len(reached):
        return math.nextafter(float(height[merges].max(initial=least)), 2.0)
    return float(height[merges[reached[-1]]])


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    entities: FloatArray
    true_pairs: FloatArray
    right: FloatArray


def _expected_right(clustering: Clustering) -> float:
    """Return the expected number of true pairs within clusters."""
    node = clustering.node
    members = np.bincount(clustering.cluster_of_node()[node])[clustering.cluster_of_node()[node]]
    return float((clustering.answers.membership[node] * (members - 1)).sum()) / 2.0


def _estimate(value: float, draws: FloatArray) -> Estimate:
    low, high = (float(np.quantile(draws, level)) for level in LEVEL)
    return Estimate(value, min(low, value), max(high, value))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 1.0


def _ratios(part: FloatArray, whole: FloatArray | float) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: FloatArray = np.where(np.asarray(whole) > 0.0, part / whole, 1.0)
    return ratios


def _entropy(p: FloatArray) -> FloatArray:
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

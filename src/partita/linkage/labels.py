"""Labels of pairs or clusters: read them, apply them exactly, fit the forest model to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from partita.configurations.forest.model import ForestParameters
from partita.core import FloatArray, IntArray, pair
from partita.errors import InputError
from partita.linkage.answers import row_probabilities
from partita.linkage.clusters import CLUSTERS, IDS, clustered_rows
from partita.linkage.pairs import OTHERS, PLAIN, SPLINK
from partita.linkage.sets import Assumed, Sets
from partita.tables import Note, Table, read_table
from partita.tables.columns import ids_of

ENDS = (PLAIN[:2], SPLINK[:2], *(names[:2] for names in OTHERS))
SAME = ("same", "label", "match", "is_match", "clerical_match_score")
YES, NO = ("1", "1.0", "true", "yes", "y"), ("0", "0.0", "false", "no", "n")

SCALES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
BIASES = (-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0)
FINER = ((0.84, 0.0), (1.19, 0.0), (1.0, -0.5), (1.0, 0.5), (0.84, 0.5), (1.19, -0.5))
FLOORS = (0.0, 0.01, 0.02, 0.04, 0.08)
UNLISTED = (-9.0, -7.5, -6.5, -5.0, -3.5)
SHRINKAGE = (1e9, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)  # the first stays at the start
FOLDS = 5
FEWEST = 10  # labelled pairs below which nothing is learned
SHARE = 0.1  # of the labels: a set with more of them is divided between the folds
DRAWS = 50  # of a large set, for the probabilities of its labelled pairs
CLIP = 1e-6
CERTAIN = 1e-3  # variance of pairs that seem certain: scores can be wrong as a whole
TO_LABEL = 50  # pairs that a person is asked for: a choice


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Pairs of records that a person judged: the same, or different."""

    pairs: dict[tuple[str, str], bool]
    file: str

    def same(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs that are the same."""
        return tuple(both for both, same in self.pairs.items() if same)


def read_labels(labels: Any, note: Note = lambda text: None) -> Labels:
    """Read labels from a file, a data frame, dicts or triples (left, right, same).

    The columns are two ids and `same` (1 or 0), or an id and a cluster, which labels all pairs of
    the records that are listed.
    """
    tuples = [(*PLAIN[:2], SAME[0])]
    table = read_table(labels, "labels", tuples=tuples, note=note)
    columns = _columns(table)
    pairs = _cluster_pairs(table) if len(columns) == 2 else _judged_pairs(table, columns)
    if not pairs:
        raise InputError("has no labels; expected at least one pair", file=table.name)
    return Labels(pairs, table.name)


def _columns(table: Table) -> tuple[str, ...]:
    ends = next((names for names in ENDS if set(names) <= set(table.columns)), None)
    same = table.first(SAME)
    if ends and same:
        return (*ends, same)
    record, cluster = table.first(IDS), table.first(CLUSTERS)
    if record and cluster:
        return (record, cluster)
    expected = "left, right, same (or Splink's ids), or id, cluster"
    raise table.error(None, f"has no labels (expected {expected}); found {table.found}")


def _judged_pairs(table: Table, columns: Sequence[str]) -> dict[tuple[str, str], bool]:
    left, right = (ids_of(table, name) for name in columns[:2])
    labels = table.column(columns[2])
    pairs: dict[tuple[str, str], bool] = {}
    for row, (one, other, label) in enumerate(zip(left, right, labels, strict=True)):
        text = "" if label is None else str(label).strip().lower()
        if not text and one and other:
            continue  # a question that is not answered yet
        if not one or not other or one == other:
            raise table.error(row, "needs two different ids")
        if text not in (*YES, *NO):
            raise table.error(row, f"the label is {label!r} (expected 1 or 0)")
        if pairs.setdefault(pair(one, other), text in YES) != (text in YES):
            raise table.error(row, f"labels {one} and {other} both the same and different")
    return pairs


def _cluster_pairs(table: Table) -> dict[tuple[str, str], bool]:
    clusters: dict[str, str] = {}
    for row, record, cluster in clustered_rows(table):
        if clusters.setdefault(record, cluster) != cluster:
            raise table.error(row, f"puts {record} into two clusters")
    both = combinations(clusters, 2)
    return {pair(one, other): clusters[one] == clusters[other] for one, other in both}


def pairs_to_label(theta: FloatArray, p: FloatArray, count: int, seed: int = 0) -> IntArray:
    """Return compared pairs whose labels calibrate the scores best, the most useful first.

    They are spread over the range of scores (log-odds θ), the denser the less certain their
    probabilities p are: the number of true pairs is then estimated with the least error (Neyman's
    allocation). Every beginning of the list is spread as well.
    """
    if not len(theta):
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(theta)), theta))
    weight = np.cumsum(np.sqrt(np.maximum(p * (1.0 - p), CERTAIN))[order])
    bits = max(1, (count - 1).bit_length())
    halves = sorted(range(1 << bits), key=lambda n: f"{n:0{bits}b}"[::-1])
    places = (np.array(halves) + 0.5) / (1 << bits) * weight[-1]
    chosen = order[np.searchsorted(weight, places)]
    return np.array([*dict.fromkeys(chosen.tolist())][:count], dtype=np.int64)


def inside_sets(sets: Sets, labels: Labels) -> dict[int, list[tuple[str, str, bool]]]:
    """Return the labels by set; pairs in different sets are left out."""
    ends = sets.starts.tolist()
    home = {name: k for k in range(len(sets)) for name in sets.ids[ends[k] : ends[k + 1]]}
    known = {*home, *(template.id for template in sets.singletons)}
    found: dict[int, list[tuple[str, str, bool]]] = {}
    for (left, right), same in labels.pairs.items():
        for name in (left, right):
            if name not in known:
                problem = f"labels {name}, which is neither in the scores nor in the records"
                raise InputError(problem, file=labels.file)
        if home.get(left, -1) == home.get(right, -2):
            found.setdefault(home[left], []).append((left, right, same))
    return found


def labelled(sets: Sets, labels: Labels) -> Sets:
    """Return the sets with the labels as certain knowledge."""
    assumed = dict(sets.assumed)
    for k, rows in inside_sets(sets, labels).items():
        old = assumed.get(k, Assumed())
        must = {pair(left, right) for left, right, same in rows if same}
        apart = {pair(left, right) for left, right, same in rows if not same}
        assumed[k] = Assumed(old.must | must, old.apart | apart)
    return replace(sets, assumed=assumed)


@dataclass(frozen=True, slots=True)
class LabelFit:
    """Parameters fitted to labels, and how far from their start (0: not at all)."""

    parameters: ForestParameters
    pairs: int
    bits_before: float
    bits_after: float


def fit_labels(sets: Sets, labels: Labels, start: ForestParameters, seed: int = 0) -> LabelFit:
    """Fit scale, bias, floor and the odds of uncompared pairs to labelled pairs that were compared.

    The likelihood is that of the labels under the marginals of whole sets. How far the parameters
    move from their start is chosen by cross-validation over sets (over pairs in sets with many
    labels): the least of what is within one standard error of the best.
    """
    study = _Study(sets, labels, seed)
    if study.pairs < FEWEST:
        return LabelFit(start, study.pairs, 0.0, 0.0)
    floored = study.choose(start, [replace(start, floor=floor) for floor in FLOORS])[0]
    grid = [_moved(floored, a, c) for a in SCALES for c in BIASES]
    chosen, shrinkage = study.choose(floored, grid)
    near = [chosen, *(_moved(chosen, a, c) for a, c in FINER)]
    chosen = study.least(floored, near, shrinkage)
    grid = [replace(chosen, unlisted=start.unlisted + u - UNLISTED[2]) for u in UNLISTED]
    chosen = study.choose(chosen, grid)[0]
    before, after = (float(study.losses(p).sum()) / study.pairs for p in (start, chosen))
    return LabelFit(chosen, study.pairs, before, after)


def _moved(start: ForestParameters, scale: float, bias: float) -> ForestParameters:
    return replace(start, scale=start.scale * scale, bias=start.bias + bias)


class _Study:
    """Labelled pairs of some sets, and the loss of parameters on each pair."""

    def __init__(self, sets: Sets, labels: Labels, seed: int) -> None:
        inside = inside_sets(sets, labels)
        numbers = sorted(inside)
        self.sets, self.seed = sets.chosen(np.array(numbers, np.int64)), seed
        rows, same, home = [], [], []
        for new, k in enumerate(numbers):
            for row, value in _compared(self.sets, new, inside[k]):
                rows.append(row)
                same.append(value)
                home.append(new)
        self.rows = np.array(rows, dtype=np.int64)
        self.same = np.array(same, dtype=np.float64)
        self.pairs = len(rows)
        self.fold = _folds(np.array(home, dtype=np.int64))
        self._cache: dict[ForestParameters, FloatArray] = {}

    def losses(self, parameters: ForestParameters) -> FloatArray:
        """Return the bits of each label."""
        if parameters not in self._cache:
            p = row_probabilities(self.sets, parameters, self.rows, DRAWS, self.seed)
            p = np.clip(p, CLIP, 1.0 - CLIP)
            self._cache[parameters] = -np.log2(np.where(self.same > 0.5, p, 1.0 - p))
        return self._cache[parameters]

    def choose(
        self, start: ForestParameters, grid: list[ForestParameters]
    ) -> tuple[ForestParameters, float]:
        """Return the parameters, and how strongly they are drawn to the start."""
        losses = np.stack([self.losses(p) for p in grid])
        distance = np.array([_distance(p, start) for p in grid])
        scores = np.array([_held_out(losses, s * distance, self.fold) for s in SHRINKAGE])
        means = scores.mean(axis=1)
        best = int(np.argmin(means))
        error = (scores - scores[best]).std(axis=1) / np.sqrt(scores.shape[1])
        near = np.flatnonzero(means <= means[best] + error)
        shrinkage = SHRINKAGE[int(near[0])]
        return self.least(start, grid, shrinkage), shrinkage

    def least(
        self, start: ForestParameters, grid: list[ForestParameters], shrinkage: float
    ) -> ForestParameters:
        """Return the parameters with the least loss, distance from the start included."""
        sums = [float(self.losses(p).sum()) + shrinkage * _distance(p, start) for p in grid]
        return grid[int(np.argmin(sums))]


def _folds(home: IntArray) -> IntArray:
    """Return the fold of each label: that of its set, unless the set has many labels."""
    counts = np.bincount(home)
    fold: IntArray = np.where(counts[home] > SHARE * len(home), np.arange(len(home)), home) % FOLDS
    return fold


def _distance(one: ForestParameters, other: ForestParameters) -> float:
    """Return how far parameters are from others, in units of what is usual, squared."""
    scale = np.log(one.scale / other.scale) / 0.5
    bias, unlisted = one.bias - other.bias, (one.unlisted - other.unlisted) / 2
    floor = (one.floor - other.floor) / 0.02
    return float(scale**2 + bias**2 + unlisted**2 + abs(floor))


def _held_out(losses: FloatArray, penalty: FloatArray, fold: IntArray) -> FloatArray:
    """Return the loss of each label with the parameters that the other folds choose."""
    held = np.empty(losses.shape[1])
    for number in range(FOLDS):
        rest = losses[:, fold != number].sum(axis=1) + penalty
        held[fold == number] = losses[int(np.argmin(rest)), fold == number]
    return held


def _compared(
    sets: Sets, k: int, rows: Iterable[tuple[str, str, bool]]
) -> Iterator[tuple[int, bool]]:
    """Yield the rows of a set that are labelled."""
    first, at = int(sets.starts[k]), int(sets.row_starts[k])
    place = {name: n for n, name in enumerate(sets.ids[first : int(sets.starts[k + 1])])}
    ends = slice(at, int(sets.row_starts[k + 1]))
    columns = (sets.left[ends].tolist(), sets.right[ends].tolist())
    number = {both: at + n for n, both in enumerate(zip(*columns, strict=True))}
    for left, right, same in rows:
        a, b = sorted((place[left], place[right]))
        if (a, b) in number:
            yield number[a, b], same

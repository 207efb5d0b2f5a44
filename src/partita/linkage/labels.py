"""Labels of pairs or clusters: read them, apply them exactly, calibrate other pairs by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from partita.configurations.forest.model import ForestParameters, log_odds, logistic
from partita.core import BoolArray, FloatArray, IntArray, pair
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

FEWEST = 10  # labelled pairs below which nothing is learned
NEWTON = 50  # steps of the regression
DRAWS = 100  # of a large set, for the probabilities that labels correct
CLIP = 1e-4  # of these probabilities, as shares of so few draws are 0 or 1
STATED = 0.5  # of a label: what the corrected probability of its pair weighs beside it
# Of the labels that are asked for, those spread over tenths of the range whatever lies there.
# Variance of pairs that seem certain, as scores can be wrong as a whole. With 50 labels on 18
# tables of scores, these and STATED have nearly the fewest bits (.214) and the least error (.028)
# among 0 to .5, .001 to .2 and .15 to 3; without the spread a table of few matches loses .09 of F1.
SPREAD, CERTAIN = 0.25, 0.04
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


def pairs_to_label(p: FloatArray, count: int, seed: int = 0) -> IntArray:
    """Return compared pairs whose labels calibrate best, the most useful first.

    They are spread over the range of the stated probabilities p, the denser the less certain these
    are: the number of true pairs is then estimated with the least error (Neyman's allocation). Some
    are spread evenly, for ranges in which few pairs are. So is every beginning of the list.
    """
    if not len(p):
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(p)), p))
    unsure = np.sqrt(np.maximum(p * (1.0 - p), CERTAIN))
    tenth = np.unique(np.minimum((p * 10).astype(np.int64), 9), return_inverse=True)[1]
    even = 1.0 / np.bincount(tenth)[tenth]
    mixed = (1.0 - SPREAD) * unsure / unsure.sum() + SPREAD * even / even.sum()
    weight = np.cumsum(mixed[order])
    bits = max(1, (count - 1).bit_length())
    halves = sorted(range(1 << bits), key=lambda n: f"{n:0{bits}b}"[::-1])
    places = (np.array(halves) + 0.5) / (1 << bits) * weight[-1]
    chosen = order[np.minimum(np.searchsorted(weight, places), len(order) - 1)]
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


@dataclass(frozen=True, slots=True, eq=False)
class PairCalibration:
    """What labels make of the probabilities that are stated without them: points of a curve.

    `odds` are log-odds of stated probabilities in rising order, `right` the corrected ones.
    """

    odds: FloatArray
    right: FloatArray

    @classmethod
    def fitted(cls, stated: FloatArray, p: FloatArray, same: FloatArray) -> PairCalibration | None:
        """Fit a rising curve to judged pairs with the probabilities p, among all that are stated.

        A scale and a bias come first, and are all that is said of the ends of the range; then each
        label, beside what these say, stands for all stated probabilities that are nearest to it, so
        that it does not matter how pairs were chosen from among those with equal probabilities. Of
        fewer than FEWEST pairs nothing is learned.
        """
        if len(p) < FEWEST:
            return None
        from scipy.optimize import isotonic_regression

        order = np.lexsort((same, p))
        theta, same = log_odds(p[order], CLIP), same[order]
        scale, bias = fit_level(theta, same)
        every = np.sort(log_odds(stated, CLIP))
        odds, home = np.unique(np.append(theta, every[[0, -1]]), return_inverse=True)
        often = np.bincount(home[:-2], minlength=len(odds))
        shares = np.bincount(home[:-2], same, len(odds)) / np.maximum(often, 1)
        prior = logistic(scale * odds + bias)
        mean = np.where(often > 0, (shares + STATED * prior) / (1.0 + STATED), prior)
        weight = np.where(often > 0, _stood_for(every, odds, often > 0), 1.0)
        return cls(odds, isotonic_regression(mean, weights=weight).x)

    def moved(self, sets: Sets, stated: FloatArray, scale: float) -> Sets:
        """Return sets whose scores are moved by as much as the stated probabilities are corrected.

        Evidence is `scale` times the log-odds of scores.
        """
        odds = log_odds(stated, CLIP)
        more = np.interp(odds, self.odds, log_odds(self.right, CLIP)) - odds
        scores = logistic(log_odds(sets.probability) + more / scale)
        return replace(sets, probability=scores, given=sets.probability)


def _stood_for(stated: FloatArray, odds: FloatArray, judged: BoolArray) -> FloatArray:
    """Return for how many of all sorted values each of the judged ones, which rise, stands.

    The values between two go to both in equal parts.
    """
    low, high = (np.searchsorted(stated, odds[judged], side) for side in ("left", "right"))
    ends = np.concatenate([[0.0], (high[:-1] + low[1:]) / 2.0, [float(len(stated))]])
    found = np.zeros(len(odds))
    found[judged] = np.diff(ends) + CLIP
    return found


def fit_level(theta: FloatArray, judged: FloatArray) -> tuple[float, float]:
    """Return the scale and bias of log-odds that judged pairs (1 or 0; NaN is not judged) suggest.

    A logistic regression with a normal prior about 1 and 0, whose widths (.5 and 2) are a choice;
    fewer than FEWEST pairs change nothing.
    """
    chosen = np.flatnonzero(~np.isnan(judged))
    if len(chosen) < FEWEST:
        return 1.0, 0.0
    rows = np.stack([theta[chosen], np.ones(len(chosen))], axis=1)
    start, precision = np.array([1.0, 0.0]), np.diag([4.0, 0.25])
    weights = start.copy()
    for _ in range(NEWTON):
        p = 0.5 * (1.0 + np.tanh(0.5 * (rows @ weights)))
        gradient = rows.T @ (judged[chosen] - p) - precision @ (weights - start)
        curve = (rows * (p * (1.0 - p))[:, None]).T @ rows + precision
        weights += np.clip(np.linalg.solve(curve, gradient), -1.0, 1.0)
    return max(0.05, float(weights[0])), float(weights[1])


def stated_probabilities(sets: Sets, parameters: ForestParameters, seed: int) -> FloatArray:
    """Return the probability of every row of sets without labels and assumptions."""
    free = replace(sets, assumed={})
    return row_probabilities(free, parameters, np.arange(len(sets.left)), DRAWS, seed)


def judged_rows(sets: Sets, labels: Labels) -> tuple[IntArray, FloatArray]:
    """Return the rows of compared pairs that are labelled, and which are the same."""
    found = [row for k, rows in sorted(inside_sets(sets, labels).items())
             for row in _compared(sets, k, rows)]  # fmt: skip
    return (np.array([row for row, _ in found], dtype=np.int64),
            np.array([same for _, same in found], dtype=np.float64))  # fmt: skip


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

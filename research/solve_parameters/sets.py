"""Records with known clusters to coreference sets with keys, probabilities out of sample.

A pair's probability comes from a regression on pairs none of whose records lies in the folds of
its own two; clusters are never cut by folds. Sets are components of the pairs above a floor.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from partita.core import Configuration, CoreferenceSet, FloatArray, IntArray, PairProbabilities
from partita.errors import InputError
from partita.training.maxent import logistic_probability
from research.solve_parameters.greedy import KeyedSet

FOLDS = 5
RIDGE = 0.03
FLOOR = 0.01
LARGEST = 12
CERTAIN = 1 - 1e-12

Models = dict[tuple[int, int], FloatArray]
Pairs = Sequence[tuple[int, int]]


def keyed_sets(records: Records, rng: np.random.Generator) -> list[KeyedSet]:
    """Coreference sets of two to twelve records.

    A pair whose probability is not above the floor counts as incompatible, as one that is not
    listed in a file of pairs. Larger components are broken up by raising the floor for them.
    """
    pairs = candidates(records)
    folds = rng.integers(0, FOLDS, records.clusters.max() + 1)[records.clusters]
    x = comparisons(records, pairs)
    models = _models(records, pairs, x, folds)
    linked = dict(zip(pairs, _scores(pairs, x, folds, models).tolist(), strict=True))
    return [
        _keyed(records, members, folds, models)
        for members in _broken_up(range(len(records)), linked, FLOOR)
    ]


def _models(records: Records, pairs: Pairs, x: FloatArray, folds: IntArray) -> Models:
    """Weights for every two folds, learned on the pairs that touch neither."""
    ends = np.array(pairs)
    yes = (records.clusters[ends[:, 0]] == records.clusters[ends[:, 1]]).astype(np.float64)
    models: Models = {}
    for left in range(FOLDS):
        for right in range(left, FOLDS):
            away = ~np.isin(folds[ends], (left, right)).any(axis=1)
            models[left, right] = fit_logistic(x[away], yes[away], RIDGE)
    return models


def fit_logistic(x: FloatArray, yes: FloatArray, ridge: float) -> FloatArray:
    """Return the weights of a logistic regression with a ridge."""
    if not 0 < yes.sum() < len(yes):
        raise InputError("training data has one class only; expected pairs of both")

    def loss(weights: FloatArray) -> float:
        scores = x @ weights
        nats = np.logaddexp(0, scores).sum() - yes @ scores + ridge * (weights @ weights) / 2
        return float(nats)

    weights = np.zeros(x.shape[1])
    for _ in range(200):  # Newton's method; of a step so much as makes nothing worse
        p = logistic_probability(x @ weights)
        gradient = x.T @ (yes - p) - ridge * weights
        curvature = (x.T * (p * (1 - p))) @ x + ridge * np.eye(len(weights))
        step, least = np.linalg.solve(curvature, gradient), loss(weights) * (1 + 1e-15)
        halves = (weights + step / 2.0**n for n in range(40))
        weights = next((moved for moved in halves if loss(moved) <= least), weights)
        if gradient @ step <= 1e-12 * len(yes):
            break
    return weights


def _scores(pairs: Pairs, x: FloatArray, folds: IntArray, models: Models) -> FloatArray:
    """Probabilities by the models that have not seen the pairs' folds.

    Of F folds a model leaves out k: it keeps the share 1 − k/F of the pairs inside clusters and
    the square of it of those across, so its odds are too high by the inverse of that share.
    """
    ends = np.sort(folds[np.array(pairs)], axis=1)
    weights = np.array([models[left, right] for left, right in ends.tolist()])
    left_out = 1 + (ends[:, 0] != ends[:, 1])
    return logistic_probability((x * weights).sum(axis=1) + np.log1p(-left_out / FOLDS))


def _broken_up(
    members: Sequence[int], linked: dict[tuple[int, int], float], floor: float
) -> list[list[int]]:
    """Components of pairs above the floor; too large ones again, at about twice the odds.

    What even certainty holds together is left out.
    """
    found = []
    for component in _components(members, [pair for pair, p in linked.items() if p > floor]):
        if len(component) > LARGEST and floor < CERTAIN:
            chosen = set(component)
            inside = {pair: p for pair, p in linked.items() if chosen.issuperset(pair)}
            found += _broken_up(component, inside, 2 * floor / (1 + floor))
        elif 1 < len(component) <= LARGEST:
            found.append(component)
    return found


def _components(members: Sequence[int], pairs: Pairs) -> list[list[int]]:
    from scipy.cluster.hierarchy import DisjointSet

    found = DisjointSet(members)
    for left, right in pairs:
        found.merge(left, right)
    return sorted(sorted(component) for component in found.subsets())


def _keyed(records: Records, members: list[int], folds: IntArray, models: Models) -> KeyedSet:
    """The set of these records with the probabilities of all its pairs, and its key."""
    ids = [str(member) for member in members]
    matrix = np.eye(len(members))
    upper = np.triu_indices(len(members), 1)
    pairs = list(combinations(members, 2))
    p = _scores(pairs, comparisons(records, pairs), folds, models)
    matrix[upper] = np.where(p > FLOOR, np.minimum(p, CERTAIN), 0.0)
    matrix = np.maximum(matrix, matrix.T)
    key = Configuration.from_labels(ids, records.clusters[members])
    name = f"{records.table.file}:{ids[0]}"
    return KeyedSet(PairProbabilities(CoreferenceSet.of(ids, name), matrix), key)


Block = tuple[tuple[str, int], ...]
Grams = frozenset[str]
WHOLE = 64  # characters: more than any value that a block is made of


@dataclass(frozen=True, slots=True)
class Table:
    """A file, its column of true clusters, the fields to compare, and the blocks.

    Two records are compared where some block (fields with a number of leading characters) has
    the same values in both, none of them empty.
    """

    file: str
    cluster: str
    fields: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The rows of a table: values by field, their pairs of characters, and cluster numbers."""

    table: Table
    values: list[dict[str, str]]
    grams: list[dict[str, Grams]]
    clusters: IntArray

    def __len__(self) -> int:
        return len(self.values)


def read_records(folder: Path, table: Table) -> Records:
    """The records of one file."""
    path = folder / table.file
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, skipinitialspace=True))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    values = [{name: _plain(row[name]) for name in table.fields} for row in rows]
    grams = [{name: _grams(value) for name, value in row.items()} for row in values]
    _, clusters = np.unique([row[table.cluster] for row in rows], return_inverse=True)
    return Records(table, values, grams, clusters.astype(np.int64))


def candidates(records: Records) -> list[tuple[int, int]]:
    """The pairs that share a block, in order."""
    found: set[tuple[int, int]] = set()
    for block in records.table.blocks:
        for members in _blocked(records.values, block):
            found.update(combinations(members, 2))
    return sorted(found)


def comparisons(records: Records, pairs: Iterable[tuple[int, int]]) -> FloatArray:
    """A row for each pair: a constant; for each field whether it is equal, how similar, and
    whether it is missing; how many fields are equal, one column for each number; and the
    similarity of the records as a whole (fields may be swapped) with its square.
    """
    return np.array([_compared(records, left, right) for left, right in pairs], dtype=np.float64)


def _compared(records: Records, left: int, right: int) -> list[float]:
    one, other = records.values[left], records.values[right]
    grams, others = records.grams[left], records.grams[right]
    missing = [not one[name] or not other[name] for name in one]
    equal = [one[name] == other[name] != "" for name in one]
    similar = [_dice(grams[name], others[name]) for name in one]
    numbers = [sum(equal) == n for n in range(len(equal) + 1)]
    whole = _dice(frozenset().union(*grams.values()), frozenset().union(*others.values()))
    return [1.0, *map(float, equal), *similar, *map(float, missing + numbers), whole, whole**2]


def _blocked(values: Sequence[dict[str, str]], block: Block) -> Iterator[list[int]]:
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, row in enumerate(values):
        key = tuple(row[name][:length] for name, length in block)
        if all(key):
            groups[key].append(number)
    yield from groups.values()


def _plain(value: str) -> str:
    """Lower case, without spaces around; NA is empty."""
    plain = value.strip().lower()
    return "" if plain == "na" else plain


def _grams(value: str) -> Grams:
    padded = f" {value} "
    return frozenset(padded[n : n + 2] for n in range(len(padded) - 1)) if value else frozenset()


def _dice(left: Grams, right: Grams) -> float:
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0

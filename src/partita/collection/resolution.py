"""Who is who in a collection: pair scores by the shipped model, and trees over all records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.collection.comparison import (
    APART,
    FEATURES,
    HOPELESS,
    PART,
    SECOND_FEATURES,
    RecordComparison,
    second_features,
)
from partita.collection.documents import SourceDocument
from partita.collection.tree import MEAN_SCORES, EntityTree, Joined, average_linkage
from partita.configurations.forest.model import logistic
from partita.core import BoolArray, FloatArray, IntArray
from partita.errors import InputError
from partita.linkage.pair_trees import PairTrees

MODEL = "across.json"
TREES = 16  # with different noise: together they are surer of what all of them say
NOISE = 0.85  # standard deviation of the noise of a score, in log-odds
INTERVAL = 1.645  # standard deviations of a 90 % interval
BLOCK = 200_000  # pairs whose features are in memory together
SPREAD_FLOOR = 0.03  # of the logarithm of the number of entities, however many documents

LabelledPairs = Mapping[tuple[str, str], bool]


@dataclass(frozen=True, slots=True, eq=False)
class AcrossModel:
    """The shipped model of pairs across documents, and how its trees are calibrated.

    `answer` is the mean score from which records are shown as one entity. The number of entities
    is that of the records times the expected share to the power `count_power`: links that no pair
    of records shows. `count_spread` is the error of its logarithm for `count_documents` documents.
    """

    first: PairTrees
    second: PairTrees
    heights: Mapping[str, float]
    answer: float
    count_power: float
    count_spread: float
    count_documents: float

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> AcrossModel:
        """Return the model as JSON holds it."""
        first, second = (PairTrees.from_dict(value[name]) for name in ("first", "second"))
        if (first.features, second.features) != (FEATURES, (*FEATURES, *SECOND_FEATURES)):
            raise InputError("the model has other features; train it with research/train_across.py")
        names = ("answer", "count_power", "count_spread", "count_documents")
        return cls(first, second, dict(value["heights"]), *(float(value[name]) for name in names))

    def first_scores(
        self, comparison: RecordComparison, left: IntArray, right: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """Return the places of pairs that may be the same, and their log-odds on their own."""
        places, odds = [np.zeros(0, np.int64)], [np.zeros(0)]
        for part in _blocks(np.arange(len(left))):  # features of all pairs are far too large
            ends = left[part], right[part]
            rows = comparison.features(*ends)
            found = self.first.log_odds(rows) + comparison.corrections(*ends, rows)
            some = (found > HOPELESS) | (comparison.conflicts(*ends) > 0)
            places.append(part[some])
            odds.append(found[some])
        return np.concatenate(places), np.concatenate(odds)

    def second_scores(
        self,
        comparison: RecordComparison,
        left: IntArray,
        right: IntArray,
        more: NDArray[np.float32],
    ) -> tuple[FloatArray, NDArray[np.int8]]:
        """Return the log-odds of pairs with rivals and support, and their conflicts."""
        odds = np.empty(len(left))
        for part in _blocks(np.arange(len(left))):
            ends = left[part], right[part]
            rows = comparison.features(*ends)
            found = self.second.log_odds(np.column_stack([rows, more[part]]))
            odds[part] = found + comparison.corrections(*ends, rows)
        return odds, comparison.conflicts(left, right)


def _blocks(places: IntArray) -> Iterator[IntArray]:
    for start in range(0, len(places), BLOCK):
        yield places[start : start + BLOCK]


@cache
def shipped_model() -> AcrossModel:
    """Return the model that comes with the package."""
    path = files("partita").joinpath("parameters", MODEL)
    return AcrossModel.from_dict(json.loads(path.read_text("utf-8")))


@dataclass(frozen=True, slots=True, eq=False)
class LikelyPairs:
    """Pairs of records that may be the same, with their log-odds and conflicts."""

    left: IntArray
    right: IntArray
    log_odds: FloatArray
    conflicts: NDArray[np.int8]

    def joined(
        self,
        count: int,
        starts: FloatArray,
        tree: int,
        same: Sequence[tuple[int, int]] = (),
        different: Sequence[tuple[int, int]] = (),
    ) -> Joined:
        """Return the joins of a tree of so many records; tree -1 is the answer and has no noise.

        That one is part of the other holds against their clusters in the answer alone: with so
        much weight in the other trees, pairs were stated worse.
        """
        odds = self.log_odds if tree < 0 else self.log_odds + pair_noise(starts, tree)
        return average_linkage(count, self.left, self.right, logistic(odds), same, different,
                               self.conflicts >= (PART if tree < 0 else APART))  # fmt: skip


@dataclass(frozen=True, eq=False)
class Resolution:
    """Records, the pairs that may be the same with their log-odds, and trees of equal weight."""

    comparison: RecordComparison
    model: AcrossModel
    left: IntArray
    right: IntArray
    first: FloatArray
    log_odds: FloatArray
    trees: tuple[EntityTree, ...]
    plain: EntityTree  # without noise: its cut is the answer
    compared: int  # pairs, most of which are hopeless and not kept

    @classmethod
    def of(
        cls,
        documents: Sequence[SourceDocument],
        model: AcrossModel | None = None,
        labels: LabelledPairs | None = None,
        offset: float = 0.0,
    ) -> Resolution:
        """Compare the records of documents; `offset` is added to log-odds, learned from labels."""
        model = model or shipped_model()
        comparison = RecordComparison.of(documents)
        left, right = comparison.candidates()
        compared = len(left)
        kept, first = model.first_scores(comparison, left, right)
        left, right = left[kept], right[kept]
        more = second_features(comparison.home, left, right, first)
        odds, conflicts = model.second_scores(comparison, left, right, more)
        likely = (odds > HOPELESS) | (conflicts > 0)
        pairs = LikelyPairs(left[likely], right[likely], odds[likely] + offset, conflicts[likely])
        starts = noise_starts([one.id for one in comparison.records], pairs.left, pairs.right)
        known = _labelled(comparison, labels or {})
        joined = [pairs.joined(len(comparison.records), starts, tree, *known)
                  for tree in range(-1, TREES)]  # fmt: skip
        return cls.assembled(comparison, model, pairs, first[likely], joined, compared)

    @classmethod
    def assembled(
        cls,
        comparison: RecordComparison,
        model: AcrossModel,
        pairs: LikelyPairs,
        first: FloatArray,
        joined: Sequence[Joined],
        compared: int,
    ) -> Resolution:
        """Return what pairs and trees say, the tree without noise first."""
        plain, *trees = (EntityTree.of(one, model.heights) for one in joined)
        return cls(comparison, model, pairs.left, pairs.right, first, pairs.log_odds,
                   tuple(trees), plain, compared)  # fmt: skip

    def pair_probabilities(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the probability of each pair that its records are the same."""
        found = np.zeros(len(left))
        for tree, part in product(self.trees, _blocks(np.arange(len(left)))):
            found[part] += tree.pair_probabilities(left[part], right[part]) / len(self.trees)
        return found

    @cached_property
    def probabilities(self) -> FloatArray:
        """The probabilities of these pairs."""
        return self.pair_probabilities(self.left, self.right)

    @cached_property
    def equal_names(self) -> BoolArray:
        """Which of the compared pairs have an equal name."""
        found: BoolArray = self.comparison.full_names.shared(self.left, self.right)[0] > 0
        return found

    @cached_property
    def answer(self) -> IntArray:
        """The entity of each record that is shown."""
        return EntityTree.of(self.plain.joined, MEAN_SCORES).cut(self.model.answer)

    def worlds(self, draws: int, seed: int = 0) -> IntArray:
        """Draw whole worlds, from each tree in turn: a row for each, an entity for each record."""
        count = len(self.trees)
        found = np.empty((draws, len(self.comparison.records)), dtype=np.int64)
        for n, tree in enumerate(self.trees):
            found[n::count] = tree.worlds(len(range(n, draws, count)), seed * 1000 + n)
        return found

    def entity_count(
        self, records: int | None = None, expected: float | None = None
    ) -> tuple[float, float, float]:
        """Return the estimated number of entities and the ends of its 90 % interval.

        It is for all records, or for some of them with their expected number of entities.
        """
        if records is None:
            records = len(self.comparison.records)
        if expected is None:
            expected = float(np.mean([tree.expected_entities() for tree in self.trees]))
        if not records:
            return 0.0, 0.0, 0.0
        share, documents = expected / records, max(len(self.comparison.documents), 1)
        count = records * share**self.model.count_power
        part = self.model.count_spread**2 * self.model.count_documents / documents
        spread = INTERVAL * float(np.sqrt(SPREAD_FLOOR**2 + part)) * min(1.0, 4.0 * (1.0 - share))
        return count, count * np.exp(-spread), min(count * np.exp(spread), float(records))


def noise_starts(ids: Sequence[str], left: IntArray, right: IntArray) -> FloatArray:
    """Return where the noise of each pair starts, from 0 to 1: the same for the same ids."""
    hashes = np.array([int.from_bytes(blake2b(one.encode(), digest_size=8).digest(), "little")
                       for one in ids], dtype=np.uint64)  # fmt: skip
    low, high = np.minimum(hashes[left], hashes[right]), np.maximum(hashes[left], hashes[right])
    found: FloatArray = (_mixed(low + _mixed(high)) >> np.uint64(11)).astype(np.float64) / 2.0**53
    return found


def pair_noise(starts: FloatArray, tree: int) -> FloatArray:
    """Return the noise of pairs for the log-odds of a tree.

    That of a pair in all trees is spread evenly, from a random start: few trees do as well as many.
    """
    uniform = np.clip((starts + tree / TREES) % 1.0, 1e-12, 1.0 - 1e-12)
    found: FloatArray = NOISE * np.sqrt(3.0) / np.pi * (np.log(uniform) - np.log1p(-uniform))
    return found


def _mixed(x: Any) -> Any:
    """Return 64 bits mixed as SplitMix64 does."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _labelled(
    comparison: RecordComparison, labels: LabelledPairs
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the labelled pairs by place: the same, and different; unknown ids are left out."""
    place = {one.id: n for n, one in enumerate(comparison.records)}
    known = [(place[a], place[b], same) for (a, b), same in labels.items()
             if a in place and b in place]  # fmt: skip
    same = [(a, b) for a, b, is_same in known if is_same]
    return same, [(a, b) for a, b, is_same in known if not is_same]

"""Who is who in a collection: pair scores by the shipped model, and trees over all records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from importlib.resources import files
from itertools import chain, product
from typing import Any

import numpy as np

from partita.collection.comparison import (
    FEATURES,
    HOPELESS,
    SECOND_FEATURES,
    RecordComparison,
    second_features,
)
from partita.collection.documents import SourceDocument
from partita.collection.tree import EntityTree, average_linkage
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

    `answer` is the probability from which records are shown as one entity. The number of entities
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

    def scores(
        self, comparison: RecordComparison, left: IntArray, right: IntArray
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the places of pairs that may be the same, with their log-odds.

        The log-odds are those of pairs alone, and then with rivals and support. Features are made
        twice, in blocks: those of all pairs are far larger than the rest.
        """
        places, odds = [], []
        for part in _blocks(np.arange(len(left))):
            ends = left[part], right[part]
            rows = comparison.features(*ends)
            found = self.first.log_odds(rows) + comparison.corrections(*ends, rows)
            some = (found > HOPELESS) | comparison.conflicts(*ends)
            places.append(part[some])
            odds.append(found[some])
        kept = np.concatenate([np.zeros(0, np.int64), *places])
        first = np.concatenate([np.zeros(0), *odds])
        left, right = left[kept], right[kept]
        more = second_features(comparison.home, left, right, first)
        second = np.empty(len(left))
        for part in _blocks(np.arange(len(left))):
            ends = left[part], right[part]
            rows = comparison.features(*ends)
            found = self.second.log_odds(np.column_stack([rows, more[part]]))
            second[part] = found + comparison.corrections(*ends, rows)
        likely = (second > HOPELESS) | comparison.conflicts(left, right)
        return kept[likely], first[likely], second[likely]


def _blocks(places: IntArray) -> Iterator[IntArray]:
    for start in range(0, len(places), BLOCK):
        yield places[start : start + BLOCK]


@cache
def shipped_model() -> AcrossModel:
    """Return the model that comes with the package."""
    path = files("partita").joinpath("parameters", MODEL)
    return AcrossModel.from_dict(json.loads(path.read_text("utf-8")))


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
        kept, first, log_odds = model.scores(comparison, left, right)
        left, right, log_odds = left[kept], right[kept], log_odds + offset
        same, different = _labelled(comparison, labels or {})
        conflicts = comparison.conflicts(left, right)
        noise = pair_noise([one.id for one in comparison.records], left, right)
        made = [
            EntityTree.of(
                average_linkage(
                    len(comparison.records),
                    left,
                    right,
                    logistic(odds),
                    same,
                    different,
                    conflicts,
                ),
                model.heights,
            )
            for odds in chain([log_odds], (log_odds + one for one in noise))
        ]
        return cls(comparison, model, left, right, first, log_odds, tuple(made[1:]), made[0],
                   compared)  # fmt: skip

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
        return self.plain.cut(self.model.answer)

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


def pair_noise(ids: Sequence[str], left: IntArray, right: IntArray) -> Iterator[FloatArray]:
    """Yield noise for the log-odds of pairs in each tree: the same for the same ids.

    That of a pair in all trees is spread evenly, from a random start: few trees do as well as many.
    """
    hashes = np.array([int.from_bytes(blake2b(one.encode(), digest_size=8).digest(), "little")
                       for one in ids], dtype=np.uint64)  # fmt: skip
    low, high = np.minimum(hashes[left], hashes[right]), np.maximum(hashes[left], hashes[right])
    start = (_mixed(low + _mixed(high)) >> np.uint64(11)).astype(np.float64) / 2.0**53
    for n in range(TREES):
        uniform = np.clip((start + n / TREES) % 1.0, 1e-12, 1.0 - 1e-12)
        yield NOISE * np.sqrt(3.0) / np.pi * (np.log(uniform) - np.log1p(-uniform))


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

"""Train the trees by which pairs of records are ranked, on the panel of record linkage.

    python -m research.train_pair_trees FOLDER OUT [--cache CACHE]

FOLDER has the sets of the panel. OUT gets `pair_trees.json`, trained on all of them (shipped as
src/partita/parameters/pair_trees.json), and for every family of sets `without-FAMILY.json`, trained
on the others, by which research/panel_records.py measures. Every family weighs the same. Beside the
sets there are variants: without some columns, with few matches, small, tiny, and with two tables as
one.
Needs `pip install scikit-learn`. CACHE keeps the features.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray
from partita.linkage.pair_features import (
    FEATURES,
    ComparedRecords,
    PairEnds,
    candidate_ends,
    pair_features,
)
from partita.linkage.record_tables import RecordTable, read_records
from research.score_records import febrl_files

PAIRS, VARIANT_PAIRS = 3_000, 1_500  # of a set and of a variant, by which trees are trained
VARIANT_WEIGHT = 0.5
TINY = (6, 12, 24, 48)  # records of tiny tables, which weigh as much as one variant together
DIGITS = 8  # of thresholds and leaves in the file

RISING = frozenset(FEATURES) - {
    "unshared", "differing", "differing_bits", "rank_low", "rank_high", "filled", "filled_share",
    "close_low", "close_high", "lengths", "codes",
}  # fmt: skip
FALLING = frozenset({"unshared", "differing", "differing_bits", "rank_low", "rank_high"})

Examples = Mapping[str, tuple[FloatArray, BoolArray]]


def train(folder: Path, out: Path, cache: Path) -> None:
    """Train on all sets, and on those of all families but one."""
    out.mkdir(parents=True, exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    examples = dict(panel_examples(folder, cache))
    for family in ("", *dict.fromkeys(FAMILIES.values())):
        chosen = {name: one for name, one in examples.items() if family_of(name) != family}
        path = out / (f"without-{family}.json" if family else "pair_trees.json")
        path.write_text(json.dumps(exported(fitted(chosen))) + "\n", encoding="utf-8")
        print(path, len(chosen), "sets", flush=True)


def family_of(name: str) -> str:
    """Return the family of a set or of its variant."""
    return FAMILIES[name.split(" ")[0]]


def panel_examples(folder: Path, cache: Path) -> Iterator[tuple[str, tuple[FloatArray, BoolArray]]]:
    """Yield the features of candidate pairs and which are true, for every set and variant."""
    for name in FAMILIES:
        for variant in variants(read_panel(name, folder), np.random.default_rng(len(name))):
            path = cache / f"{variant.name}.npz"
            if not path.exists():
                features, right = compared(variant)
                np.savez(path, X=features.astype(np.float32), y=right)
            with np.load(path) as read:
                yield variant.name, (read["X"][:, : len(FEATURES)], read["y"])


def compared(one: PanelSet) -> tuple[FloatArray, BoolArray]:
    """Return the features of the candidate pairs of a set, and which of them are true."""
    records = ComparedRecords.of(one.table())
    ends = candidate_ends(records)
    if len(one.tables) > 1:  # none of the panel's pairs of tables has duplicates
        across = records.source[ends.left] != records.source[ends.right]
        ends = PairEnds(ends.left[across], ends.right[across])
    features = pair_features(records, ends, records.alike(ends))
    return features.astype(np.float64), one.truth[ends.left] == one.truth[ends.right]


def variants(one: PanelSet, rng: np.random.Generator) -> Iterator[PanelSet]:
    """Yield a set, and others made of it."""
    count, two = len(one.truth), len(one.tables) > 1
    every = np.ones(count, dtype=np.bool_)
    yield one
    if two and {*one.tables[0][0]} == {*one.tables[1][0]}:
        rows = [row for table in one.tables for row in table]
        yield PanelSet(f"{one.name} one", [rows], one.truth)
    names = [name for name in one.tables[0][0] if name != "id"]
    filled = [name for name in names
              if np.mean([row.get(name) is not None for row in one.tables[0]]) > 0.3]  # fmt: skip
    if len(filled) >= 4:
        dropped = rng.choice(filled, size=rng.integers(1, max(2, len(filled) // 2)), replace=False)
        yield _part(one, every, "columns", {*dropped.tolist()})
    entities = np.unique(one.truth)
    thinned = {*entities[rng.random(len(entities)) < 0.75].tolist()}
    kept, seen = every.copy(), set[int]()
    for n in rng.permutation(count).tolist():
        entity = int(one.truth[n])
        kept[n] = entity not in thinned or entity not in seen
        seen.add(entity)
    yield _part(one, kept, "thin")
    for size in TINY:
        yield _part(one, _tiny(one.truth, size, rng), f"tiny {size}")
    if count > 2_500:
        quarter = entities[rng.random(len(entities)) < 0.25]
        yield _part(one, np.isin(one.truth, quarter), "small")


def _tiny(truth: IntArray, size: int, rng: np.random.Generator) -> BoolArray:
    """Return a few records: those of some entities that have several, and as many others."""
    several = np.flatnonzero(np.bincount(truth)[truth] > 1)
    chosen, kept = rng.permutation(several), np.zeros(len(truth), dtype=np.bool_)
    for n in chosen.tolist():
        if kept.sum() >= size // 2:
            break
        kept[np.flatnonzero(truth == truth[n])[:3]] = True
    kept[rng.choice(len(truth), size - size // 2, replace=False)] = True
    return kept


def _part(
    one: PanelSet,
    kept: BoolArray,
    name: str,
    dropped: Set[str] = frozenset(),
) -> PanelSet:
    """Return some of the records, without some columns."""
    tables, first = [], 0
    for table in one.tables:
        tables.append([{k: v for k, v in row.items() if k not in dropped}
                       for n, row in enumerate(table, first) if kept[n]])  # fmt: skip
        first += len(table)
    return PanelSet(f"{one.name} {name}", tables, one.truth[kept])


def fitted(examples: Examples) -> Any:
    """Fit monotone boosted trees to pairs, all families with the same weight."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(0)
    share = {name: _weight(name) for name in examples}
    total: dict[str, float] = defaultdict(float)
    for name, weight in share.items():
        total[family_of(name)] += weight
    rows, right, weights = [], [], []
    for name, (features, same) in examples.items():
        most = VARIANT_PAIRS if " " in name else PAIRS
        chosen = rng.permutation(len(same))[:most]
        rows.append(features[chosen])
        right.append(same[chosen])
        weight = 1e4 * share[name] / total[family_of(name)] / max(len(chosen), 1)
        weights.append(np.full(len(chosen), weight))
    model = HistGradientBoostingClassifier(
        max_iter=90, learning_rate=0.12, max_leaf_nodes=10, min_samples_leaf=30, max_bins=64,
        l2_regularization=5.0, random_state=0, early_stopping=False,
        monotonic_cst=[(name in RISING) - (name in FALLING) for name in FEATURES],
    )  # fmt: skip
    inputs = np.concatenate(rows), np.concatenate(right)
    return model.fit(*inputs, sample_weight=np.concatenate(weights))


def _weight(name: str) -> float:
    if " tiny " in name:
        return VARIANT_WEIGHT / len(TINY)
    return VARIANT_WEIGHT if " " in name else 1.0


def exported(model: Any) -> dict[str, Any]:
    """Return the trees of a model as `partita.linkage.pair_trees` reads them."""
    trees = [predictor.nodes for (predictor,) in model._predictors]
    lists: dict[str, list[Any]] = {name: [] for name in
        ("roots", "feature", "threshold", "left", "right", "missing_left", "value")}  # fmt: skip
    first = 0
    for nodes in trees:
        leaf = nodes["is_leaf"].astype(bool)
        lists["roots"].append(first)
        lists["feature"] += np.where(leaf, -1, nodes["feature_idx"]).tolist()
        lists["threshold"] += _short(np.where(leaf, 0.0, nodes["num_threshold"]))
        lists["left"] += np.where(leaf, 0, nodes["left"].astype(int) + first).tolist()
        lists["right"] += np.where(leaf, 0, nodes["right"].astype(int) + first).tolist()
        lists["missing_left"] += nodes["missing_go_to_left"].astype(int).tolist()
        lists["value"] += _short(np.where(leaf, nodes["value"], 0.0))
        first += len(nodes)
    start = float(np.ravel(model._baseline_prediction)[0])
    return {"features": list(FEATURES), "start": start, **lists}


def _short(values: Sequence[float] | FloatArray) -> list[float]:
    return [float(f"{float(value):.{DIGITS}g}") for value in values]


Row = dict[str, str | None]
FAMILIES = {
    "restaurants": "restaurants", "restaurants-two": "restaurants", "abt-buy": "abt-buy",
    "dblp-acm": "papers", "cora": "papers", "imdb-tmdb": "imdb-tmdb", "chicago": "chicago",
    "cddb": "cddb", "RLdata500": "RLdata", "RLdata10000": "RLdata", "febrl1": "febrl",
    "febrl2": "febrl", "febrl3": "febrl", "febrl4": "febrl", "fake_1000": "fake_1000",
}  # fmt: skip
TRUTHS = {"RLdata500": "ent_id", "RLdata10000": "ent_id", "fake_1000": "cluster",
          "restaurants": "unique_id"}  # fmt: skip
TOLD = ("id", "unique_id")
FILES = {"restaurants": "restaurant-nophone-training"}


@dataclass(frozen=True, slots=True, eq=False)
class PanelSet:
    """Tables of records, each row with an id, and the true cluster of every row of all tables."""

    name: str
    tables: Sequence[Sequence[Row]]
    truth: IntArray

    @property
    def family(self) -> str:
        return FAMILIES[self.name.split(" ")[0]]

    def table(self) -> RecordTable:
        """Return the records as `partita link` reads them without options."""
        return read_records([list(rows) for rows in self.tables], "id")


def read_panel(name: str, folder: Path) -> PanelSet:
    """Read a set of the panel from the folder of records."""
    if name.startswith("febrl"):
        tables = [_rows(path, name) for path in febrl_files(name[-1])]
        truth = [str(row.pop("rec_id")).split("-")[1] for rows in tables for row in rows]
        return PanelSet(name, [_numbered(rows, n) for n, rows in enumerate(tables)], _codes(truth))
    if name in TRUTHS:
        rows = _rows(folder / f"{FILES.get(name, name)}.csv", name)
        truth = [str(row.pop(TRUTHS[name])) for row in rows]
        for row in rows:
            row.pop("rec_id", None)
        return PanelSet(name, [_numbered(rows, 0)], _codes(truth))
    paths = sorted((folder / name).glob("*.csv"))
    tables = [_rows(path, name) for path in paths if path.stem != "truth"]
    ids = [str(row["id"]) for rows in tables for row in rows]
    place = {one: n for n, one in enumerate(ids)}
    home = list(range(len(ids)))
    for row in _rows(folder / name / "truth.csv", name):
        a, b = (_root(home, place[str(row[end])]) for end in ("left", "right"))
        home[a] = b
    return PanelSet(name, tables, _codes([str(_root(home, n)) for n in range(len(ids))]))


def _root(home: list[int], n: int) -> int:
    while home[n] != n:
        home[n] = n = home[home[n]]
    return n


def _rows(path: Path, name: str) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as stream:
        blank = name.startswith("febrl") or name == "restaurants"
        rows = csv.DictReader(stream, skipinitialspace=blank)
        return [{str(k).strip(): (v.strip() if v else None) for k, v in row.items()}
                for row in rows]  # fmt: skip


def _numbered(rows: Sequence[Row], table: int) -> list[Row]:
    """Return rows with ids of their own, in place of those that may tell the truth."""
    return [
        {"id": f"{'ab'[table]}{n}", **{k: v for k, v in row.items() if k not in TOLD}}
        for n, row in enumerate(rows)
    ]


def _codes(truth: Sequence[str]) -> IntArray:
    return np.unique(np.array(truth), return_inverse=True)[1].astype(np.int64)


def true_pairs(truth: IntArray) -> int:
    """Return how many pairs of records are one entity."""
    sizes = np.bincount(truth)
    return int((sizes * (sizes - 1) // 2).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="folder of the sets of records")
    parser.add_argument("out", type=Path, help="folder of the trained models")
    parser.add_argument("--cache", type=Path, help="folder of features [default: OUT/features]")
    given = parser.parse_args()
    train(given.folder, given.out, given.cache or given.out / "features")


if __name__ == "__main__":
    main()

"""The panel of record linkage: its tables without what tells the truth, and the true clusters."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from partita.core import IntArray
from partita.linkage.record_tables import RecordTable, read_records
from research.score_records import febrl_files

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

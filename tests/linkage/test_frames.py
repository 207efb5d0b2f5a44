"""pandas, Polars and Arrow tables in and out."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from oracles.answers import TABLE_1, brute
from partita.app.solve import pair_table
from partita.errors import InputError, Unavailable
from partita.linkage.grouping import group
from partita.linkage.pairs import PairTable

COLUMNS = {"left": ["A", "B", "C"], "right": ["B", "C", "D"], "probability": [0.5, 0.25, 0.0]}


def frame_pairs(frame: object) -> PairTable:
    return pair_table(frame, "pairs")[0]


class OnlyInterchange:
    """A table that speaks the older of the two protocols."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __dataframe__(self, **options):
        return self.table.__dataframe__(**options)


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=[7, 3, 5]),
        pl.DataFrame(COLUMNS),
        OnlyInterchange(pa.table(COLUMNS)),
        pd.DataFrame(COLUMNS).astype({"left": "category"}),
    ],
    ids=["arrow", "pandas", "pandas with an index", "polars", "interchange", "categories"],
)
def test_tables_in(frame):
    sets = group(frame_pairs(frame))
    assert list(sets.ids) == ["A", "B", "C"]
    assert sets.pairs()[0].matrix.tolist() == [[0, 0.5, 0], [0.5, 0, 0.25], [0, 0.25, 0]]
    assert [t.id for t in sets.singletons] == ["D"]


def test_whole_numbers_with_gaps_stay_whole():
    frame = pd.DataFrame({"left": [1.0, None], "right": [2, 3], "probability": [0.5, 0.5]})
    table = frame_pairs(frame)
    assert table.names[:2] == ["1", "2"]
    assert [(p.line, p.text.split(";")[0]) for p in table.problems] == [(2, "pairs 3 with nothing")]


def test_rows_are_named():
    bad = pa.table({**COLUMNS, "probability": [0.5, 2.0, 0.5]})
    [error] = group(frame_pairs(bad)).failed.values()
    assert str(error).startswith("the data frame, row 2: the probability of B and C is 2.0")
    with pytest.raises(InputError, match="the data frame: has unknown columns 'x'"):
        frame_pairs(pa.table({**COLUMNS, "x": [1, 2, 3]}))
    with pytest.raises(InputError, match="the data frame: has no rows"):
        frame_pairs(pa.table({name: [] for name in COLUMNS}))


def test_splink_tables_are_read_without_their_other_columns():
    frame = pl.DataFrame(
        {"unique_id_l": [1], "unique_id_r": [2], "match_probability": [0.5], "gamma_x": [{"a": 1}]}
    )
    assert frame_pairs(frame).names == ["1", "2"]


def test_tables_out():
    distribution = brute(list("ABCD"), TABLE_1)
    pairs = distribution.to_arrow("pairs")
    assert pairs.column_names == ["left", "right", "probability", "marginal", "low", "high"]
    last = pairs.to_pylist()[-1]
    assert (last["left"], last["right"], last["probability"]) == ("C", "D", 0.504)
    assert last["marginal"] == pytest.approx(0.1873, abs=1e-4)
    configurations = distribution.to_arrow().to_pylist()
    assert len(configurations) == 7
    assert configurations[0]["cells"] == [["A", "B", "D"], ["C"]]
    assert configurations[0]["configuration"] == "(A B D) (C)"
    assert [row["rank"] for row in configurations] == list(range(1, 8))
    again = frame_pairs(pl.from_arrow(pairs).select("left", "right", "probability"))
    assert again.probability.tolist() == [0.671, 0.0, 0.505, 0.0, 0.752, 0.504]


def test_pandas_and_polars_are_not_imported_for_an_arrow_table():
    program = (
        "import sys, pyarrow as pa\n"
        "from partita.app.solve import pair_table\n"
        "csv = pa.BufferReader(b'left,right,probability\\nA,B,.5\\n')\n"
        "from pyarrow.csv import read_csv\n"
        "assert pair_table(read_csv(csv), 'pairs')[0].names == ['A', 'B']\n"
        "print(*({'pandas', 'polars'} & set(sys.modules)))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == ""


def test_without_pyarrow_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(Unavailable, match=r"a data frame needs pyarrow; install partita\[frames\]"):
        frame_pairs(pl.DataFrame(COLUMNS))

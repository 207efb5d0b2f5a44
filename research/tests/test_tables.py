"""Tables of records: blocking and comparison, worked by hand."""

from __future__ import annotations

import pytest

from partita.errors import InputError
from research.solve_parameters.sets import WHOLE, Table, candidates, comparisons, read_records

TABLE = Table(
    "people.csv",
    "who",
    ("first", "last"),
    ((("last", WHOLE),), (("first", 2), ("last", 1))),
)
TEXT = """first, last, who
Anna, Smith, x
"ANNA ", smith, x
Bob, Smyth, y
Ann, Smythe, 7
Smith, Anna, x
NA, Jones, z
,,z
"""


@pytest.fixture
def records(tmp_path):
    (tmp_path / "people.csv").write_text(TEXT, encoding="utf-8")
    return read_records(tmp_path, TABLE)


def test_values_are_plain_and_clusters_are_numbered(records):
    assert records.values[1] == records.values[0] == {"first": "anna", "last": "smith"}
    assert records.values[5]["first"] == ""
    assert records.clusters.tolist() == [1, 1, 2, 0, 1, 3, 3]


def test_pairs_that_share_a_block_whose_values_are_not_empty(records):
    assert candidates(records) == [(0, 1), (0, 3), (1, 3)]


def test_columns_of_a_comparison(records):
    same, swapped, missing = comparisons(records, [(0, 1), (0, 4), (0, 5)])
    # a constant; equal, similar, missing, each by field; 0, 1, 2 fields equal; whole, its square
    assert same.tolist() == [1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1]
    assert swapped[1:3].tolist() == [0, 0]
    assert swapped[3] < 0.3
    assert swapped[-2:].tolist() == [1, 1]
    assert missing[[1, 3, 5, 6]].tolist() == [0, 0, 1, 0]


def test_similarity_is_dices_over_neighbouring_characters(records):
    (row,) = comparisons(records, [(0, 2)])
    assert row[4] == pytest.approx(2 * 4 / 12)  # " s", "sm", "th", "h " of six each


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"people\.csv: cannot be read"):
        read_records(tmp_path, TABLE)

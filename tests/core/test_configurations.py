"""Labels of configurations."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from partita.core import restricted_growth, restricted_growth_rows

ROWS = st.integers(0, 6).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), max_size=5).map(
        lambda rows: np.array(rows, dtype=np.int64).reshape(len(rows), n)
    )
)


@given(ROWS)
def test_rows_are_renumbered_as_one_by_one(rows: np.ndarray) -> None:
    expected = [restricted_growth(row).tolist() for row in rows]
    assert restricted_growth_rows(rows).tolist() == expected

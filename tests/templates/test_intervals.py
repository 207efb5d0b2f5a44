from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import InputError
from partita.templates.quantities import check_order, intersect

ENDS = st.none() | st.integers(0, 6)


def held(interval: tuple[int | None, int | None]) -> set[int]:
    low, high = interval
    return {n for n in range(-1, 8) if (low is None or n >= low) and (high is None or n <= high)}


@given(ENDS, ENDS, ENDS, ENDS)
def test_meet_holds_what_both_hold(
    a: int | None, b: int | None, c: int | None, d: int | None
) -> None:
    both = intersect((a, b), (c, d))
    assert (held(both) if both else set()) == held((a, b)) & held((c, d))


def test_backwards() -> None:
    check_order(None, 1)
    check_order(2, 2)
    with pytest.raises(InputError, match=r"the range 3\.\.2 runs backwards"):
        check_order(3, 2)

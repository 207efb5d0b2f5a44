"""Given names and places of the shipped table."""

from __future__ import annotations

import pytest

from partita.text.given_names import (
    place_size,
    share_by_ending,
    share_of_women,
    shipped_names,
)


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("Ruth", 0.95, 1), ("ANNIKA", 0.95, 1), ("Mary-Ann", 0.95, 1), ("Kofi", 0, 0.05),
        ("D’Angelo", 0, 0.05), ("Jordan", 0.1, 0.5),
    ],
)  # fmt: skip
def test_shares_of_listed_names(name: str, least: float, most: float) -> None:
    share = share_of_women(name)
    assert share is not None
    assert least <= share <= most


def test_names_that_are_not_listed_are_judged_by_their_endings() -> None:
    assert share_of_women("Yevgenia") is None
    assert share_by_ending("Yevgenia") > 0.9
    assert share_by_ending("Ravshan") < 0.3
    assert 0.2 < share_by_ending("Њ") < 0.8


def test_no_name_is_certain() -> None:
    assert all(0 < name.women < 1 for name in shipped_names().given.values())


@pytest.mark.parametrize("name", ["Oslo", "CAPE TOWN", "Gothenburg", "South Korea", "Ohio"])
def test_places(name: str) -> None:
    assert place_size(name)
    assert not place_size(f"{name}x")

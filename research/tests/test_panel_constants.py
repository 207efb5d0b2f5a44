"""Constants are chosen by other families, and modules get theirs back."""

from __future__ import annotations

from partita.linkage import match_level
from research.panel_constants import LEVEL, chosen, set_to

PAIRED = (LEVEL, "PAIRED")


def test_a_family_has_no_say_in_its_own_constants() -> None:
    found = {
        "cddb": {"": 0.5, "PAIRED 0.2": 0.9},
        "chicago": {"": 0.8, "PAIRED 0.2": 0.7},
        "abt-buy": {"": 0.8},
    }
    assert PAIRED not in chosen(found, "cddb")
    assert chosen(found, "chicago") == {PAIRED: 0.2}


def test_families_count_and_not_sets() -> None:
    gains = {name: {"": 0.9, "PAIRED 0.4": 0.91} for name in ("febrl1", "febrl2", "febrl3")}
    found = gains | {"chicago": {"": 0.9, "PAIRED 0.4": 0.88}, "cddb": {"": 0.5}}
    assert chosen(found, "cddb") == {}


def test_constants_come_back() -> None:
    shipped = match_level.PAIRED
    with set_to({PAIRED: 0.9}):
        assert match_level.PAIRED == 0.9
    assert shipped == match_level.PAIRED

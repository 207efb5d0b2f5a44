from __future__ import annotations

from fractions import Fraction

from partita.templates.quantities import decimal, standard_units


def test_known_sizes() -> None:
    units = standard_units()
    assert units["mile"].size / units["ft"].size == 5280
    assert units["gallon"].size * 42 == units["barrel"].size
    assert units["lb"].size == 16 * units["oz"].size
    assert units["ton"].size == 2000 * units["lb"].size
    assert units["acre"].size == Fraction("43560") * units["ft"].size ** 2
    assert units["week"].size == 7 * 24 * 60 * 60
    assert units["m/s"].size * 1000 == 3600


def test_sizes_are_decimals_and_names_are_lower_case() -> None:
    for name, unit in standard_units().items():
        assert name == name.lower()
        assert "/" not in decimal(unit.size)

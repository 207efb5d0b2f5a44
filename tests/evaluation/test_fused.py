"""Fused beliefs against truths."""

from __future__ import annotations

import pytest

from oracles.fusion import simple_nesting
from partita.evaluation.fusion import measure_fusion
from partita.fusion.claims import Claims
from partita.fusion.fuse import FusionSettings, fuse_slots
from partita.fusion.hierarchy import deepest
from partita.fusion.kinds import Reading

PLACES = simple_nesting({"MINNEAPOLIS": "MINNESOTA", "MINNESOTA": "USA"})


def measured(rows, truths, kind="open"):
    fused = fuse_slots(Claims.of(rows), FusionSettings(kinds={"": kind}))
    return measure_fusion(fused.slots[0], truths, None)


@pytest.mark.parametrize(
    ("text", "nesting", "expected"),
    [
        ("Minneapolis,Minnesota,USA", PLACES, "MINNEAPOLIS"),
        ("USA,Minnesota,Minneapolis", PLACES, "MINNEAPOLIS"),
        ("Duluth,Minnesota,USA", PLACES, "DULUTH"),
        ("Minneapolis,Minnesota,USA", None, "MINNEAPOLIS"),
        ("Oslo, Norway", None, "OSLO, NORWAY"),
        ("usa", PLACES, "USA"),
    ],
)
def test_the_deepest_of_a_path(text, nesting, expected):
    assert deepest(text, frozenset({"OSLO, NORWAY"}), nesting) == expected


def test_figures_count_objects_of_which_somebody_speaks():
    rows = [("a", "x", "v", "1"), ("b", "x", "v", "1"), ("c", "x", "v", "2"), ("c", "y", "v", "3"),
            ("a", "z", "v", "4"), ("c", "z", "v", "5")]  # fmt: skip
    found = measured(rows, {"x": "2", "y": "3", "z": "4", "nowhere": "5"})
    assert (found.truths, found.silent) == (3, 1)
    assert found.vote == pytest.approx(2 / 3)  # of the tie about z what was said first
    assert (found.best, found.best_source) == (pytest.approx(2 / 3), "c")
    assert found.possible == 1.0
    assert sum(b.count for b in found.calibration.bins) == 5 + 3


def test_f_of_same_is_there_for_judgements_only():
    rows = [("a", "x", "same", "1"), ("a", "y", "same", "0"), ("b", "x", "same", "1")]
    closed = measured(rows, {"x": "1", "y": "1"}, "closed")
    assert closed.accuracy == 0.5
    assert closed.f_same == pytest.approx(2 / 3)
    assert measured(rows, {"x": "1", "y": "1"}).f_same is None
    assert sum(b.count for b in closed.calibration.bins) == 4


def test_perfect_statements_have_no_error():
    rows = [(s, f"o{n}", "v", f"v{n}") for n in range(30) for s in "abc"]
    found = measured(rows, {f"o{n}": f"v{n}" for n in range(30)})
    assert found.accuracy == 1.0
    assert found.calibration.error < 0.01


def test_sets_must_be_whole():
    rows = [("a", "x", "v", "Han; Kamber"), ("b", "x", "v", "Kamber;Han")]
    assert measured(rows, {"x": "han; kamber"}, "several").accuracy == 1.0
    assert measured(rows, {"x": "han"}, "several").accuracy == 0.0


def test_numbers_within_the_tolerance_of_the_truth_are_right():
    rows = [(s, o, "n", "100.4") for s in ("ann", "bob") for o in ("x", "y")]
    reading = Reading(tolerance=0.01)
    fused = fuse_slots(Claims.of(rows), FusionSettings(kinds={"": "number"}, reading=reading))
    truths = {"x": "100", "y": "110"}
    assert measure_fusion(fused.slots[0], truths, None).accuracy == 0.0
    assert measure_fusion(fused.slots[0], truths, None, tolerance=0.01).accuracy == 0.5

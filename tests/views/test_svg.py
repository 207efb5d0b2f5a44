"""Drawings: as many squares, bars and dots as there are numbers, at the places they say."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.evaluation.calibration import ReliabilityBin
from partita.views.markup import (
    LEFT,
    SIDE,
    TOP,
    Triangle,
    bar_element,
    entropy_classes,
    histogram,
    reliability_plot,
    short_probability,
    triangle,
)


def drawn(svg: str) -> ElementTree.Element:
    """Drawings are well-formed as XML."""
    return ElementTree.fromstring(svg)


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [one for one in root.iter() if one.get("class") == name]


def test_a_bar_is_as_long_as_its_probability():
    track, share = drawn(bar_element(0.25)).findall("rect")
    assert float(share.get("width", "")) == 0.25 * float(track.get("width", ""))
    assert drawn(bar_element(7.0)).findall("rect")[1].get("width") == "100"


def test_a_whisker_spans_the_interval():
    middle = with_class(drawn(bar_element(0.5, (0.4, 0.7))), "whisker")[0]
    assert (middle.get("x1"), middle.get("x2")) == ("40", "70")


@pytest.mark.parametrize("n", [2, 9, 20])
def test_a_triangle_has_every_pair_once(n: int):
    values = np.linspace(0, 1, n * n).reshape(n, n)
    apart = [[a == 1 and b == 0 for b in range(n)] for a in range(n)]
    hints = [[f"{b}={a}" for b in range(n)] for a in range(n)]
    root = drawn(triangle(Triangle([f"T{k}" for k in range(n)], values, apart, hints), "pairs"))
    squares = with_class(root, "pair") + with_class(root, "never")
    assert len(with_class(root, "never")) == len(with_class(root, "cross")) == 1
    told = [one.findtext("title") for one in squares]
    assert sorted(map(str, told)) == sorted(f"{b}={a}" for a in range(n) for b in range(a))
    opaque = {one.findtext("title"): one.get("fill-opacity") for one in with_class(root, "pair")}
    if n > 2:
        assert opaque["0=2"] == f"{values[2, 0]:.3f}"
    assert [one.text for one in with_class(root, "name")] == [f"T{k}" for k in range(n)]


def test_only_what_is_certain_is_0_or_1():
    told = [short_probability(p) for p in (0.0, 0.0001, 0.504, 0.9999, 1.0)]
    assert told == ["0", ".01", ".50", ".99", "1"]


def test_reliability_dots_stand_where_they_say():
    root = drawn(
        reliability_plot([ReliabilityBin(4, 0.25, 0.5), ReliabilityBin(16, 0.75, 1.0)], "r")
    )
    dots = with_class(root, "dot")
    place = [(float(d.get("cx", "")), float(d.get("cy", ""))) for d in dots]
    assert place == [(LEFT + SIDE / 4, TOP + SIDE / 2), (LEFT + SIDE * 3 / 4, TOP)]
    radii = [float(d.get("r", "")) for d in dots]
    assert radii[1] == 2 * radii[0]
    assert "16" in [one.text for one in with_class(root, "tick")]


@given(st.lists(st.floats(0, 1e6)))
def test_every_message_is_in_one_class(bits: list[float]):
    found = entropy_classes(bits)
    assert sum(count for _, count in found) == len(bits)
    assert len(with_class(drawn(histogram(bits, "h")), "share")) == len(found)


def test_classes():
    assert entropy_classes([0.0, 0.1, 0.4, 3.0]) == [
        ("< 0.1", 1), ("0.1–0.5", 2), ("0.5–1", 0), ("1–2", 0), ("2–4", 1),
    ]  # fmt: skip
    assert entropy_classes([64.0])[-1] == ("64+", 1)

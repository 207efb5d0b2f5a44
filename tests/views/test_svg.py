"""Drawings: as many bars and dots as there are numbers, at the places they say."""

from __future__ import annotations

from xml.etree import ElementTree

from partita.evaluation.calibration import ReliabilityBin
from partita.views.markup import LEFT, SIDE, TOP, reliability_plot


def drawn(svg: str) -> ElementTree.Element:
    """Drawings are well-formed as XML."""
    return ElementTree.fromstring(svg)


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [one for one in root.iter() if one.get("class") == name]


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

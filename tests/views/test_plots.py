"""Colours are written once, and reliability plots are drawn without a browser."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import partita
from partita.errors import InputError
from partita.evaluation.calibration import ReliabilityBin
from partita.views import palette
from partita.views.markup import save_plots
from partita.views.palette import STYLE


def test_plots_are_written_beside_each_other(tmp_path: Path) -> None:
    bins = [ReliabilityBin(2, 0.1, 0.0), ReliabilityBin(3, 0.7, 0.5)]
    save_plots({"pairs": bins, "cells <5": bins[:1], "none": []}, tmp_path / "all.svg")
    image = ElementTree.parse(tmp_path / "all.svg").getroot()
    assert image.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(image.iter("{http://www.w3.org/2000/svg}circle"))) == 3
    names = [one.text for one in image.iter("{http://www.w3.org/2000/svg}text")]
    assert {"pairs", "cells <5", "none"} <= set(names)
    with pytest.raises(InputError, match=r"unknown extension '.pdf'; expected \.svg"):
        save_plots({"pairs": bins}, tmp_path / "all.pdf")


def test_colours_are_written_once():
    """Page, report and notebooks take them from one style sheet."""
    package = Path(partita.__file__).parent
    sheets = [one for one in (package / "web/page").rglob("*.css") if one != palette.SHEET]
    views = [one for one in (package / "views").glob("*.py") if one.name != "rules.py"]
    written = {
        one.name: re.findall(r"#[0-9a-fA-F]{6}\b", one.read_text()) for one in sheets + views
    }
    assert {name: found for name, found in written.items() if found} == {}
    assert f"--accent: {palette.colour('accent')};" in STYLE

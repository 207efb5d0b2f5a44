"""Colours are written once."""

from __future__ import annotations

import re
from pathlib import Path

import partita
from partita.views import markup
from partita.views.markup import STYLE


def test_colours_are_written_once():
    """Page, report and notebooks take them from one style sheet."""
    package = Path(partita.__file__).parent
    sheets = [one for one in (package / "web/page").rglob("*.css") if one != markup.SHEET]
    views = [one for one in (package / "views").glob("*.py") if one.name != "rules.py"]
    written = {
        one.name: re.findall(r"#[0-9a-fA-F]{6}\b", one.read_text()) for one in sheets + views
    }
    assert {name: found for name, found in written.items() if found} == {}
    assert f"--accent: {markup.colour('accent')};" in STYLE

"""HTML for a notebook: a table, bars, the matrix of pairs; every text escaped."""

from __future__ import annotations

import itertools
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np

from oracles.answers import TABLE_1, brute
from partita.core import CoreferenceSet, Listing, Marginals
from partita.views.notebook import distribution_html as html
from partita.views.notebook import table_html


def parsed(shown: str) -> ElementTree.Element:
    """HTML that is well-formed as XML has no loose ends."""
    return ElementTree.fromstring(shown)


def test_table_1():
    page = parsed(html(brute(list("ABCD"), TABLE_1)))
    configurations, matrix = page.findall("table")
    rows = ["".join(row.itertext()) for row in configurations.findall("tr")]
    assert rows[1] == "(A B D) (C)0.3826"
    assert len(rows) == 1 + 7 + 1
    assert rows[-1] == "all configurations listed"
    cells = [[cell.text for cell in row] for row in matrix.findall("tr")]
    assert cells[0] == [None, "A", "B", "C", "D"]
    assert cells[3] == ["C", "0.0000", "0.0000", None, "0.1873"]
    assert 'title="pair alone 0.5040"' in html(brute(list("ABCD"), TABLE_1))
    assert "7 configurations" in "".join(page.itertext())


def test_bars_are_as_long_as_probabilities():
    shown = html(brute(list("AB"), {("A", "B"): 0.25}))
    assert shown.index("width:9.00em") < shown.index("width:3.00em")


def test_probabilities_of_a_table_have_bars_and_one_format():
    shares = [0.25, 0.0001, 0.00003, 0.0, 1.0]
    shown = table_html({"record": list("abcde"), "exact": shares, "bits": [2.5] * 5})
    rows = parsed(shown).findall("table/tr")[1:]
    assert [row[1].text for row in rows] == ["0.2500", "0.0001", "<0.0001", "0.0000", "1.0000"]
    bars = [row[1].attrib["style"].partition("transparent ")[2].partition("%")[0] for row in rows]
    assert bars == ["25.0", "0.0", "0.0", "0.0", "100.0"]
    assert all("gradient" not in row[2].attrib["style"] for row in rows)  # bits are no share


def test_every_text_is_escaped():
    ids = ["<script>", '"&']
    evil = brute(ids, {(ids[0], ids[1]): 0.5}, name="<b>")
    assert "<b>" not in table_html({"<b>": ["<b>"], "names": [["<b>"]]})
    shown = html(replace(evil, reason='"><script>'))
    assert "<script>" not in shown
    parsed(shown)


def test_much_is_left_out_and_said():
    ids = [f"T{n}" for n in range(7)]
    given = dict.fromkeys(itertools.combinations(ids, 2), 0.5)
    assert "5 more listed; " in html(brute(ids, given, top=25))
    many = tuple(f"T{n}" for n in range(40))
    small = brute(ids, given)
    large = replace(
        small,
        set=CoreferenceSet.of(many),
        configurations=Listing(many, np.zeros((1, 40), np.int64), [1.0]),
        marginals=Marginals.exact(small.marginals.value),
    )
    assert "40 templates: the matrix of pairs is not shown" in html(large)

"""Charts hold the numbers that they are made from, and draw themselves without a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import partita
from oracles.answers import TABLE_1, brute
from partita.errors import InputError
from partita.evaluation.calibration import ReliabilityBin
from partita.files.strict import Place
from partita.results.result_lines import result_line
from partita.results.saved_results import Result, result_of
from partita.views import palette
from partita.views.charts import (
    AFTER,
    BEFORE,
    bins_of,
    configurations_chart,
    entropy_chart,
    learning_chart,
    pair_rows,
    pairs_chart,
    reliability_chart,
    save,
)
from partita.views.palette import STYLE


def values(chart: Any) -> list[dict[str, Any]]:
    """All data of a chart, in itself or in one of its layers."""
    made = chart.to_dict()
    inside = [made, *made.get("layer", []), *made.get("hconcat", [])]
    own = [one["data"]["values"] for one in inside if "values" in one.get("data", {})]
    return [row for rows in [*made.get("datasets", {}).values(), *own] for row in rows]


def test_pairs_before_and_after():
    answer = brute(list("ABCD"), TABLE_1)
    rows = {(r["left"], r["right"], r["when"]): r for r in pair_rows(answer)}
    assert len(rows) == 12
    assert rows["A", "B", BEFORE]["probability"] == 0.671
    assert rows["A", "B", AFTER]["probability"] == pytest.approx(answer.marginal("A", "B"))
    assert rows["A", "C", BEFORE]["text"] == rows["A", "C", AFTER]["text"] == "×"


def test_results_that_were_saved_have_the_same_charts():
    answer = brute(list("ABCD"), TABLE_1, top=3)
    saved = result_of(json.loads(result_line(answer, "m")), Place("test"))
    assert isinstance(saved, Result)
    assert values(configurations_chart(saved)) == values(configurations_chart(answer))
    assert values(configurations_chart(saved))[-1]["configuration"] == "all others"
    drawn = values(pairs_chart(saved))
    assert len(drawn) == 12
    assert drawn == values(pairs_chart(answer))


def test_reliability_of_records_and_of_objects():
    bins = [ReliabilityBin(3, 0.7, 0.5), {"count": 2, "predicted": 0.1, "observed": 0.0}]
    assert bins_of(bins) == [ReliabilityBin(2, 0.1, 0.0), ReliabilityBin(3, 0.7, 0.5)]
    assert bins_of([{"count": 2, "stated": 0.1, "observed": 0.0}]) == [ReliabilityBin(2, 0.1, 0.0)]
    stated = [one["stated"] for one in values(reliability_chart({"before": bins})) if "name" in one]
    assert stated == [0.1, 0.7]


def test_learning_curve():
    points = [{"keys": n, "bits": 2.0 - n, "low": 1.5 - n, "high": 2.5 - n} for n in range(2)]
    assert values(learning_chart(points)) == points


def test_messages_that_are_left_out_are_told():
    chart = entropy_chart({"a": 1.0, "b": 3.0, "c": 2.0}, most=2)
    assert [one["message"] for one in values(chart)] == ["b", "c"]
    assert chart.to_dict()["title"] == "Entropy of messages; 1 less uncertain not shown"


def test_all_draw_themselves(tmp_path: Path):
    answer = brute(list("ABCD"), TABLE_1)
    points = [{"keys": 0, "bits": 2.0, "low": 1.0, "high": 3.0}]
    charts = {
        "pairs": pairs_chart(answer),
        "reliability": reliability_chart({"x": [ReliabilityBin(1, 0.5, 0.5)]}),
        "learning": learning_chart(points),
        "entropy": entropy_chart({"a": 1.0}),
    }
    for name, chart in charts.items():
        save(chart, tmp_path / f"{name}.svg")
        assert ElementTree.parse(tmp_path / f"{name}.svg").getroot().tag.endswith("svg")
    with pytest.raises(InputError, match=r"unknown extension '.pdf'; expected \.svg"):
        save(charts["pairs"], tmp_path / "pairs.pdf")


def test_colours_are_written_once():
    """Page, report, plots and notebooks take them from one style sheet."""
    package = Path(partita.__file__).parent
    sheets = [one for one in (package / "web/page").rglob("*.css") if one != palette.SHEET]
    views = [one for one in (package / "views").glob("*.py") if one.name != "rules.py"]
    written = {
        one.name: re.findall(r"#[0-9a-fA-F]{6}\b", one.read_text()) for one in sheets + views
    }
    assert {name: found for name, found in written.items() if found} == {}
    assert f"--accent: {palette.colour('accent')};" in STYLE
    config = configurations_chart(brute(list("AB"), {("A", "B"): 0.25})).to_dict()["config"]
    assert config["mark"]["color"] == palette.colour("fill")
    assert len(set(palette.categories())) == palette.CELLS + 1

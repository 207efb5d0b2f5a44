"""The table of an extractor's scores, its errors, and the same as JSON."""

from __future__ import annotations

import json

from partita.evaluation.extraction import ExtractionCounts, ExtractionFigures, Slip
from partita.evaluation.scores import ScoreTally
from partita.views.evaluation import extraction_json, extraction_text

HALF = ExtractionCounts(ScoreTally(1, 2, 1, 1), ScoreTally(3, 4, 3, 6), 1, 0)
SLOT = ExtractionCounts(slots=ScoreTally(3, 4, 3, 6))
MEASURED = ExtractionFigures(
    2,
    {
        ("all", ""): HALF,
        ("matched", ""): HALF,
        ("part", "dev"): HALF,
        ("part", "new"): ExtractionCounts(ScoreTally(0, 1, 0, 0)),
        ("form", "bare"): HALF,
        ("region", "\x1b[31mtext"): HALF,
        ("slot", "TYPE"): SLOT,
        ("slot", "SIZE"): ExtractionCounts(),
    },
    (
        Slip("dev-001", "missed", "the depot"),
        Slip("dev-001", "slot", "a bridge " * 20, "STATUS", "", "INTACT"),
        Slip("new-2", "spurious", "a wall"),
    ),
)


def rows(text: str) -> dict[str, list[str]]:
    return {line[:17].strip(): line[17:].split() for line in text.splitlines()}


def test_rows_of_the_table():
    told = rows(extraction_text(MEASURED))
    assert told["all"] == ["2", "50.0", "100.0", "66.7", "4", "75.0", "50.0", "60.0", "1", "0"]
    assert told["new"][:4] == ["1", "0.0", "-", "-"]
    assert told["TYPE"] == ["4", "75.0", "50.0", "60.0", "0", "0"]
    assert "SIZE" not in told
    assert "dev" not in rows(extraction_text(ExtractionFigures(1, {("part", "dev"): HALF}, ())))


def test_lines_fit_and_nothing_steers_the_terminal():
    text = extraction_text(MEASURED, 9)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "\x1b" not in text


def test_as_many_errors_as_wanted():
    assert "errors" not in extraction_text(MEASURED)
    lines = extraction_text(MEASURED, 2).splitlines()
    assert lines[-3:-1] == ["2 of 3 errors", "dev-001  missed    the depot"]
    assert lines[-1].startswith("dev-001  slot      STATUS: -, found INTACT: a bridge a bridge")
    assert extraction_text(MEASURED, 9).splitlines()[-1] == "new-2    spurious  a wall"


def test_json_has_the_same():
    told = json.loads(json.dumps(extraction_json(MEASURED, 2)))
    assert told["all"]["templates"] == {
        "key": 2,
        "found": 1,
        "said": 1,
        "right": 1,
        "recall": 0.5,
        "precision": 1.0,
        "f": 2 / 3,
    }
    assert (told["messages"], list(told["slot"])) == (2, ["TYPE"])
    assert [error["kind"] for error in told["errors"]] == ["missed", "slot"]
    assert (told["errors"][1]["key"], told["errors"][1]["found"]) == ("", "INTACT")

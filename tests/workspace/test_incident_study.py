"""The experiment on events, on a small exam of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracles.incidents import written
from partita.errors import InputError
from partita.workspace.incident_study import study_incidents
from partita.workspace.research import Design


def test_the_table_and_the_exam(tmp_path: Path) -> None:
    train, test = (
        written(tmp_path / name, slice(first, None, 2)) for first, name in enumerate("ab")
    )
    found = study_incidents(Design([train], [test]), lambda _: None)
    rows = {row["model"]: row for row in json.loads(found.json())["sets"]["rows"]}
    assert list(rows) == [
        "uniform",
        "greedy",
        "greedy by agreement",
        "merging",
        "evidential",
        "scaled",
    ]
    assert rows["evidential"]["bits_per_set"] < rows["uniform"]["bits_per_set"]
    exam = {one["way"]: one for one in json.loads(found.json())["exam"]}
    assert exam["evidential"]["f"] > exam["greedy"]["f"]
    assert exam["scaled"]["behind"] is None
    assert exam["greedy"]["behind"]["points"] > 0
    assert "| evidential |" in found.markdown()
    assert "| each alone |" in found.markdown()


def test_something_to_test_on_is_needed() -> None:
    with pytest.raises(InputError, match="--test"):
        study_incidents(Design([Path("nowhere")]), lambda _: None)

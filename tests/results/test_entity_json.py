"""Entities in results: the schema holds, and they come back as they were."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

from oracles.depots import SCHEMA, A, B, C, D
from oracles.entities import pairs_of, random_set
from partita.antecedents.sets import coreference_sets
from partita.configurations.solve import solve_set
from partita.core import Entity, Figure, SlotValue, cells
from partita.entities.entities import entities_of
from partita.errors import InputError
from partita.files.strict import Place
from partita.results.result_lines import (
    entity_json,
    entity_of,
    result_line,
    schema,
    singletons_line,
)
from partita.results.saved_results import Alone, Result, result_of

PLACE = Place("results.jsonl", 3)


def valid(line: str) -> dict:
    written = json.loads(line)
    jsonschema.Draft202012Validator(schema()).validate(written)
    return written


@pytest.mark.parametrize("most", [3, 1 << 16])
def test_entities_come_back(most, monkeypatch):
    monkeypatch.setattr(cells, "MOST", most)
    rng = np.random.default_rng(3)
    [given] = coreference_sets([A, B, C, D], SCHEMA)
    for found in (pairs_of(given, rng), pairs_of(random_set(7, SCHEMA, rng), rng)):
        answer = solve_set(found)
        entities = entities_of(answer, SCHEMA)
        written = valid(result_line(answer, "m", None, entities))
        read = result_of(written, PLACE)
        assert isinstance(read, Result)
        assert len(read.entities) == len(entities)
        for one, other in zip(entities, read.entities, strict=True):
            assert (one.templates, one.anchor, one.name) == (
                other.templates,
                other.anchor,
                other.name,
            )
            assert _near(one.figure, other.figure)
            assert one.slots.keys() == other.slots.keys()


def _near(one: Figure, other: Figure) -> bool:
    """An error is the same on both sides, also where a bound was cut at 0 or 1."""
    return (one.value, one.kind) == (other.value, other.kind)


def test_without_entities_the_line_has_null():
    rng = np.random.default_rng(3)
    [given] = coreference_sets([A, B, C, D], SCHEMA)
    assert valid(result_line(solve_set(pairs_of(given, rng)), "m"))["entities"] is None


def test_what_a_figure_is_stays_with_it():
    values = (
        SlotValue("KINSTON", Figure.exact(0.5), ("A",)),
        SlotValue(["X", "Y"], Figure(0.25, 0.0, 0.5, "interval")),
        SlotValue(3, Figure.estimate(0.125, 0.0625)),
        SlotValue(None, Figure.exact(0.125)),
    )
    entity = Entity("E1", "DEPOT", ("A",), "A", Figure.exact(1.0), {"LOCATION": values})
    written = entity_json(entity)
    assert written["slots"]["LOCATION"][1]["interval"] == [0.0, 0.5]
    assert written["slots"]["LOCATION"][2]["error"] == 0.0625
    assert entity_of(json.loads(json.dumps(written)), PLACE) == entity


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": 3}, "id of an entity"),
        ({"slots": []}, "expected an object"),
        ({"slots": {"X": [{"value": 1.5, "probability": 1, "templates": []}]}}, "expected a list"),
        ({"interval": [1]}, "interval has 1 ends"),
        ({"other": 1}, "has a field 'other'"),
    ],
)
def test_what_is_wrong_is_named(change, problem):
    good = {"id": "E1", "sort": "", "templates": ["A"], "probability": 1.0, "slots": {}}
    with pytest.raises(InputError, match=problem) as caught:
        entity_of(good | change, PLACE)
    assert (caught.value.file, caught.value.line) == ("results.jsonl", 3)


def test_a_message_that_is_done_says_how():
    written = valid(singletons_line([A], "m", {"text": "ab", "model": "uniform"}))
    assert written["run"] == {"text": "ab", "model": "uniform"}
    assert isinstance(result_of(written, PLACE), Alone)
    assert valid(singletons_line([A], "m"))["run"] is None

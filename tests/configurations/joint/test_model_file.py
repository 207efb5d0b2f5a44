"""The joint model as a file: there and back, and refused where it is not as it should be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from oracles.joint_mentions import random_model
from partita.configurations.joint.model import (
    joint_model_text,
    parse_joint_model,
    read_joint_model,
    shipped_joint_model,
    write_joint_model,
)
from partita.errors import InputError


def test_there_and_back(tmp_path: Path) -> None:
    model = random_model(np.random.default_rng(1))
    write_joint_model(tmp_path / "m.json", model)
    found = read_joint_model(tmp_path / "m.json")
    np.testing.assert_allclose(found.table, model.table, rtol=1e-9)
    assert found.lexicon == model.lexicon
    assert joint_model_text(found) == joint_model_text(read_joint_model(tmp_path / "m.json"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 99}, "version is 99"),
        ({"model": "scaled"}, "expected 'joint'"),
        ({"characteristics": {"cell": [], "new": []}}, "other characteristics"),
        ({"bias": [["x"]]}, "not an array"),
        ({"bias": [1.0]}, "dimensions"),
        ({"bias": [[10**400]]}, "not an array"),
        ({"table": 1}, "list of rows"),
        ({"table": []}, "list of rows"),
        ({"table": ["AAAA", "AAAAAAAA"]}, "one length"),
        ({"table": ["AAA="]}, "shapes"),
        ({"table": ["?"]}, "base64"),
        ({"table": [[1.0]]}, "a row of the table"),
        ({"lexicon": ["one", "two"]}, "shapes"),
        ({"lexicon": "word"}, "list of words"),
        ({"learned_from": {"description": "", "sha256": "no"}}, "hash"),
        ({"odd": 1}, "odd"),
    ],
)
def test_what_is_not_as_it_should_be_is_refused(change: dict[str, object], says: str) -> None:
    given = json.loads(joint_model_text(random_model(np.random.default_rng(1))))
    with pytest.raises(InputError, match=says) as caught:
        parse_joint_model(json.dumps(given | change), "m.json")
    assert caught.value.file == "m.json"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json"):
        read_joint_model(tmp_path / "none.json")


def test_the_shipped_model_says_where_it_comes_from() -> None:
    model = shipped_joint_model()
    assert "GUM" in model.learned_from
    assert model.figures["documents"] > 100

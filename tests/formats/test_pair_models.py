"""Pair models as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partita.errors import InputError
from partita.formats.pair_models import (
    pair_model_text,
    parse_pair_model,
    read_pair_model,
    write_pair_model,
)
from partita.pairs.characteristics import PAPER, feature_names
from partita.pairs.extended import EXTENDED
from partita.pairs.models import MaximumEntropy


def model() -> MaximumEntropy:
    weights = np.random.default_rng(0).normal(size=len(feature_names(EXTENDED)))
    return MaximumEntropy(
        EXTENDED, weights, (1.0, 2.0, 2.0, 9.0), "every pair", "drawn", "0" * 64, 7, {"pairs": 578}
    )


def altered(**changes: Any) -> str:
    return json.dumps({**json.loads(pair_model_text(model())), **changes})


def test_what_is_written_is_read_back_bit_by_bit(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    write_pair_model(path, model())
    found = read_pair_model(path)
    assert np.array_equal(found.weights, model().weights)
    assert found.characteristics == EXTENDED
    assert found.cutoffs == (1.0, 2.0, 2.0, 9.0)
    assert (found.training, found.learned_from, found.seed) == ("every pair", "drawn", 7)
    assert found.figures == {"pairs": 578}
    assert pair_model_text(found) == path.read_text(encoding="utf-8")


def test_the_file_names_its_features() -> None:
    written = json.loads(pair_model_text(model()))
    assert tuple(written["weights"]) == feature_names(EXTENDED)
    assert written["characteristics"][: len(PAPER)] == [one.name for one in PAPER]


def without(features: dict[str, float]) -> dict[str, float]:
    return dict(list(features.items())[1:])


WEIGHTS = json.loads(pair_model_text(model()))["weights"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"version": 2}, "version is 2; this Partita reads version 1"),
        ({"version": "1"}, "version is '1'"),
        ({"model": "greedy"}, "holds a model 'greedy'; expected 'pairs'"),
        ({"characteristics": ["any_pair", "moon"]}, "a characteristic 'moon', which this Partita"),
        ({"characteristics": ["any_pair", "any_pair"]}, "names a characteristic twice"),
        ({"weights": {**WEIGHTS, "moon: full": 1}}, "a feature 'moon: full', which this Partita"),
        ({"weights": without(WEIGHTS)}, "no weight for the feature 'any_pair: any'"),
        ({"weights": {**WEIGHTS, "any_pair: any": "x"}}, "expected a number"),
        ({"weights": []}, "weights are not an object"),
        ({"cutoffs": [1, 2, 3]}, "expected four numbers"),
        ({"cutoffs": [4, 2, 3, 5]}, "expected four numbers that do not fall"),
        ({"learned_from": {"description": "", "sha256": "x"}}, "sha256 is not a hash"),
        ({"seed": -1}, "seed is -1"),
        ({"figures": {"pairs": "many"}}, "expected a number"),
        ({"figures": 3}, "figures are not an object"),
        ({"extra": 1}, "has a field 'extra'"),
    ],
)
def test_a_file_of_another_kind_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_pair_model(altered(**changes), "m.json")
    assert problem in str(caught.value)
    assert str(caught.value).startswith("m.json")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_pair_model(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_pair_model(tmp_path / "bytes.json")
    with pytest.raises(InputError, match="line 1"):
        parse_pair_model("{", "m.json")
    with pytest.raises(InputError, match="expected an object"):
        parse_pair_model("[]", "m.json")


def test_a_model_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("old")
    spoilt = MaximumEntropy(EXTENDED, model().weights * np.nan, model().cutoffs)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_pair_model(path, spoilt)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]

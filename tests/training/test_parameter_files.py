"""Pair models as files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.errors import InputError
from partita.pairs.characteristics import EXTENDED, PAPER, feature_names
from partita.pairs.models import MaximumEntropy
from partita.training.parameter_files import (
    EVERY_PAIR,
    QUESTIONS,
    PairParameters,
    pair_parameters_text,
    parse_pair_parameters,
    read_pair_parameters,
    shipped_pair_parameters,
    training_of,
    write_pair_parameters,
)


def model(name: str = EVERY_PAIR) -> MaximumEntropy:
    weights = np.random.default_rng(len(name)).normal(size=len(feature_names(EXTENDED)))
    return MaximumEntropy(
        EXTENDED, weights, (1.0, 2.0, 2.0, 9.0), name, "drawn", "0" * 64, 7, {"pairs": 578}
    )


def learned() -> PairParameters:
    return PairParameters(
        model(),
        model(QUESTIONS),
        GreedyParameters(0.5, 0.25, 0.125),
        ScaledParameters(0.75, -0.5),
        0.01,
        0.02,
        "drawn",
        "0" * 64,
        7,
        {"documents": 3},
    )


def altered(**changes: Any) -> str:
    """The file with other fields; those of a pair model change that of every pair."""
    written = json.loads(pair_parameters_text(learned()))
    inner = {name: changes.pop(name) for name in ("weights", "cutoffs") if name in changes}
    written[EVERY_PAIR] |= inner
    return json.dumps({**written, **changes})


def test_what_is_written_is_read_back_bit_by_bit(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    write_pair_parameters(path, learned())
    found = read_pair_parameters(path)
    for name in (EVERY_PAIR, QUESTIONS):
        pairs = found.pair_model(name)
        assert np.array_equal(pairs.weights, model(name).weights)
        assert pairs.characteristics == EXTENDED
        assert pairs.cutoffs == (1.0, 2.0, 2.0, 9.0)
        assert (pairs.training, pairs.learned_from, pairs.seed) == (name, "drawn", 7)
        assert pairs.figures == {"pairs": 578}
    assert (found.greedy, found.scaled) == (learned().greedy, learned().scaled)
    assert (found.excluded, found.crossing) == (0.01, 0.02)
    assert pair_parameters_text(found) == path.read_text(encoding="utf-8")


def test_each_model_has_its_training_set() -> None:
    assert training_of("merging") == QUESTIONS
    assert training_of("evidential") == training_of("scaled") == EVERY_PAIR
    with pytest.raises(InputError, match="no training set 'moon'"):
        learned().pair_model("moon")


def test_the_file_names_its_features() -> None:
    written = json.loads(pair_parameters_text(learned()))
    assert tuple(written[EVERY_PAIR]["weights"]) == feature_names(EXTENDED)
    assert written["characteristics"][: len(PAPER)] == [one.name for one in PAPER]


def without(features: dict[str, float]) -> dict[str, float]:
    return dict(list(features.items())[1:])


WEIGHTS = json.loads(pair_parameters_text(learned()))[EVERY_PAIR]["weights"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"version": 2}, "version is 2; this release reads version 1"),
        ({"version": "1"}, "version is '1'"),
        ({"model": "greedy"}, "holds parameters of 'greedy'; expected 'pairs'"),
        ({"characteristics": ["any_pair", "moon"]}, "a characteristic 'moon', which is unknown"),
        ({"characteristics": ["any_pair", "any_pair"]}, "names a characteristic twice"),
        ({"weights": {**WEIGHTS, "moon: full": 1}}, "a feature 'moon: full', which is unknown"),
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
        ({"excluded": 0}, "excluded is 0, not between 0 and 1"),
        ({"crossing": 1}, "crossing is 1, not between 0 and 1"),
        ({"greedy": {"p2": 0.5, "p3": 0.5}}, "greedy has no field 'p_more'"),
        ({"greedy": {"p2": 0.5, "p3": 0.5, "p_more": 2}}, "p_more of the greedy model is 2"),
        ({"scaled": {"scale": -1, "bias": 0}}, "scale of the scaled model is -1"),
        ({QUESTIONS: {"weights": {}}}, "merging questions has no field 'cutoffs'"),
    ],
)
def test_a_file_of_another_kind_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_pair_parameters(altered(**changes), "m.json")
    assert problem in str(caught.value)
    assert str(caught.value).startswith("m.json")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_pair_parameters(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_pair_parameters(tmp_path / "bytes.json")
    with pytest.raises(InputError, match="line 1"):
        parse_pair_parameters("{", "m.json")
    with pytest.raises(InputError, match="expected an object"):
        parse_pair_parameters("[]", "m.json")


def test_a_model_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("old")
    spoilt = replace(model(), weights=model().weights * np.nan)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_pair_parameters(path, replace(learned(), every_pair=spoilt))
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_the_shipped_models_know_what_they_were_learned_from() -> None:
    for name in (EVERY_PAIR, QUESTIONS):
        found = shipped_pair_parameters().pair_model(name)
        assert found.training == name
        assert found.characteristics == EXTENDED
        assert "GUM" in found.learned_from
        assert found.figures["pairs"] > 1_000  # of whole keys; the prior is of 10,000 and more

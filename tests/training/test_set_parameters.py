"""Parameters: strict in reading, and what is shipped can be read."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from partita.configurations.forest.model import ForestParameters
from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.errors import InputError
from partita.parameters import shipped_text
from partita.training.parameter_files import (
    model_parameters,
    shipped_pair_parameters,
    write_pair_parameters,
)

GREEDY = {
    "version": 1,
    "model": "greedy",
    "values": {"p2": 0.571, "p3": 0.652, "p_more": 0.344},
    "learned_from": {"description": "the paper's split", "sha256": "0123456789abcdef" * 4},
    "seed": 1,
    "figures": {"sets": 110},
}
SCALED = {**GREEDY, "model": "scaled", "values": {"scale": 0.7, "bias": -0.1}}


def test_the_values_as_the_models_take_them(tmp_path):
    file = tmp_path / "m.json"
    file.write_text(json.dumps(GREEDY))
    assert model_parameters("greedy", file) == GreedyParameters(0.571, 0.652, 0.344)
    with pytest.raises(
        InputError, match=r"m\.json: holds parameters of 'greedy'; expected 'scaled'"
    ):
        model_parameters("scaled", file)
    file.write_text(json.dumps(SCALED))
    assert model_parameters("scaled", file) == ScaledParameters(0.7, -0.1)


def changed(**change):
    return json.dumps({**GREEDY, **change})


VALUES = GREEDY["values"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (changed(version=2), "version is 2; this release reads version 1"),
        (changed(version="1"), "version is '1'; this release reads version 1"),
        (changed(model="gready"), "holds parameters of 'gready'; expected 'greedy'"),
        (changed(model=1), "model is 1; expected a text"),
        (changed(colour=1), "the file has a field 'colour'; expected version, model,"),
        (changed(values={"p2": 0.5, "p3": 0.5}), "values of greedy has no field 'p_more'"),
        (changed(values={**VALUES, "p4": 0.5}), "values of greedy has a field 'p4'"),
        (changed(values={**VALUES, "p2": "0.5"}), 'p2 is "0.5"; expected a number'),
        (changed(values={**VALUES, "p2": True}), "p2 is true; expected a number"),
        (changed(values={**VALUES, "p2": None}), "p2 is null; expected a number"),
        (changed(values={**VALUES, "p2": 1}), "p2 of the greedy model is 1, not between 0 and 1"),
        (changed(values={**VALUES, "p2": -1}), "p2 of the greedy model is -1"),
        (changed(values=[1]), r"values of greedy is \[1\]; expected an object"),
        (
            changed(model="scaled", values={"scale": -1, "bias": 0}),
            "scale of the scaled model is -1",
        ),
        (changed(learned_from="data"), 'learned_from is "data"; expected an object'),
        (changed(learned_from={"description": "d"}), "learned_from has no field 'sha256'"),
        (changed(learned_from={"description": "d", "sha256": "12"}), "expected 64 digits"),
        (changed(seed=-1), "seed is -1; expected a non-negative integer"),
        (changed(seed=0.5), "seed is 0.5; expected a non-negative integer"),
        (changed(figures={"sets": "many"}), 'sets is "many"; expected a number'),
        (changed(figures=None), "figures are not an object; expected a number"),
        (json.dumps(GREEDY).replace("0.571", "NaN"), "NaN is not a number"),
        (json.dumps(GREEDY).replace("0.571", "1e999"), "p2 is not a finite number"),
        (json.dumps(GREEDY).replace('"p3"', '"p2"'), "field 'p2' appears twice"),
        ("[]", r"the file is \[\]; expected an object"),
        ("", "is not JSON"),
    ],
)
def test_mistakes_are_named(tmp_path, text, says):
    file = tmp_path / "parameters.json"
    file.write_text(text)
    with pytest.raises(InputError, match=says) as raised:
        model_parameters("scaled" if '"scaled"' in text else "greedy", file)
    assert raised.value.file == str(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "missing", ["version", "model", "values", "learned_from", "seed", "figures"]
)
def test_every_field_is_needed(missing, tmp_path):
    file = tmp_path / "m.json"
    file.write_text(json.dumps({name: GREEDY[name] for name in GREEDY if name != missing}))
    with pytest.raises(InputError, match=r"m\.json: the file has no field '" + missing):
        model_parameters("greedy", file)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "m.json").write_text('{"version": 1,\n oops}')
    with pytest.raises(InputError, match=r"m\.json, line 2: is not JSON"):
        model_parameters("greedy", tmp_path / "m.json")
    with pytest.raises(InputError, match=r"nowhere\.json: cannot be read"):
        model_parameters("greedy", tmp_path / "nowhere.json")
    (tmp_path / "latin.json").write_bytes(b'{"model": "\xe9"}')
    with pytest.raises(InputError, match=r"latin\.json: is not UTF-8"):
        model_parameters("greedy", tmp_path / "latin.json")


def test_writing_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    file, learned = tmp_path / "parameters.json", shipped_pair_parameters()
    write_pair_parameters(file, learned)
    before = file.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write_pair_parameters(file, replace(learned, seed=7))
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_the_shipped_parameters_can_be_read_and_say_where_they_come_from():
    assert 0 < model_parameters("greedy").p_more < 1
    assert model_parameters("scaled").scale > 0
    assert model_parameters("forest") == ForestParameters()
    for model in ("greedy", "scaled"):
        learned = json.loads(shipped_text(model))
        assert learned["figures"]["sets"] > 100
        assert "/" not in learned["learned_from"]["description"]


def test_a_model_without_shipped_parameters():
    with pytest.raises(InputError, match="no parameters of a model 'uniform' are shipped"):
        model_parameters("uniform")

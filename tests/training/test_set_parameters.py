"""Parameters: strict in reading, whole in writing, and what is shipped can be read."""

from __future__ import annotations

import json
import os

import pytest

from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.errors import InputError
from partita.files.text import whole_text
from partita.files.writing import write_atomically
from partita.parameters import Learned
from partita.training.parameter_files import (
    parse_parameters,
    set_parameters,
    shipped_parameters,
)

HASH = "0123456789abcdef" * 4
GREEDY = Learned(
    "greedy",
    {"p2": 0.571, "p3": 0.652, "p_more": 0.344},
    "the paper's split",
    HASH,
    1,
    {"sets": 110},
)
SCALED = Learned("scaled", {"scale": 0.7, "bias": -0.1}, "räkna", HASH, 0, {})


def read_parameters(path):
    return parse_parameters(whole_text(path), str(path))


def write_parameters(path, learned):
    write_atomically(path, learned.text())


@pytest.mark.parametrize("learned", [GREEDY, SCALED])
def test_parameters_come_back_as_they_were_written(tmp_path, learned):
    file = tmp_path / "parameters.json"
    write_parameters(file, learned)
    assert read_parameters(file) == learned
    before = file.read_bytes()
    write_parameters(file, read_parameters(file))
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_the_values_as_the_models_take_them():
    assert set_parameters(GREEDY, "greedy") == GreedyParameters(0.571, 0.652, 0.344)
    assert set_parameters(SCALED, "scaled") == ScaledParameters(0.7, -0.1)
    with pytest.raises(InputError, match=r"m\.json: holds parameters of scaled; expected greedy"):
        set_parameters(SCALED, "greedy", "m.json")
    with pytest.raises(InputError, match="holds parameters of greedy; expected scaled"):
        set_parameters(GREEDY, "scaled")


def changed(**change):
    return json.dumps({**json.loads(GREEDY.text()), **change})


VALUES = dict(GREEDY.values)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (changed(version=2), "version is 2; this release reads version 1"),
        (changed(version="1"), "version is '1'; this release reads version 1"),
        (changed(model="gready"), "model is 'gready'; expected greedy or scaled"),
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
        (GREEDY.text().replace("0.571", "NaN"), "NaN is not a number"),
        (GREEDY.text().replace("0.571", "1e999"), "p2 is not a finite number"),
        (GREEDY.text().replace('"p3"', '"p2"'), "field 'p2' appears twice"),
        ("[]", r"the file is \[\]; expected an object"),
        ("", "is not JSON"),
    ],
)
def test_mistakes_are_named(tmp_path, text, says):
    file = tmp_path / "parameters.json"
    file.write_text(text)
    with pytest.raises(InputError, match=says) as raised:
        read_parameters(file)
    assert raised.value.file == str(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "missing", ["version", "model", "values", "learned_from", "seed", "figures"]
)
def test_every_field_is_needed(missing):
    given = json.loads(GREEDY.text())
    del given[missing]
    with pytest.raises(InputError, match=f"m.json: the file has no field '{missing}'"):
        parse_parameters(json.dumps(given), "m.json")


def test_broken_json_is_named_with_its_line():
    with pytest.raises(InputError, match=r"m\.json, line 2: is not JSON"):
        parse_parameters('{"version": 1,\n oops}', "m.json")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.json: cannot be read"):
        read_parameters(tmp_path / "nowhere.json")
    (tmp_path / "latin.json").write_bytes(b'{"model": "\xe9"}')
    with pytest.raises(InputError, match=r"latin\.json: is not UTF-8"):
        read_parameters(tmp_path / "latin.json")


def test_writing_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    file = tmp_path / "parameters.json"
    write_parameters(file, GREEDY)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write_parameters(file, SCALED)
    assert read_parameters(file) == GREEDY
    assert list(tmp_path.iterdir()) == [file]


def test_the_shipped_parameters_can_be_read_and_say_where_they_come_from():
    greedy, scaled = shipped_parameters("greedy"), shipped_parameters("scaled")
    assert 0 < set_parameters(greedy, "greedy").p_more < 1
    assert set_parameters(scaled, "scaled").scale > 0
    for learned in (greedy, scaled):
        assert learned.learned_from
        assert learned.figures["sets"] > 100
        assert "/" not in learned.learned_from


def test_a_model_without_shipped_parameters():
    with pytest.raises(InputError, match="no parameters of a model 'uniform' are shipped"):
        shipped_parameters("uniform")

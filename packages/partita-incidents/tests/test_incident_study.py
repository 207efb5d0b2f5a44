"""The study of merging, on a small exam of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from partita.errors import InputError
from partita_incidents.incident_models import models_text, read_models
from partita_incidents.study import f_difference, study_incidents
from partita_incidents.training import learn_incidents
from small_exam import examples, written


def test_the_table_and_the_exam(tmp_path: Path) -> None:
    train, test = (
        written(tmp_path / name, slice(first, None, 2)) for first, name in enumerate("ab")
    )
    found = study_incidents([train], [test], lambda _: None)
    exam = {one["way"]: one for one in json.loads(found.json())["exam"]}
    assert list(exam) == [
        "greedy",
        "greedy by agreement",
        "merging",
        "evidential",
        "scaled",
        "scaled, less merging",
    ]
    assert exam["scaled"]["f"] > exam["greedy"]["f"]
    assert f_difference(found.methods[0], found.methods[1]).high < 0
    assert "| scaled, less merging |" in str(found)


def test_without_test_corpora_every_message_is_measured_once(tmp_path: Path) -> None:
    folder = written(tmp_path / "a")
    found = study_incidents([folder], [], lambda _: None, folds=3)
    assert found.test == len(examples())
    assert all(len(result.messages) == found.test for result in found.methods)
    total = found.methods[2].total
    assert total.possible == sum(tally.possible for tally in found.methods[2].messages)


def test_models_are_learned_from_a_folder_of_messages_and_keys(tmp_path: Path) -> None:
    folder, out = written(tmp_path / "a", slice(None, None, 2)), tmp_path / "models.json"
    learned = learn_incidents([folder], out, lambda _: None)
    assert "31 messages" in learned.learned_from
    assert models_text(read_models(out)) == models_text(learned)


def test_messages_without_keys_teach_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path / "a")
    (folder / "key").unlink()
    with pytest.raises(InputError, match="no message has a key"):
        learn_incidents([folder], tmp_path / "models.json", lambda _: None)

"""The models are learned from messages and keys, on a small exam of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita.errors import InputError
from partita_incidents.incident_models import models_text, read_models
from partita_incidents.training import learn_incidents
from small_exam import written


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

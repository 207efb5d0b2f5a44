"""Settings are kept and found again; parameters of a store are read from a file of one's own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from partita.app.runner import (
    Settings,
    settings_of,
    stored_settings,
    usual_budget,
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.parametrize(
    "settings",
    [
        Settings("depots", "evidential", budget=usual_budget("evidential")),
        Settings("depots", "merging", "", 5, 0.25, usual_budget("merging", work=7), 3),
        Settings("depots", "uniform", budget=usual_budget("uniform", seconds=1.5)),
    ],
)
def test_settings_come_back(settings):
    assert settings_of({"asked": stored_settings(settings)}, None) == settings


def test_a_domain_of_ones_own_is_found_from_everywhere(tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "domain.yaml").write_text("name: mine\n")
    monkeypatch.chdir(tmp_path)
    assert stored_settings(Settings("mine"))["domain"] == str(folder)
    assert stored_settings(Settings("depots"))["domain"] == "depots"

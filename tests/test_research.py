"""The command experiment: rows of all models, on documents to test on and on divisions."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUM = Path(__file__).parent.parent.parent / "shared" / "data" / "gum" / "train"
MODELS = ["uniform", "greedy", "merging", "evidential", "scaled", "joint"]


def experiment(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "partita", "experiment", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_corpus_that_is_not_there_is_one_line() -> None:
    run = experiment("nowhere")
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "nowhere" in run.stderr


def test_broken_lines_are_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.conllu"
    bad.write_text("# newdoc id = d\n1\tonly\ttwo\n\n", encoding="utf-8")
    run = experiment(str(bad))
    assert run.returncode == 1
    assert "bad.conllu, line 2" in run.stderr


@pytest.mark.corpus
def test_rows_of_all_models(tmp_path: Path) -> None:
    if not GUM.exists():
        pytest.skip("the corpora of ../shared/data are not here")
    for part, files in _smallest(6).items():
        (tmp_path / part).mkdir()
        for file in files:
            shutil.copy(file, tmp_path / part)
    run = experiment(str(tmp_path / "train"), "--test", str(tmp_path / "test"), "--json")
    assert run.returncode == 0, run.stderr
    rows = json.loads(run.stdout)["rows"]
    assert [row["model"] for row in rows] == MODELS
    for row in rows:
        assert 0 < row["bits_per_mention"] < 20
        assert row["coverage"] >= 0.95
    shown = experiment(str(tmp_path / "train"))
    assert shown.stdout.count("\n| evidential |") == 3


def _smallest(count: int) -> dict[str, list[Path]]:
    files = sorted(GUM.glob("*.conllu"), key=lambda file: file.stat().st_size)[:count]
    return {"train": files[2:], "test": files[:2]}

"""Making and measuring a tagger as the shells do it, on small files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from partita.errors import InputError
from partita.text.tagger_models import read_tagger
from research import reading_models
from research.__main__ import app as commands
from research.reading_models import assess_tagger, learn_tagger
from research.tagger import TaggerSettings, train_tagger

SMALL = TaggerSettings(bits=12, passes=2, runs=1)
SENTENCE = (("The", "DT"), ("depot", "NN"), ("at", "IN"), ("Kinston", "NNP"), ("burned", "VBD"))


def corpus(folder: Path, name: str = "GUM_news_fire") -> Path:
    rows = [f"{n}\t{word}\t_\t_\t{tag}\t_\t0\t_\t_\t_" for n, (word, tag) in enumerate(SENTENCE, 1)]
    path = folder / f"{name}.conllu"
    path.write_text(f"# newdoc id = {name}\n" + ("\n".join(rows) + "\n\n") * 30, encoding="utf-8")
    return path


def test_a_tagger_is_learned_written_and_measured(tmp_path: Path) -> None:
    path, out = corpus(tmp_path), tmp_path / "t.npz"
    told: list[str] = []
    made = learn_tagger([path] * 2, out, 3, told.append, tests=[path], settings=SMALL)
    assert told[0] == f"reading {path}"
    assert "60 sentences, 300 words: 2 times " in made.learned_from
    assert str(tmp_path) not in made.learned_from
    assert read_tagger(out).sha256 == made.sha256
    assert [name.split(", ")[1] for name in made.figures] == list(reading_models.CASES)
    assert set(read_tagger(out).figures.values()) == {1.0}
    found = assess_tagger([path], out)
    assert [each.accuracy for each in found.cases.values()] == [1.0, 1.0, 1.0]
    assert "Nothing was confused." in found.text()
    assert max(map(len, found.text().splitlines())) <= 80


def test_genres_that_are_not_free_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    path, out = corpus(tmp_path, "GUM_fiction_moon"), tmp_path / "t.npz"
    with pytest.raises(InputError, match="no tagged sentences"):
        learn_tagger([path], out, 0, settings=SMALL)
    assert not out.exists()
    learn_tagger([path], out, 0, every_genre=True, settings=SMALL)
    assert out.exists()


def test_an_interruption_leaves_no_file(tmp_path: Path) -> None:
    def stop(text: str) -> None:
        if "pass 2" in text:
            raise KeyboardInterrupt

    out = tmp_path / "out" / "t.npz"
    out.parent.mkdir()
    with pytest.raises(KeyboardInterrupt):
        learn_tagger([corpus(tmp_path)], out, 0, stop, settings=SMALL)
    assert list(out.parent.iterdir()) == []


def small(monkeypatch: pytest.MonkeyPatch) -> Typer:
    def quickly(sentences, seed, settings, **rest):  # type: ignore[no-untyped-def]
        return train_tagger(sentences, seed, SMALL, **rest)

    monkeypatch.setattr(reading_models, "train_tagger", quickly)
    return commands


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app, run = small(monkeypatch), CliRunner()
    path, out = corpus(tmp_path), tmp_path / "t.npz"
    made = run.invoke(app, ["tagger", "train", str(path), "--out", str(out)])
    assert made.exit_code == 0
    assert "5 tags, 5 words" in made.stdout
    shown = run.invoke(app, ["tagger", "test", str(path), "--parameters", str(out)])
    assert "upper case" in shown.stdout
    told = run.invoke(app, ["tagger", "test", str(path), "--parameters", str(out), "--json"])
    found = json.loads(told.stdout)
    assert found["upper_case"]["accuracy"] == 1.0
    assert found["as_it_is"]["words"] == 150
    assert found["words_per_second"] > 0


def test_bad_input_is_one_line_and_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, run = small(monkeypatch), CliRunner()
    (tmp_path / "t.npz").write_bytes(b"nothing")
    args = ["tagger", "test", str(corpus(tmp_path)), "--parameters", str(tmp_path / "t.npz")]
    found = run.invoke(app, args)
    assert found.exit_code == 1
    assert found.stderr.count("\n") == 1
    assert "is not a tagger" in found.stderr

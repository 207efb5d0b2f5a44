"""The command experiment: rows of all models, on documents to test on and on divisions."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from partita.cli import app
from partita.corpora.keys import read_keys, write_keys

ROOT = Path(__file__).parents[2]
GUM = ROOT.parent / "shared" / "data" / "gum" / "train"
KEYS = ROOT / "src" / "partita" / "domains" / "depots" / "corpus" / "keys.jsonl"
MODELS = ["uniform", "greedy", "merging", "evidential", "scaled", "forest", "joint"]


def experiment(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["experiment", *map(str, arguments)])


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some messages of the depots."""
    path = tmp_path_factory.mktemp("keys") / "keys.jsonl"
    write_keys(path, read_keys(KEYS)[:8])
    return path


def test_a_corpus_that_is_not_there_is_one_line() -> None:
    run = experiment("nowhere")
    assert run.exit_code == 1
    assert run.stderr.count("\n") == 1
    assert "nowhere" in run.stderr


def test_broken_lines_are_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.conllu"
    bad.write_text("# newdoc id = d\n1\tonly\ttwo\n\n", encoding="utf-8")
    run = experiment(bad)
    assert run.exit_code == 1
    assert "bad.conllu, line 2" in run.stderr


def test_divisions_of_keys(keys: Path, tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    run = experiment(
        keys, "--domain", "depots", "--splits", 2, "--largest", 9, "--charts", pictures, "--json"
    )
    assert run.exit_code == 0, run.stderr
    found = json.loads(run.stdout)
    assert list(found["splits"]) == ["test 1", "test 2", "tests 1 and 2", "split 1", "split 2"]
    for division in found["splits"].values():
        assert [row["model"] for row in division["rows"]] == MODELS
        assert all("100+" not in str(row["sizes"]) for row in division["rows"])
    assert [one["model"] for one in found["compared"]] == MODELS
    assert len(list(pictures.glob("*-reliability.svg"))) == 5
    assert "<svg" in (pictures / "test-1-reliability.svg").read_text()


def test_a_test_part_and_the_shipped_model(keys: Path) -> None:
    run = experiment(keys, "--domain", "depots", "--test", keys, "--shipped")
    assert run.exit_code == 0, run.stderr
    lines = run.stdout.splitlines()
    names = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    assert names[2:10] == [*MODELS, "shipped joint"]


@pytest.mark.corpus
@pytest.mark.skipif(not GUM.is_dir(), reason="the corpora of ../shared/data are not here")
def test_rows_of_all_models(tmp_path: Path) -> None:
    for part, files in _smallest(6).items():
        (tmp_path / part).mkdir()
        for file in files:
            shutil.copy(file, tmp_path / part)
    run = experiment("--from", "corefud", tmp_path / "train", "--test", tmp_path / "test", "--json")
    assert run.exit_code == 0, run.stderr
    rows = json.loads(run.stdout)["rows"]
    assert [row["model"] for row in rows] == [name for name in MODELS if name != "forest"]
    for row in rows:
        assert (row["documents"], row["mentions"], row["sets"]) == (2, _mentions(tmp_path), 12)
        assert row["coverage"] == 1
        by_size = [one["sets"] * one["bits_per_set"] for one in row["sizes"]]
        assert sum(by_size) == pytest.approx(row["sets"] * row["bits_per_set"])
        ties = row["model"] in ("uniform", "greedy")  # half of two sets is right: .5 and .5
        assert row["sizes"][0]["right"] == (not ties)
    bits = {row["model"]: row["bits_per_mention"] for row in rows}
    assert bits["uniform"] == pytest.approx(1.7223, abs=5e-4)
    assert bits["greedy"] == pytest.approx(1.7238, abs=5e-4)
    assert bits["evidential"] == pytest.approx(1.7817, abs=5e-4)
    # sampled: 1.198 to 1.211 over four seeds, and the chains take other turns on other processors
    assert bits["scaled"] == pytest.approx(1.2041, abs=0.01)
    assert sorted(bits, key=lambda model: bits[model])[:3] == ["joint", "merging", "scaled"]


def _mentions(folder: Path) -> int:
    """Of the test documents: what opens in the column of remarks, as CorefUD writes it."""
    texts = [path.read_text(encoding="utf-8") for path in (folder / "test").iterdir()]
    entities = re.findall(r"^\d.*\bEntity=([^|\n]*)", "\n".join(texts), re.MULTILINE)
    return sum(entity.count("(") for entity in entities)


def _smallest(count: int) -> dict[str, list[Path]]:
    files = sorted(GUM.glob("*.conllu"), key=lambda file: file.stat().st_size)[:count]
    return {"train": files[2:], "test": files[:2]}

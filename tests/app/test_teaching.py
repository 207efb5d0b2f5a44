"""The command train: from keys to a file that the other commands take."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from oracles.described import documents
from partita.app.train import train
from partita.cli import app
from partita.configurations.joint.model import read_joint_model
from partita.core import Configuration
from partita.core.templates import Key
from partita.corpora.keys import write_keys
from partita.training.parameter_files import EVERY_PAIR, QUESTIONS, read_pair_parameters


def key(seed: int, size: int = 12, apart: bool = False) -> Key:
    """Templates of one head corefer."""
    templates = tuple(replace(one, type="") for one in documents(np.random.default_rng(seed), size))
    cells: dict[str, list[str]] = {}
    for one in templates:
        cells.setdefault(one.id if apart else one.head, []).append(one.id)
    return Key(f"m{seed}", templates, Configuration(cells.values()), "Ann", "1997-08-01T12:00:00")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keys.jsonl"
    write_keys(path, [key(seed) for seed in range(6)])
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_one_file_for_the_models_over_pairs(keys: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.json"
    told = run("train", keys, "--out", out)
    assert told.exit_code == 0, told.stderr
    assert "documents: 6" in told.stdout
    learned = read_pair_parameters(out)
    assert learned.learned_from == "keys.jsonl, starting from shipped parameters"
    assert learned.figures["templates"] == 72
    every, questions = (learned.pair_model(name) for name in (EVERY_PAIR, QUESTIONS))
    assert every.figures["pairs"] == questions.figures["pairs"] > 0
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("left,right,probability\nA,B,.6\nB,C,.7\nA,C,.5\n")
    for model in ("greedy", "scaled"):
        assert run("solve", pairs, "--model", model, "--parameters", out).exit_code == 0


def test_the_same_keys_and_seed_give_the_same_bytes(keys: Path, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        run("train", keys, "--out", tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_the_joint_model(keys: Path, tmp_path: Path) -> None:
    out = tmp_path / "joint.json"
    told = run("train", keys, "--model", "joint", "--about", "six messages", "--out", out)
    assert told.exit_code == 0, told.stderr
    assert read_joint_model(out).learned_from == "six messages"
    refused = run("train", keys, "--model", "joint", "--start", out, "--out", out)
    assert refused.exit_code == 1
    assert "--start is for models over pairs" in refused.stderr


def test_an_interruption_leaves_the_old_file(keys: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.json"
    out.write_text("old")

    def stop(told: str) -> None:
        if "learning" in told:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(keys, progress=stop).save(out)
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]


def refused(*arguments: object) -> str:
    told = run("train", *arguments)
    assert told.exit_code == 1
    assert told.stderr.count("\n") == 1
    return told.stderr


def test_bad_keys_are_one_clear_line(tmp_path: Path) -> None:
    path, out = tmp_path / "keys.jsonl", tmp_path / "m.json"
    assert "cannot be read" in refused(path, "--out", out)
    path.write_text("\n")
    assert "keys.jsonl: holds no keys" in refused(path, "--out", out)
    write_keys(path, [key(1), key(2), key(1)])
    line = refused(path, "--out", out)
    assert "keys.jsonl, line 3: template" in line
    assert "has a key already (line 1)" in line
    path.write_text(path.read_text().replace('"version": 1', '"version": 7', 1))
    assert "line 1: version is 7" in refused(path, "--out", out)
    assert "no such folder" in refused(path, "--out", tmp_path / "nowhere" / "m.json")
    assert not out.exists()


def test_a_cell_that_names_nobody(tmp_path: Path) -> None:
    path = tmp_path / "keys.jsonl"
    write_keys(path, [key(1)])
    told = json.loads(path.read_text())
    told["cells"].append(["nobody"])
    path.write_text(json.dumps(told) + "\n")
    assert "cells name nobody" in refused(path, "--out", tmp_path / "m.json")


def test_a_document_without_mentions(tmp_path: Path) -> None:
    path = tmp_path / "one.conllu"
    path.write_text("# newdoc id = d\n1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n\n")
    assert "no mentions in" in refused(path, "--out", tmp_path / "m.json")

"""The command explain: features that add up to the pair, then the set."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from oracles.described import documents
from partita.app.explain import explain
from partita.cli import app
from partita.cli.demo import MESSAGE
from partita.configurations.solve import solve_set
from partita.core import CoreferenceSet
from partita.pairs.models import set_probabilities
from partita.results.result_lines import result_line
from partita.training.parameter_files import shipped_pair_parameters, training_of


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def written(tmp_path: Path, model: str = "evidential") -> Path:
    """Results of a set whose templates are described, with the shipped pair model."""
    templates = tuple(
        replace(one, type="", text=one.text or f"expression {one.id}")
        for one in documents(np.random.default_rng(4), 6)
    )
    given = CoreferenceSet(templates, frozenset({("m0", "m5")}), name="msg.1")
    pairs = set_probabilities(shipped_pair_parameters().pair_model(training_of(model)), given)
    path = tmp_path / "results.jsonl"
    path.write_text(result_line(solve_set(pairs, model), "msg") + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("model", ["evidential", "merging"])
def test_contributions_add_up_to_the_probability_of_the_results(tmp_path: Path, model: str) -> None:
    path = written(tmp_path, model)
    told = json.loads(run("explain", path, "msg.1", "m3", "m1", "--json").stdout)
    pairs = {(p["left"], p["right"]): p for p in json.loads(path.read_text())["pairs"]}
    given = pairs["m1", "m3"]
    total = math.fsum(one["weight"] for one in told["pair"]["contributions"])
    assert total == pytest.approx(told["pair"]["log_odds"], abs=1e-9)
    assert 1 / (1 + math.exp(-total)) == pytest.approx(given["probability"], abs=1e-9)
    assert told["marginal"] == given["marginal"]
    steps = told["rest"]["influences"]
    assert steps[0]["before"] == pytest.approx(given["probability"], abs=1e-9)
    assert steps[-1]["after"] == given["marginal"]
    assert told["notes"] == []


def test_the_text(tmp_path: Path) -> None:
    told = run("explain", written(tmp_path), "msg.1", "m1", "m3")
    assert told.exit_code == 0, told.stderr
    assert max(map(len, told.stdout.splitlines())) <= 80
    assert "influence of the other templates" in told.stdout


def test_other_parameters_are_noticed(tmp_path: Path) -> None:
    path = written(tmp_path)
    other = json.loads(path.read_text())
    other["pairs"][1]["probability"] = 0.123
    path.write_text(json.dumps(other))
    left, right = (other["pairs"][1][end] for end in ("left", "right"))
    assert "other parameters" in run("explain", path, "msg.1", left, right).stdout


def test_what_is_incompatible_needs_no_features(tmp_path: Path) -> None:
    told = run("explain", written(tmp_path), "msg.1", "m0", "m5")
    assert "known to be incompatible" in told.stdout
    assert "weight" not in told.stdout


def test_results_without_descriptions_explain_the_set_alone(tmp_path: Path) -> None:
    pairs, results = tmp_path / "pairs.csv", tmp_path / "results.jsonl"
    pairs.write_text("left,right,probability\nA,B,.671\nB,C,.3\nA,C,.505\n")
    run("solve", pairs, "--out", results, "--model", "scaled")
    told = run("explain", results, "1", "A", "B")
    assert told.exit_code == 0, told.stderr
    assert "features are unknown" in " ".join(told.stdout.split())
    assert "--parameters F gives another" in " ".join(told.stdout.split())
    assert "given the whole set" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("2", "m1", "m2"), "has no set 2; expected one of msg.1"),
        (("msg.1", "m1", "m9"), "set msg.1 has no template m9; expected one of m0, m1"),
        (("msg.1", "m1", "m1"), "both templates are m1"),
    ],
)
def test_questions_without_an_answer(
    tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    told = run("explain", written(tmp_path), *arguments)
    assert told.exit_code == 1
    assert told.stderr.count("\n") == 1
    assert problem in told.stderr


def test_results_of_a_run_know_their_domain_and_its_parameters(tmp_path: Path) -> None:
    (tmp_path / "kinston.txt").write_text(MESSAGE, encoding="utf-8")
    out = tmp_path / "results.jsonl"
    assert run("run", "--domain", "depots", tmp_path / "kinston.txt", "--out", out).exit_code == 0
    found = explain(out, "T2", "T7", set_name="kinston.1")
    assert found.notes == ()
    assert found.pair is not None
    assert abs(found.pair.probability - found.probability) < 1e-9

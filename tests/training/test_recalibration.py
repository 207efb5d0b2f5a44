"""Temperatures: what they do to configurations, and that they never make keys less probable."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from oracles.instances import log_odds, uniform_pairs
from oracles.partitions import distribution
from partita.cli import app
from partita.corpora.documents import corpus_path, read_documents
from partita.domains import find_domain, schema_of
from partita.evaluation.splits import cut_document
from partita.training.few_keys import Lesson, key_answer, lesson
from partita.training.pair_training import MODELS, at_temperatures, recalibrate
from partita.training.parameter_files import read_pair_parameters
from research.label_study import small_sets

START = find_domain("depots").pair_parameters


@pytest.fixture(scope="module")
def lessons() -> list[Lesson]:
    schema = schema_of("depots")
    cuts = (
        cut_document(document, schema) for document in list(read_documents([corpus_path()]))[72:92]
    )
    return [lesson(one, START) for one in small_sets(cuts, 7)]


@given(st.integers(0, 2**32), st.integers(2, 5), st.floats(0.3, 3.0))
@settings(deadline=None, max_examples=25)
def test_divided_log_odds_are_powers_of_configurations(seed, size, t):
    theta = log_odds(uniform_pairs(size, 0.05, 0.95, np.random.default_rng(seed)))
    before, after = distribution(theta), distribution(theta / t)
    powers = {labels: p ** (1 / t) for labels, p in before.items()}
    total = sum(powers.values())
    assert sum(after.values()) == pytest.approx(1.0)
    for labels, p in after.items():
        assert p == pytest.approx(powers[labels] / total)


def test_each_model_has_its_own_temperature(lessons: list[Lesson]) -> None:
    hot = at_temperatures(START, 2.0, 1.0, 1.0)
    codes = lessons[0].pairs
    for name in ("scaled", "merging", "forest"):
        one, other = (key_answer(lessons[0], parameters, name) for parameters in (START, hot))
        assert other.bits == pytest.approx(one.bits, abs=1e-4), name
    assert len(codes)
    evidential = [key_answer(lessons[0], one, "evidential").stated for one in (START, hot)]
    assert not np.allclose(*evidential)


def bits(lessons: list[Lesson], parameters, model: str) -> float:
    return sum(key_answer(one, parameters, model).bits for one in lessons)


def test_an_overconfident_model_is_cooled_down_and_keys_become_more_probable(lessons) -> None:
    bold = at_temperatures(START, 0.25, 0.25, 0.25)
    found = recalibrate(bold, lessons, "keys")
    for one in found.temperatures:
        assert one.value > 1.2, one
        assert one.after < one.before
    for model in MODELS:
        assert bits(lessons, found.parameters, model) < bits(lessons, bold, model)
    assert "temperatures from keys" in found.parameters.learned_from
    assert found.parameters.sha256 != bold.sha256


def test_a_temperature_that_does_not_help_held_out_keys_is_refused(lessons) -> None:
    fitted = recalibrate(START, lessons, "keys")
    again = recalibrate(fitted.parameters, lessons, "keys")
    for one in again.temperatures:
        assert one.after <= one.before
        assert one.value == pytest.approx(1.0, abs=0.1)
    for model in MODELS:
        assert bits(lessons, fitted.parameters, model) <= bits(lessons, START, model) + 1e-3
    single = recalibrate(START, lessons[:1], "one key")  # nothing can be held out
    assert {one.value for one in single.temperatures} == {1.0}
    assert np.array_equal(single.parameters.every_pair.weights, START.every_pair.weights)


def test_the_command_writes_parameters_that_run_takes(tmp_path: Path) -> None:
    lines = (corpus_path() / "keys.jsonl").read_text().splitlines()[72:80]
    (tmp_path / "keys.jsonl").write_text("\n".join(lines) + "\n")
    bold = replace(at_temperatures(START, 0.25, 1.0, 1.0), learned_from="bold")
    from partita.training.parameter_files import write_pair_parameters

    write_pair_parameters(tmp_path / "bold.json", bold)
    arguments = ["train", "keys.jsonl", "--domain", "depots", "--fit", "calibration"]
    arguments += ["--start", "bold.json", "--out", "cool.json", "--json"]
    arguments = [str(tmp_path / a) if a.endswith(("json", "jsonl")) and a[0] != "-" else a
                 for a in arguments]  # fmt: skip
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)["figures"]
    assert figures["temperature of evidential"] > 1.0
    assert read_pair_parameters(tmp_path / "cool.json").learned_from.startswith(
        "bold; temperatures"
    )
    refused = CliRunner().invoke(app, [*arguments, "--select"])
    assert refused.exit_code == 1
    assert "--fit calibration keeps the characteristics" in refused.stderr

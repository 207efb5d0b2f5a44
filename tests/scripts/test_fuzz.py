"""The short version of `make fuzz`: every target reads a few inputs."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import pytest

from fuzz import CHANGES, Target, campaign, change, fuzz
from fuzz_targets import GROUPS
from partita.errors import InputError

SLOW = ("text to entities", "domain", "claims", "service")  # some 5 ms for an input


@pytest.mark.parametrize("group", GROUPS)
def test_only_errors_of_partita_come_out(group: str) -> None:
    for target in GROUPS[group]():
        slow = target.name.startswith(SLOW)
        outcome = fuzz(target, 30 if slow else 100, seed=1)
        assert outcome.failures == {}
        assert 0 < outcome.accepted < outcome.inputs
        assert slow or outcome.accepted * 2 >= outcome.inputs


def test_other_errors_are_failures_and_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def read(path: Path) -> None:
        data = path.read_text("utf-8", "replace")
        if "B" not in data:
            raise InputError("has no B")
        if data.count("B") > 1:
            raise KeyError("two of them")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outcome = fuzz(Target("toy", "csv", ("x,y\nA,B\nC,D\n",), read), 200, seed=1)
    assert outcome.refusals["has no B"] > 10
    [failure] = outcome.failures.values()
    assert "KeyError: 'two of them'" in failure
    assert [path.read_text().count("B") for path in tmp_path.iterdir()] == [2]


def test_a_campaign_goes_on_where_it_was_cut(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read: list[Path] = []
    target, log = Target("toy", "csv", ("x,y\nA,B\n",), read.append), tmp_path / "log.jsonl"
    monkeypatch.setattr("fuzz.PART", 20)
    list(campaign(target, 40, 1, float("inf"), log))
    with log.open("a") as stream:
        stream.write('\n{"target": "toy", "se')
    read.clear()
    parts = list(campaign(target, 50, 1, float("inf"), log))
    assert [part.inputs for part in parts] == [20, 20, 10]
    assert len(read) == 10 + len(target.seeds)
    assert list(campaign(target, 50, 1, 0.0, log)) == parts


@pytest.mark.parametrize("form", CHANGES)
def test_the_same_seed_changes_the_same(form: str) -> None:
    seed = {"csv": "a,b\n1,.5\n", "lines": "A depot .\nIt burns .\n"}.get(form, '{"a": [1, "x"]}')
    made = [
        [change(seed.encode(), form, n % 2 == 0, [b"other"], rng) for n in range(40)]
        for rng in (random.Random(7), random.Random(7))
    ]
    assert made[0] == made[1]
    assert len(set(made[0])) > 10


@pytest.fixture(autouse=True)
def quiet() -> None:
    logging.getLogger("partita.web").setLevel(logging.CRITICAL)

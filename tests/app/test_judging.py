"""The command evaluate: results of ours, clusters of another tool, keys that know other things."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from partita.cli import app

TABLE_1 = "left,right,probability\nA,B,.671\nA,C,0\nA,D,.505\nB,C,0\nB,D,.752\nC,D,.504\n"
CELLS = [["A", "B", "D"], ["C"]]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def key(message: str, cells: list[list[str]]) -> str:
    templates = sorted(name for cell in cells for name in cell)
    written = {"version": 1, "message": message, "templates": templates, "cells": cells}
    return json.dumps({**written, "author": "Ann", "time": "1997-08-01T12:00:00"}) + "\n"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "pairs.csv").write_text(TABLE_1)
    out = tmp_path / "results.jsonl"
    assert run("solve", tmp_path / "pairs.csv", "--out", out, "--top", "2").exit_code == 0
    return out


def evaluated(tmp_path: Path, results: Path, *keys: str) -> dict[str, Any]:
    path = tmp_path / "keys.jsonl"
    path.write_text("".join(keys))
    told = run("evaluate", results, path, "--json")
    assert told.exit_code == 0, told.stderr
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def excluded() -> float:
    from partita.training.parameter_files import shipped_pair_parameters

    return shipped_pair_parameters().excluded


def test_our_results(tmp_path: Path, results: Path) -> None:
    found = evaluated(tmp_path, results, key("pairs.csv", CELLS))
    first = json.loads(results.read_text())["configurations"][0]
    assert first["cells"] == CELLS
    bits = -math.log2(first["probability"]) - math.log2(1 - excluded())
    assert found["bits_per_set"] == pytest.approx(bits)
    assert (found["right"], found["sets"], found["conll"]) == (1, 1, 1.0)
    assert found["templates_only_in_results"] == found["templates_only_in_keys"] == 0
    assert set(found["intervals"]) >= {"bits_per_set", "conll"}
    assert found["sizes"][0]["size"] == "4-9"


def test_a_key_that_is_not_listed_has_its_share_of_the_rest(tmp_path: Path, results: Path) -> None:
    found = evaluated(tmp_path, results, key("pairs.csv", [["A"], ["B"], ["C"], ["D"]]))
    rest = json.loads(results.read_text())["remainder"]
    share = rest["probability"] / int(rest["count"])
    reported = -math.log2(share) - math.log2(1 - excluded())
    assert found["reported_bits_per_set"] == pytest.approx(reported)
    assert found["bits_per_set"] != pytest.approx(reported)
    assert found["sets_by_report"] == 0
    assert found["right"] == 0


def test_a_key_that_knowledge_excludes_is_not_infinite(tmp_path: Path, results: Path) -> None:
    found = evaluated(tmp_path, results, key("pairs.csv", [["A", "C"], ["B"], ["D"]]))
    assert found["bits_per_set"] == pytest.approx(math.log2(15 - 7) - math.log2(excluded()))
    assert found["coverage"] == 0.0


def test_templates_that_only_one_file_knows_are_counted(tmp_path: Path, results: Path) -> None:
    found = evaluated(tmp_path, results, key("pairs.csv", [["A", "B"], ["D"], ["E"]]))
    assert found["only_in_results"] == ["pairs.csv:C"]
    assert found["only_in_keys"] == ["pairs.csv:E"]
    assert found["mentions"] == 4
    shown = run("evaluate", results, tmp_path / "keys.jsonl").stdout
    assert "1 template in the results only: not measured (pairs.csv:C)" in shown
    assert "1 template in the keys only: counted as alone (pairs.csv:E)" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_messages_of_another_name_are_matched_by_templates(tmp_path: Path, results: Path) -> None:
    found = evaluated(tmp_path, results, key("one", CELLS), key("two", [["X"], ["Y"]]))
    assert found["messages_matched_by_ids"] == 1
    assert found["right"] == 1
    assert found["templates_only_in_keys"] == 2


def placed(name: str, text: str, start: int) -> dict[str, Any]:
    return {"id": name, "text": text, "start": start, "end": start + len(text), "sort": "DEPOT"}


MESSAGE = "A depot was seen. The depot is empty. It is new."
PLACED = [placed("K3", "A depot", 0), placed("T1", "The depot", 18), placed("K9", "It", 38)]


@pytest.fixture
def extracted(tmp_path: Path) -> Path:
    """Results of a message: T1 A depot, V1 was seen, T2 The depot, T3 It."""
    (tmp_path / "note.txt").write_text(MESSAGE)
    out = tmp_path / "results.jsonl"
    done = run("run", tmp_path / "note.txt", "--domain", "depots", "--out", out)
    assert done.exit_code == 0, done.stderr
    return out


def placed_key(message: str, templates: list[dict[str, Any]]) -> str:
    cells = [[one["id"] for one in templates]]
    return json.dumps(json.loads(key(message, cells)) | {"templates": templates}) + "\n"


@pytest.mark.parametrize("message", ["note", "another name"])
def test_templates_of_other_ids_are_matched_by_their_place(
    tmp_path: Path, extracted: Path, message: str
) -> None:
    found = evaluated(tmp_path, extracted, placed_key(message, PLACED))
    assert found["templates_matched_by_place"] == 3  # T1 of the key is another than T1 of the run
    assert (found["sets"], found["right"], found["mentions"]) == (1, 1, 3)
    assert found["only_in_keys"] == []
    assert found["only_in_results"] == ["note:V1"]
    told = run("evaluate", extracted, tmp_path / "keys.jsonl")
    assert "3 templates matched by place in the text, not by id" in told.stderr


def test_results_and_keys_with_nothing_in_common_are_refused(
    tmp_path: Path, extracted: Path
) -> None:
    shifted = [one | {"text": "x", "start": one["start"] + 500, "end": one["end"] + 500}
               for one in PLACED]  # fmt: skip
    for line in (placed_key("note", shifted), key("other", [["A"], ["B"]])):
        (tmp_path / "keys.jsonl").write_text(line)
        told = run("evaluate", extracted, tmp_path / "keys.jsonl")
        assert told.exit_code == 1
        assert told.stdout == ""
        assert told.stderr.count("\n") == 1
        assert f"keys.jsonl: no template of {extracted} is in these keys (expected" in told.stderr
        assert "the results have note with T1, T2, T3" in told.stderr


def test_clusters_of_another_tool(tmp_path: Path) -> None:
    clusters = tmp_path / "clusters.csv"
    clusters.write_text("unique_id,cluster_id\nA,1\nB,1\nD,2\nC,3\n")
    found = evaluated(tmp_path, clusters, key("m", CELLS))
    assert found["bits_per_set"] is found["bits_per_mention"] is None
    assert (found["right"], found["model"]) == (0, "clusters")
    # one of two links of (A B D) found, none too many
    assert found["muc"] == pytest.approx(2 / 3)
    shown = run("evaluate", clusters, tmp_path / "keys.jsonl").stdout
    assert "bits" not in shown
    assert "CoNLL" in shown


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("r.jsonl", "", "has no results"),
        ("r.jsonl", '{"version": 9}\n', "line 1: version is 9"),
        ("r.jsonl", "not json\n", "line 1"),
        ("c.csv", "id,group\nA,1\n", "line 1: has no column cluster or cluster_id"),
        ("c.csv", "id,cluster\nA,1\nA,2\n", "line 3: template A is in two clusters"),
        ("c.csv", "id,cluster\n,2\n", "line 2: a row needs an id and a cluster"),
        ("c.csv", "id,cluster\n", "has no clusters"),
    ],
)
def test_bad_results_are_one_line(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "keys.jsonl").write_text(key("m", CELLS))
    told = run("evaluate", tmp_path / name, tmp_path / "keys.jsonl")
    assert told.exit_code == 1
    assert told.stderr.count("\n") == 1
    assert problem in told.stderr


def test_reliability_by_size_and_kind(tmp_path: Path, results: Path) -> None:
    found = evaluated(tmp_path, results, key("pairs.csv", CELLS))
    line = json.loads(results.read_text())
    listed = [(one["cells"], one["probability"]) for one in line["configurations"]]
    total = sum(p for _, p in listed)
    cells: dict[tuple[str, ...], float] = {}
    for configuration, p in listed:
        for cell in configuration:
            cells[tuple(cell)] = cells.get(tuple(cell), 0.0) + p / total
    doubtful = {cell: p for cell, p in cells.items() if 0.05 <= p <= 0.95}
    by_name = {(one["of"], one["by"], one["group"]): one for one in found["calibration"]}
    assert set(by_name) == {
        (of, *group)
        for of in ("pair", "cell", "configuration")
        for group in (("all", ""), ("size", "4-9"))
    }
    cell = by_name["cell", "all", ""]
    assert cell["statements"] == len(doubtful)
    assert cell["stated"] == pytest.approx(sum(doubtful.values()) / len(doubtful))
    assert cell["observed"] == pytest.approx(
        sum(list(one) in CELLS for one in doubtful) / len(doubtful)
    )
    assert cell["error"] == pytest.approx(found["cell_reliability_error"])
    assert cell["interval"] is None  # of one message
    pair = by_name["pair", "size", "4-9"]
    assert pair["error"] == pytest.approx(found["pair_reliability_error"])
    assert by_name["configuration", "all", ""]["statements"] == 2


def test_reliability_has_intervals_over_messages(tmp_path: Path) -> None:
    pairs = "".join(f"m{n}a,m{n}b,{p},m{n}\n" for n, p in enumerate([0.2, 0.4, 0.6, 0.8] * 3))
    (tmp_path / "pairs.csv").write_text("left,right,probability,set\n" + pairs)
    out = tmp_path / "results.jsonl"
    assert run("solve", tmp_path / "pairs.csv", "--out", out).exit_code == 0
    lines = [
        json.loads(line) | {"message": f"m{n}"}
        for n, line in enumerate(out.read_text().splitlines())
    ]
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    keys = [key(f"m{n}", [[f"m{n}a", f"m{n}b"]]) for n in range(12)]
    found = evaluated(tmp_path, out, *keys)
    whole = next(one for one in found["calibration"] if one["of"] == "pair" and one["by"] == "all")
    assert (whole["statements"], whole["stated"], whole["observed"]) == (
        12,
        pytest.approx(0.5),
        1.0,
    )
    assert whole["interval"]["low"] < whole["error"] < whole["interval"]["high"]
    told = run("evaluate", out, tmp_path / "keys.jsonl")
    assert told.exit_code == 0, told.stderr
    assert all(len(line) <= 80 for line in told.stdout.splitlines())


def test_cells_of_a_partial_configuration_are_statements(tmp_path: Path) -> None:
    ids = [f"T{n}" for n in range(9)]
    pairs = "".join(f"{a},{b},.5\n" for n, a in enumerate(ids) for b in ids[:n])
    (tmp_path / "pairs.csv").write_text("left,right,probability\n" + pairs)
    out = tmp_path / "results.jsonl"
    assert run("solve", tmp_path / "pairs.csv", "--out", out).exit_code == 0
    partial = json.loads(out.read_text())["partial"]
    found = evaluated(tmp_path, out, key("pairs.csv", [[name] for name in ids]))
    stated = [one["probability"] for one in partial["cells"] if 0.05 <= one["probability"] <= 0.95]
    cell = next(one for one in found["calibration"] if one["of"] == "cell")
    assert cell["statements"] == len(stated) == 9
    assert cell["observed"] == 1.0

"""The command study-keys."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from partita.domains import __file__ as domains
from research.__main__ import app

CORPUS = Path(domains).parent / "depots" / "corpus" / "keys.jsonl"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["study-keys", *map(str, arguments)])


def test_table_json_and_chart(tmp_path: Path) -> None:
    lines = CORPUS.read_text(encoding="utf-8").splitlines()[:24]
    keys = tmp_path / "keys.jsonl"
    keys.write_text("\n".join(lines) + "\n", encoding="utf-8")
    few = (keys, "--domain", "depots", "--shipped", "--runs", 2, "--pool", 12, "--held", 6,
           "--after", 3, "--after", 4, "--largest", 6)  # fmt: skip
    chart = tmp_path / "choice.svg"
    shown = run(*few, "--chart", chart)
    assert shown.exit_code == 0, shown.output
    assert "saved per template" in shown.stdout
    assert "| rule | 3 keys | 4 keys |" in shown.stdout
    assert chart.read_text(encoding="utf-8").startswith("<svg")
    told = json.loads(run(*few, "--rule", "saved", "--json").stdout)
    assert {row["rule"] for row in told["rows"]} == {"random", "saved"}
    assert told["documents"] == 24


def test_an_unknown_rule_is_told() -> None:
    found = run(CORPUS, "--rule", "best")
    assert found.exit_code == 2
    assert "expected one of random, longest, entropy" in found.stderr


def test_a_corpus_that_is_too_small_is_told_in_one_line(tmp_path: Path) -> None:
    keys = tmp_path / "keys.jsonl"
    keys.write_text(CORPUS.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    found = run(keys, "--domain", "depots")
    assert found.exit_code == 1
    assert "sets to key; expected more than 40" in found.stderr
    assert "Traceback" not in found.output

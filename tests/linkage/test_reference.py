"""Matches with a reference table: exact probabilities, labels, worlds, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import partita
from partita.cli import app
from partita.errors import InputError
from partita.linkage.record_tables import RecordTable, Scored
from partita.linkage.reference import drawn_matches, fit_level, match_candidates, matched
from partita.options import LinkOptions

NEW = [
    {"id": "n1", "name": "Anna Meier", "town": "Zug", "born": "1970"},
    {"id": "n2", "name": "Anna Meyer", "town": "Zug", "born": "1970"},
    {"id": "n3", "name": "Xaver Quandt", "town": "Ulm", "born": "1911"},
]


def table(new: int, old: int) -> RecordTable:
    ids = [*range(new), *range(100, 100 + old)]
    return RecordTable(ids, ["new"] * new + ["master"] * old, {}, ())


def found(pairs: list[tuple[int, int, float]], new: int, old: int, **options: Any) -> Any:
    left, right = (np.array([row[k] for row in pairs], dtype=np.int64) for k in (0, 1))
    p = np.array([row[2] for row in pairs])
    scored = Scored(left, right, np.log2(p / (1 - p)), len(pairs))
    return matched(scored, table(new, old), LinkOptions(**options), {})


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=6))
def test_probabilities_are_those_of_all_answers_that_are_possible(scores: list[float]) -> None:
    """Each answer has the product of its scores; two references at a time are impossible."""
    p = np.array(scores)
    answers = [np.prod(np.where(np.arange(len(p)) == n, p, 1 - p)) for n in range(-1, len(p))]
    wanted = np.array(answers) / np.sum(answers)
    zeros = np.zeros(len(p), dtype=np.int64)
    one = match_candidates(zeros, np.arange(len(p)), p, np.log(p / (1 - p)), 1)
    by_place = np.zeros(len(p))
    by_place[one.reference] = one.probability
    assert by_place == pytest.approx(wanted[1:])
    assert one.no_match == pytest.approx(wanted[:1])
    assert (np.diff(one.probability) <= 1e-12).all()


def test_one_candidate_keeps_its_score_and_records_may_share_a_reference() -> None:
    matches = found([(0, 3, 0.9), (1, 3, 0.8)], 3, 1)
    rows = matches.columns("matches")
    assert rows["reference"] == [100, 100, None]
    assert rows["probability"][:2] == pytest.approx([0.9, 0.8])
    assert rows["probability"][2] is None
    assert rows["no_match"][2] is None
    summary = matches.summary
    assert (summary.records, summary.reference, summary.uncompared) == (3, 1, 1)
    assert summary.matches.value == pytest.approx(1.7)
    assert summary.precision.value == pytest.approx(0.85)


def test_nothing_compared_states_nothing() -> None:
    summary = found([], 2, 2).summary
    assert (summary.reported, summary.uncompared) == (0, 2)
    assert summary.precision is None
    assert summary.recall is None


def test_labels_and_assumptions_hold_exactly() -> None:
    pairs = [(0, 2, 0.9), (0, 3, 0.2), (1, 2, 0.4)]
    rows = found(pairs, 2, 2, labels=[(0, 101, 1)], assume=("1!=100",))
    rows = rows.columns("matches")
    assert rows["reference"] == [101, None]
    assert rows["probability"] == [1.0, 1.0]
    assert rows["no_match"] == [0.0, 1.0]


def test_enough_labels_move_the_scores() -> None:
    rng = np.random.default_rng(0)
    theta = rng.normal(0.0, 3.0, 400)
    same = (rng.random(400) < 1 / (1 + np.exp(-(0.5 * theta + 1.0)))).astype(float)
    scale, bias = fit_level(theta, same)
    assert scale == pytest.approx(0.5, abs=0.15)
    assert bias == pytest.approx(1.0, abs=0.4)
    assert fit_level(theta, np.full(400, np.nan)) == (1.0, 0.0)


def test_worlds_agree_with_the_probabilities() -> None:
    pairs = [(0, 2, 0.6), (0, 3, 0.5), (1, 3, 0.3)]
    matches = found(pairs, 2, 2, worlds=4000)
    worlds = matches.to_pandas("worlds")
    for row in matches.to_pandas("candidates").itertuples():
        own = worlds[worlds["record"] == row.record]
        share = float((own["reference"] == row.reference).mean())
        assert abs(share - row.probability) < 5 * np.sqrt(row.probability / 4000)
    rng = np.random.default_rng(0)
    assert drawn_matches(matches._candidates, rng).shape == (2,)


def test_a_target_precision_reports_fewer() -> None:
    pairs = [(n, 10 + n, p) for n, p in enumerate(np.linspace(0.55, 0.99, 10).tolist())]
    assert found(pairs, 10, 10).summary.reported == 10
    strict = found(pairs, 10, 10, target_precision=0.95).summary
    assert strict.reported < 10
    assert strict.precision.value >= 0.95


def master(rows: int = 40) -> list[dict[str, str]]:
    rng = np.random.default_rng(1)
    names = [f"{chr(65 + n % 26)}{'aeiou'[n % 5]}lo{n} Bor{n * 7 % 23}" for n in range(rows)]
    towns = rng.choice(["Zug", "Ulm", "Bern", "Graz"], rows)
    return [{"id": "m0", "name": "Anna Meier", "town": "Zug", "born": "1970"}] + [
        {"id": f"m{n}", "name": name, "town": str(town), "born": str(1930 + n)}
        for n, (name, town) in enumerate(zip(names, towns, strict=True), 1)
    ]


def test_link_matches_tables() -> None:
    pd = pytest.importorskip("pandas")
    reference = master()
    new = [*NEW, *({**row, "id": f"x{n}"} for n, row in enumerate(reference[1:21]))]
    matches = partita.link(pd.DataFrame(new), reference=reference)
    rows = matches.to_pandas().set_index("record")
    assert rows.loc["n1", "reference"] == "m0"
    assert rows["reference"].reindex([f"x{n}" for n in range(20)]).tolist() == [
        f"m{n}" for n in range(1, 21)
    ]
    assert rows.loc["n3", "reference"] is None or pd.isna(rows.loc["n3", "reference"])
    assert matches.to_dict()["summary"]["records"] == 23
    with pytest.raises(InputError, match="one_to_one is not for matches"):
        partita.link(new, reference=reference, one_to_one=True)


def test_the_command_writes_matches_candidates_and_worlds(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pd = pytest.importorskip("pandas")
    reference = pd.DataFrame(master())
    base = tmp_path / "base.duckdb"
    with duckdb.connect(str(base)) as database:
        database.register("frame", reference)
        database.execute("CREATE TABLE people AS SELECT * FROM frame")
    new = tmp_path / "new.csv"
    pd.DataFrame([*NEW, *reference.iloc[1:9].assign(id=range(8)).to_dict("records")]).to_csv(
        new, index=False
    )
    out, pairs, worlds = (tmp_path / name for name in ("m.csv", "c.csv", "w.csv"))
    arguments = ["link", new, "--reference", base, "--out", out]
    arguments += ["--pairs", pairs, "--worlds", 3, worlds, "--json"]
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["records"] == 11
    assert len(pd.read_csv(out)) == 11
    assert pd.read_csv(out).columns.tolist() == ["record", "reference", "probability", "no_match"]
    assert len(pd.read_csv(worlds)) == 33
    assert pd.read_csv(pairs).columns.tolist() == ["record", "reference", "score", "probability"]
    again = CliRunner().invoke(app, ["link", str(new), "--reference", f"{base}::x"])
    assert again.exit_code == 1
    assert "no table x" in again.stderr
    refused = CliRunner().invoke(
        app, ["link", str(new), "--reference", str(base), "--review", str(out)]
    )
    assert refused.exit_code == 2

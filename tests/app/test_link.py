"""From tables of records to clusters."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest
from typer.testing import CliRunner

import partita
from oracles.people import people
from partita.cli import app
from partita.core import linked_components
from partita.linkage.record_tables import read_records
from partita.linkage.splink_engine import DuckEngine

RECORDS, TRUTH = people(120)


@pytest.fixture(scope="module")
def linked() -> partita.LinkedRecords:
    return partita.link(RECORDS)


def pairs(labels: list[Any]) -> set[tuple[int, int]]:
    return {(a, b) for a, b in combinations(range(len(labels)), 2) if labels[a] == labels[b]}


def f1(found: partita.Clusters, truth: list[int]) -> float:
    guessed, true = pairs([row.cluster for row in found]), pairs(truth)
    return 2 * len(guessed & true) / (len(guessed) + len(true))


def test_duplicates_are_found(linked: partita.LinkedRecords) -> None:
    assert [row.record for row in linked] == [record["id"] for record in RECORDS]
    assert f1(linked, TRUTH) > 0.95
    assert linked.notes == (
        "comparing first_name (given name), surname (surname), birth_date (date), town (word), "
        "email (email)",
    )


def test_other_tables_of_the_same_records_give_the_same(
    linked: partita.LinkedRecords, tmp_path: Path
) -> None:
    frame = pandas.DataFrame(RECORDS)
    frame.to_csv(tmp_path / "people.csv", index=False)
    polars.DataFrame(RECORDS).write_parquet(tmp_path / "people.parquet")
    files = [tmp_path / "people.csv", tmp_path / "people.parquet"]
    for records in (*files, polars.DataFrame(RECORDS)):
        assert partita.link(records, settings=linked.settings).to_dict() == linked.to_dict()


def test_the_command_writes_tables_and_the_model(
    linked: partita.LinkedRecords, tmp_path: Path
) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    out, model = tmp_path / "clusters.csv", tmp_path / "model.json"
    arguments = ["link", path, "--out", out, "--settings-out", model]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    rows = pandas.read_csv(out, dtype={"membership": str})  # its floats are not those written
    assert rows["cluster"].tolist() == [row.cluster for row in linked]
    assert [float(p) for p in rows["membership"]] == [row.membership for row in linked]
    assert json.loads(model.read_text()) == linked.settings


def splink_settings() -> dict[str, Any]:
    import splink
    import splink.comparison_library as library

    settings: dict[str, Any] = splink.SettingsCreator(
        link_type="dedupe_only",
        comparisons=[library.NameComparison(name) for name in ("first_name", "surname")]
        + [library.ExactMatch("email")],
        blocking_rules_to_generate_predictions=[splink.block_on("town")],
    ).create_settings_dict("duckdb")
    return settings


def test_settings_of_splink_are_trained_and_linkers_are_taken() -> None:
    import splink

    found = partita.link(RECORDS, settings=splink_settings())
    assert len(found) == len(RECORDS)
    assert f1(found, TRUTH) > 0.5
    frame = pandas.DataFrame(RECORDS).rename(columns={"id": "unique_id"})
    model = found.settings | {"unique_id_column_name": "unique_id"}
    linker = splink.Linker(splink.DuckDBAPI().register(frame), model)
    taken = partita.link(linker)
    assert len(taken) == len(RECORDS)
    assert f1(taken, [*map(hash, [row.cluster for row in found])]) == pytest.approx(1.0)


def test_one_to_one_keeps_records_of_a_table_apart() -> None:
    one, other = RECORDS[::2], RECORDS[1::2]
    free = partita.link([one, other])
    strict = partita.link([one, other], one_to_one=True)
    sources = {str(r["id"]): n for n, table in enumerate((one, other)) for r in table}
    assert len(strict) == len(free) == len(RECORDS)
    for members in strict.clusters.values():
        assert len({sources[str(record)] for record in members}) == len(members)
    groups = free.clusters.values()
    within = [len({sources[str(r)] for r in group}) < len(group) for group in groups]
    assert any(within)


@pytest.mark.parametrize(
    ("records", "options", "problem"),
    [
        (RECORDS, {"unique_id": "nr"}, "has no column nr of ids"),
        (RECORDS, {"ignore": ["nr"]}, "has no column nr to ignore"),
        (RECORDS, {"one_to_one": True}, "--one-to-one needs at least two tables"),
        (RECORDS, {"settings": {"comparisons": [{"x": 1}]}}, "Splink could not use the settings"),
        (RECORDS[:1], {}, "has one record (expected at least two)"),
        ([], {}, "has no rows"),
    ],
)
def test_bad_input_is_one_line(records: Any, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(partita.InputError) as raised:
        partita.link(records, **options)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"comparisons": 7}', "comparisons of Splink settings is not a list of objects"),
        ('{"comparisons": [{"comparison_levels": [0.5]}]}', "comparison_levels of Splink settings"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"comparisons": ', "is not JSON"),
    ],
)
def test_a_file_of_settings_that_splink_could_not_have_written(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(partita.InputError, match=problem):
        partita.link(RECORDS, settings=path)


def test_weights_of_columns_add_up_to_the_score(linked: partita.LinkedRecords) -> None:
    frame = linked.to_pandas("pairs")
    for row in frame.iloc[[0, len(frame) // 2]].itertuples():
        found = partita.explain(linked, row.left, row.right)
        assert found.pair is not None
        assert found.rest is not None
        assert found.pair.probability == pytest.approx(row.score, rel=1e-6)
        assert found.pair.log_odds == pytest.approx(sum(c.weight for c in found.pair.contributions))
        assert found.marginal == row.probability
        assert "two random records" in str(found)


def test_a_result_is_shown_as_one_line(linked: partita.LinkedRecords) -> None:
    assert repr(linked) == f"Clusters({len(linked)} records in {linked.summary.clusters} clusters)"


def test_explained_in_the_terminal(tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("left,right,probability\na,b,.9\nb,c,.8\na,c,.4\nd,e,.7\n")
    arguments = ["cluster", str(scores), "--explain", "a", "c"]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    assert "influence of the other records" in shown.output
    found = partita.explain(partita.cluster(scores), "c", "a")
    assert found.probability == 0.4
    assert found.rest is not None
    assert found.rest.influences[0].templates == ("b",)
    assert found.rest.influences[-1].after == found.marginal > 0.6
    apart = partita.explain(partita.cluster(scores), "a", "d")
    assert apart.rest is None
    assert "different sets" in str(apart)
    for pair, said in ((("a", "x"), "unknown record x"), (("a", "a"), "both records are a")):
        with pytest.raises(partita.InputError, match=said):
            partita.explain(partita.cluster(scores), *pair)


def test_records_are_connected_by_scores_above_the_limit() -> None:
    linked = partita.link(RECORDS, settings=splink_settings())
    engine = DuckEngine(read_records([RECORDS]), one_to_one=False, seed=0)
    counts = []
    for limit in (1e-4, 0.5, 0.9):
        scored = engine.score(linked.settings, limit)
        above = scored.probability > limit
        home = linked_components(len(RECORDS), scored.left[above], scored.right[above])
        assert (home[scored.left] == home[scored.right]).all()
        counts.append(len(scored.left))
    assert counts[0] > counts[1] >= counts[2] > 0

"""Tables that are written: formats, and what spreadsheets would run."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita.errors import InputError
from partita.tables import read_table
from partita.tables.writing import TABLE_FORMATS, csv_text, write_table

COLUMNS = {"id": ["=1+1", "+44 20", "-5", "@x", "plain"], "p": [-0.5, 0.25, 1.0, 0.0, 0.5]}


@pytest.mark.parametrize("suffix", TABLE_FORMATS)
def test_what_is_written_is_read_again(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_table(path, COLUMNS)
    table = read_table(path)
    assert list(table.column("id")) == COLUMNS["id"]
    assert [float(value) for value in table.column("p")] == COLUMNS["p"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_on_request_no_cell_begins_as_a_formula(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_table(path, COLUMNS, excel_safe=True)
    table = read_table(path)
    assert list(table.column("id")) == ["'=1+1", "'+44 20", "'-5", "'@x", "plain"]
    assert table.column("p")[0] == "-0.5"  # a number is no formula


def test_lists_of_ids_are_quoted_as_one_text() -> None:
    assert csv_text([(["=a", "b"], 1)]) == "=a|b,1\n"
    assert csv_text([(["=a", "b"], 1)], excel_safe=True) == "'=a|b,1\n"


def test_a_name_without_a_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no known suffix \(expected \.csv, \.tsv"):
        write_table(tmp_path / "t.xlsx", COLUMNS)


@pytest.mark.parametrize("safe", [False, True])
def test_the_commands_have_the_option(tmp_path: Path, safe: bool) -> None:
    scores, out = tmp_path / "scores.csv", tmp_path / "clusters.csv"
    scores.write_text("left,right,probability\n=A1,-5,0.9\n")
    options = ["--out", str(out), *["--excel-safe"] * safe]
    run = CliRunner().invoke(app, ["cluster", str(scores), *options])
    assert run.exit_code == 0, run.output
    table = read_table(out)
    assert list(table.column(table.columns[0])) == (["'=A1", "'-5"] if safe else ["=A1", "-5"])

"""Tables in the encodings of spreadsheets, read as UTF-8 with a note."""

from __future__ import annotations

import warnings
from io import BytesIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

import partita
from partita.cli import app
from partita.errors import InputError
from partita.files.text import BLOCK, Lines, numbered_lines
from partita.linkage.labels import read_labels
from partita.linkage.record_tables import read_records
from partita.tables.reading import as_utf8, csv_rows, jsonl_rows

TABLE = "id,name\n1,Müller – Söhne\n2,Ångström\n"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (TABLE.encode("cp1252"), "Windows-1252"),
        ("id\nÅ\n".encode("latin-1"), "Windows-1252"),
        (TABLE.encode("utf-16"), "UTF-16"),
        (("x" * BLOCK + TABLE).encode("cp1252"), "Windows-1252"),
    ],
)
def test_what_spreadsheets_save_is_converted_and_noted(data: bytes, name: str) -> None:
    stream, notes = as_utf8(BytesIO(data), "t.csv")
    text = stream.read().decode()
    assert text.endswith(TABLE) or text == "id\nÅ\n"
    assert len(notes) == 1
    assert notes[0].startswith(f"t.csv is read as {name}")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        TABLE.encode(),
        TABLE.encode("utf-8-sig"),
        ("y" * (BLOCK - 1) + "ü").encode(),  # a character in two blocks
        TABLE.encode() + b"3,\xff\n",  # some of it is UTF-8
        b"id\n\x81\n",  # no character of Windows-1252
        b"\xff\xfei\0d",  # UTF-16 that ends within a character
    ],
)
def test_everything_else_stays_as_it_is(data: bytes) -> None:
    stream, notes = as_utf8(BytesIO(data), "t.csv")
    assert stream.read() == data
    assert notes == ()


def test_cluster_takes_scores_and_records_of_a_spreadsheet(tmp_path: Path) -> None:
    scores, records = tmp_path / "scores.csv", tmp_path / "records.csv"
    scores.write_bytes("left,right,probability\nMüller,Möller,0.9\n".encode("cp1252"))
    records.write_bytes("id\nMüller\nMöller\nÅse\n".encode("cp1252"))
    with pytest.warns(UserWarning, match="read as Windows-1252") as noted:
        clusters = partita.cluster(scores, records=records)
    assert len(noted) == 2
    assert clusters.clusters == {"Müller": ["Müller", "Möller"], "Åse": ["Åse"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        notes: list[str] = []
        partita.cluster(scores, records=records, note=notes.append)
    assert len(notes) == 2
    run = CliRunner().invoke(app, ["cluster", str(scores), "--out", str(tmp_path / "out.csv")])
    assert run.exit_code == 0
    assert "Windows-1252" in run.stderr
    assert "Müller" in (tmp_path / "out.csv").read_text(encoding="utf-8")


def test_tables_and_labels_of_a_spreadsheet_are_read(tmp_path: Path) -> None:
    notes: list[str] = []
    path = tmp_path / "people.csv"
    path.write_bytes("id;name\n1;Müller\n2;Ångström\n3;Noël\n".encode("cp1252"))
    assert read_records([path], note=notes.append).columns["name"] == ["Müller", "Ångström", "Noël"]
    assert sum("read as Windows-1252" in note for note in notes) == 1
    path.write_bytes("left,right,same\nMüller,Noël,1\n".encode("utf-16"))
    assert read_labels(path, notes.append).pairs == {("Müller", "Noël"): True}
    assert "read as UTF-16" in notes[-1]


def test_lines_are_numbered_from_one_across_blocks(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    line = "x" * 99
    path.write_text(f"{line}\n" * (BLOCK // 50), encoding="utf-8")
    assert list(numbered_lines(path)) == [(n + 1, line) for n in range(BLOCK // 50)]
    path.write_bytes(b"first\n\xff\n")
    with pytest.raises(InputError, match="line 2"):
        list(numbered_lines(path))


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_header_that_other_marks_separate_is_read(mark: str) -> None:
    table = f"left{mark}right\na{mark}b\n".encode()
    [rows] = csv_rows(Lines(BytesIO(table), "pairs.csv"))
    assert (rows.columns, [*map(list, rows.values)]) == (("left", "right"), [["a"], ["b"]])
    [rows] = csv_rows(Lines(BytesIO(b"left\na\n"), "one.csv"))
    assert rows.columns == ("left",)


def test_an_object_with_bytes_that_are_no_text_is_told_with_its_line() -> None:
    data = b'\n{"a": 1}\n{"a": "\xff"}\n{"a": 2}\n'
    [rows] = jsonl_rows(Lines(BytesIO(data), "claims.jsonl"))
    assert list(rows.lines) == [2, 3, 4]
    assert list(rows.problems) == [1]
    assert "UTF-8" in rows.problems[1]


def test_the_tables_beside_claims_are_noted_too(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_bytes("object;value\ncafé;Köln\n".encode("cp1252"))
    belief = partita.fuse([("café", "Zoë", "Köln"), ("café", "Åse", "Bonn")], truth=path)
    assert [note for note in belief.notes if "read as Windows-1252" in note]

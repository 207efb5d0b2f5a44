"""Every command reads the same table to the same answer, whatever its format and encoding."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import partita
from partita.fusion.claim_files import read_claims
from partita.fusion.sources import read_nesting, read_objects, read_reliabilities, read_truths
from partita.linkage.clusters import read_clusters, read_record_ids, read_template_list
from partita.linkage.grouping import group
from partita.linkage.increments import read_previous
from partita.linkage.labels import read_labels
from partita.linkage.pairs import read_pairs
from partita.linkage.record_tables import read_records as read_record_tables
from partita.tables import read_table
from partita.text.annotations import mention_source

Columns = dict[str, list[Any]]
MARKS = {"csv": ",", "semicolons": ";", "bars": "|", "tsv": "\t"}
SUFFIXES = {"semicolons": "csv", "bars": "csv"}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")


def delimited(columns: Columns, form: str) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=MARKS[form], lineterminator="\n")
    writer.writerows([list(columns), *zip(*columns.values(), strict=True)])
    return stream.getvalue()


def json_lines(columns: Columns) -> str:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def table_bytes(columns: Columns, form: str, encoding: str) -> bytes:
    if form in ("parquet", "arrow", "feather", "stream"):
        table, stream = pa.table(columns), io.BytesIO()
        if form == "parquet":
            parquet.write_table(table, stream)
        elif form == "feather":
            feather.write_feather(table, stream)
        else:
            new = pa.ipc.new_stream if form == "stream" else pa.ipc.new_file
            with new(stream, table.schema) as writer:
                writer.write_table(table)
        return stream.getvalue()
    text = json_lines(columns) if form == "jsonl" else delimited(columns, form)
    return text.encode(encoding)


def written(folder: Path, columns: Columns, form: str, encoding: str, zipped: bool) -> Path:
    data = table_bytes(columns, form, encoding)
    suffix = SUFFIXES.get(form, "arrow" if form == "stream" else form)
    path = folder / f"table.{suffix}{'.gz' if zipped else ''}"
    path.write_bytes(gzip.compress(data) if zipped else data)
    return path


TEXT_CELLS = [
    (form, encoding, zipped)
    for form in (*MARKS, "jsonl")
    for encoding in ENCODINGS
    for zipped in (False, True)
]
CELLS = [*TEXT_CELLS, *((form, "", z) for form in ("parquet", "arrow", "feather", "stream")
                        for z in (False, True))]  # fmt: skip


def pairs_answer(source: Any) -> Any:
    table = read_pairs(source)
    for error in group(table).failed.values():  # a bad row of scores concerns its set only
        raise error
    return table.names, table.left.tolist(), table.right.tolist(), table.probability.tolist()


def claims_answer(source: Any) -> Any:
    claims = read_claims(source)
    columns = (claims.source, claims.object, claims.slot, claims.value)
    names = (claims.sources, claims.objects, claims.slots, claims.values)
    return [[names[k][i] for i in column] for k, column in enumerate(columns)]


def solve_answer(source: Any) -> Any:
    return partita.solve(source).to_dict()["configurations"]


def cluster_answer(source: Any) -> Any:
    return partita.cluster(source, note=lambda text: None).to_dict()["clusters"]


def fuse_answer(source: Any) -> Any:
    return [(v.object, v.value, v.probability) for v in partita.fuse(source).values]


def records_answer(source: Any) -> Any:
    table = read_record_tables([source])
    return [*map(str, table.ids)], dict(table.columns)


def clusters_answer(source: Any) -> Any:
    return [(one.message, dict(one.clusters)) for one in read_clusters(source)]


def mentions_answer(source: Any) -> Any:
    mentions = mention_source(source).lines.mentions
    return {name: [(one.spans, one.type) for one, _ in listed] for name, listed in mentions.items()}


PAIRS = {
    "left": ["Müller", "Möller", "Åse"],
    "right": ["Möller", "Åse", "Noël"],
    "probability": [0.9, 0.25, 0.75],
}
CLAIMS = {
    "object": ["café", "café", "naïve"],
    "source": ["Zoë", "Åse", "Zoë"],
    "value": ["Köln", "Bonn", "Orléans"],
}
NAMES = {"id": [1, 2, 3], "name": ["Müller", "Ångström", "Noël"], "city": ["Köln", "Åbo", "Nîmes"]}
CLUSTERS = {"id": ["é", "ü", "o"], "cluster": ["é", "é", "o"]}
READERS: dict[str, tuple[Columns, Callable[[Any], Any]]] = {
    "solve": (PAIRS, solve_answer),
    "scores": (PAIRS, pairs_answer),
    "cluster": (PAIRS, cluster_answer),
    "fuse": (CLAIMS, fuse_answer),
    "claims": (CLAIMS, claims_answer),
    "truths": (
        {"object": ["café", "naïve"], "value": ["Köln", "Orléans"]},
        lambda source: read_truths(source, ["value"]),
    ),
    "reliabilities": (
        {"source": ["Zoë", "Åse"], "reliability": [0.5, 0.25]},
        read_reliabilities,
    ),
    "hierarchy": (
        {"name": ["Köln", "Zürich", "Jura"], "parent": ["Österreich", "Österreich", "Böhmen"]},
        lambda source: read_nesting(source).above,
    ),
    "objects": ({"object": ["café", "naïve"]}, read_objects),
    "link": (NAMES, records_answer),
    "records": (NAMES, lambda source: [t.id for t in read_record_ids(source).templates]),
    "templates": (
        {"id": ["é", "ü"], "text": ["Café", "Über"]},
        lambda source: [(t.id, t.text) for t in read_template_list(source).templates],
    ),
    "labels": (
        {"left": ["é", "ü"], "right": ["ü", "o"], "same": [1, 0]},
        lambda source: read_labels(source).pairs,
    ),
    "mentions": (
        {"document": ["é", "ü"], "start": [0, 5], "end": [3, 8], "type": ["Zoë", "x"]},
        mentions_answer,
    ),
    "clusters": (CLUSTERS, clusters_answer),
    "previous": (CLUSTERS, lambda source: read_previous(source).cluster),
}


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """The answers for a list of dicts."""
    answers = {}
    for name, (columns, answer) in READERS.items():
        rows = zip(*columns.values(), strict=True)
        answers[name] = answer([dict(zip(columns, row, strict=True)) for row in rows])
    return answers


@pytest.mark.filterwarnings("ignore:.* is read as")
@pytest.mark.parametrize(("form", "encoding", "zipped"), CELLS)
def test_every_file_gives_the_same_answer(
    tmp_path: Path, expected: dict[str, Any], form: str, encoding: str, zipped: bool
) -> None:
    for name, (columns, answer) in READERS.items():
        path = written(tmp_path, columns, form, encoding, zipped)
        assert answer(path) == expected[name], name


def relation(columns: Columns) -> duckdb.DuckDBPyRelation:
    return duckdb.from_arrow(pa.table(columns))


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, relation], ids=lambda m: m.__name__
)
def test_every_object_gives_the_same_answer(expected: dict[str, Any], make: Any) -> None:
    for name, (columns, answer) in READERS.items():
        source = make(columns)
        assert answer(source) == expected[name], name


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_was_converted_is_noted(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, PAIRS, "csv", encoding, False)
    notes = read_table(path).notes
    names = {"utf-16": "UTF-16", "cp1252": "Windows-1252"}
    assert [note.startswith(f"{path} is read as {names[encoding]}") for note in notes] == [True] * (
        encoding in names
    )


@pytest.mark.parametrize("form", ["csv", "semicolons", "tsv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("zipped", [False, True])
def test_standard_input_is_recognised(
    monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any], form: str, zipped: bool
) -> None:
    for name, (columns, answer) in READERS.items():
        data = table_bytes(columns, form, "utf-8")
        stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(data) if zipped else data))
        monkeypatch.setattr("sys.stdin", stdin)
        assert answer("-") == expected[name], name


JSON_ROW = {name: json_lines(columns).encode() for name, (columns, _) in READERS.items()}
HEADED = {name: delimited(columns, "csv").encode() for name, (columns, _) in READERS.items()}
LONG = b"x" * 2_000_000


def twice(name: str) -> bytes:
    """The first field of the second line stands there twice."""
    first, second, *rest = JSON_ROW[name].splitlines(keepends=True)
    field = second[1:].split(b", ")[0]
    return b"".join([first, b"{" + field.rstrip(b"}\n") + b", " + second[1:], *rest])


def listed(name: str) -> bytes:
    """The first id is a list."""
    columns, _ = READERS[name]
    first = next(iter(columns))
    values = [["a", "b"], *columns[first][1:]]
    return json_lines({**columns, first: values}).encode()


def truth(name: str) -> bytes:
    """The first id is a boolean."""
    columns, _ = READERS[name]
    first = next(iter(columns))
    return json_lines({**columns, first: [True, *columns[first][1:]]}).encode()


BAD: list[tuple[str, Callable[[str], bytes], str]] = [
    ("t.csv", lambda name: b"", "t.csv: is empty; expected a header and rows"),
    ("t.jsonl", lambda name: b"\n", "t.jsonl: is empty; expected one JSON object per line"),
    ("t.jsonl", twice, "t.jsonl, line 2: field '.*' appears twice in one object"),
    ("t.jsonl", lambda name: JSON_ROW[name] + b"[1]\n", "line .: is not a JSON object but list"),
    ("t.jsonl", lambda name: JSON_ROW[name] + b'{"a"\n', "line .: is not JSON: Expecting ':'"),
    ("t.jsonl", listed, r"t.jsonl, line 1: .* is \['a', 'b'\] \(expected a text or a number\)"),
    ("t.jsonl", truth, r"t.jsonl, line 1: .* is True \(expected a text or a number\)"),
    (
        "t.csv",
        lambda name: HEADED[name] + b"a,b,c,d,e,f,g\n",
        "t.csv, line .: has 7 values; the header names . columns?",
    ),
    ("t.csv", lambda name: HEADED[name] + b'"a\n', "t.csv, line .: is not CSV: unexpected end"),
    ("t.csv", lambda name: b"a,a\n1,2\n", "t.csv, line 1: column 'a' appears twice"),
    ("t.csv", lambda name: b"PK\x03\x04" + LONG, "t.csv: is a spreadsheet or a zip file"),
    ("t.csv", lambda name: LONG, "t.csv, line 1: the first line has 2,000,000 bytes"),
    ("t.csv.gz", lambda name: gzip.compress(HEADED[name])[:-9], "t.csv.gz: is not gzip"),
    ("t.parquet", lambda name: HEADED[name], "t.parquet: is not Parquet"),
    ("t.arrow", lambda name: HEADED[name], "t.arrow: is not Arrow"),
    ("t.csv", lambda name: b"[" + JSON_ROW[name] + b"]", "t.csv, line 1: is JSON; expected CSV"),
    (
        "t.csv",
        lambda name: HEADED[name] + b"\xff\n",
        r"t.csv, line .: is not UTF-8 \(byte 1 of the line\)",
    ),
    ("t.csv", lambda name: HEADED[name] + b"\0\n", "t.csv, line .: holds a NUL byte"),
]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(("file", "content", "problem"), BAD)
def test_what_is_wrong_is_said_in_the_same_way_everywhere(
    tmp_path: Path, name: str, file: str, content: Callable[[str], bytes], problem: str
) -> None:
    path = tmp_path / file
    path.write_bytes(content(name))
    with pytest.raises(partita.InputError, match=problem) as refused:
        READERS[name][1](path)
    assert len(str(refused.value).splitlines()) == 1


def test_what_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.tables.reading.LEAST_LIMIT", 1000)
    with pytest.raises(partita.InputError, match=r"^t\.csv\.gz: is compressed more than 200-fold"):
        read_table(gzip.compress(b"a\n" + b"0" * 10_000_000), name="t.csv.gz")

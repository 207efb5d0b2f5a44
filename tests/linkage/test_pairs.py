"""Reading pair probabilities: formats, names of columns, and everything that can be wrong."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from partita.core import Template, components, linked_components, restricted_growth
from partita.errors import InputError
from partita.linkage.grouping import TemplateList, group
from partita.linkage.pairs import read_pairs
from partita.linkage.sets import Sets

TABLE_1 = "left,right,probability\nA,B,.671\nA,C,0\nA,D,.505\nB,C,0\nB,D,.752\nC,D,.504\n"


@pytest.fixture
def written(tmp_path: Path):
    def write(content: str | bytes, name: str = "pairs.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def sets_of(path: Path, **options) -> Sets:
    return group(read_pairs(path), **options)


def members(sets: Sets) -> list[tuple[str, ...]]:
    return [tuple(sets.ids[sets.starts[k] : sets.starts[k + 1]]) for k in range(len(sets))]


def refusal(path: Path) -> str:
    """What is said about a file of one bad set, without the folder."""
    try:
        [error] = sets_of(path).failed.values()
    except InputError as raised:
        error = raised
    text = str(error)
    assert "\n" not in text
    return text.replace(f"{path.parent}/", "")


def test_table_1(written):
    sets = sets_of(written(TABLE_1))
    assert members(sets) == [("A", "B", "C", "D")]
    pairs = sets.pairs()[0]
    expected = [[0, 0.671, 0, 0.505], [0.671, 0, 0, 0.752], [0, 0, 0, 0.504]]
    assert pairs.matrix[:3].tolist() == expected
    assert np.array_equal(pairs.matrix, pairs.matrix.T)
    assert pairs.set.incompatible == {("A", "C"), ("B", "C")}
    assert pairs.set.must == frozenset()
    assert sets.unlisted().tolist() == [0]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + TABLE_1.encode(),
        TABLE_1.replace("\n", "\r\n").encode(),
        TABLE_1.removesuffix("\n").encode(),
        TABLE_1.replace("\n", "\n\n").encode() + b"\n\n",
        b"\n" + TABLE_1.encode(),
        TABLE_1.replace(",", " , ").encode(),
        TABLE_1.replace("A,B", " A,B", 1).encode(),
        TABLE_1.replace("A,B", "A,B ", 1).encode(),
        TABLE_1.replace("A", '"A"').encode(),
        TABLE_1.replace("A,B,.671", "A,B,0.671\nB,A,.671").encode(),
        b'"probability","right","left"\n'
        + b"".join(
            b",".join(reversed(row.split(b","))) + b"\n" for row in TABLE_1.encode().split()[1:]
        ),
        TABLE_1.encode() + b",,\n",
    ],
    ids=["mark", "crlf", "no end", "blank lines", "blank first", "blanks", "blank before one",
         "blank after one", "quotes", "twice the same", "other order", "empty row"],
)  # fmt: skip
def test_variants_of_csv_say_the_same(written, content):
    sets = sets_of(written(content))
    assert not sets.failed
    plain = sets_of(written(TABLE_1, "plain.csv"))
    order = [members(sets)[0].index(name) for name in "ABCD"]
    assert np.array_equal(sets.pairs()[0].matrix[np.ix_(order, order)], plain.pairs()[0].matrix)


def test_quoted_ids_hold_commas_and_line_ends(written):
    content = 'left,right,probability\n"a, b","c\nd",.5\n"c\nd",e,2\n'
    path = written(content)
    table = read_pairs(path)
    assert table.names == ["a, b", "c\nd", "e"]
    assert table.lines.tolist() == [2]
    assert table.problems[0].line == 4


def test_jsonl(written):
    rows = [
        {"left": 1, "right": "B", "probability": 0.5},
        {"right": "C", "left": "B", "probability": 1},
    ]
    path = written("\n".join(map(json.dumps, rows)) + "\n\n", "pairs.jsonl")
    sets = sets_of(path)
    assert members(sets) == [("1", "B", "C")]
    assert sets.pairs()[0].matrix[1, 2] == 1.0


def test_parquet(written, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"left": [1, 2], "right": [2, 3], "probability": [0.5, 0.25]}), path)
    sets = sets_of(path)
    assert members(sets) == [("1", "2", "3")]
    assert sets.pairs()[0].matrix[1, 2] == 0.25


def test_standard_input_is_sniffed():
    csv = io.BufferedReader(io.BytesIO(TABLE_1.encode()))
    assert len(read_pairs(csv).left) == 6
    line = b'{"left":"A","right":"B","probability":0.5}\n'
    assert len(read_pairs(io.BufferedReader(io.BytesIO(line))).left) == 1
    assert len(read_pairs(io.BytesIO(line)).left) == 1


def test_splink_names(written):
    content = (
        "match_weight,match_probability,source_dataset_l,unique_id_l,source_dataset_r,unique_id_r,"
        "gamma_name,bf_name,match_key\n3.1,.9,a,1,b,1,2,3.0,0\n"
    )
    assert read_pairs(written(content)).names == ["a-__-1", "b-__-1"]
    assert read_pairs(written("unique_id_l,unique_id_r,match_probability,x\n1,2,.5,y\n")).names == [
        "1",
        "2",
    ]


def test_sets_by_component_and_singletons(written):
    content = "left,right,probability\nA,B,.5\nC,D,.5\nB,C,0\nE,A,0\nF,D,.1\n"
    sets = sets_of(written(content))
    assert members(sets) == [("A", "B"), ("C", "D", "F")]
    assert list(sets.names) == ["1", "2"]
    assert [t.id for t in sets.singletons] == ["E"]
    assert sets.unlisted().tolist() == [0, 1]


def test_sets_by_column_keep_equal_ids_apart(written):
    content = "left,right,probability,set\nA,B,.5,x\nA,B,.6,y\nC,B,0,x\n"
    sets = sets_of(written(content))
    assert list(sets.names) == ["x", "y"]
    assert members(sets) == [("A", "B", "C"), ("A", "B")]
    assert sets.unlisted().tolist() == [1, 0]
    assert sets.pairs()[0].set.name == "x"


def test_missing_makes_one_set(written):
    content = "left,right,probability\nA,B,.5\nC,D,.5\nE,A,0\n"
    sets = sets_of(written(content), missing=0.1)
    assert members(sets) == [("A", "B", "C", "D", "E")]
    assert sets.unlisted().tolist() == [7]
    matrix = sets.pairs()[0].matrix
    assert (matrix[0].tolist(), matrix.diagonal().tolist()) == ([0, 0.5, 0.1, 0.1, 0], [0] * 5)


def test_soft_is_evidence_and_links(written):
    sets = sets_of(written("left,right,probability\nA,B,0\nB,C,1\n"), soft=True)
    assert members(sets) == [("A", "B", "C")]
    pairs = sets.pairs()[0]
    assert (pairs.matrix[0, 1], pairs.matrix[1, 2]) == (1e-12, 1 - 1e-12)
    assert not pairs.set.incompatible


def test_text_order_from_a_list(written):
    listed = TemplateList("t.csv", tuple(map(Template, "DEFCBA")))
    sets = sets_of(written("left,right,probability\nA,B,.5\nC,D,.5\n"), listed=listed)
    assert members(sets) == [("D", "C"), ("B", "A")]
    assert [t.id for t in sets.singletons] == ["E", "F"]
    whole = sets_of(written("left,right,probability\nA,B,.5\nC,D,.5\n"), listed=listed, missing=0.1)
    assert members(whole) == [("D", "E", "F", "C", "B", "A")]


def test_a_template_that_the_list_lacks_fails_its_set(written):
    listed = TemplateList("t.csv", tuple(map(Template, "ABC")))
    path = written("left,right,probability\nA,B,.5\nC,D,.5\n")
    sets = sets_of(path, listed=listed)
    assert [str(error) for error in sets.failed.values()] == [
        f"{path}, line 3: refers to D, which t.csv does not list"
    ]


HEAD = "left,right,probability\nX,Y,.5\n"
SAID = "expected a number from 0 to 1"
AB = "line 3: the probability of A and B is"
XB = "line 2: the probability of X and B is"
IS_JSON = "line 1: is JSON; expected CSV with a header, or JSON Lines (one object in each line)"
COLUMNS = "expected left, right, probability and optionally set"
NAMES = (
    "expected left, right, probability (or Splink's unique_id_l, unique_id_r, match_probability, "
    "or id_1, id_2, score)"
)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("A,B,1.5", f"{AB} 1.5, outside 0 to 1; {SAID}"),
        ("A,B,-1e-9", f"{AB} -1e-9, outside 0 to 1; {SAID}"),
        ("A,B,nan", f"{AB} nan, not a number; {SAID}"),
        ("A,B,inf", f"{AB} inf, outside 0 to 1; {SAID}"),
        ("A,B,often", f"{AB} often, not a number; {SAID}"),
        (f"A,B,{'7' * 400}", f"{AB} {'7' * 37}..., outside 0 to 1; {SAID}"),
        ("A,B,0_1", f"{AB} 0_1, not a number; {SAID}"),
        ("A,B,", f"{AB} missing; {SAID}"),
        ("A,A,.5", "line 3: pairs A with itself"),
        ("A,B,.5\nB,A,.6", "line 4: the probability of A and B is 0.6, and 0.5 in line 3"),
        ("A,,.5", "line 3: pairs A with nothing; expected two ids"),
        ("A,B", "line 3: has 2 values; the header names 3 columns"),
        ("A,B,.5,.6", "line 3: has 4 values; the header names 3 columns"),
        ("A,é,.5\nA,".encode() + b"\xff,.5", "line 4: is not UTF-8 (byte 3 of the line)"),
        ("A,B\0,.5", "line 3: holds a NUL byte"),
        ("A,B,2\nB,E,3", f"{AB} 2, outside 0 to 1; {SAID} (and 1 more in this set)"),
    ],
)  # fmt: skip
def test_a_bad_row_fails_its_set_only(written, row, said):
    path = written(
        HEAD.encode() + (row if isinstance(row, bytes) else row.encode()) + b"\nC,D,.5\n"
    )
    sets = sets_of(path)
    assert [str(error) for error in sets.failed.values()] == [f"{path}, {said}"]
    answered = [cell for k, cell in enumerate(members(sets)) if k not in sets.failed]
    assert answered == [("X", "Y"), ("C", "D")]
    assert not sets.singletons


def test_a_very_long_id_is_refused(written):
    path = written(f"{HEAD}A,{'B' * 10_001},.5\n")
    problem = "line 3: an id has 10,001 characters; expected at most 10,000"
    with pytest.raises(InputError, match=problem):
        sets_of(path)


def test_a_bad_row_fails_the_set_it_names(written):
    path = written("left,right,probability,set\nA,B,.5,x\nA,B,7,y\nB,C,.5,x\nA,B,.5,\nC,D,.5,z\n")
    sets = sets_of(path)
    failed = {sets.names[k]: str(error) for k, error in sets.failed.items()}
    assert failed.keys() == {"x", "y"}
    assert failed["x"].endswith("line 5: names no set for A and B")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "pairs.csv: is empty; expected a header and rows"),
        ("\n\n", "pairs.csv: is empty; expected a header and rows"),
        ("left,right,probability\n", "pairs.csv: has no rows; expected at least one pair"),
        ("left,right\nA,B\n", "pairs.csv, line 1: has no column probability; "
         f"{NAMES} and found left, right"),
        ("left,right,probability,weight\nA,B,.5,1\n", "pairs.csv, line 1: has unknown columns "
         f"'weight'; {COLUMNS}"),
        ("left,right,probability,left\nA,B,.5,1\n", "pairs.csv, line 1: column "
         "'left' appears twice"),
        ("unique_id_l,unique_id_r\n1,2\n", "pairs.csv, line 1: has Splink's columns but no "
         "match_probability"),
        ("left,right,probability\nA,B,.5\n,,.5\n", "pairs.csv, line 3: pairs nothing with nothing; "
         "expected two ids"),
        ('left,right,probability\nA,B,.5\nA,"C,.5\n', "pairs.csv, line 3: is not CSV: "
         "unexpected end of data"),
        (b"\xff\xfel\0e", "pairs.csv, line 1: is UTF-16; expected UTF-8"),
        ('[{"left":"A","right":"B","probability":0.5}]\n', f"pairs.csv, {IS_JSON}"),
        ('[\n{"left":"A","right":"B","probability":0.5}\n]\n', f"pairs.csv, {IS_JSON}"),
        (b"left,r\xffght,probability\nA,\xc3\xa9,.5\n", "pairs.csv, line 1: is not UTF-8 "
         "(byte 7 of the line)"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_at_all(written, content, said):
    assert refusal(written(content)) == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "line 2: is not a JSON object but list"),
        ('{"left":"A"', "line 2: is not JSON: Expecting ',' delimiter (column 12)"),
        ('{"left":"X","right":"B"}', "line 2: has no column probability; "
         f"{NAMES} and found left, right"),
        ('{"left":"X","right":"B","probability":true}', f"{XB} True, not a number; {SAID}"),
        ('{"left":"X","right":"B","probability":NaN}', f"{XB} missing; {SAID}"),
        ('{"left":"X","right":"B","probability":null}', f"{XB} missing; {SAID}"),
        ('{"left":"X","right":"\\ud800","probability":0.5}', "line 2: pairs X with nothing; "
         "expected two ids"),
        ('{"left":"X","right":"B","probability":0.5,"w":1}', "line 2: has unknown "
         f"columns 'w'; {COLUMNS}"),
    ],
)  # fmt: skip
def test_bad_jsonl(written, line, said):
    path = written('{"left":"X","right":"Y","probability":0.5}\n' + line + "\n", "pairs.jsonl")
    assert refusal(path) == f"pairs.jsonl, {said}"


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read: No such file"):
        read_pairs(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match=r"cannot be read: Is a directory"):
        read_pairs(tmp_path)


def test_not_parquet(written):
    assert refusal(written("left,right", "pairs.parquet")).startswith(
        "pairs.parquet: is not Parquet"
    )


def test_parquet_rows_are_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "pairs.parquet"
    table = {"left": ["A", None], "right": ["B", "C"], "probability": [2.0, 0.5]}
    pq.write_table(pa.table(table), path)
    failed = [str(error) for error in sets_of(path).failed.values()]
    assert failed == [
        f"{path}, row 1: the probability of A and B is 2.0, outside 0 to 1; {SAID}",
        f"{path}, row 2: pairs C with nothing; expected two ids",
    ]


def test_many_blocks_keep_line_numbers(written, monkeypatch):
    monkeypatch.setattr("partita.files.text.BLOCK", 50)
    monkeypatch.setattr("partita.tables.reading.CHUNK", 7)
    rows = [f"a{n},b{n},.5" for n in range(100)]
    rows[60] = '"a,x",b,.5'
    rows[90] = "a90,b90,9"
    table = read_pairs(written("left,right,probability\n" + "\n".join(rows) + "\n"))
    assert table.lines.tolist() == [n + 2 for n in range(100) if n != 90]
    assert [problem.line for problem in table.problems] == [92]


ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=3)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.tuples(ids, ids), st.floats(0, 1), min_size=1, max_size=20))
def test_what_is_written_is_read(tmp_path_factory, given):
    import csv

    wanted = {tuple(sorted(k)): p for k, p in given.items() if k[0] != k[1]}
    if not wanted:
        return
    path = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(
            [("left", "right", "probability"), *((*k, repr(p)) for k, p in wanted.items())]
        )
    found = {}
    for pairs in group(read_pairs(path), missing=0.25).pairs():
        for a, left in enumerate(pairs.set.ids):
            for b, right in enumerate(pairs.set.ids[:a]):
                found[tuple(sorted((left, right)))] = pairs.matrix[a, b]
    assert {k: found[k] for k in wanted} == wanted
    assert set(found.values()) <= {*wanted.values(), 0.25}


odd_names = ["a", " 1", "2\t", "\u00a03", "4 ", "c d", "é", "e\u0301", "日本", "", "  "]
names = st.integers(0, 9).map(str) | st.integers(0, 99).map(str) | st.sampled_from(odd_names)
plain_numbers = st.floats(0, 1).map(repr) | st.decimals(0, 1, places=12).map(str)
odd_numbers = st.sampled_from(
    ["1e-5", "1.5E-7", "2.5e-130", "1e5", "-0", "-1e-9", ".5", "1.", ".", "", " 0.5", "0.5 ", "٠.٥",
     "nan", "inf", "1_0", "0x1", "often", "1e", "1e+0", "+.5", "--1", "1.2.3", "9007199254740993",
     "0.30000000000000004441", "0.1000000000000000055511151231257827", "5e-324", "1" * 400]
)  # fmt: skip
plain_rows = st.tuples(st.integers(0, 9).map(str), st.integers(0, 9).map(str), plain_numbers)
rows = (plain_rows | st.tuples(names, names, plain_numbers | odd_numbers)).map(",".join)
odd_rows = st.sampled_from(
    ["", " ", "a,b", "a,b,.5,x", '"a",b,.5', '"a,c",b,.5', 'a,"b\nc",.5', 'a"b,c,.5', 'a,"b,.5',
     "a,b\0,.5", "a,\udcff,.5", "a,b,.5\r", "a\rb,c,.5", f"a,{'é' * 10_001},.5"]
)  # fmt: skip
regular_tables = st.lists(plain_rows.map(",".join), max_size=9)
tables = st.tuples(regular_tables, st.lists(rows, max_size=20) | st.lists(rows | odd_rows)).map(
    lambda parts: parts[0] + parts[1]
)


@settings(deadline=None, max_examples=200)
@given(tables, st.booleans(), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
@example(["0,0,.1", f"a,{'é' * 10_001},.5", "0,0,.1", "a\rb,c,.5"], False, "\n", False)
def test_regular_blocks_as_the_csv_module_reads(tmp_path_factory, rows, named_sets, end, last_end):
    header = "left,right,probability"
    if named_sets:
        header, rows = f"set,{header}", [f"{row[:1]},{row}" for row in rows]
    text = end.join([header, *rows]) + (end if last_end else "")
    path = tmp_path_factory.getbasetemp() / "pairs.csv"
    path.write_bytes(text.encode(errors="surrogateescape"))
    for block in (7, 90, 1 << 20):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("partita.files.text.BLOCK", block)
            found = read_or_refused(path)
            patched.setattr("partita.tables.reading._regular_columns", lambda *block: None)
            assert read_or_refused(path) == found


def read_or_refused(path: Path) -> list[object]:
    try:
        table = read_pairs(path)
    except InputError as error:
        return [str(error)]
    columns = (table.left, table.right, table.lines, [] if table.sets is None else table.sets)
    bits = table.probability.view(np.int64).tolist()
    return [table.names, table.set_names, table.problems, bits, *map(list, columns)]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=20))
def test_components_against_flooding(edges):
    ends = np.array(edges, np.int64).reshape(-1, 2)
    home = linked_components(15, ends[:, 0], ends[:, 1])
    for node in range(15):
        reached = {node}
        while grown := {b for e in edges for a, b in (e, e[::-1]) if a in reached} - reached:
            reached |= grown
        assert home[node] == min(reached)
    adjacent = np.zeros((15, 15), np.bool_)
    adjacent[ends[:, 0], ends[:, 1]] = adjacent[ends[:, 1], ends[:, 0]] = True
    assert components(adjacent).tolist() == restricted_growth(home).tolist()

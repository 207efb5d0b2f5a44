"""Files of claims: tables, records, judgements, and everything that may be wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita.errors import InputError
from partita.fusion.claim_files import read_claims
from partita.fusion.sources import read_nesting, read_objects, read_reliabilities, read_truths


def written(folder: Path, text: str, name: str = "claims.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def told(claims):
    """Every claim as source, object, slot, value, line."""
    return [
        (claims.sources[s], claims.objects[o], claims.slots[k], claims.values[v], line)
        for s, o, k, v, line in zip(
            claims.source, claims.object, claims.slot, claims.value, claims.line, strict=True
        )
    ]


def test_claims_with_and_without_a_slot(tmp_path):
    path = written(tmp_path, 'obj,src,value\nx,ann,Rome\ny,bob,"Oslo, Norway"\n')
    assert told(read_claims(path)) == [
        ("ann", "x", "value", "Rome", 2), ("bob", "y", "value", "Oslo, Norway", 3)]  # fmt: skip
    path = written(tmp_path, "source,object,slot,value\nann,x,city,Rome\n")
    assert told(read_claims(path)) == [("ann", "x", "city", "Rome", 2)]


def test_records_make_a_claim_for_each_slot(tmp_path):
    path = written(tmp_path, "id,city,year\nx,Rome,1996\ny,,1997\n", "archive.csv")
    claims = read_claims(path)
    assert sorted(told(claims)) == [
        ("archive", "x", "city", "Rome", 2),
        ("archive", "x", "year", "1996", 2),
        ("archive", "y", "year", "1997", 3),
    ]
    assert claims.notes == (f"{path}: 1 values are empty and are ignored",)


def test_judgements_on_pairs(tmp_path):
    path = written(tmp_path, "left,right,source,same\na,b,ann,1\n")
    assert told(read_claims(path)) == [("ann", "a_b", "same", "1", 2)]
    path = written(tmp_path, "left,right,probability\na,b,.9\na,c,.25\n", "model.csv")
    claims = read_claims(path)
    assert [row[3] for row in told(claims)] == ["same", "different"]
    assert claims.confidence.tolist() == pytest.approx([0.8, 0.5])


def test_jsonl_lists_are_several_values(tmp_path):
    text = '{"object": "x", "source": "ann", "value": ["Han", "Kamber"]}\n'
    text += '{"object": "y", "source": "ann", "value": 3}\n'
    claims = read_claims(written(tmp_path, text, "c.jsonl"))
    assert [row[3:] for row in told(claims)] == [("Han", 1), ("Kamber", 1), ("3", 2)]
    assert claims.kinds == {"value": "several"}


def test_tabs_without_a_header_need_names(tmp_path):
    path = written(tmp_path, "ann\tx\ttitle\tRome\r\nbob\ty\ttitle\tOslo\r\n", "c.txt")
    claims = read_claims(path, ("source", "object", "-", "city"))
    assert told(claims) == [("ann", "x", "city", "Rome", 1), ("bob", "y", "city", "Oslo", 2)]
    with pytest.raises(InputError, match=r"c\.txt, line 1: has no header; name its 4 columns"):
        read_claims(path)


def test_a_csv_without_a_header_takes_names_too(tmp_path):
    path = written(tmp_path, "ann,x,Rome\nbob,y,Oslo\n")
    claims = read_claims(path, ("source", "object", "city"))
    assert told(claims) == [("ann", "x", "city", "Rome", 1), ("bob", "y", "city", "Oslo", 2)]


BAD = [
    ("", "claims.csv: is empty"),
    ("object,source,value\n", "claims.csv: has no claims"),
    ("object,source,value\nx,ann,\n", r"has no claims \(1 rows are empty\)"),
    ("source,value\nann,Rome\n", "line 1: has no column object"),
    ("object,source\nx,ann\n", "line 1: has no column value"),
    ("object,source,value,weather\nx,ann,Rome,fine\n", "line 1: has unknown columns 'weather'"),
    ("object,source,value\nx,ann\n", "line 2: has 2 values; the header names 3 columns"),
    ("object,source,value\nx,,Rome\n", "line 2: has no source"),
    ("object,source,value\n,ann,Rome\n", "line 2: has no object"),
    (
        f"object,source,value\n{'x' * 10_001},ann,Rome\n",
        "line 2: object has 10,001 characters; expected at most 10,000",
    ),
    (
        f"object,source,value,confidence\nx,ann,Rome,{'9' * 400}\n",
        f"line 2: confidence {'9' * 37}... is not a number from 0 to 1",
    ),
    (
        '[{"object":"x","source":"ann","value":"Rome"}]\n',
        "line 1: is JSON; expected CSV with a header, or JSON Lines",
    ),
    ("object,source,value,confidence\nx,ann,Rome,2\n", "line 2: confidence 2 is not a number"),
    ("object,source,value,reliability\nx,ann,Rome,1.5\n", "line 2: reliability of ann 1.5 is not"),
    ("object,source,value,reliability\nx,ann,R,often\n", "line 2: reliability of ann often is not"),
    (
        "object,source,value,reliability\nx,ann,R,.5\ny,ann,R,.6\n",
        "line 3: reliability of ann is 0.6, before it was 0.5",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_files_say_what_and_where(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_claims(written(tmp_path, text))


def test_a_value_that_is_an_object_is_refused(tmp_path):
    path = written(tmp_path, '{"object": "x", "source": "a", "value": {"b": 1}}\n', "c.jsonl")
    with pytest.raises(InputError, match=r"c\.jsonl, line 1: value .* is neither a text"):
        read_claims(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("c.jsonl", '{"object":\n', "line 1: is not JSON"),
        ("c.jsonl", "[1, 2]\n", "line 1: is not a JSON object but list"),
        (
            "c.jsonl",
            '{"object": "x", "source": "a", "value": "b"}\n{"object": "x"}\n',
            "line 2: has no",
        ),
        (
            "c.tsv",
            "object\tsource\tvalue\nx\tann\n",
            "line 2: has 2 values; the header names 3 columns",
        ),
        ("c.txt", "\n\n", "is empty; expected a header and rows"),
        ("c.txt", "\n\na\tb\tc\n", "line 3: has no header; name its 3 columns"),
        ("c.csv", "name,parent\nx,y\n", "line 1: has no column object"),
    ],
)
def test_other_formats_say_what_and_where_too(tmp_path, name, text, message):
    with pytest.raises(InputError, match=message):
        read_claims(written(tmp_path, text, name))


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_claims(tmp_path / "nothing.csv")


def test_truths(tmp_path):
    path = written(tmp_path, "question,truth\na_b,1\n")
    assert read_truths(path, ["answer"]) == {("a_b", "answer"): "1"}
    path = written(tmp_path, "978\thaag, s;  perry, j;\n\n979\tknuth, donald;\n", "g.txt")
    assert read_truths(path, ["authors"])["979", "authors"] == "knuth, donald;"
    with pytest.raises(InputError, match="refers to slot 'value'; the claims have a, b"):
        read_truths(path, ["a", "b"])
    path = written(tmp_path, "object,value\nx,Rome\nx,Oslo\n")
    with pytest.raises(InputError, match="line 3: x is Oslo here, Rome before"):
        read_truths(path, ["city"])


def test_a_hierarchy_by_numbers_or_by_names(tmp_path):
    by_number = written(tmp_path, "ID,name,parentID\n0,Root,-1\n1,USA,0\n2,Texas,1\n3,India,0\n")
    assert read_nesting(by_number).above == {"USA": set(), "TEXAS": {"USA"}, "INDIA": set()}
    by_name = written(tmp_path, "name,parent\nTexas,USA\nDallas,Texas\nIndia,\n", "names.csv")
    assert read_nesting(by_name).above["DALLAS"] == {"TEXAS", "USA"}
    twice = written(tmp_path, "id,name,parent\n1,A,\n1,B,\n", "twice.csv")
    with pytest.raises(InputError, match="line 3: lists 1 again"):
        read_nesting(twice)


def test_reliabilities_and_objects(tmp_path):
    path = written(tmp_path, "source,reliability\nann,.7\n")
    assert read_reliabilities(path) == {"ann": 0.7}
    with pytest.raises(InputError, match="line 2: reliability of ann 7 is not a number"):
        read_reliabilities(written(tmp_path, "source,reliability\nann,7\n"))
    assert read_objects(written(tmp_path, "object\nx\ny\n", "o.csv")) == {"x", "y"}


def test_a_column_name_with_line_breaks_is_refused_in_one_line(tmp_path):
    path = written(tmp_path, 'value,"object\ndepot\n\nLima"\n12,3\n')
    with pytest.raises(InputError, match="has no column object") as refused:
        read_claims(path)
    assert "\n" not in str(refused.value)

"""The second file: templates in text order."""

from __future__ import annotations

import json

import pytest

from partita.core import Template
from partita.errors import InputError
from partita.linkage.clusters import read_template_list


def test_csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,text,number,sentence\nB,the depot,1,2\n A ,,plural,\n")
    listed = read_template_list(path)
    assert listed.templates == (
        Template("B", "the depot", number=1, sentence=2),
        Template("A", number="plural"),
    )
    assert listed.file == str(path)


def test_jsonl(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [{"id": "A", "slots": {"type": "rail"}}, {"id": "B", "form": "definite"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert read_template_list(path).templates == (
        Template("A", slots={"type": "rail"}),
        Template("B", form="definite"),
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("id\n", "has no rows"),
        ("name\nA\n", r"line 2: a template has no field 'id'"),
        ("id,odd\nA,1\n", r"line 2: a template has a field 'odd'"),
        ("id\nA\nA\n", r"line 3: lists template A again"),
        ("id,text\nA\n", r"line 2: has 1 values; the header names 2 columns"),
        ("id,start\nA,x\n", r"line 2: start of A is"),
    ],
)
def test_bad_lists(tmp_path, content, said):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=said):
        read_template_list(path)

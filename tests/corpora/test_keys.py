"""Keys: what a person wrote comes back the same, and mistakes are named with file and line."""

from __future__ import annotations

import json

import pytest

from partita.core import Antecedent, Configuration, Template
from partita.core.templates import Alternative, Key
from partita.corpora.keys import key_line, read_keys, write_keys
from partita.errors import InputError

TEMPLATES = (
    Template("A", "Kinston Military Rail Depot", 6, 33, "subject", 0, "depot", "depot", 1, "name"),
    Template("B", "A rail depot", 35, 47, sentence=1, type="depot", form="indefinite"),
    Template("C", slots={"type": "ammunition", "places": ["Fairview"]}, rule="np-3"),
    Template("D", number="plural", antecedents=(Antecedent("B", True), Antecedent("C"))),
)
KEY = Key(
    "msg-1",
    TEMPLATES,
    Configuration(["ABD", "C"]),
    "ann",
    "1997-08-01T12:00:00Z",
    (Alternative(Configuration(["AB", "CD"]), 0.2),),
)
WRITTEN = {
    "version": 1,
    "message": "m",
    "templates": [{"id": "A"}, {"id": "B"}],
    "cells": [["A", "B"]],
    "author": "ann",
    "time": "1997-08-01",
}


def test_a_key_comes_back_as_it_was_written(tmp_path):
    file = tmp_path / "keys.jsonl"
    other = Key("Nürnberg", TEMPLATES[:2], Configuration(["A", "B"]), "bob", "1997-08-02")
    write_keys(file, [KEY, other])
    assert read_keys(file) == [KEY, other]
    before = file.read_bytes()
    write_keys(file, read_keys(file))
    assert file.read_bytes() == before
    assert "Nürnberg" in before.decode()


def test_a_line_has_the_fields_of_the_format():
    line = json.loads(key_line(KEY))
    assert list(line) == [
        "version",
        "message",
        "templates",
        "cells",
        "author",
        "time",
        "alternatives",
    ]
    assert line["cells"] == [["A", "B", "D"], ["C"]]
    assert line["alternatives"] == [{"cells": [["A", "B"], ["C", "D"]], "weight": 0.2}]
    assert line["templates"][3]["antecedents"] == [
        {"id": "B", "preferred": True},
        {"id": "C", "preferred": False},
    ]
    assert line["templates"][2]["slots"] == {"type": "ammunition", "places": ["Fairview"]}


def test_templates_may_be_bare_ids_and_lines_may_be_blank(tmp_path):
    file = tmp_path / "keys.jsonl"
    bare = json.dumps({**WRITTEN, "templates": ["A", "B"]})
    file.write_bytes(b"\xef\xbb\xbf\r\n" + bare.encode() + b"\r\n\n" + json.dumps(WRITTEN).encode())
    first, second = read_keys(file)
    assert first == second
    assert first.templates == (Template("A"), Template("B"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cells": [["A", "X"], ["B"]]}, "cells name X; expected templates of this key: A, B"),
        ({"cells": [["A", "B"], ["B"]]}, "template B is in two cells"),
        ({"cells": [["A"]]}, "template B is in no cell"),
        ({"cells": "AB"}, 'cells is "AB"; expected a list'),
        ({"cells": ["AB"]}, 'a cell is "AB"; expected a list'),
        ({"cells": [["A", 2]]}, "a member of a cell is 2; expected a text"),
        ({"templates": ["A", "B", "A"]}, "template A appears twice"),
        ({"templates": [{"text": "a depot"}]}, "a template has no field 'id'"),
        ({"templates": [{"id": "A", "colour": 1}]}, "a template has a field 'colour'"),
        (
            {"templates": [{"id": "A", "start": -1}]},
            "start of A is -1; expected a non-negative integer",
        ),
        ({"templates": [{"id": "A", "form": "odd"}]}, "form of A is 'odd'; expected indefinite,"),
        ({"templates": [{"id": "A", "number": 1.5}]}, "number of A is 1.5"),
        ({"templates": [{"id": "A", "slots": []}]}, r"slots of A are \[\]; expected an object"),
        ({"templates": [{"id": "A", "antecedents": [{}]}]}, "an antecedent of A has no field 'id'"),
        (
            {"templates": [{"id": "A", "antecedents": [{"id": "B", "preferred": 1}]}]},
            "expected true or false",
        ),
        ({"version": 2}, "version is 2; this release reads version 1"),
        ({"version": True}, "version is True"),
        ({"author": None}, "author is null; expected a text"),
        ({"time": "yesterday"}, "time is 'yesterday'; expected a date and time"),
        ({"alternative": []}, "the key has a field 'alternative'"),
        ({"alternatives": [{"cells": [["A"], ["B"]]}]}, "an alternative has no field 'weight'"),
        ({"alternatives": [{"cells": [["A"], ["B"]], "weight": 0}]}, "expected more than 0"),
        ({"alternatives": [{"cells": [["A"]], "weight": 1}]}, "template B is in no cell"),
    ],
)
def test_mistakes_are_named_with_file_and_line(tmp_path, change, says):
    file = tmp_path / "keys.jsonl"
    lines = [json.dumps(WRITTEN), "", json.dumps({**WRITTEN, **change})]
    file.write_text("\n".join(lines))
    with pytest.raises(InputError, match=says) as raised:
        read_keys(file)
    assert (raised.value.file, raised.value.line) == (str(file), 3)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"version": 1,', "is not JSON"),
        (b"[1]", "expected an object"),
        (b'{"version": 1, "version": 1}', "'version' appears twice"),
        (b'{"version": NaN}', "NaN is not a number"),
        (b'{"message": "\xff"}', r"is not UTF-8 \(byte 14 of the line\)"),
        (b"[" * 100_000, "is nested too deeply"),
    ],
)
def test_a_line_that_is_no_key_at_all(tmp_path, line, says):
    file = tmp_path / "keys.jsonl"
    file.write_bytes(json.dumps(WRITTEN).encode() + b"\n" + line + b"\n")
    with pytest.raises(InputError, match=says) as raised:
        read_keys(file)
    assert raised.value.line == 2


@pytest.mark.parametrize("missing", list(WRITTEN))
def test_every_field_is_needed(tmp_path, missing):
    file = tmp_path / "keys.jsonl"
    file.write_text(json.dumps({name: v for name, v in WRITTEN.items() if name != missing}))
    with pytest.raises(InputError, match=f"has no field '{missing}'"):
        read_keys(file)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.jsonl: cannot be read"):
        read_keys(tmp_path / "nowhere.jsonl")


def test_writing_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    file = tmp_path / "keys.jsonl"
    write_keys(file, [KEY])
    before = file.read_bytes()

    def interrupted():
        yield KEY
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_keys(file, interrupted())
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(InputError, match="cannot be written"):
        write_keys(tmp_path / "no" / "keys.jsonl", [KEY])

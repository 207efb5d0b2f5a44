"""Values of rules: how they are written, and what they are of a match."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from partita.rules.build import fit_value, join_words, merge_slots
from partita.rules.domain import Call, Constant, Reference
from partita.rules.phase_files import parse_value
from partita.rules.syntax import PatternError
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.quantities import NumberType
from partita.templates.schema import Schema
from rules.toy import cascade, run


def test_how_values_are_written() -> None:
    assert parse_value("some text") == Constant("some text")
    assert parse_value("$a") == Reference("a")
    assert parse_value("$a.b") == Reference("a", "b", "last")
    assert parse_value("$a.first.b") == Reference("a", "b", "first")
    assert parse_value("$a.count") == Reference("a", which="count")
    assert parse_value('join($a, ",", upper(x))') == Call(
        "join", (Reference("a"), Constant(","), Call("upper", (Constant("x"),)))
    )


@pytest.mark.parametrize("text", ["$", "$a.b.c", "$a.all", "$1", "lowly($a)", "first($a,)"])
def test_what_is_no_value(text: str) -> None:
    if text == "$a.all":  # an attribute of that name
        assert parse_value(text) == Reference("a", "all", "last")
        return
    with pytest.raises(PatternError):
        parse_value(text)


ANY = 'starts: everywhere\nrules:\n  - {rule: any, pattern: "x:ng", template: {about: $x}}'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("$b", "rail DEPOT"),
        ("$b.text", "DEPOT"),
        ("$b.first.word", "rail"),
        ("$b.all.tag", ("NN",)),
        ("$b.all.word", ("rail", "depot")),
        ("$b.count", 2),
        ("$none", None),
        ("$none.count", 0),
        ("$none.text", None),
        ("$a.nothing", None),
        ("upper($b)", "RAIL DEPOT"),
        ("lower($b.all.text)", ("rail", "depot")),
        ("join($a, of, $b)", "twelve of rail DEPOT"),
        ("first($none, $a)", "twelve"),
        ("number($a)", 12),
        ("number($b)", None),
        ("[p, 2]", ("p", 2)),
        ("true", True),
        ("7", 7),
    ],
)
def test_values_of_a_match(tmp_path: Path, value: str, expected: Any) -> None:
    groups = f"""
rules:
  - rule: r
    pattern: 'none:[tag=DT]? a:[tag=CD] b:([tag=NN]+)'
    build:
      kind: ng
      found: {value}
"""
    made = cascade(tmp_path, groups=groups, rules=ANY)
    found = run(made, "twelve/CD rail/NN DEPOT/NN").phrases[0].attributes
    assert found.get("found") == expected
    assert type(found.get("found")) is type(expected)


def test_what_phrases_say_together(tmp_path: Path) -> None:
    rule = "- {rule: r, pattern: 'a:[tag=NN]+', build: {kind: ng, %s}}"
    text = "rail/NN depot/NN"
    for more, says in (
        ("x: 1", {"TYPE": "RAIL", "FACILITY": "DEPOT"}),
        ("says: $a.says", {"FACILITY": "DEPOT"}),
        ("says: {TYPE: upper($a)}", {"TYPE": "RAIL DEPOT"}),
    ):
        made = cascade(tmp_path, groups=f"rules:\n  {rule % more}", rules=ANY)
        assert run(made, text).phrases[0].attributes["says"] == says


def test_an_attribute_that_has_one_value_gets_one(tmp_path: Path) -> None:
    rule = "- {rule: r, pattern: 'a:[tag=NN]+', build: {kind: ng, lemma: $a.all.lemma}}"
    made = cascade(tmp_path, groups=f"rules:\n  {rule}", rules=ANY)
    assert run(made, "rail/NN depots/NNS".replace("NNS", "NN")).phrases[0].attributes["lemma"] == (
        "rail depot"
    )


def test_slots_of_several_and_texts_of_several() -> None:
    assert merge_slots(({"A": 1}, {"A": 2, "B": 3})) == {"A": 2, "B": 3}
    assert join_words(("a", ("b", 1), None, True)) == "a b 1 true"


def test_values_are_brought_to_the_slots_type() -> None:
    types = Hierarchy.of({"A": None, "B": "A", "C": None})
    schema = Schema({"S": HierarchyType(types, "A"), "N": NumberType()})
    assert fit_value(schema, "S", ("B",)) == ("B", "")
    value, reason = fit_value(schema, "S", ("B", "C"))
    assert (value, bool(reason)) == ("B", True)
    assert fit_value(schema, "N", "many")[0] is None
    assert fit_value(schema, "N", "12") == (12, "")
    assert fit_value(schema, "N", "") == (None, "")
    assert fit_value(schema, "X", 1) == (None, "unknown slot X")

"""The text of patterns to their trees, and where it is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.patterns import parse
from partita.rules.syntax import (
    LARGEST,
    Atom,
    LabelledPattern,
    Macro,
    Node,
    PatternChoice,
    PatternError,
    PatternRow,
    Repeat,
    Test,
    atoms,
    macro_names,
)


def kind(name: str) -> Atom:
    return Atom((Test("kind", "=", (name,)),))


def word(text: str) -> Atom:
    return Atom((Test("word", "=", (text,)),))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('"The"', word("the")),
        (
            '"in order"',
            PatternChoice((PatternRow((word("in"), word("order"))), word("in order"))),
        ),
        ("ng", kind("ng")),
        (".", Atom(())),
        ("ng | vg", PatternChoice((kind("ng"), kind("vg")))),
        ("ng vg?", PatternRow((kind("ng"), Repeat(kind("vg"), 0, 1)))),
        ("ng* vg+", PatternRow((Repeat(kind("ng"), 0, 50), Repeat(kind("vg"), 1, 50)))),
        ("ng{2}", Repeat(kind("ng"), 2, 2)),
        ("ng{1,3}", Repeat(kind("ng"), 1, 3)),
        ("ng{2,}", Repeat(kind("ng"), 2, 50)),
        ("a:ng+", LabelledPattern("a", Repeat(kind("ng"), 1, 50))),
        (
            "a:(b:ng vg)",
            LabelledPattern("a", PatternRow((LabelledPattern("b", kind("ng")), kind("vg")))),
        ),
    ],
)
def test_trees(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("[tag=NN|NNS, !known]", [("tag", "=", ("NN", "NNS")), ("known", "not", ())]),
        ("[tag!=NN]", [("tag", "!=", ("NN",))]),
        ("[known]", [("known", "has", ())]),
        ("[sort=storage facility]", [("sort", "=", ("STORAGE FACILITY",))]),
        ('[word="Supply  Dump"|x]', [("word", "=", ("supply dump", "x"))]),
        ("[word=,|-|\\||'s, tag=,]", [("word", "=", (",", "-", "|", "'s")), ("tag", "=", (",",))]),
        ("[number<12]", [("number", "<", ("12",))]),
        (
            "[text~/[A-Z]+\\/[0-9]{1,2}/, cased]",
            [("text", "~", ("[A-Z]+/[0-9]{1,2}",)), ("cased", "has", ())],
        ),
    ],
)
def test_tests(text: str, tests: list[tuple[str, str, tuple[str, ...]]]) -> None:
    assert parse(text) == Atom(tuple(Test(*one) for one in tests))


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("", 0, "expected a quoted word"),
        ("ng |", 4, "the end"),
        ("a:", 2, "the end"),
        ("ng ]", 3, "unexpected ']'"),
        ("(ng", 0, "not closed"),
        ("ng )", 3, "expected an item"),
        ("ng UNKNOWN vg", 3, "unknown macro UNKNOWN"),
        ('"open', 0, "not closed"),
        ('ng ""', 3, "no word"),
        ("[tag", 0, "not closed"),
        ("[tag=]", 5, "expected a value after tag"),
        ("[tag=NN tag=VB]", 8, "a comma is missing"),
        ("[=NN]", 1, "expected an attribute"),
        ("[number<x]", 8, "expected a number"),
        ("[text~x]", 6, "between slashes"),
        ("[text~/(/]", 6, "invalid regular expression: missing \\)"),
        ("[text~/(a+)+/]", 6, "inside repeats"),
        ("[text~/(a|a)*/]", 6, "inside repeats"),
        ("[text~/.*.*.*.*/]", 6, "too many repeats"),
        ("[text~/(?=a)b/]", 6, "look-around, "),
        ("ng{51}", 2, "at most 50"),
        ("ng{3,2}", 2, "at most 50"),
        ("ng{x}", 2, "with integers"),
        ("(" * 30 + "ng" + ")" * 30, 21, "more than 20 deep"),
        ("ng " * 501, 1502, f"more than {LARGEST}"),
        ("x" * 4_001, 0, "at most 4,000"),
    ],
)
def test_errors_know_their_place(text: str, at: int, expected: str) -> None:
    with pytest.raises(PatternError, match=expected.replace("(", r"\(")) as refused:
        parse(text)
    assert refused.value.at == at


def test_macros_are_written_out_but_not_without_end() -> None:
    macros = {"A": Macro(kind("a"), 1), "BIG": Macro(kind("b"), 300)}
    assert parse("x:A* A", macros) == PatternRow(
        (LabelledPattern("x", Repeat(kind("a"), 0, 50)), kind("a"))
    )
    with pytest.raises(PatternError, match="macros expanded"):
        parse("BIG BIG", macros)
    assert macro_names('A "B" [tag=C] b (D|E_F)') == {"A", "D", "E_F"}


def refused_at(text: str) -> int | None:
    try:
        assert any(True for _ in atoms(parse(text)))
    except PatternError as error:
        return error.at
    return None


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet='ng|()[]{}*+?.,:"=!~/<>1A \\', max_size=40))
def test_any_text_is_a_pattern_or_refused(text: str) -> None:
    at = refused_at(text)
    assert at is None or 0 <= at <= len(text)

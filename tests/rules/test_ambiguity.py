"""In how many ways patterns could match, and which are refused."""

from __future__ import annotations

import pytest

from oracles.patterns import parse
from partita.rules.syntax import (
    MOST_WAYS,
    count_ways,
    deterministic,
    longest,
    nullable,
    repeats_empty,
)


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ("[tag=DT]? [tag=JJ]* [tag=NN]+", 1),
        ("([tag=JJ] | [tag=VBN])* [tag=NN]", 1),
        ("([tag=JJ] | number)* [tag=JJ]", 51),
        ("[tag=JJ]{0,3} [tag=JJ]", 4),
        ("([tag=A] [tag=B]* )* [tag=C]", 1),
        ("([tag=A] | [tag=A] [tag=B]) [tag=C]", 2),
        ("[tag=A]? [tag=A]? [tag=A]", 4),
        ("[!known] | [known] [tag=A]", 1),
        ("[word!=a] | [word=a] [tag=A]", 1),
        ("[tag=A, word=x] | [tag=A, word=y] [tag=A]", 1),
    ],
)
def test_ways(text: str, many: int) -> None:
    assert count_ways(parse(text)) == many
    assert deterministic(parse(text)) == (many == 1)


@pytest.mark.parametrize(
    "text",
    [
        "([tag=A]+)+ [tag=B]",
        "([tag=A] | [tag=A] [tag=A])* [tag=B]",
        "(.* .*)* [tag=B]",
        ".* .* .* [tag=B]",
        " ".join(["[tag=A]?"] * 20) + " [tag=A]",
        "((([tag=A]{1,50}){1,50}){1,50}){1,50} [tag=A]",
    ],
)
def test_what_explodes_is_too_many(text: str) -> None:
    assert count_ways(parse(text)) > MOST_WAYS


def test_shapes() -> None:
    assert nullable(parse("[tag=A]? [tag=B]*"))
    assert not nullable(parse("[tag=A]? [tag=B]"))
    assert repeats_empty(parse("([tag=A]?)*"))
    assert not repeats_empty(parse("([tag=A]?)?"))
    assert longest(parse("([tag=A] [tag=B]){2,3} | [tag=C]")) == 6

"""JSON that is not as it should be is refused with its place and what was expected."""

from __future__ import annotations

import pytest

from partita.errors import InputError
from partita.files.strict import (
    Place,
    fields,
    integer_of,
    list_of,
    number_of,
    parsed,
    text_of,
)

PLACE = Place("f.json", 3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1, }", "is not JSON: Expecting value (column 5)"),
        ("[" * 100_000, "is nested too deeply"),
        ("9" * 5000, "holds an integer with too many digits"),
        ("[NaN]", "NaN is not a number that JSON has"),
        ('{"a": 1, "a": 2}', "field 'a' appears twice in one object"),
    ],
)
def test_what_is_not_json(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(text, PLACE)
    assert str(caught.value) == f"f.json, line 3: {problem}"


def test_the_line_inside_a_text_is_named_if_no_other_is_known() -> None:
    with pytest.raises(InputError, match=r"^f\.json, line 2: is not JSON"):
        parsed('{"a":\n}', Place("f.json"))
    assert parsed('{"a":\n1}', Place("f.json")) == {"a": 1}


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        (text_of, 1, "x is 1; expected a text"),
        (number_of, True, "x is true; expected a number"),
        (number_of, "1", 'x is "1"; expected a number'),
        (number_of, float("inf"), "x is not a finite number"),
        (number_of, -(10**400), "x is not a finite number"),
        (integer_of, -1, "x is -1; expected a non-negative integer"),
        (integer_of, False, "x is false; expected a non-negative integer"),
        (integer_of, 1.0, "x is 1.0; expected a non-negative integer"),
        (list_of, {"a": 1}, 'x is {"a": 1}; expected a list'),
        (list_of, "a" * 38, f'x is "{"a" * 38}"; expected a list'),
        (list_of, "a" * 39, f'x is "{"a" * 36}...; expected a list'),
    ],
)
def test_a_value_of_another_kind(read, value, expected) -> None:
    with pytest.raises(InputError) as caught:
        read(value, "x", PLACE)
    assert str(caught.value) == f"f.json, line 3: {expected}"


@pytest.mark.parametrize(
    ("read", "value"),
    [(text_of, ""), (number_of, 0), (number_of, -1.5), (integer_of, 0), (list_of, [])],
)
def test_a_value_of_the_kind_is_returned(read, value) -> None:
    assert read(value, "x", PLACE) is value


def test_the_fields_of_an_object() -> None:
    assert fields({"a": 1, "b": 2}, "it", PLACE, needed=("a",), allowed=("b",)) == {"a": 1, "b": 2}
    for value, problem in (
        ([], "it is []; expected an object"),
        ({"b": 2}, "it has no field 'a'; expected a"),
        ({"a": 1, "c": 3}, "it has a field 'c'; expected a, b"),
    ):
        with pytest.raises(InputError) as caught:
            fields(value, "it", PLACE, needed=("a",), allowed=("b",))
        assert caught.value.problem == problem

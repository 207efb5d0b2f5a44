from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import InputError
from partita.templates.slots import Aliases, symbol, text_list


@given(st.text())
def test_a_symbol_is_its_own_symbol(text: str) -> None:
    assert symbol(symbol(text)) == symbol(text)


@given(st.text(st.characters(codec="ascii")))
def test_case_and_spaces_do_not_matter(text: str) -> None:
    assert symbol(text.lower()) == symbol(f"  {text.upper()}\n") == symbol(text)


def test_symbols() -> None:
    assert symbol(" Kinston \t depot ") == "KINSTON DEPOT"
    assert symbol("ﬁeld") == "FIELD"
    assert symbol("Straße") == "STRASSE"


@pytest.mark.parametrize("given_", [None, 3, [], [""], ["a", " "], ["a", None], {"a": 1}])
def test_no_texts(given_: object) -> None:
    with pytest.raises(InputError, match="is not a name"):
        text_list(given_, "a name")


def test_texts() -> None:
    assert text_list("a", "") == ["a"]
    assert text_list(("a", "b"), "") == ["a", "b"]


def test_aliases() -> None:
    aliases = Aliases.of([["United States", "USA", "u.s."], ["United Kingdom", "UK"], []])
    assert aliases.canonical("usa") == aliases.canonical(" U.S. ") == "UNITED STATES"
    assert aliases.canonical("France") == "FRANCE"
    assert aliases.all("UNITED KINGDOM") == ("UNITED KINGDOM", "UK")
    assert aliases.all("FRANCE") == ("FRANCE",)


def test_an_alias_in_two_groups() -> None:
    with pytest.raises(InputError, match="alias 'US' is in two groups"):
        Aliases.of([["USA", "US"], ["United Sugar", "us"]])

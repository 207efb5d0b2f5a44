"""The extended characteristics, one case by hand for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from partita.core import Template
from partita.pairs.characteristics import EXTENDED, characteristics_of
from partita.pairs.columns import template_columns
from partita.templates.name import PlaceType
from partita.templates.quantities import DateType
from partita.templates.schema import Schema
from partita.templates.slots import StringsType

CUTOFFS = (10.0, 50.0, 100.0, 200.0)


def value(name: str, s: dict[str, Any], t: dict[str, Any], *between: dict[str, Any]) -> str:
    """What a characteristic says of S and T, with other templates between them."""
    made = [Template(f"x{n}", **given) for n, given in enumerate((s, *between, t))]
    one = next(c for c in EXTENDED if c.name == name)
    last = len(made) - 1
    codes = characteristics_of(
        template_columns(made), np.array([0]), np.array([last]), (one,), cutoffs=CUTOFFS
    )
    return one.values[codes[0, 0]]


def named(name: str) -> dict[str, Any]:
    return {"form": "name", "head": name.split()[-1].lower(), "slots": {"NAME": name}}


def spoken(person: str, speaker: str) -> dict[str, Any]:
    return {"form": "pronoun", "context": {"PERSON": person, "SPEAKER": speaker}}


CASES: list[tuple[str, list[dict[str, Any]], str]] = [
    ("forms", [{"form": "name"}, {"form": "pronoun"}], "name, pronoun"),
    ("forms", [{}, {"form": "bare"}], "unknown form, bare"),
    ("regions", [{"region": "heading"}, {"region": "text"}], "heading, text"),
    ("sort_agreement", [{"type": "a"}, {"type": "b"}], "different"),
    ("sort_agreement", [{"type": "a"}, {}], "unknown"),
    ("number_agreement", [{"number": 2}, {"number": "plural"}], "same"),
    (
        "gender_agreement",
        [{"context": {"GENDER": "masc"}}, {"context": {"GENDER": "fem"}}],
        "different",
    ),
    ("heads", [{"head": "depot"}, {"head": "depot", "form": "definite"}], "definite, same head"),
    (
        "heads",
        [{"head": "area", "text": "depot area"}, {"head": "depot", "text": "a depot"}],
        "unknown form, T's head in S",
    ),
    (
        "heads",
        [{"head": "depot", "text": "a depot"}, {"head": "area", "text": "depot area"}],
        "unknown form, S's head in T",
    ),
    ("heads", [{"head": "a"}, {"head": "b"}], "unknown form, other heads"),
    ("names", [named("Andrew Kehler"), named("Kehler")], "words of the other"),
    ("names", [named("United States"), named("U.S.")], "acronym"),
    ("names", [named("New York"), named("New Jersey")], "partly"),
    ("names", [named("Paris"), named("Rome")], "different"),
    ("names", [named("Paris"), named("PARIS")], "identical"),
    ("names", [named("Paris"), {}], "not both names"),
    ("overlap", [{"text": "rail depot"}, {"text": "the depot"}], "all"),
    ("overlap", [{"text": "rail depot"}, {"text": "new depot"}], "half or more"),
    ("overlap", [{"text": "old rail depot"}, {"text": "new big depot"}], "less than half"),
    ("overlap", [{"text": "rail"}, {"text": "road"}], "none"),
    ("overlap", [{"form": "pronoun", "text": "it"}, {"text": "it"}], "nothing to compare"),
    ("same_text", [{"text": "The Depot"}, {"text": "the depot", "form": "definite"}], "definite"),
    ("same_text", [{"text": ""}, {"text": ""}], "no"),
    ("sentences", [{"sentence": 2}, {"sentence": 5, "form": "name"}], "name, 3 or 4"),
    ("sentences", [{"sentence": 2}, {"sentence": 2}], "unknown form, same sentence"),
    ("rivals", [{"type": "a"}, {"type": "a"}], "unknown form, 0"),
    ("rivals", [{"type": "b"}, {"type": "a"}, {"type": "a"}, {"type": "a"}], "unknown form, 2"),
    ("nearest", [{"type": "a", "head": "x"}, {"type": "a", "head": "x"}], "both"),
    ("nearest", [{"type": "a"}, {"type": "b"}, {"type": "a"}], "nearest"),
    (
        "nearest",
        [{"type": "b", "head": "x"}, {"type": "b", "head": "x"}, {"type": "b", "head": "y"}],
        "nearest with the head",
    ),
    ("ties", [{}, {"context": {"APPOSITION_OF": "x0"}}], "apposition"),
    ("ties", [{"context": {"COPULA_OF": "x1"}}, {}], "predicate"),
    ("ties", [{}, {}], "nothing"),
    ("same_name", [named("Paris"), named("Paris")], "same"),
    ("same_name", [named("Paris"), {}], "not both"),
    ("same_count", [{"number": 6}, {"number": 6}], "same"),
    ("same_count", [{"number": 1}, {"number": "plural"}], "not both"),
    ("another", [{"text": "a depot"}, {"text": "another depot"}], "T"),
    ("another", [{"text": "a depot"}, {"text": "the two other depots"}], "T"),
    ("another", [{"text": "a second vase"}, {"text": "the vase"}], "S"),
    ("another", [{"text": "a second vase"}, {"text": "the second vase"}], "both, same"),
    ("another", [{"text": "the first train"}, {"text": "the second train"}], "both, different"),
    ("another", [{"text": "a train"}, {"text": "the first train"}], "neither"),
    ("nesting", [{"start": 0, "end": 20}, {"start": 5, "end": 9}], "nested"),
    ("nesting", [{"end": 20}, {"start": 5, "end": 9, "form": "pronoun"}], "nested pronoun"),
    ("nesting", [{"start": 5, "end": 9}, {"start": 5, "end": 20}], "nested"),
    ("nesting", [{"start": 0, "end": 5}, {"start": 5, "end": 9}], "none"),
    ("speakers", [spoken("1", "A"), spoken("1", "A")], "same person, one speaker"),
    ("speakers", [spoken("1", "A"), spoken("2", "B")], "other person, two speakers"),
    ("speakers", [spoken("1", "A"), spoken("2", "")], "other person, unknown speakers"),
    ("speakers", [spoken("1", "A"), spoken("3", "A")], "not both spoken"),
    (
        "pronouns",
        [{"form": "pronoun", "head": "him"}, {"form": "pronoun", "head": "he"}],
        "he, the same",
    ),
    (
        "pronouns",
        [{"form": "pronoun", "head": "she"}, {"form": "pronoun", "head": "it"}],
        "it, another pronoun",
    ),
    ("pronouns", [{"form": "name"}, {"form": "pronoun", "head": "they"}], "they, no pronoun"),
    ("pronouns", [{"form": "pronoun", "head": "it"}, {}], "no pronoun"),
    ("pronoun_of_s", [{"form": "pronoun", "head": "these"}, {}], "this"),
    (
        "roles",
        [{"context": {"ROLE": "subject"}}, {"context": {"ROLE": "object"}}],
        "subject, object",
    ),
    (
        "determiner_of_t",
        [{"head": "x"}, {"head": "x", "context": {"DETERMINER": "Their"}}],
        "my, same head",
    ),
    ("determiner_of_t", [{"head": "x"}, {"head": "y"}], "no determiner, other head"),
    ("length_of_t", [{}, {"text": "the big old depot"}], "3 or 4"),
    ("frequency", [{"head": "x"}, {"head": "x"}, {"head": "x"}], "3 or 4, same head"),
]


@pytest.mark.parametrize(("name", "templates", "expected"), CASES)
def test_by_hand(name: str, templates: list[dict[str, Any]], expected: str) -> None:
    if name == "nearest" and expected == "nearest with the head":
        s, t, between = templates
        assert value(name, s, t, between) == expected
        return
    s, *between, t = templates
    assert value(name, s, t, *between) == expected


@pytest.mark.parametrize(
    ("s", "t", "expected"),
    [
        ([], [], "no modifiers"),
        (["rail"], ["rail"], "the same"),
        (["rail", "old"], ["rail"], "S has more"),
        ([], ["rail"], "T has more"),
        (["rail"], ["ammunition"], "both have more"),
    ],
)
def test_modifiers_of_one_head(s: list[str], t: list[str], expected: str) -> None:
    left, right = ({"head": "depot", "context": {"MODIFIERS": m}} for m in (s, t))
    assert value("modifiers", left, right) == expected
    assert value("modifiers", left, {**right, "head": "bridge"}) == "other heads"


SCHEMA = Schema(
    {
        "LOCATION": PlaceType(),
        "FROM": PlaceType(),
        "CODE": StringsType(several=False),
        "STATUS": StringsType(),
        "DATE": DateType(),
    }
)
TYPED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("same_place", {"LOCATION": "ORBEK"}, {"LOCATION": "Orbek"}, "same"),
    ("same_place", {"LOCATION": "ORBEK"}, {"FROM": "ORBEK"}, "not both"),
    ("same_place", {"LOCATION": "ORBEK", "FROM": "A"}, {"LOCATION": "ORBEK", "FROM": "B"}, "other"),
    ("same_code", {"CODE": "KX-204"}, {"CODE": "KX-204"}, "same"),
    ("same_code", {"STATUS": "INTACT"}, {"STATUS": "INTACT"}, "not both"),
    ("same_quantity", {"DATE": "2024-05-03"}, {"DATE": "2024-05-03"}, "same"),
    ("same_quantity", {"DATE": "2024-05-03"}, {"DATE": "2024-05"}, "other"),
    ("identifying_values", {"LOCATION": "A", "CODE": "3"}, {"LOCATION": "A"}, "one"),
    ("identifying_values", {"LOCATION": "A", "CODE": "3"}, {"LOCATION": "A", "CODE": "3"},
     "two or more"),
    ("identifying_values", {"LOCATION": "A"}, {"CODE": "3"}, "none"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "s", "t", "wanted"), TYPED)
def test_values_that_identify(name: str, s: dict[str, Any], t: dict[str, Any], wanted: str) -> None:
    made = [Template("x0", slots=s), Template("x1", slots=t)]
    one = next(c for c in EXTENDED if c.name == name)
    columns = template_columns(made, schema=SCHEMA)
    codes = characteristics_of(columns, np.array([0]), np.array([1]), (one,), cutoffs=CUTOFFS)
    assert one.values[codes[0, 0]] == wanted


def test_every_characteristic_has_a_case() -> None:
    from partita.pairs.characteristics import PAPER

    tried = {name for name, _, _ in CASES} | {"modifiers"} | {one.name for one in PAPER}
    tried |= {name for name, _, _, _ in TYPED}
    assert tried == {one.name for one in EXTENDED}

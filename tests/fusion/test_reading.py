"""Which values are the same and which are more general, kind by kind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.fusion import simple_nesting
from partita.errors import InputError
from partita.fusion.claims import Claims
from partita.fusion.fuse import FusionSettings, answers_by_object, fuse_slots
from partita.fusion.hierarchy import Nesting, deepest
from partita.fusion.kinds import Reading, likely_kind
from partita.fusion.parsed_claims import normalise_number, parse_sets
from partita.fusion.people import NameLexicon, names_nobody, people, people_by_text, same_people


def answer(rows, kind, thing="x", **reading):
    found = fuse_slots(
        Claims.of(rows), FusionSettings(kinds={"": kind}, reading=Reading(**reading))
    )
    return answers_by_object(found)[thing, rows[0][2]]


def test_texts_are_one_without_regard_to_case_in_the_commonest_spelling():
    rows = [("a", "x", "c", "ROME"), ("b", "x", "c", "Rome"), ("d", "x", "c", " Rome")]
    found = answer(rows, "open")
    assert [v.value for v in found.values] == ["Rome"]
    assert found.values[0].sources == ("a", "b", "d")


def test_numbers_within_the_tolerance_are_one():
    rows = [("a", "x", "n", "1,000"), ("b", "x", "n", "1000.0"), ("c", "x", "n", "1004"),
            ("d", "x", "n", "2000")]  # fmt: skip
    assert {v.value for v in answer(rows, "number").values} == {"1000", "1004", "2000"}
    close = answer(rows, "number", tolerance=0.01)
    assert [(v.value, v.sources) for v in close.values] == [
        ("1000", ("a", "b", "c")), ("2000", ("d",))]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_so_that_it_reads_back(value):
    assert float(normalise_number(repr(value))) == value
    assert normalise_number(normalise_number(repr(value))) == normalise_number(repr(value))


def test_a_value_that_is_no_number_is_named():
    with pytest.raises(InputError, match="a on n of x: 'many' is not a number"):
        answer([("a", "x", "n", "many")], "number")
    with pytest.raises(InputError, match="tolerance -1"):
        Reading(tolerance=-1)


def test_a_year_is_more_general_than_its_days():
    rows = [("a", "x", "d", "1996-03-15"), ("b", "x", "d", "1996"), ("c", "x", "d", "1996-03")]
    found = answer(rows, "date")
    assert found.values[0].value == "1996-03-15"
    assert found.values[0].probability > 0.8
    with pytest.raises(InputError, match="b on d of x: '1996-13' is not in the calendar"):
        answer([("b", "x", "d", "1996-13")], "date")


def test_days_within_the_tolerance_are_one():
    rows = [("a", "x", "d", "1996-03-15"), ("b", "x", "d", "1996-03-16"), ("c", "x", "d", "1996")]
    found = answer(rows, "date", tolerance=1)
    assert [v.value for v in found.values] == ["1996-03-15", "1996"]


PLACES = simple_nesting({"Minneapolis".upper(): "MINNESOTA", "DULUTH": "MINNESOTA",
                         "MINNESOTA": "USA", "TEXAS": "USA", "DALLAS": "TEXAS"})  # fmt: skip


def test_a_more_general_place_supports_the_deeper_one():
    rows = [("a", "x", "p", "Minneapolis"), ("b", "x", "p", "Minnesota"), ("c", "x", "p", "Texas")]
    found = answer(rows, "open", nesting=PLACES)
    by_value = {v.value: v.probability for v in found.values}
    assert by_value["Minneapolis"] > 0.6
    assert by_value["Minneapolis"] > by_value["Texas"]


def test_who_says_only_the_country_leaves_the_town_unknown():
    found = answer([("a", "x", "p", "USA")], "open", nesting=PLACES)
    assert found.unknown > 0.3


def test_a_name_may_stand_for_two_things():
    nodes = {"1": "MEXICO", "2": "DISTRITO", "3": "MEXICO"}
    made = Nesting.of(nodes, {"2": "1", "3": "2"})
    assert made.above["MEXICO"] == {"DISTRITO"}
    assert made.above["DISTRITO"] == {"MEXICO"}
    with pytest.raises(InputError, match="values form a cycle: A > B"):
        Nesting.of({"1": "A", "2": "B"}, {"1": "2", "2": "1"})


def test_a_list_with_less_is_more_general_than_one_with_more():
    rows = [("a", "x", "p", "Han; Kamber"), ("b", "x", "p", "Kamber; Han"), ("c", "x", "p", "Han"),
            ("d", "x", "p", "Han"), ("e", "x", "p", "Pei; Han; Kamber; Xu")]  # fmt: skip
    found = answer(rows, "several")
    assert found.values[0].value == "HAN; KAMBER"
    members = {v.value: v.probability for v in found.members}
    assert members["HAN"] > 0.95
    assert members["KAMBER"] > 0.8
    assert members["PEI"] < 0.2


def test_lines_of_one_source_about_one_object_are_one_list_of_people():
    rows = [
        ("a", "x", "p", "Jiawei Han"), ("a", "x", "p", "Micheline Kamber"),
        ("b", "x", "p", "Kamber, Micheline; Han, Jiawei"), ("a", "y", "p", "Jian Pei"),
        ("b", "z", "p", "Not available"), ("c", "z", "p", "Jian Pei"),
    ]  # fmt: skip
    claims = Claims.of(rows)
    parsed = parse_sets(claims, "people", None)
    found = {
        (claims.sources[s], claims.objects[o]): parsed.members[v]
        for s, o, v in zip(parsed.source, parsed.object, parsed.value, strict=True)
    }
    assert sorted(found) == [("a", "x"), ("a", "y"), ("b", "x"), ("c", "z")]
    assert len(found["a", "x"]) == 2
    assert found["a", "x"] == found["b", "x"]
    assert found["a", "y"] == found["c", "z"]
    assert parsed.without_value == 1


def test_single_values_of_several_sources_may_all_be_true():
    rows = [(s, "x", "p", v) for v in ("Han", "Kamber") for s in (f"{v}{n}" for n in range(4))]
    found = answer(rows, "several")
    assert found.values[0].value == "HAN; KAMBER"
    assert found.values[0].sources == ()


def test_few_values_over_many_objects_make_a_closed_slot():
    rows = [("a", f"o{n}", "s", "yes" if n % 2 else "no") for n in range(20)]
    assert likely_kind(Claims.of(rows), nested=False) == "closed"
    assert likely_kind(Claims.of(rows), nested=True) == "open"
    assert likely_kind(Claims.of(rows[:4]), nested=False) == "open"


LISTS = [
    ("Knuth, Donald E.", ["DONALD E KNUTH"]),
    ("Donald E. Knuth", ["DONALD E KNUTH"]),
    ("KNUTH", ["KNUTH"]),
    ("Puder, Arno; R&ouml;mer, Kay", ["ARNO PUDER", "KAY ROMER"]),
    ("Puder, Arno/ Romer, Kay", ["ARNO PUDER", "KAY ROMER"]),
    ("By (author) Puder, Arno By (author) Romer, Kay", ["ARNO PUDER", "KAY ROMER"]),
    ("Arno Puder and Kay Romer", ["ARNO PUDER", "KAY ROMER"]),
    ("Arno Puder, Kay Romer", ["ARNO PUDER", "KAY ROMER"]),
    ("Puder, Arno, Romer, Kay", ["ARNO PUDER", "KAY ROMER"]),
    ("Lacroix, Zoe (ed.)", ["ZOE LACROIX"]),
    ("O'Leary, Linda I.", ["LINDA I OLEARY"]),
]
LEXICON = NameLexicon.of(text for text, _ in LISTS)


@pytest.mark.parametrize(("text", "expected"), LISTS)
def test_lists_of_people(text, expected):
    found = [" ".join((*given, *surname)) for surname, given in people(text, LEXICON)]
    assert found == expected


def test_one_person_is_written_in_one_way():
    texts = ["Knuth", "Donald E. Knuth", "KNUTH, DONALD E.", "Knuth, Donald"]
    assert set(people_by_text(texts, LEXICON)) == {frozenset({"DONALD E KNUTH"})}


def test_two_of_one_surname_are_told_apart():
    texts = ["O'Leary, Timothy; O'Leary, Linda", "O'Leary, Linda"]
    both, one = people_by_text(texts, LEXICON)
    assert both == {"TIMOTHY OLEARY", "LINDA OLEARY"}
    assert one == {"LINDA OLEARY"}


def test_names_that_run_together_are_found_by_their_surnames():
    texts = ["Abrahams, Paul/ Larson, Bruce", "Paul Abrahams Bruce Larson"]
    first, second = people_by_text(texts, LEXICON)
    assert first == second == {"PAUL ABRAHAMS", "BRUCE LARSON"}


def test_people_are_the_same_by_surname_and_initial():
    assert same_people(["DONALD E KNUTH"], "knuth, d. e.;", LEXICON)
    assert not same_people(["DONALD E KNUTH"], "knuth, ann;", LEXICON)
    assert not same_people(["DONALD E KNUTH", "KAY ROMER"], "knuth, donald;", LEXICON)
    two = ["KNUTH", "DONALD E KNUTH"]
    texts = ("knuth, d.; knuth, ann;", "knuth, ann; knuth, d.;")
    alike = [
        {same_people(members, text, LEXICON) for members in (two, two[::-1])} for text in texts
    ]
    assert [len(one) for one in alike] == [1, 1]
    assert not same_people(["DONALD E KNUTH"], "knuth, donald; romer, kay", LEXICON)


@pytest.mark.parametrize("text", ["", "Not Available", "unknown", "N/A"])
def test_nobody_is_named(text):
    assert names_nobody(text)


def test_a_hierarchy_orders_only_the_slots_that_it_is_about():
    rows = [("a", "x", "p", "Minneapolis"), ("a", "x", "year", "1996"), ("b", "x", "year", "1996")]
    found = fuse_slots(Claims.of(rows), FusionSettings(reading=Reading(nesting=PLACES)))
    assert found.slot("p").parsed.order.inner == 3
    assert found.slot("year").parsed.order.inner == 0


def test_of_a_path_the_deepest_value_counts():
    path = "USA,Minnesota,Minneapolis"
    nesting = Nesting.of({"1": "USA", "2": "MINNESOTA", "3": "MINNEAPOLIS"}, {"2": "1", "3": "2"})
    assert deepest(path, frozenset()) == "USA"  # from inside out, as far as anybody knows
    assert deepest(path, frozenset(), nesting) == "MINNEAPOLIS"
    assert deepest("Oslo,Minnesota", frozenset(), nesting) == "OSLO"

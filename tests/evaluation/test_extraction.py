"""Extraction against keys: what meets what, what is right, and that it adds up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.core import Configuration, Document, Template
from partita.errors import InputError
from partita.evaluation.extraction import head_place, measure_extraction, pair_templates, part_of
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.quantities import NumberType
from partita.templates.schema import Schema
from partita.templates.slots import StringsType

TYPES = Hierarchy.of({"FACILITY": None, "DEPOT": "FACILITY", "BRIDGE": "FACILITY"})
SCHEMA = Schema(
    {"FACILITY": HierarchyType(TYPES, "FACILITY"), "NUMBER": NumberType(), "STATUS": StringsType()},
    TYPES,
)
TEXT = "The ammunition depot in Fairview and two batteries near the old depot."


def template(name: str, text: str, head: str, **slots: object) -> Template:
    start = TEXT.index(text)
    return Template(name, text, start, start + len(text), head=head, form="definite", slots=slots)


DEPOT = template("A", "The ammunition depot in Fairview", "depot", FACILITY="DEPOT", NUMBER=1)
BATTERIES = template("B", "two batteries", "battery", NUMBER=2)
OLD = template("C", "the old depot", "depot", FACILITY="DEPOT", NUMBER=1, STATUS="OLD")
KEY = [DEPOT, BATTERIES, OLD]


def document(templates: list[Template], name: str = "dev-001") -> Document:
    cells = Configuration([[one.id] for one in templates])
    return Document(name, "", tuple(templates), cells, TEXT)


def measure(found: list[Template], key: list[Template] = KEY):
    return measure_extraction([(document(key), found)], SCHEMA)


def test_heads_are_found_in_their_expressions():
    assert TEXT[slice(*head_place(DEPOT))] == "depot"
    assert TEXT[slice(*head_place(BATTERIES))] == "batteries"
    assert TEXT[slice(*head_place(replace(DEPOT, head="dump")))] == "Fairview"
    assert head_place(Template("A", "", 3, 3)) == (3, 3)


def test_the_same_head_word_meets_whatever_the_spans():
    short = template("X", "ammunition depot", "depot")
    assert pair_templates([DEPOT], [short]) == [(DEPOT, short)]
    place = template("X", "Fairview", "fairview")
    assert pair_templates([DEPOT], [place]) == [(DEPOT, None), (None, place)]


def test_the_same_span_meets_whatever_the_heads():
    other = replace(BATTERIES, id="X", head="two")
    assert pair_templates([BATTERIES], [other]) == [(BATTERIES, other)]


def test_of_two_with_one_head_one_is_spurious():
    twice = [replace(OLD, id="X"), replace(OLD, id="Y")]
    assert pair_templates([OLD], twice) == [(OLD, twice[0]), (None, twice[1])]
    counted = measure([*KEY, replace(OLD, id="Y")]).of("all").templates
    assert (counted.recall, counted.precision) == (1.0, 0.75)


def test_the_key_itself_is_all_right():
    measured = measure(KEY)
    for group in ("all", "matched"):
        assert measured.of(group).templates.f == measured.of(group).slots.f == 1.0
    assert measured.of("all").slots.wanted == 6
    assert measured.slips == ()


def test_nothing_found_and_nothing_to_find():
    nothing = measure([]).of("all")
    assert (nothing.templates.recall, nothing.templates.precision) == (0.0, 0.0)
    assert [slip.kind for slip in measure([]).slips] == ["missed"] * 3
    assert [slip.kind for slip in measure(KEY, []).slips] == ["spurious"] * 3


def test_slots_of_missed_and_spurious_templates_count():
    spurious = replace(DEPOT, id="X", start=33, end=36, text="and", head="and")
    measured = measure([DEPOT, BATTERIES, spurious])
    assert measured.of("all").slots.recall == 3 / 6
    assert measured.of("all").slots.precision == 3 / 5
    assert measured.of("matched").slots.recall == 1.0


@pytest.mark.parametrize(
    ("slots", "counted"),
    [
        ({"FACILITY": "DEPOT"}, (1, 1, 0, 0)),
        ({"FACILITY": "FACILITY"}, (0, 1, 1, 0)),
        ({"FACILITY": "BRIDGE"}, (0, 1, 0, 0)),
        ({"FACILITY": ""}, (0, 0, 0, 0)),
    ],
)
def test_a_slot_is_equal_or_says_less_or_something_else(slots, counted):
    key = template("C", "the old depot", "depot", FACILITY="DEPOT")
    one = measure([replace(key, slots=slots)], [key]).of("slot", "FACILITY")
    assert (one.slots.right, one.slots.said, one.less, one.more) == counted


def test_a_slot_that_says_more_is_counted_apart():
    key = template("C", "the old depot", "depot", NUMBER="PLURAL", STATUS="OLD")
    found = replace(key, slots={"NUMBER": 5, "STATUS": ["OLD", "CLOSED"]})
    measured = measure([found], [key])
    assert (measured.of("all").more, measured.of("all").less) == (2, 0)
    assert measured.of("all").slots.right == 0


def test_slips_say_what_is_wanted_and_what_was_found():
    found = [DEPOT, BATTERIES, replace(OLD, slots={"FACILITY": "BRIDGE", "NUMBER": 1})]
    told = [(one.kind, one.text, one.slot, one.wanted, one.said) for one in measure(found).slips]
    assert told == [
        ("slot", "the old depot", "FACILITY", "DEPOT", "BRIDGE"),
        ("slot", "the old depot", "STATUS", "OLD", ""),
    ]


def test_each_template_counts_by_its_own_form():
    measured = measure([replace(DEPOT, form="bare")], [DEPOT])
    assert measured.of("form", "definite").templates.recall == 1.0
    assert measured.of("form", "definite").templates.said == 0
    assert measured.of("form", "bare").templates.precision == 1.0
    assert measured.of("form", "bare").templates.wanted == 0


def test_names_tell_parts():
    assert [part_of(name) for name in ("dev-001", "b2", "letter")] == ["dev", "b", ""]
    pairs = [(document(KEY, "dev-1"), KEY), (document(KEY, "new-1"), [])]
    measured = measure_extraction(pairs, SCHEMA)
    assert {name: one.templates.recall for name, one in measured.group("part").items()} == {
        "dev": 1.0,
        "new": 0.0,
    }


def test_a_key_that_the_domain_cannot_read_is_named():
    odd = template("A", "the old depot", "depot", COLOR="RED")
    with pytest.raises(InputError, match=r"message 'dev-001': template A, unknown slot COLOR"):
        measure([], [odd])


WORDS = [(n * 4, f"w{n:02}") for n in range(8)]  # each with a space behind it
spans = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda span: span[0] <= span[1]),
    max_size=6,
)


def expressions(given_spans: list[tuple[int, int]]) -> list[Template]:
    """Expressions whose head is their last word."""
    made = []
    for n, (first, last) in enumerate(given_spans):
        text = " ".join(word for _, word in WORDS[first : last + 1])
        start = WORDS[first][0]
        made.append(Template(f"T{n}", text, start, start + len(text), head=WORDS[last][1]))
    return made


@settings(deadline=None, max_examples=200)
@given(spans, spans)
def test_as_many_meet_as_heads_are_shared(key, found):
    """Where heads decide, each head word meets as often as both sides have it."""
    left, right = expressions(key), expressions(found)
    met = pair_templates(left, right)
    both = [(one, other) for one, other in met if one and other]
    ends = {end for _, end in key} & {end for _, end in found}
    assert {id(one) for one, _ in met if one} == {id(one) for one in left}
    assert {id(other) for _, other in met if other} == {id(other) for other in right}
    assert len(met) == len(left) + len(right) - len(both)
    assert ends == {int(one.head[1:]) for one, _ in both}
    assert all(one.head == other.head for one, other in both)
    assert [(one or other).start for one, other in met] == sorted(
        (one or other).start for one, other in met
    )

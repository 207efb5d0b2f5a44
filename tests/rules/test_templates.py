"""Templates from contributions, built by hand: what ranks wins, what agrees is added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from partita.core import Message, Region, Template
from partita.rules.build import Contribution
from partita.rules.cascade import Analysis
from partita.rules.domain import RuleSet, TemplateType
from partita.rules.extractor import ValueCache, extract
from partita.rules.phrases import (
    Phrase,
    SharedPhrase,
    phrase_head,
    phrase_modifiers,
    phrase_number,
    phrase_relations,
)
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.name import PlaceType
from partita.templates.quantities import NumberType
from partita.templates.schema import Schema
from partita.templates.slots import StringsType

TYPES = Hierarchy.of({"FACILITY": None, "DEPOT": "FACILITY", "BRIDGE": "FACILITY", "UNIT": None})
PLACES = Hierarchy.of({"NORTH CAROLINA": None, "KINSTON": "NORTH CAROLINA", "VIRGINIA": None})
SCHEMA = Schema(
    {
        "FACILITY": HierarchyType(TYPES, "FACILITY"),
        "NUMBER": NumberType(),
        "LOCATION": PlaceType(PLACES),
        "STATUS": StringsType(),
    },
    TYPES,
)
DOMAIN = RuleSet(
    "small", SCHEMA, TYPES, templates={"FACILITY": TemplateType("FACILITY", ("FACILITY",))}
)


@dataclass
class Tokens:
    texts: list[str]
    starts: list[int]
    ends: list[int]
    region: list[int]
    ends_of_sentences: list[int]


def phrase(first: int, last: int, **said: Any) -> Phrase:
    return Phrase(str(said.get("kind", "ng")), first, last, {"kind": "ng", **said})


def about(where: Phrase, size: int = 1, priority: int = 0, order: int = 0, **slots: Any) -> Any:
    entity_type = slots.pop("type", ())
    return Contribution(
        where, slots, entity_type, f"rule {order}", where.first, where.last, size, priority, order
    )


def built(
    text: str, contributions: list[Any], regions: list[Region] | None = None, **tokens: Any
) -> tuple[Template, ...]:
    """Words are what stands between spaces; the phrases are those of the contributions."""
    words = text.split()
    starts = [text.index(word) for word in words]
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    made = Tokens(words, starts, ends, [0] * len(words), [len(words)])
    for name, value in tokens.items():
        setattr(made, name, value)
    phrases = sorted({one.about.first: one.about for one in contributions}.items())
    items = [SharedPhrase(dict(p.attributes), [], "", (), ()) for _, p in phrases]
    analysis = Analysis(items, [first for first, _ in phrases], tuple(contributions))
    whole = [Region("text", 0, len(text))]
    return extract(
        Message("m", text, tuple(regions or whole)), made, analysis, DOMAIN, ValueCache(SCHEMA)
    )


def test_one_phrase_is_one_template_with_its_words_and_rules() -> None:
    depot = phrase(0, 2, lemma="rail depot", form="indefinite", number="1", det="a", mods=("old",))
    found = built("an old depot", [about(depot, type=("DEPOT",), FACILITY="DEPOT", NUMBER="1")])
    (one,) = found
    assert (one.id, one.text, one.start, one.end) == ("T1", "an old depot", 0, 12)
    assert (one.type, one.head, one.number, one.form) == (
        "DEPOT", "depot", "singular", "indefinite",
    )  # fmt: skip
    assert one.slots == {"FACILITY": "DEPOT", "NUMBER": 1}
    assert one.context["MODIFIERS"] == ["old", "rail"]
    assert one.context["DETERMINER"] == "a"
    assert one.context["WORDS"] == ["an", "old", "depot"]
    assert one.rule == "rule 0"


def test_the_longer_match_wins_and_what_agrees_is_added() -> None:
    depot = phrase(0, 0)
    found = built(
        "depot",
        [
            about(depot, 1, order=0, type=("DEPOT",), FACILITY="DEPOT", LOCATION="KINSTON"),
            about(depot, 3, order=1, LOCATION="NORTH CAROLINA", STATUS="ACTIVE"),
            about(depot, 2, order=2, LOCATION="VIRGINIA", STATUS="GUARDED"),
        ],
    )
    assert found[0].slots == {
        "FACILITY": "DEPOT",
        "LOCATION": "KINSTON",
        "STATUS": ["ACTIVE", "GUARDED"],
    }
    assert found[0].rule == "rule 1, rule 2, rule 0"


def test_an_empty_text_keeps_a_slot_empty_below_its_rank() -> None:
    depot = phrase(0, 0)
    low = about(depot, 1, order=0, type=("DEPOT",), FACILITY="DEPOT", STATUS="ACTIVE")
    kept = built("depot", [low, about(depot, 2, order=1, STATUS="")])
    assert kept[0].slots == {"FACILITY": "DEPOT"}
    above = built("depot", [low, about(depot, 3, STATUS="CLOSED"), about(depot, 2, STATUS="")])
    assert above[0].slots["STATUS"] == ["CLOSED"]


def test_values_that_no_slot_takes_are_left_out() -> None:
    depot = phrase(0, 0)
    found = built(
        "depot", [about(depot, type=("DEPOT",), FACILITY=("DEPOT", "UNIT"), NUMBER="some")]
    )
    assert found[0].slots == {"FACILITY": "DEPOT"}


def test_what_lacks_a_needed_slot_or_type_is_no_template() -> None:
    assert not built("depot", [about(phrase(0, 0), type=("DEPOT",), NUMBER="1")])
    assert not built("depot", [about(phrase(0, 0), type=("UNIT",), FACILITY="DEPOT")])


def test_templates_are_in_text_order() -> None:
    late, early = phrase(2, 2), phrase(0, 0)
    found = built(
        "depot and bridge",
        [
            about(late, type=("BRIDGE",), FACILITY="BRIDGE"),
            about(early, type=("DEPOT",), FACILITY="DEPOT"),
        ],
    )
    assert [(one.id, one.text) for one in found] == [("T1", "depot"), ("T2", "bridge")]


def pronoun(place: int, number: str) -> Any:
    return about(phrase(place, place, form="pronoun", number=number), NUMBER=number)


def test_a_pronoun_needs_something_before_it_of_its_number() -> None:
    depot = about(phrase(0, 0, number="1"), type=("DEPOT",), FACILITY="DEPOT")
    both = built("depot they it", [depot, pronoun(1, "PLURAL"), pronoun(2, "1")])
    assert [one.text for one in both] == ["depot", "it"]
    assert (both[1].form, both[1].type, both[1].slots) == ("pronoun", "", {"NUMBER": 1})
    assert (both[1].context["PERSON"], both[1].context["GENDER"]) == ("3", "neut")
    assert not built("it depot", [pronoun(0, "1")])
    far = built("depot a b c d it", [depot, pronoun(5, "1")], ends_of_sentences=[1, 2, 3, 4, 5, 6])
    assert [one.text for one in far] == ["depot"]


def test_a_row_of_a_table_is_one_template() -> None:
    regions = [
        Region("table", 0, 5, table=0, row=1, column=0),
        Region("table", 6, 13, table=0, row=1, column=1),
        Region("table", 14, 20, table=0, row=1, column=2),
        Region("table", 21, 27, table=0, row=2, column=0),
    ]
    cells = [
        about(phrase(0, 0), type=("DEPOT",), FACILITY="DEPOT"),
        about(phrase(1, 1), LOCATION="KINSTON"),
        about(phrase(2, 2), type=("DEPOT",), FACILITY="DEPOT", STATUS="ACTIVE"),
        about(phrase(3, 3), LOCATION="VIRGINIA"),
    ]
    found = built("DEPOT KINSTON STATUS ALONE_", cells, regions, region=[0, 1, 2, 3])
    (one,) = found
    assert one.slots == {"FACILITY": "DEPOT", "LOCATION": "KINSTON", "STATUS": ["ACTIVE"]}
    assert (one.text, one.region) == ("DEPOT", "table")


def test_two_things_in_one_row_stay_two() -> None:
    regions = [Region("table", 0, 12, table=0, row=1, column=0)]
    cells = [
        about(phrase(0, 0), type=("DEPOT",), FACILITY="DEPOT"),
        about(phrase(1, 1), type=("BRIDGE",), FACILITY="BRIDGE"),
    ]
    assert len(built("DEPOT BRIDGE", cells, regions)) == 2


def test_the_heading_of_a_table_is_no_template() -> None:
    depot = [about(phrase(0, 0), type=("DEPOT",), FACILITY="DEPOT")]
    assert not built("DEPOT", depot, [Region("heading", 0, 5, table=0, row=0)])
    assert built("DEPOT", depot, [Region("heading", 0, 5)])


def ng(**said: Any) -> dict[str, Any]:
    return {"kind": "ng", "text": "x", "number": 1, **said}


def word(text: str, tag: str = "") -> dict[str, Any]:
    return {"kind": "word", "text": text, "tag": tag}


BE = {"kind": "vg", "lemma": "be", "text": "is", "form": "finite"}
SEE = {"kind": "vg", "lemma": "see", "text": "saw", "form": "finite"}
END: dict[str, Any] = {}


def test_roles() -> None:
    assert phrase_relations([ng(), SEE, ng()], 0).role == "subject"
    assert phrase_relations([ng(), SEE, ng()], 2).role == "object"
    assert phrase_relations([ng(), word("in", "IN"), ng(), SEE], 0).role == "subject"
    assert phrase_relations([ng(), word("in", "IN"), ng(), SEE], 2).role == "oblique"
    assert phrase_relations([ng(), word("'s", "POS"), ng()], 0).role == "possessive"
    assert phrase_relations([ng(), END, SEE], 0).role == "other"


def test_copula() -> None:
    assert phrase_relations([ng(), BE, ng()], 2).copula == 0
    assert phrase_relations([ng(), {**BE, "negated": "not"}, ng()], 2).copula == -1
    is_not = {**BE, "negated": "not"}
    assert phrase_relations([ng(), is_not, ng(), word("but"), ng()], 4).copula == 0
    assert phrase_relations([ng(), is_not, ng(), word("or"), ng()], 4).copula == -1
    assert phrase_relations([ng(), BE, ng(), word("but"), ng()], 4).copula == -1
    assert phrase_relations([ng(), BE, ng(number="PLURAL")], 2).copula == -1
    assert phrase_relations([ng(), END, ng()], 2).copula == -1


def test_copula_after_a_relative_clause() -> None:
    which, seen, at = ng(person="relative"), {**SEE, "form": "participle"}, word("at", "IN")
    comma, said = word(","), {**SEE, "lemma": "say"}
    assert phrase_relations([ng(), seen, at, ng(), BE, ng()], 5).copula == 0
    assert phrase_relations([ng(), at, ng(), seen, at, ng(), BE, ng()], 7).copula == 0
    assert phrase_relations([ng(), which, SEE, BE, ng()], 4).copula == 0
    assert phrase_relations([ng(), which, SEE, ng(), BE, ng()], 5).copula == 0
    assert phrase_relations([ng(), which, SEE, ng(), at, ng(), BE, ng()], 7).copula == 0
    assert phrase_relations([ng(), comma, which, SEE, at, ng(), comma, BE, ng()], 8).copula == 0
    assert phrase_relations([ng(), which, said, ng(), BE, ng()], 5).copula == 3
    assert phrase_relations([ng(), SEE, ng(), BE, ng()], 4).copula == 2
    assert phrase_relations([ng(), comma, ng(), comma, BE, ng()], 5).copula == -1
    assert phrase_relations([ng(), SEE, BE, ng()], 3).copula == -1


def test_apposition() -> None:
    named, described = ng(form="name"), ng(form="definite")
    assert phrase_relations([named, word(","), described, word(",")], 2).apposition == 0
    assert (
        phrase_relations([named, word(","), described, word(","), word("and")], 2).apposition == -1
    )
    assert phrase_relations([described, word(","), described, word(",")], 2).apposition == -1


def test_numbers_heads_and_modifiers() -> None:
    given_ = (1, "12", "PLURAL", "3..5")
    read = [phrase_number(phrase(0, 0, number=number)) for number in given_]
    assert read == ["singular", 12, "plural", "plural"]
    assert phrase_number(phrase(0, 0)) is None
    assert phrase_head(phrase(0, 0, lemma="ammunition dump")) == "dump"
    assert phrase_modifiers(phrase(0, 0, lemma="area", mods=("admin", "and", "support"))) == [
        "admin", "support",
    ]  # fmt: skip


SLOTS = st.dictionaries(
    st.sampled_from(["FACILITY", "NUMBER", "LOCATION", "STATUS"]),
    st.sampled_from(["DEPOT", "BRIDGE", "1", "PLURAL", "KINSTON", "VIRGINIA", "", "x"]),
)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3), SLOTS), max_size=8))
@settings(deadline=None, max_examples=200)
def test_any_contributions_give_templates_that_the_schema_reads(
    given_: list[tuple[int, int, dict[str, Any]]],
) -> None:
    contributions = [
        about(phrase(place, place), size, order=n, type=("DEPOT",), **slots)
        for n, (place, size, slots) in enumerate(given_)
    ]
    found = built("a b c d e", contributions)
    assert [one.id for one in found] == [f"T{n}" for n in range(1, len(found) + 1)]
    assert all(SCHEMA.read(one.slots) and "FACILITY" in one.slots for one in found)
    assert sorted(found, key=lambda one: one.start) == list(found)
    backwards = built("a b c d e", contributions[::-1])
    assert [one.slots for one in backwards] == [one.slots for one in found]

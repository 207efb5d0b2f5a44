from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.depots import A, B, C, D
from partita.antecedents.antecedents import (
    admissible,
    person,
    reference_columns,
    with_antecedents,
)
from partita.core import Template
from partita.templates.entity_types import Hierarchy

DEPOTS = (
    replace(A, form="name", region="subject", head="depot", number=1, text="Kinston Depot"),
    replace(B, form="indefinite", sentence=1, head="depot", number=1),
    replace(C, form="definite", sentence=1, head="depot", number=1),
    replace(D, form="definite", sentence=1, head="depot", number=1),
)


def listed(templates: tuple[Template, ...], name: str) -> list[str]:
    found = next(t for t in with_antecedents(templates) if t.id == name)
    assert [one.preferred for one in found.antecedents] == [
        k == 0 for k in range(len(found.antecedents))
    ]
    return [one.id for one in found.antecedents]


def text(*said: dict[str, object]) -> tuple[Template, ...]:
    """Templates that follow each other, ten characters each, called by what they say."""
    return tuple(
        Template(**{"start": 10 * n, "end": 10 * n + 5, "head": one["id"], **one})  # type: ignore[arg-type]
        for n, one in enumerate(said)
    )


def test_the_papers_example_prefers_b_for_d() -> None:
    assert listed(DEPOTS, "D") == ["B", "C", "A"]
    found = with_antecedents(DEPOTS)
    assert found[1].antecedents == ()
    assert replace(found[3], antecedents=()) == DEPOTS[3]


def test_with_only_c_and_d_c_is_preferred() -> None:
    assert listed(DEPOTS[2:], "D") == ["C"]


def test_modifiers_that_clash_rule_a_candidate_out() -> None:
    rail = replace(DEPOTS[1], context={"MODIFIERS": ["rail"]})
    ammunition = replace(DEPOTS[2], context={"MODIFIERS": ["ammunition"]})
    assert listed((rail, ammunition, DEPOTS[3]), "C") == []
    assert listed((rail, ammunition, DEPOTS[3]), "D") == ["B", "C"]


def test_what_is_known_to_differ_is_not_listed() -> None:
    compatible = np.ones((4, 4), dtype=np.bool_)
    compatible[3, 1] = compatible[1, 3] = False
    found = with_antecedents(DEPOTS, compatible=compatible)[3]
    assert [one.id for one in found.antecedents] == ["C", "A"]


def test_same_sentence_then_previous_left_to_right_then_earlier_right_to_left() -> None:
    places = [0, 1, 1, 2, 2, 3, 3, 3]
    templates = text(
        *({"id": f"t{n}", "head": "x", "sentence": s, "form": "bare"} for n, s in enumerate(places))
    )
    templates = (*templates[:-1], replace(templates[-1], form="definite"))
    assert listed(templates, "t7") == ["t5", "t6", "t3", "t4", "t2", "t1", "t0"]


@pytest.mark.parametrize(
    ("form", "context", "reach"),
    [("definite", {}, 10), ("pronoun", {}, 3), ("pronoun", {"REFLEXIVE": "yes"}, 0)],
)
def test_windows_and_at_most_one_beyond(form: str, context: dict[str, str], reach: int) -> None:
    def found(distance: int) -> list[str]:
        first, second, it = text(
            {"id": "a", "head": "x", "form": "bare"},
            {"id": "b", "head": "x", "form": "bare"},
            {"id": "c", "head": "x", "form": form, "sentence": distance, "context": context},
        )
        return listed((first, second, it), "c")

    assert set(found(reach)) == {"a", "b"}
    assert found(reach + 1) == ["b"]


def test_names_see_everything_and_are_aliases_by_part_and_initials() -> None:
    long = {"id": "long", "form": "name", "slots": {"NAME": "International Business Machines"}}
    part = {"id": "part", "form": "name", "slots": {"NAME": "Business Machines"}, "sentence": 99}
    short = {"id": "short", "form": "name", "slots": {"NAME": "IBM"}, "sentence": 200}
    other = {"id": "other", "form": "name", "slots": {"NAME": "Apple"}, "sentence": 201}
    templates = text(long, part, short, other)
    assert listed(templates, "part") == ["long"]
    assert listed(templates, "short") == ["long"]
    assert listed(templates, "other") == []


def test_number_twelve_is_plural_and_they_may_be_an_organisation() -> None:
    templates = text(
        {"id": "twelve", "form": "bare", "number": 12, "type": "person"},
        {"id": "one", "form": "bare", "number": "singular", "type": "person"},
        {"id": "firm", "form": "bare", "number": 1, "type": "organization"},
        {"id": "they", "form": "pronoun", "number": "plural"},
        {"id": "he", "form": "pronoun", "number": "singular", "type": "person"},
    )
    assert listed(templates, "they") == ["twelve", "firm"]
    assert listed(templates, "he") == ["one"]


def test_a_more_general_type_refers_back_to_a_more_special_one_and_not_the_reverse() -> None:
    types = Hierarchy.of({"COMPANY": None, "AUTOMAKER": "COMPANY"})
    general, special = (
        {"id": s, "type": s, "head": "", "form": "definite"} for s in ("COMPANY", "AUTOMAKER")
    )
    first = with_antecedents(text(special, general), types=types)
    second = with_antecedents(text(general, special), types=types)
    assert [one.id for one in first[1].antecedents] == ["AUTOMAKER"]
    assert second[1].antecedents == ()


def test_pronouns_agree_in_person_gender_and_speaker() -> None:
    def pronoun(name: str, **context: str) -> dict[str, object]:
        return {"id": name, "form": "pronoun", "context": context}

    templates = text(
        pronoun("she", PERSON="3", GENDER="fem"),
        pronoun("I", PERSON="1", SPEAKER="Ann"),
        pronoun("he", PERSON="3", GENDER="masc"),
        pronoun("me", PERSON="1", SPEAKER="Bob"),
        pronoun("my", PERSON="1", SPEAKER="Ann"),
        pronoun("her", PERSON="3", GENDER="fem"),
    )
    assert listed(templates, "my") == ["I"]
    assert listed(templates, "me") == []
    assert listed(templates, "her") == ["she"]


def test_what_heads_a_text_sees_all_of_it_and_the_rest_only_what_precedes() -> None:
    templates = text(
        {"id": "top", "head": "x", "form": "definite", "region": "heading"},
        {"id": "low", "head": "x", "form": "definite", "sentence": 30},
    )
    assert listed(templates, "top") == ["low"]
    assert listed(templates, "low") == ["top"]


def test_what_contains_an_anaphor_is_not_its_antecedent() -> None:
    whole = Template("whole", start=0, end=30, head="x", form="bare")
    inner = Template("inner", start=10, end=15, head="x", form="definite")
    assert listed((whole, inner), "inner") == []


def test_the_nearest_is_preferred() -> None:
    templates = text(
        *({"id": f"t{n}", "head": "x", "form": "definite", "sentence": n} for n in range(4))
    )
    preferred = {
        one.id: [other.id for other in one.antecedents if other.preferred]
        for one in with_antecedents(templates)
    }
    assert preferred == {"t0": [], "t1": ["t0"], "t2": ["t1"], "t3": ["t2"]}


TEMPLATES = st.lists(
    st.builds(
        Template,
        id=st.just("x"),
        sentence=st.integers(0, 15),
        region=st.sampled_from(["text", "heading"]),
        type=st.sampled_from(["", "person", "organization"]),
        head=st.sampled_from(["", "man", "firm"]),
        number=st.sampled_from([None, "singular", "plural", 1, 12]),
        form=st.sampled_from(["pronoun", "definite", "name", "indefinite", "bare", ""]),
        slots=st.sampled_from([{}, {"NAME": "IBM"}]),
        context=st.sampled_from([{}, {"MODIFIERS": ["old"]}, {"PERSON": "1"}]),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=60)
@given(TEMPLATES)
def test_antecedents_precede_in_the_text_and_end_nowhere_else(drawn: list[Template]) -> None:
    ordered = sorted(drawn, key=lambda t: t.sentence)
    templates = tuple(
        replace(t, id=f"t{n}", start=10 * n, end=10 * n + 5) for n, t in enumerate(ordered)
    )
    place = {t.id: n for n, t in enumerate(templates)}
    for n, found in enumerate(with_antecedents(templates)):
        ids = [one.id for one in found.antecedents]
        assert len(set(ids)) == len(ids)
        assert found.id not in ids
        assert found.region == "heading" or all(place[i] < n for i in ids)
        assert not ids or found.form in ("pronoun", "definite", "name")


def test_a_plural_noun_group_is_no_organisation() -> None:
    """Only pronouns may be plural where the organisation is singular."""
    templates = text(
        {"id": "firm", "form": "indefinite", "number": 1, "type": "COMPANY"},
        {"id": "the firms", "form": "definite", "number": "plural", "head": "firm"},
    )
    assert listed(templates, "the firms") == []


@pytest.mark.parametrize(
    ("word", "number"), [("We", 1), ("yourself", 2), ("She", 3), ("themselves", 3)]
)
def test_the_person_of_a_pronoun(word: str, number: int) -> None:
    assert person(Template("P", word, form="pronoun")) == number
    assert person(Template("P", word, form="definite")) == -1
    assert person(Template("P", word, form="pronoun", context={"PERSON": 2})) == 2


def test_a_type_outside_the_hierarchy_is_subsumed_by_itself_only() -> None:
    types = Hierarchy.of({"FACILITY": None, "DEPOT": "FACILITY"})
    templates = text(
        {"id": "ship", "form": "indefinite", "type": "SHIP", "head": "x"},
        {"id": "site", "form": "definite", "type": "FACILITY", "head": "x"},
    )
    assert reference_columns(templates, types).subsumes.tolist() == [[True, False], [False, True]]


def agrees(anaphor: Template, other: Template) -> bool:
    """Agreement template by template, without columns: what is unknown agrees with anything."""

    def alike(left: object, right: object) -> bool:
        return not left or not right or left == right

    counts = [t.number if isinstance(t.number, int) else None for t in (anaphor, other)]
    if None not in counts and counts[0] != counts[1]:
        return False
    said = [
        t.number if isinstance(t.number, str) else "plural" if t.number else ""
        for t in (anaphor, other)
    ]
    if not alike(*said) or not alike(anaphor.type, other.type):
        return False
    if anaphor.form == "pronoun":
        genders = [t.context.get("GENDER", "") for t in (anaphor, other)]
        return alike(*genders) and (other.form != "pronoun" or person(other) == 3)
    pronoun = other.form == "pronoun" and person(other) == 3
    return other.form == "name" or pronoun or alike(anaphor.head, other.head)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.builds(
            Template,
            id=st.just(""),
            form=st.sampled_from(["pronoun", "definite", "name", "bare"]),
            head=st.sampled_from(["", "depot", "it"]),
            number=st.sampled_from(["", "singular", "plural", 2, 12]),
            type=st.sampled_from(["", "PERSON", "DEPOT"]),
            context=st.sampled_from([{}, {"GENDER": "male"}, {"GENDER": "female"}]),
        ),
        min_size=2,
        max_size=5,
    )
)
def test_the_unknown_agrees_with_anything(made: list[Template]) -> None:
    if made[-1].form not in ("pronoun", "definite"):
        return
    templates = [replace(t, id=f"t{n}", start=9 * n, end=9 * n + 5) for n, t in enumerate(made)]
    *others, anaphor = templates
    columns = reference_columns(templates)
    found = admissible(columns, len(others), np.arange(len(others)))
    assert found.tolist() == [n for n, other in enumerate(others) if agrees(anaphor, other)]


def test_names_of_an_unknown_type_are_aliases() -> None:
    made = text(
        {"id": "a", "form": "name", "text": "Kinston", "type": ""},
        {"id": "b", "form": "name", "text": "Kinston", "type": "PERSON"},
        {"id": "c", "form": "name", "text": "Kinston", "type": "DEPOT"},
    )
    found = admissible(reference_columns(made), 2, np.arange(2))
    assert found.tolist() == [0]

"""What is observed of two events, on events of our own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.core import Template
from partita.pairs.characteristics import characteristics_of
from partita.pairs.columns import template_columns
from partita_incidents.characteristics import EVENTS, compatible_events

KINDS = ("ATTACK", "BOMBING", "KIDNAPPING", "ARSON", "ROBBERY")
WORDS = ("mayor", "bank", "LOPEZ", "police", "bomb")


def event(sentence: int, kind: str = "ATTACK", **told: Any) -> Template:
    """An event with the slots in capitals and the rest as its context."""
    slots = {name: some for name, some in told.items() if name.isupper()}
    known = {
        "PARAGRAPH": 1,
        "CHANCE": 0.9,
        "TYPES": {kind: 1.0},
        "WORDS": ["kill", "police"],
        "OPENING": ["the"],
        "ADVERBS": [],
        "NOUNS": [],
    }
    context = known | {name.upper(): value for name, value in told.items() if name.islower()}
    return Template(
        f"E{sentence}", sentence=sentence, slots={"INCIDENT": [kind], **slots}, context=context
    )


def observed(s: Template, t: Template) -> dict[str, str]:
    codes = characteristics_of(
        template_columns([s, t]), np.array([0]), np.array([1]), EVENTS, cutoffs=(0.0,) * 4
    )[0]
    return {one.name: one.values[code] for one, code in zip(EVENTS, codes.tolist(), strict=True)}


@pytest.mark.parametrize(
    ("s", "t", "name", "value"),
    [
        (event(0), event(1), "incident_types", "both attack"),
        (event(0), event(1, "BOMBING"), "incident_types", "attack and bombing"),
        (event(0, "BOMBING"), event(1), "incident_types", "attack and bombing"),
        (event(0, "ROBBERY"), event(1, "ROBBERY"), "incident_types", "both another"),
        (event(0, "ROBBERY"), event(1, "ARSON"), "incident_types", "others"),
        (event(0), event(1, "BOMBING"), "common_types", "0 to 20 %"),
        (event(0), event(2, paragraph=2), "sentences_apart", "2, paragraphs"),
        (event(0), event(5), "sentences_apart", "4 to 6, one paragraph"),
        (event(0), event(30), "sentences_apart", "more, one paragraph"),
        (event(0), event(1), "events_between", "0 of 2"),
        (event(0, chance=0.3), event(1), "certainty", "20 to 40 %"),
        (event(0, VICTIM=["LOPEZ"]), event(1, VICTIM=["LOPEZ"]), "victims", "shared, by name"),
        (event(0, VICTIM=["mayor"]), event(1, VICTIM=["mayor"]), "victims", "shared"),
        (event(0, VICTIM=["mayor"]), event(1, VICTIM=["priest"]), "victims", "others"),
        (event(0, TARGET=["bank"]), event(1), "targets", "by S only"),
        (event(0), event(1, INSTRUMENT=["bomb"]), "instruments", "by T only"),
        (event(0, VICTIM=["van"]), event(1, TARGET=["van"]), "harmed", "one type, shared"),
        (event(0, DATE=["A"]), event(1, "ARSON", DATE=["B"]), "days", "other types, others"),
        (event(0, LOCATION=["A", "B"]), event(1, LOCATION=["B"]), "places", "one type, shared"),
        (event(0, DATE=["A"]), event(1, "ARSON", DATE=["B"]), "agreement", "type, day"),
        (event(0, LOCATION=["A"]), event(1, LOCATION=["B"]), "agreement", "place"),
        (event(0), event(1, words=["kill"]), "words_shared", "more"),
        (event(0), event(1, words=["see"]), "words_shared", "0 to 10 %"),
        (event(0), event(1, adverbs=["in", "meanwhile"]), "cue", "meanwhile"),
        (event(0), event(1, nouns=[["the", "attack", "1"]]), "event_noun", "the new"),
        (
            event(0, nouns=[["a", "attack", "1"]]),
            event(1, nouns=[["the", "attack", "PLURAL"]]),
            "event_noun",
            "several known",
        ),
        (event(0), event(1), "lead", "both"),
        (event(0), event(1, opening=["on"]), "opening", "in"),
    ],
)
def test_what_is_observed(s: Template, t: Template, name: str, value: str) -> None:
    assert observed(s, t)[name] == value


events = st.builds(
    lambda kind, who, where, chance, words, adverbs, opening, nouns: event(
        0,
        kind,
        VICTIM=who,
        LOCATION=where,
        chance=chance,
        words=words,
        adverbs=adverbs,
        opening=opening,
        nouns=nouns,
    ),
    st.sampled_from(KINDS),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.lists(st.sampled_from(WORDS), max_size=2),
    st.floats(0, 1),
    st.lists(st.sampled_from(WORDS), max_size=5),
    st.lists(st.sampled_from(("also", "then", "but", "now")), max_size=2),
    st.lists(st.sampled_from(("in", "when", "she")), max_size=2),
    st.lists(st.tuples(*(st.sampled_from(w) for w in (("the", "a"), WORDS, ("1", "2"))))),
)


@settings(deadline=None, max_examples=40)
@given(st.lists(events, min_size=2, max_size=7), st.lists(st.integers(0, 20), min_size=7))
def test_every_code_has_a_name(found: list[Template], places: list[int]) -> None:
    told = [
        Template(f"E{n}", sentence=at, slots=one.slots, context=one.context)
        for n, (one, at) in enumerate(zip(found, sorted(places), strict=False))
    ]
    left, right = np.triu_indices(len(told), 1)
    codes = characteristics_of(template_columns(told), left, right, EVENTS, cutoffs=(0.0,) * 4)
    for n, one in enumerate(EVENTS):
        assert codes[:, n].max(initial=0) < len(one.values)


@settings(deadline=None, max_examples=40)
@given(st.lists(events, max_size=5))
def test_agreement_is_symmetric_and_everything_agrees_with_itself(found: list[Template]) -> None:
    table = compatible_events(found).reshape(len(found), len(found))
    assert (table == table.T).all()
    assert table.diagonal().all()


def test_what_only_one_tells_does_not_clash() -> None:
    table = compatible_events(
        [event(0, DATE=["A"]), event(1), event(2, DATE=["B"]), event(3, "ARSON")]
    )
    assert table.tolist() == [
        [True, True, False, False],
        [True, True, True, False],
        [False, True, True, False],
        [False, False, False, True],
    ]

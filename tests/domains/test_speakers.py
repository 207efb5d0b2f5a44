"""I and you go to who speaks and who is addressed."""

from __future__ import annotations

import random

import partita
from partita.domains.general import details

CHAT = """\
Alice: I can bring the cake on Saturday. Bob, can you drive?
Bob: Sure, I will pick you up at six.
Carol: I am not coming, my mother is ill.
"""
MAIL = """\
Dear Tom,

I spoke to the roofer this morning. Please send your answer by Friday.

Best wishes,
Dana
"""


def _spoken(text: str) -> list[tuple[str, str]]:
    doc = partita.run(text)
    named = {mention.id: mention.text for mention in doc.mentions}
    return [
        (mention.text, named[mention.context["SPOKEN_BY"]])
        for mention in doc.mentions
        if "SPOKEN_BY" in mention.context
    ]


def test_turns_of_a_chat() -> None:
    assert _spoken(CHAT) == [
        ("I", "Alice"), ("you", "Bob"), ("I", "Bob"), ("you", "Alice"), ("I", "Carol"),
        ("my", "Carol"),
    ]  # fmt: skip
    doc = partita.run(CHAT)
    words = {mention.id: mention.text for mention in doc.mentions}
    entities = [{words[one] for one in entity.templates} for entity in doc.entities]
    assert any({"Carol", "I", "my"} <= them for them in entities)
    assert not any({"Alice", "Carol"} <= them for them in entities)


def test_a_letter_has_a_writer_and_a_reader() -> None:
    assert _spoken(MAIL) == [("I", "Dana"), ("your", "Tom")]


def test_a_quotation_belongs_to_the_subject_of_its_verb() -> None:
    assert _spoken('"I will stay," said Ruth Okafor. Tom Lind left.') == [("I", "Ruth Okafor")]
    assert _spoken("I saw Ruth Okafor. She said that I was late.") == []


def test_the_shortest_stretch_around_a_place_counts_and_the_first_of_equals() -> None:
    draws = random.Random(0)
    for _ in range(200):
        starts = [draws.randrange(20) for _ in range(draws.randrange(1, 9))]
        talks = [
            details._Talk(start, start + draws.randrange(9), n) for n, start in enumerate(starts)
        ]
        said = details._shortest(talks)
        for place in range(-1, 30):
            around = [talk for talk in talks if talk.start <= place < talk.end]
            shortest = min(around, key=lambda one: one.end - one.start, default=None)
            assert said(place) is shortest

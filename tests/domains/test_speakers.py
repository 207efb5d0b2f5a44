"""I and you go to who speaks and who is addressed."""

from __future__ import annotations

import random

import pytest

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


THREAD = """From: Anna Keller
To: Dev Patel
Subject: The workshop

Hi Dev,

could you ask Maria for the library? She knows the people.

Anna

From: Dev Patel
To: Anna Keller

Hi Anna,

I called Maria this morning. She will keep it for us. Do you want to wait?

Dev
"""


def test_every_mail_of_a_thread_has_a_writer_and_a_reader() -> None:
    assert _spoken(THREAD) == [("you", "Dev"), ("I", "Dev"), ("you", "Anna")]


def test_i_and_you_are_neither_he_nor_she_in_one_letter() -> None:
    found = partita.run(THREAD).mentions
    texts = {one.id: one.text for one in found}
    beside = [
        (one.text, [texts[other] for other in one.context["BESIDES"]])
        for one in found
        if "BESIDES" in one.context
    ]
    assert beside == [("She", ["you"]), ("She", ["I"]), ("you", ["She"])]
    (answer,) = partita.run(THREAD).distributions
    words = [one.text for one in answer.set.templates]
    maria, she, you = (words.index(word) for word in ("Maria", "She", "you"))
    assert answer.marginals.value[maria, she] > 0.7
    assert answer.marginals.value[you, she] < 0.1


@pytest.mark.parametrize(
    "line", ["Thank you!\n\nHere you go! And some tulips.", "Cheers!\n\nTry it out!"]
)
def test_thanks_in_a_talk_sign_no_letter(line: str) -> None:
    text = f"Good morning, it is Monday. I met Ann and she told me a story.\n\n{line}\n\nOh yes!"
    assert _spoken(text) == []


def test_who_signs_is_a_person_and_a_title_is_part_of_the_name() -> None:
    doc = partita.run(
        "Dear Ms Keller,\n\nI bought a washing machine in May. Nobody looked at it.\n\n"
        "Yours sincerely,\nInes Vogt\n"
    )
    types = {mention.text: mention.type for mention in doc.mentions}
    assert "Ms" not in types
    assert types["Ines Vogt"] == "person"
    (answer,) = doc.distributions
    words = [one.text for one in answer.set.templates]
    row = answer.marginals.value[words.index("it")]
    assert row[words.index("a washing machine")] > 0.5 > row[words.index("I")]

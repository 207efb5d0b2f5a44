"""Agreement in short texts, as the shipped model states it."""

from __future__ import annotations

import pytest

import partita


def stated(text: str, one: str, other: str) -> float:
    """Return the probability that two mentions of a text are the same."""
    (answer,) = partita.run(text).distributions
    texts = [template.text for template in answer.set.templates]
    return float(answer.marginals.value[texts.index(one), texts.index(other)])


@pytest.mark.parametrize(
    ("text", "he", "she"),
    [
        ("The doctor called. He was tired. Then she left.", "He", "she"),
        ("He disliked his hot temper and her habit.", "his", "her"),
        ("Mary told John that he was late and she left.", "he", "she"),
    ],
)
def test_he_is_hardly_ever_she(text: str, he: str, she: str) -> None:
    assert stated(text, he, she) < 0.02


@pytest.mark.parametrize("name", ["Acme Corp.", "Northwind Ltd."])
def test_a_name_that_ends_as_a_company_is_the_company(name: str) -> None:
    text = f"Maria Lopez leads {name} in Paris. She founded the company in 2009."
    assert stated(text, name, "the company") > 0.5
    assert stated(text, name, "She") < 0.05


@pytest.mark.parametrize(
    ("text", "one_man"),
    [
        ("Anna Berg met Tomas Lind at the harbour. She saw them again in June.", "Tomas Lind"),
        ("Mr. Odum spoke for an hour. They booed.", "Mr. Odum"),
        ("The firm praised Peter Marsh. Nobody thanked them.", "Peter Marsh"),
    ],
)
def test_they_are_hardly_ever_one_man(text: str, one_man: str) -> None:
    they = "They" if "They" in text else "them"
    assert stated(text, one_man, they) < 0.15


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        (
            "Mark Hurd would buy the firm. Its president, Ursula Stein, warned that he could fail.",
            "Mark Hurd", "Ursula Stein",
        ),
        ("Peter Marsh met a journalist. The editor, Jane Doe, wrote.", "Peter Marsh", "Jane Doe"),
        ("The minister, Carl Berg, spoke. The mayor, Tom Ray, left.", "Carl Berg", "Tom Ray"),
        ("Mr Quinn asked for a new tank. Mr Novak changed the lock.", "Mr Quinn", "Mr Novak"),
        ("Mrs. Ivy Holt slept. Dr. Chen called the nurse.", "Mrs. Ivy Holt", "Dr. Chen"),
        ("J. Barlow opened the meeting. P. Ward took notes.", "J. Barlow", "P. Ward"),
    ],
)  # fmt: skip
def test_persons_with_other_names_are_others(text: str, one: str, other: str) -> None:
    assert stated(text, one, other) < 0.1


def test_a_noun_before_a_name_is_no_second_subject() -> None:
    text = (
        "The Danish brewery Carlsberg said on Thursday it would sell its Russian unit to managers."
    )
    assert stated(text, "The Danish brewery Carlsberg", "it") > 0.8


def test_a_reflexive_is_the_subject() -> None:
    assert stated("The mayor thanked himself.", "The mayor", "himself") > 0.9


@pytest.mark.parametrize(
    ("text", "subject", "other"),
    [
        ("The mayor thanked him.", "The mayor", "him"),
        ("The committee praised it.", "The committee", "it"),
        ("The nurse helped her.", "The nurse", "her"),
        ("The players greeted them.", "The players", "them"),
        ("Peter Marsh arrived late. The mayor thanked him.", "The mayor", "him"),
        ("Tom said that Peter admired him.", "Peter", "him"),
    ],
)
def test_what_follows_its_verb_is_seldom_the_subject(text: str, subject: str, other: str) -> None:
    assert stated(text, subject, other) < 0.25


def test_what_follows_a_verb_may_be_the_subject_of_a_verb_above() -> None:
    assert stated("Tom said that Peter admired him.", "Tom", "him") > 0.8

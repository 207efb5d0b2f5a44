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

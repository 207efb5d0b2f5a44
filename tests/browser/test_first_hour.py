"""What a person meets in the first hour: Label in every domain, a chip that is held, a text."""

from __future__ import annotations

import re

import httpx
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser.person import Person
from browser.test_views import FAINT


@pytest.mark.parametrize("run", ["general", "incidents"])
def test_next_lists_the_least_certain_sets_where_nothing_is_trained(
    person: Person, client: httpx.Client, run: str
) -> None:
    person.go("next", run=run)
    listed = client.get(f"/runs/{run}/next").json()
    assert listed
    assert {one["gain"] for one in listed} == {None}
    bits = [one["entropy_bits"] for one in listed]
    assert bits == sorted(bits, reverse=True)
    assert listed[0]["set"] in person.sees(".next-rows li").text
    assert "partita train" in person.says()
    assert not any("Train" in one.text for one in person.all("main button"))
    assert not person.all(".error-panel")
    assert person.log() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chip_that_is_picked_up_can_be_read(person: Person, scheme: str) -> None:
    person.colours(scheme)
    person.go("key", run="work", message="msg-050")
    chip = person.sees(".chip-button")
    ActionChains(person.driver).move_to_element(chip).click().perform()
    held = person.sees(".chip-button.picked")
    assert person.run("return arguments[0].matches(':hover')", held)
    assert person.run(FAINT) == []
    person.presses(Keys.ESCAPE)


def test_the_first_chip_is_near_for_the_keyboard(person: Person) -> None:
    person.go("key", run="work", message="msg-050")
    person.sees(".chip-button")
    person.presses(Keys.TAB)
    person.presses(Keys.ENTER)  # the link that skips the header
    held = "return document.activeElement.classList.contains('chip-button')"
    pressed = 2
    while not person.run(held) and pressed < 8:
        person.presses(Keys.TAB)
        pressed += 1
    assert pressed <= 5


def test_an_ordinary_text_shows_entities_of_several_mentions(person: Person) -> None:
    """Mentions that are alone have no colour, and what is uncertain is listed."""
    person.go("read", run="demo")
    person.sees(".message-text.many .mark.alone")
    several = [set(cell) for cell in person.run(CELLS)]
    colours = person.marks()
    assert several
    for cell in several:
        assert len({colours[name] for name in cell}) == 1
    assert person.sees(".decisions h2").text == "Uncertain"
    person.sees("details summary", "mentioned once")
    person.sees(".set-details summary").click()
    rows = {one.text for one in person.all(".configuration:not(.current) .row-cells")}
    answer = person.sees(".configuration.current .row-cells").text
    assert max(map(len, rows)) < len(answer)  # only what changed
    assert person.log() == []


TERMS = re.compile(
    r"\b(?:templates?|cells?|configurations?|coreference sets?|(?<!arrow )keys?|keyed)\b", re.I
)


@pytest.mark.parametrize(
    "view", ["read", "entities", "next", "key", "why", "records", "fuse", "add"]
)
def test_views_of_ordinary_texts_do_without_the_terms_of_the_paper(
    person: Person, view: str
) -> None:
    """They are behind details at most, whose content is not among what the page says."""
    person.go(view, run="demo")
    person.until(lambda: not person.all("main[aria-busy]"), "a view that is drawn")
    person.until(lambda: "Loading…" not in person.says(), "all of its panels")
    assert TERMS.findall(str(person.run("return document.body.innerText"))) == []


def test_a_short_text_is_shown_as_a_text_and_leads_to_its_reasons(
    person: Person, client: httpx.Client
) -> None:
    text = "Maria Lopez leads Acme Corp. in Paris. She founded the company in 2009."
    client.post("/runs/short/messages", json={"id": "a", "text": text, "domain": "general"})
    person.go("read", run="short")
    person.sees(".message-text.many .mark.alone")
    assert "m1" not in person.sees(".message-text").text
    person.run("document.querySelector('.entity summary').click()")
    person.sees(".entity a", "Why together?").click()
    person.sees(".view-why .answer .sentence")
    assert person.log() == []
    client.delete("/runs/short").raise_for_status()


CELLS = """
const ids = (card) =>
  [...card.querySelectorAll(".entity-details .chip")].map((one) => one.textContent);
return [...document.querySelectorAll(".entity")].map(ids).filter((cell) => cell.length > 1);
"""

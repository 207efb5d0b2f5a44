"""What a person meets in the first hour: Next in every domain, a chip that is held, Try."""

from __future__ import annotations

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
    assert "not trained" in person.says() or "its own training" in person.says()
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


def test_try_reads_ordinary_text_and_says_why(person: Person) -> None:
    person.go("try")
    assert person.run("return document.querySelector('.tools select').value") == "general"
    person.sees("form .quiet", "Any English text")
    person.button("An article").click()
    person.sees(".entity", "Acme")
    person.clicks("Why?")
    person.until(lambda: "=" in person.focus(), "the focus in the table of pairs")
    person.presses(Keys.ENTER)
    person.sees(".answer h2")
    assert not person.all(".error-panel")
    person.run(
        "const s = document.querySelector('.tools select'); s.value = 'depots';"
        "s.dispatchEvent(new Event('change'))"
    )
    person.sees("form .quiet", "military messages")
    person.writes("#pasted", "\u200fA rail depot was found. \u200fThe depot is large.")
    person.clicks("Resolve")
    person.until(lambda: len(person.marks()) >= 2, "templates beside marks of direction")


def test_a_long_text_shows_progress_and_is_cancelled(person: Person) -> None:
    person.go("try")
    person.run(
        "document.querySelector('#pasted').value ="
        "'Acme sued Borealis. Jane Doe said it would win. '.repeat(900)"
    )
    person.clicks("Resolve")
    assert "43,200 characters" in person.sees(".working").text
    person.sees(".working progress")
    person.clicks("Cancel")
    person.sees(".tried", "Cancelled.")
    person.button("The paper's message").click()
    person.sees(".configuration")
    assert person.log() == []


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
    person.go("try")
    person.button("An article").click()
    person.sees(".message-text.many .mark.alone")
    colours = person.marks()
    assert colours["m1"] == colours["m5"] != ""  # Borealis
    assert person.sees(".decisions h2").text == "Uncertain"
    person.sees("details summary", "mentioned once")
    first, second = (one.text for one in person.all(".row-cells")[:2])
    assert len(second) < len(first)  # only what changed
    assert person.log() == []

"""Script in texts, names, slot values and addresses is shown as text and never runs."""

from __future__ import annotations

import httpx
import pytest

from browser.conftest import BOOM, HOSTILE, HOSTILE_MESSAGE, HOSTILE_TEXT
from browser.person import Person

VIEWS = ("read", "why", "key", "next", "entities", "fuse", "add")
ODD = """
const bad = [...document.querySelectorAll("*")].filter((one) =>
  one.getAttributeNames().some((name) => /^on/i.test(name)) ||
  /^\\s*javascript:/i.test(one.getAttribute("href") ?? "") ||
  (one.tagName === "SCRIPT" && !one.src) ||
  (one.tagName === "IMG" && one.getAttribute("src") !== "icon.svg") ||
  ["IFRAME", "OBJECT", "EMBED", "BASE"].includes(one.tagName));
return bad.map((one) => one.outerHTML.slice(0, 200));
"""


def unharmed(person: Person) -> None:
    assert person.run("return window.boom ?? null") is None
    assert person.run(ODD) == []
    assert [line for line in person.log() if "Content Security Policy" in line] == []


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_shows_harm_as_text(person: Person, client: httpx.Client, view: str) -> None:
    told = {} if view in ("entities", "next") else {"message": HOSTILE_MESSAGE}
    person.run("localStorage.setItem('partita.author', arguments[0])", BOOM.format("author"))
    person.go(view, run=HOSTILE, **told)
    person.until(lambda: HOSTILE in person.says(), "the name of the run")
    if view == "add":
        person.writes("#pasted", HOSTILE_TEXT.replace("\U0001f600", ""))
        person.button("Add").click()
        person.sees(".message-text", "script>")  # mentions are marked between < and script
    for tag in person.all(".tag")[:4]:
        person.run("arguments[0].focus()", tag)
        if view != "add":
            assert BOOM.format("templates.rule") in person.sees(".card").text
        person.run("arguments[0].click()", tag)
    if view == "read":
        assert "<script>window.boom='text'</script>" in person.sees(".message-text").text
        for details in person.all(".entity details:not([open]) summary"):
            person.run("arguments[0].click()", details)
        person.sees(".entity", "javascript:window.boom='link'")
        person.sees(".method", BOOM.format("sets.reason"))
    if view == "key":
        person.button("Confirm").click()
        person.sees(".status.saved", BOOM.format("author"))
        person.run("localStorage.setItem('partita.author', 'Ana')")
        person.go(view, run=HOSTILE, **told)
        person.sees(".other", BOOM.format("author"))
    unharmed(person)
    if view == "add":
        client.delete("/runs/pasted")


@pytest.mark.parametrize(
    "place",
    [
        f"#/{BOOM.format('view')}",
        f"#/read?run={BOOM.format('nowhere')}",
        "#/read?run=paper&message=<script>window.boom=1</script>&set=<b>&rank=__proto__",
        "#javascript:window.boom=1",
        "#/why?run=paper&left=<b>&right=constructor",
    ],
)
def test_an_address_does_no_harm(person: Person, place: str) -> None:
    person.driver.get("about:blank")
    person.driver.get(f"{person.address}/{place}")
    person.until(lambda: person.all("main:not([aria-busy])"), "an answer")
    unharmed(person)


def test_offsets_count_characters_and_not_units(person: Person) -> None:
    person.go("read", run=HOSTILE, message=HOSTILE_MESSAGE)
    person.sees(".mark")
    marked = person.run(
        "return [...document.querySelectorAll('.mark')].map((m) => m.lastChild.textContent)"
    )
    assert marked[-1].endswith("The depot")


def test_nothing_is_taken_from_elsewhere(person: Person) -> None:
    person.go("read", run="paper")
    person.sees(".mark")
    taken = person.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert taken
    assert all(one.startswith(person.address) for one in taken)

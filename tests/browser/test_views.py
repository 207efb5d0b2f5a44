"""Every view: complete, named for a screen reader, readable in light and dark, wide and narrow."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import axe_core_python
import httpx
import pytest
from selenium.webdriver.common.action_chains import ActionChains

import partita
from browser.person import Person
from partita.web.config import ServiceConfig
from partita.web.server import running
from patience import PATIENCE

PAGE = Path(partita.__file__).parent / "web/page"
AXE = Path(axe_core_python.__file__).parent / "axe.min.js"
TEXTS = Path(__file__).parents[2] / "docs/texts"
PICTURES = Path(__file__).parents[2] / "docs/pictures"
SHOWN = {
    "read": ({"message": "msg-043"}, ".entity"),
    "why": ({"message": "msg-043", "set": "msg-043.2", "left": "T6", "right": "T9"}, ".waterfall"),
    "key": ({"message": "msg-043", "set": "msg-043.2"}, ".cell-box"),
    "next": ({}, ".next-rows li"),
    "entities": ({}, ".entity-row"),
    "records": ({}, ".graph"),
    "fuse": ({}, ".thing"),
    "add": ({}, ".stored-runs"),
}
# what is too faint to read: pairs of text and ground below 4.5 to 1
FAINT = """
const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const rgb = (colours) => {
  context.clearRect(0, 0, 1, 1);
  for (const one of colours) { context.fillStyle = one; context.fillRect(0, 0, 1, 1); }
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255);
};
const light = (colour) => colour
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
const ground = (one) => {
  const found = [];
  for (let at = one; at; at = at.parentElement) found.unshift(getComputedStyle(at).backgroundColor);
  return found;
};
const own = (one) => [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
return [...document.querySelectorAll("body *")]
  .filter((one) => own(one) && one.checkVisibility())
  .filter((one) => !one.closest("svg, :disabled, .visually-hidden, .skip"))
  .map((one) => {
    const under = ground(one);
    const levels = [light(rgb([...under, getComputedStyle(one).color])), light(rgb(under))];
    const [dark, bright] = levels.sort((a, b) => a - b);
    return [(bright + 0.05) / (dark + 0.05), one.className, one.textContent.slice(0, 30)];
  })
  .filter(([ratio]) => ratio < 4.5);
"""


@pytest.fixture(scope="module", autouse=True)
def keyed(client: httpx.Client) -> None:
    """A few keys, so that some sets are labelled."""
    for name in ("msg-043", "dev-001", "dev-014", "msg-034"):
        for one in client.get(f"/runs/work/messages/{name}").json()["sets"]:
            key = {"cells": one["configurations"][0]["cells"], "author": "Fay"}
            client.post(f"/runs/work/sets/{one['set']}/keys", json=key).raise_for_status()


def shown(person: Person, view: str) -> None:
    told, wanted = SHOWN[view]
    person.go(view, run="work", **told)
    if view == "records":
        person.button("Use an example").click()
    if view == "fuse":
        person.button("Use an example").click()
        person.sees("#without option[value=press]")
        person.run(
            "const s = document.querySelector('#without'); s.value = 'press';"
            "s.dispatchEvent(new Event('change'))"
        )
        wanted = ".thing.changed"
    person.sees(wanted)


@pytest.mark.parametrize("view", SHOWN)
def test_a_view(person: Person, view: str, tmp_path: Path) -> None:
    """All checks of a view at once: a browser takes its time."""
    shown(person, view)
    assert person.log() == []
    nameless = [one for one in person.names() if not one["name"].strip()]
    assert nameless == []
    levels = [int(one.tag_name[1]) for one in person.all("main :is(h1, h2, h3, h4)")]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for scheme in ("dark", "light"):
        person.colours(scheme)
        assert person.run(FAINT) == []
        assert serious(person) == []
    screenshots(person, view)
    person.picture(picture_file(tmp_path, view), tallest=960)
    person.size(390, 900)
    rows = (
        "return new Set([...document.querySelectorAll('.top nav a')].map((a) => a.offsetTop)).size"
    )
    assert person.run(rows) == 1
    last = (
        "return [...document.querySelectorAll('.top nav a')].at(-1).getBoundingClientRect().right"
    )
    assert person.run(last) <= 390
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    person.until(lambda: person.run(wide) <= 0, "a narrow page that is not wider than the window")
    assert person.log() == []


def test_no_view_of_the_seven_texts_is_taller_than_five_screens(
    person: Person, client: httpx.Client
) -> None:
    person.size(1440, 900)
    names = [path.stem for path in sorted(TEXTS.glob("*.txt"))]
    for name in names:
        text = (TEXTS / f"{name}.txt").read_text(encoding="utf-8")
        body = {"id": name, "text": text, "domain": "general"}
        client.post("/runs/seven/messages", json=body).raise_for_status()
    places = [("read", {"message": name}) for name in names]
    for view, told in [*places, ("entities", {}), ("next", {}), ("add", {})]:
        person.go(view, run="seven", **told)
        person.sees("main h1")
        person.until(lambda: not person.all("main[aria-busy]"), "a view that is drawn")
        tall = person.run("return document.documentElement.scrollHeight")
        assert tall <= 5 * 900, (view, told)
    client.delete("/runs/seven").raise_for_status()


def serious(person: Person) -> list[tuple[str, str]]:
    """What axe-core finds that is serious or critical, with the first place of each."""
    person.run(AXE.read_text(encoding="utf-8"))
    script = "axe.run().then(arguments[0], (error) => arguments[0](String(error)))"
    found = person.driver.execute_async_script(script)
    return [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def screenshots(person: Person, view: str) -> None:
    """In both widths and colours, into the folder that `make screenshots` names."""
    if folder := os.environ.get("PARTITA_SCREENSHOTS"):
        for width in (1440, 390):
            for scheme in ("light", "dark"):
                person.size(width, 900)
                person.colours(scheme)
                person.picture(Path(folder) / f"{view}-{width}-{scheme}.png", tallest=3000)
        person.size(1280, 900)
        person.colours("light")


def picture_file(tmp_path: Path, view: str) -> Path:
    """Beside the guide if asked for, else nowhere that stays."""
    folder = PICTURES if os.environ.get("PARTITA_PICTURES") else tmp_path
    return folder / f"page-{view}.png"


def test_pictures_of_the_dark_and_of_the_narrow_page(person: Person, tmp_path: Path) -> None:
    person.colours("dark")
    person.go("read", run="paper")
    person.sees(".entity")
    mark = person.sees(".mark[data-template=T7]")
    ActionChains(person.driver).move_to_element(mark).perform()
    assert "may refer to" in person.sees(".card").text
    person.picture(picture_file(tmp_path, "dark"), tallest=640)
    person.colours("light")
    person.size(400, 900)
    person.go("read", run="paper")
    person.sees(".configuration")
    person.picture(picture_file(tmp_path, "narrow"), tallest=900)


def test_every_module_loads(person: Person) -> None:
    person.go("read", run="paper")
    names = [path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*.js")]
    script = "const done = arguments[1]; Promise.all(arguments[0].map((n) => import('./' + n)))"
    told = person.driver.execute_async_script(
        f"{script}.then(() => done('all'), (error) => done(String(error)))", sorted(names)
    )
    assert told == "all"
    assert person.log() == []


def test_entities_are_searched_and_lead_back_to_the_text(person: Person) -> None:
    person.go("entities", run="work")
    every = len(person.all(".entity-row"))
    person.writes("input[type=search]", "tunnel")
    person.until(lambda: 0 < len(person.all(".entity-row")) < every, "fewer entities")
    rows = person.run(
        "return [...document.querySelectorAll('.entity-row')].map(e => e.textContent)"
    )
    assert all("tunnel" in one.lower() for one in rows)
    script = "return [...document.querySelectorAll('.entity-row')].find(e => e.querySelector('th')"
    person.run(f"{script}.textContent.startsWith('Tunnel')).querySelector('td a')").click()
    person.sees(".view-read h1", "msg-043")
    person.until(lambda: person.focus().startswith("T11, Tunnel"), "the template in the text")


def test_messages_are_searched_and_ordered_by_how_uncertain_they_are(
    person: Person, client: httpx.Client
) -> None:
    person.go("read", run="work")
    first = client.get("/runs/work/messages?order=uncertain").json()["messages"][0]["message"]
    person.run(
        "const s = document.querySelector('.list-tools select'); s.value = 'uncertain';"
        "s.dispatchEvent(new Event('change'))"
    )
    person.until(lambda: first in person.all(".message-rows li")[0].text, "the least certain first")
    person.writes(".messages input[type=search]", "helicopter")
    person.until(lambda: len(person.all(".message-rows li")) == 1, "one message found")
    person.sees(".message-rows a").click()
    person.sees("h1", "msg-050")


def test_a_remainder_is_seen(person: Person) -> None:
    person.go("read", run="work", message="msg-043", set="msg-043.2", rank="2")
    assert (
        "2,527 more configurations, total probability 0.4632"
        in person.sees("[data-set='msg-043.2'] .remainder").text
    )
    person.sees("[data-set='msg-043.2'] .remainder .bar.hatched")
    person.sees("[data-set='msg-043.2'] .configuration.current .rank", "3")


def test_a_service_with_a_token_asks_for_it(person: Person, folder: Path) -> None:
    config = ServiceConfig(
        store=str(folder / "partita.db"), token="secret", seconds=PATIENCE, workers=1
    )
    with running(config) as found:
        person.driver.get(f"{found}#/read?run=paper")
        field = person.sees("input[type=password]")
        field.send_keys("secret\n")
        person.sees("h1", "kinston")
        person.run("sessionStorage.clear()")
        person.driver.get("about:blank")
        person.driver.get(f"{found}#token=secret")
        person.sees("h1", "kinston")
        assert "secret" not in person.driver.current_url


@pytest.mark.parametrize(
    ("view", "row"), [("entities", ".entity-row"), ("read", ".message-rows a")]
)
def test_a_search_without_hits_is_cleared(person: Person, view: str, row: str) -> None:
    person.go(view, run="work")
    person.sees(row)
    person.writes("main input[type=search]", "qqqq")
    person.until(lambda: not person.all(row), "no rows")
    person.clicks("Clear the search")
    person.sees(row)
    assert person.run("return document.querySelector('main input[type=search]').value") == ""

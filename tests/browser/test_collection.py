"""Many documents: a table of all entities, a page for each, and those that may be the same."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import httpx
import pytest
from selenium.webdriver.common.keys import Keys

from browser.conftest import CORPUS, WORK
from browser.person import Person
from browser.test_views import FAINT, picture_file, screenshots, serious
from knowledge import HOSTILE, write_knowledge_base
from partita.app.runner import Settings, usual_budget
from partita.app.workspace import open_workspace
from partita.web.config import ServiceConfig
from partita.web.server import running
from patience import PATIENCE


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_collection_from_the_table_to_an_entity(
    person: Person, tmp_path: Path, scheme: str
) -> None:
    folder = write_knowledge_base(tmp_path / "kb")
    store = str(tmp_path / "store.db")
    config = ServiceConfig(store=store, knowledge_base=folder, seconds=PATIENCE, workers=1)
    person.colours(scheme)
    with running(config) as found:
        person.driver.get(f"{found}#/collection")
        person.sees(".entity-row", "Maria Lopez")
        assert person.sees("nav a[aria-current]").text == "Collection"
        assert len(person.all("nav a")) <= 7
        assert HOSTILE in person.says()
        person.writes("input[type=search]", "acme")
        person.until(lambda: len(person.all(".entity-row")) == 1, "one entity found")
        person.writes("input[type=search]", Keys.DELETE)
        person.until(lambda: len(person.all(".entity-row")) == 4, "all entities")
        rows = saved(person)
        assert rows[0] == [
            "entity",
            "name",
            "type",
            "documents",
            "mentions",
            "certainty",
            "aliases",
        ]
        assert sorted(row[1] for row in rows[1:]) == sorted(
            one.text for one in person.all(".entity-row th")
        )
        person.button("Name").click()
        person.until(
            lambda: [row.text for row in person.all(".entity-row th")][1] == "Acme Corp.", "by name"
        )
        assert serious(person) == []
        link = next(one for one in person.all(".entity-row a") if one.text == "Maria Lopez")
        link.send_keys(Keys.ENTER)
        person.sees("h1", "Maria Lopez")
        for words in (
            "role: director",
            "Chile or Spain",
            "leads",
            "“she” (sentence 3)",
            "M. Lopes",
        ):
            assert words in person.says(), words
        person.sees(".graph")
        person.button("Same").send_keys(Keys.ENTER)
        person.sees("[role=status]", "1 label.")
        assert serious(person) == []
        assert person.run("return window.boom ?? null") is None
        assert person.log() == []


def saved(person: Person) -> list[list[str]]:
    """The rows of the file that the button CSV saves, by keyboard."""
    person.run(
        "window.saved = ''; HTMLAnchorElement.prototype.click = () => {};"
        "URL.createObjectURL = (blob) => { blob.text().then((text) => (window.saved = text)); }"
    )
    person.button("CSV").send_keys(Keys.ENTER)
    text = str(person.until(lambda: person.run("return window.saved"), "a file"))
    return list(csv.reader(io.StringIO(text)))


def test_the_texts_of_a_run_are_one_collection(
    person: Person, client: httpx.Client, tmp_path: Path
) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    texts = dict(re.findall(r"^\$ cat articles/(\w+)\.txt\n([^$]+)", readme, re.MULTILINE))
    assert len(texts) == 3
    for name, text in texts.items():
        body = {"id": name, "text": text, "domain": "general"}
        client.post("/runs/articles/messages", json=body).raise_for_status()
    person.go("entities", run="articles")
    person.sees("nav a", "Collection").click()
    person.sees(".view-collection .entity-table")
    row = person.sees(".entity-row", "Bayline Shipping")
    assert row.find_element("css selector", "td.number").text == "3"  # documents
    assert serious(person) == []
    for scheme in ("dark", "light"):
        person.colours(scheme)
        assert person.run(FAINT) == []
        assert serious(person) == []
    screenshots(person, "collection")
    person.picture(picture_file(tmp_path, "collection"), tallest=640)
    person.size(390, 900)
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    person.until(lambda: person.run(wide) <= 0, "a narrow page that is not wider than the window")
    person.sees(".entity-row a", "Bayline Shipping").send_keys(Keys.ENTER)
    person.sees("h1", "Bayline Shipping")
    person.sees("li b", "friday")
    for scheme in ("dark", "light"):
        person.colours(scheme)
        assert person.run(FAINT) == []
        assert serious(person) == []
    screenshots(person, "entity")
    assert person.log() == []
    client.delete("/runs/articles").raise_for_status()


def test_two_runs_are_compared(person: Person, client: httpx.Client, folder: Path) -> None:
    """By keyboard from the entities to what differs, by mouse from there into both texts."""
    workspace = open_workspace(folder / "partita.db")
    settings = Settings("depots", "merging", budget=usual_budget("merging"))
    messages = [CORPUS / f"{name}.txt" for name in WORK]
    workspace.ingest(messages, settings, name="merged", workers=1)
    expected = workspace.compare("work", "merged")
    workspace.close()
    assert expected["total"] > 0
    person.go("entities", run="work")
    person.sees(".entity-row")
    assert person.sees("#other").text.startswith("No other run")
    person.sees("#other").send_keys("merged")
    items = person.until(lambda: person.all(".difference"), "differences")
    assert len(items) == min(40, expected["total"])
    assert person.run("return document.activeElement.value") == "merged"
    person.sees(".list-foot", f"of {expected['total']} difference")
    first, how = expected["differences"][0], person.sees(".difference .quiet").text
    assert how.startswith(f"together in {first['together']}, apart in ")
    assert all(f"“{group[0]['text']}”" in items[0].text for group in first["apart"])
    for scheme in ("dark", "light"):
        person.colours(scheme)
        assert serious(person) == []
    screenshots(person, "comparison")
    person.size(390, 900)
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    person.until(lambda: person.run(wide) <= 0, "a narrow page that is not wider than the window")
    person.size(1280, 900)
    second = first["apart"][1][0]
    here = person.driver.current_url
    script = "return document.activeElement.dataset.template"
    for name, template in (("work", second["template"]), ("merged", second["other_template"])):
        person.driver.get(here)
        person.sees(".difference a", f"{first['message']} in {name}").click()
        person.sees(".view-read h1", first["message"])
        person.until(lambda id_=template: person.run(script) == id_, "the mention")
        assert f"run={name}" in person.driver.current_url
    person.driver.get(here)
    person.sees(".difference")
    person.sees("#other").send_keys("No other")
    person.sees(".entity-row")
    assert person.log() == []
    client.delete("/runs/merged").raise_for_status()


def test_without_a_knowledge_base_there_is_no_such_view(person: Person) -> None:
    person.go("read", run="demo")
    person.sees("nav a", "Read")
    assert "Collection" not in [one.text for one in person.all("nav a")]

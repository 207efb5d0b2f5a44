"""Many documents: a table of all entities, a page for each, and those that may be the same."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from selenium.webdriver.common.keys import Keys

from browser.person import Person
from browser.test_views import picture_file, serious
from knowledge import HOSTILE, write_knowledge_base
from partita.web.config import ServiceConfig
from partita.web.server import running
from patience import PATIENCE


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_collection_from_the_table_to_an_entity(
    person: Person, tmp_path: Path, scheme: str
) -> None:
    folder = write_knowledge_base(tmp_path / "kb")
    store = str(tmp_path / "store.db")
    config = ServiceConfig(store, str(folder), timeout=PATIENCE, workers=1)
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
    row = person.sees(".entity-row", "Bayline Shipping")
    assert row.find_element("css selector", "td.number").text == "3"  # documents
    assert serious(person) == []
    person.picture(picture_file(tmp_path, "collection"), tallest=640)
    person.size(390, 900)
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    person.until(lambda: person.run(wide) <= 0, "a narrow page that is not wider than the window")
    person.sees(".entity-row a", "Bayline Shipping").send_keys(Keys.ENTER)
    person.sees("h1", "Bayline Shipping")
    person.sees("li b", "friday")
    assert person.log() == []
    client.delete("/runs/articles").raise_for_status()


def test_without_a_knowledge_base_there_is_no_such_view(person: Person) -> None:
    person.go("read", run="demo")
    person.sees("nav a", "Read")
    assert "Collection" not in [one.text for one in person.all("nav a")]

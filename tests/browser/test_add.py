"""Data of a person's own: files, pasted texts and examples become runs, are shown and deleted."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from selenium.webdriver.common.keys import Keys

from browser.person import Person
from partita.web.config import ServiceConfig
from partita.web.server import running
from patience import PATIENCE

SCORES = "left,right,probability\nann,anne,.93\nanne,anna,.6\nann,anna,.4\n"
CLAIMS = "object,source,city\nA,x,Rome\nA,y,Rome\nA,z,Bonn\nB,x,Oslo\nB,z,Oslo\n"
PEOPLE = "id,name,city\n1,Ann Lee,Leeds\n2,Anne Lee,Leeds\n3,Bob Hall,Hull\n"
TEXTS = {
    "one.txt": "Maria Lopez leads Acme Corp. She founded the company in Paris.",
    "two.txt": "Acme Corp. hired Tom Berg. He met Maria Lopez in Oslo.",
}
DROP = """
const [zone, names, contents] = [document.querySelector(".drop-zone"), ...arguments];
const data = new DataTransfer();
names.forEach((name, n) => data.items.add(new File([contents[n]], name)));
zone.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
"""


def chosen(person: Person, tmp_path: Path, files: dict[str, str]) -> None:
    """Choose files with the button of the page."""
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    person.go("add")
    person.sees("#files").send_keys("\n".join(str(tmp_path / name) for name in files))


def test_files_that_are_dropped_become_one_run(person: Person, client: httpx.Client) -> None:
    person.go("add")
    person.sees(".drop-zone")
    person.run(DROP, [*TEXTS], [*TEXTS.values()])
    person.sees("[aria-label='Chosen files']", "one.txt")
    person.clicks("Add 2 files")
    person.sees("h1", "one.txt")
    assert "run=one" in person.driver.current_url
    assert client.get("/runs/one").json()["messages"] == 2
    person.go("entities", run="one")
    person.sees(".entity-row", "Maria Lopez")
    assert client.delete("/runs/one").json() == {"deleted": "one"}
    assert person.log() == []


@pytest.mark.parametrize(
    ("name", "content", "kind", "seen"),
    [
        ("scores.csv", SCORES, "scores", "Are “ann” and “anna” the same?"),
        ("people.csv", PEOPLE, "records", "Are “Ann Lee, Leeds” and “Anne Lee, Leeds” the same?"),
        ("claims.csv", CLAIMS, "claims", "Rome"),
    ],
)
def test_tables_are_recognised_shown_and_kept(
    person: Person,
    client: httpx.Client,
    tmp_path: Path,
    name: str,
    content: str,
    kind: str,
    seen: str,
) -> None:
    chosen(person, tmp_path, {name: content})
    assert person.sees(".files select").get_attribute("value") == kind
    person.clicks("Add 1 file")
    person.sees("main", seen)
    run = name.partition(".")[0]
    assert client.get(f"/runs/{run}").json()["domain"] == kind
    person.driver.refresh()  # it is kept: the address shows it again
    person.sees("main", seen)
    assert client.delete(f"/runs/{run}").status_code == 200
    assert person.log() == []


def test_an_empty_store_leads_to_a_result_in_one_click(person: Person, tmp_path: Path) -> None:
    with running(
        ServiceConfig(store=str(tmp_path / "new.db"), seconds=PATIENCE, workers=1)
    ) as found:
        person.driver.get(found)
        person.sees("h1", "Add data")
        person.button("An article").click()
        person.sees(".entity", "Borealis")
        assert (tmp_path / "new.db").stat().st_mode & 0o077 == 0


def test_a_run_is_added_and_deleted_by_keyboard(person: Person, client: httpx.Client) -> None:
    person.go("add")
    field = person.sees("#pasted")
    field.send_keys("Ann Lee met Tom Berg. She likes him.", Keys.CONTROL, Keys.ENTER)
    person.sees("h1", "pasted")
    person.go("add")
    person.sees("[aria-label='Delete pasted']").send_keys(Keys.ENTER)
    person.until(lambda: "for good" in person.says(), "the question whether it is meant")
    assert client.get("/runs/pasted").status_code == 200
    person.button("Delete pasted for good").send_keys(Keys.ENTER)
    person.until(lambda: client.get("/runs/pasted").status_code == 404, "the run is gone")
    assert person.log() == []


def test_limits_are_said_before_and_in_words(person: Person, tmp_path: Path) -> None:
    chosen(person, tmp_path, {"good.txt": "Ann met Bob."})
    assert "up to 20 MB" in person.sees(".kept").text
    assert "partita.db" in person.sees(".kept").text
    (tmp_path / "large.csv").write_bytes(b"left,right,score\n" + b"a,b,.5\n" * 3_000_000)
    (tmp_path / "sheet.xlsx").write_bytes(b"PK\x03\x04\xff\xfe")
    both = f"{tmp_path / 'large.csv'}\n{tmp_path / 'sheet.xlsx'}"
    person.sees("#files").send_keys(both)
    person.sees(".bad", "large.csv has 21.0 MB; this page takes up to 20 MB")
    person.sees("[aria-label='Chosen files']", "sheet.xlsx is not UTF-8 text")


def test_a_long_text_shows_progress_and_is_cancelled(person: Person, client: httpx.Client) -> None:
    person.go("add")
    person.sees("#pasted")
    person.run(
        "document.querySelector('#pasted').value ="
        "'Acme sued Borealis. Jane Doe said it would win. '.repeat(900)"
    )
    person.button("Add").click()
    person.sees(".working progress")
    person.clicks("Cancel")
    person.sees(".adding", "Cancelled.")
    person.until(lambda: client.get("/runs/pasted").status_code == 404, "nothing is kept")


def test_an_uncertain_decision_opens_its_place(person: Person) -> None:
    person.go("read", run="demo")
    item = person.sees(".decisions li button")
    item.send_keys(Keys.ENTER)
    card = person.sees(".card")
    assert item.text.strip("“”") in card.text


def test_an_entity_has_a_plain_confidence_with_its_number_on_hover(person: Person) -> None:
    person.go("entities", run="demo")
    shown = person.sees(".entity-row .confidence")
    assert shown.text in ("very likely", "likely", "more likely than not", "uncertain")
    assert shown.get_attribute("title").startswith("probability 0.")
    assert "unknown" not in person.says()
    person.button("Name").click()
    person.until(
        lambda: (
            person.all("th[aria-sort=ascending]")
            and person.all("th[aria-sort=ascending]")[0].text == "Name"
        ),
        "sorted by name",
    )
    names = [row.text.split("\n")[0].lower() for row in person.all(".entity-row th")]
    named = [name for name in names if not name.startswith(("the ", "a "))]
    assert named[:4] == sorted(named[:4])

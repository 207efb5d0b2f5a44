"""Sources that contradict each other, fused by a person at the page."""

from __future__ import annotations

from pathlib import Path

import httpx

from browser.conftest import BOOM, HOSTILE, LINK, SCRIPT
from browser.person import Person
from browser.test_harm import unharmed

TABLE = "source,FACILITY,LOCATION,TYPE\npress,depot,Kinston,rail\nforum,depot,Kinston,fuel\n"


def card(person: Person, name: str) -> str:
    return person.sees(".thing", name).text


def choose(person: Person, css: str, value: str) -> None:
    person.run(
        "const s = document.querySelector(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('change'))",
        css,
        value,
    )


def upload(person: Person, *paths: Path) -> None:
    person.all("#files")[0].send_keys("\n".join(map(str, paths)))
    for path in paths:
        person.sees(".files li", path.name)


def test_three_sources_that_contradict_each_other(person: Person) -> None:
    person.go("fuse", run="paper")
    person.button("Use an example").click()
    assert person.sees(".fused-head h2").text == "3 objects, 3 sources"
    kinston = card(person, "Kinston depot")
    assert "Kinston (archive, press)" in kinston
    assert "Fairview (forum)" in kinston
    assert "conflict: κ = 0." in kinston
    assert card(person, "Fairview depot").count("κ") == 1  # of the city, and not of the year
    assert len(person.all(".thing .bar")) >= 8
    forum = person.sees(".trusted li", "forum").text
    assert " to " in forum
    assert "3 claims" in forum
    assert "wrong" in forum
    person.run("document.querySelectorAll('.claims').forEach((one) => (one.open = true))")
    assert "forum: city Fairview, built 1915" in card(person, "Kinston depot")
    assert "pasted.csv, line 4" in card(person, "Kinston depot")

    choose(person, "#without", "press")
    person.sees(".fused-head", "Without press,")
    changed = person.sees(".thing.changed", "Raleigh depot").text
    assert "Without press: 1926" in changed
    assert " instead of 1962" in changed
    choose(person, "#without", "")
    person.until(lambda: not person.all(".thing.changed"), "all as it was")


def test_a_reliability_that_is_known_decides_and_can_be_taken_back(person: Person) -> None:
    person.go("fuse", run="paper")
    person.button("Use an example").click()
    person.sees(".thing")
    before = card(person, "Raleigh depot")
    person.writes("input[aria-label='Reliability of forum']", "1")
    person.button("Fuse").click()
    person.sees(".trusted li", "1.000 set by you")
    assert "Durham (forum)\n1.0000" in card(person, "Raleigh depot")
    person.writes("input[aria-label='Reliability of press']", "1")
    person.button("Fuse").click()
    assert "total conflict" in person.sees(".fused .error-panel").text
    for name in ("forum", "press"):
        person.run(
            f"""const f = document.querySelector("[aria-label='Reliability of {name}']");
            f.value = ""; f.dispatchEvent(new Event("change"))"""
        )
    person.button("Fuse").click()
    person.until(lambda: card(person, "Raleigh depot") == before, "learned again")


def test_a_hierarchy_among_the_files_tells_what_contains_what(
    person: Person, tmp_path: Path
) -> None:
    claims, places = tmp_path / "depots.csv", tmp_path / "places.csv"
    claims.write_text(
        "object,source,city\nA,archive,Kinston\nA,press,North Carolina\nA,forum,Toledo\n"
    )
    places.write_text("name,parent\nKinston,North Carolina\nToledo,Ohio\n")
    person.go("fuse", run="paper")
    upload(person, claims, places)
    person.button("Fuse").click()
    first = person.sees(".thing .value").text
    assert first.startswith("Kinston (archive)")
    person.run("document.querySelector('[aria-label=\"Remove places.csv\"]').click()")
    person.button("Fuse").click()
    person.until(lambda: first not in card(person, "A"), "another belief without the hierarchy")


def test_a_run_and_a_file_lead_back_to_the_text(person: Person, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    person.go("fuse", run="work")
    person.button("Fuse").click()
    person.sees(".fused .notice", "Choose a source")
    person.sees("input[type=checkbox][value=paper]").click()
    upload(person, path)
    person.button("Fuse").click()
    thing = person.sees(".thing", "Kinston Military Rail Depot")
    assert "RAIL (paper, press)" in thing.text
    assert "FUEL (forum)" in thing.text
    assert "κ = " in thing.text
    assert " to " in person.sees(".trust-row[data-slot='']", "all slots").text
    person.run("arguments[0].querySelector('.claims').open = true", thing)
    assert "table.csv, line 3" in thing.text
    person.sees(".locations a", "“Kinston Military Rail Depot” in kinston").click()
    person.sees(".view-read h1", "kinston")
    person.until(lambda: person.focus().startswith("T1,"), "the template in the text")
    person.driver.back()
    person.sees(".thing", "Kinston Military Rail Depot")
    person.button("Remove").click()
    person.until(lambda: not person.all(".files li"), "the file left out")


def test_harm_in_sources_is_shown_as_text(
    person: Person, tmp_path: Path, client: httpx.Client
) -> None:
    name = BOOM.format("source").replace('"', "'")
    claims = f"object,source,value\n{SCRIPT},{name},{LINK}\n{SCRIPT},__proto__,{name}\n"
    path = tmp_path / "<img src=x onerror=window.boom=1>.csv"
    path.write_text(claims)
    person.go("fuse", run=HOSTILE)
    upload(person, path)
    person.button("Fuse").click()
    assert LINK in person.sees(".thing", SCRIPT).text
    person.sees(".trusted li", name)
    person.sees(".trusted li", "__proto__")
    choose(person, "#without", name)
    person.sees(".fused-head", f"Without {name},")
    unharmed(person)
    path.write_text(f"object,source,value,reliability\nA,b,c,{name}\n")
    upload(person, path)
    person.button("Fuse").click()
    assert f"{path.name}, line 2" in person.sees(".fused .error-panel").text
    person.button("Remove").click()
    person.run("document.querySelector('input[type=checkbox][value*=boom]').click()")
    person.button("Fuse").click()
    person.until(lambda: person.all(".fused .error-panel, .fused .thing"), "an answer")
    unharmed(person)


def test_what_is_no_text_is_refused(person: Person, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"object,value\n\xff\xfe,1\n")
    person.go("fuse", run="paper")
    person.all("#files")[0].send_keys(str(path))
    person.sees(".file-box .bad", "table.csv is not UTF-8 text")
    assert person.all(".files li") == []

"""People who write keys: two at once, one without a mouse, one who is unsure, one cut off."""

from __future__ import annotations

from collections.abc import Callable

import httpx
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser.person import Person

HELD = "document.activeElement.dataset.chip"


def keys_of(client: httpx.Client, name: str) -> dict[str, list[list[str]]]:
    """What counts: the newest key of each author."""
    return {
        key["author"]: key["cells"] for key in client.get(f"/runs/work/sets/{name}/keys").json()
    }


def test_two_people_key_one_set_at_once_and_both_keys_are_there(
    people: Callable[[int], list[Person]], client: httpx.Client
) -> None:
    ana, ben = people(2)
    for person, name in ((ana, "Ana"), (ben, "Ben")):
        person.go("key", run="work", message="msg-050")
        person.writes("#author", name)
    ana.button("Confirm").click()
    ana.sees(".status.saved", "by Ana")
    together = ana.cells()
    ben.run(
        "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Split').click()"
    )
    ben.sees(".status.saved", "by Ben")
    assert ben.cells() != together
    assert keys_of(client, "msg-050.1") == {"Ana": together, "Ben": ben.cells()}
    ben.sees(".conflict [role=alert]", "Ana also labelled this")
    ana.sees(".conflict [role=alert]", "Ben also labelled this")
    assert ana.cells() == together

    ana.clicks("Add as alternative")
    ana.sees(".alternative-row", "Alternative 1")
    ana.until(lambda: not ana.all(".conflict"), "the conflict settled")
    ben.clicks("Keep mine")
    ben.until(lambda: not ben.all(".conflict"), "the conflict settled")
    assert keys_of(client, "msg-050.1") == {"Ana": together, "Ben": ben.cells()}
    every = client.get("/runs/work/sets/msg-050.1/keys").json()
    assert len(every) >= 3
    assert [key["alternatives"] for key in every if key["author"] == "Ana" and key["counts"]] == [
        [{"cells": ben.cells(), "weight": 0.3}]
    ]


def test_a_set_is_keyed_without_a_mouse(person: Person, client: httpx.Client) -> None:
    person.go("key", run="work", message="dev-014")
    first = person.cells()
    template, mates = next((cell[0], cell[1:]) for cell in first if len(cell) > 1)
    person.presses(Keys.TAB)
    assert person.focus() == "Skip to content"
    tab_to(person, "return document.activeElement.id === 'author'")
    person.presses("Cleo", Keys.TAB)
    tab_to(person, f"return {HELD} === '{template}'")
    person.presses(Keys.ENTER)
    assert f"{template} picked up" in said(person)
    person.presses(Keys.ARROW_LEFT)
    assert person.run(f"return {HELD}") == template
    person.presses(Keys.ENTER)
    person.sees(".status.saved", "by Cleo")
    moved = person.cells()
    assert moved != first
    assert not any(template in cell and set(mates) & set(cell) for cell in moved)
    assert keys_of(client, "dev-014.1")["Cleo"] == moved

    person.presses(Keys.ENTER, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ESCAPE)
    assert person.cells() == moved
    person.driver.switch_to.active_element.send_keys(Keys.CONTROL, "z")
    person.until(lambda: keys_of(client, "dev-014.1")["Cleo"] == first, "the undone key saved")
    assert person.cells() == first


def tab_to(person: Person, reached: str, most: int = 60) -> None:
    """Only by the key that a person has for it."""
    for _ in range(most):
        if person.run(reached):
            return
        person.presses(Keys.TAB)
    raise AssertionError(f"{reached}: not to be reached; the focus is on {person.focus()}")


def said(person: Person) -> str:
    return str(person.run("return document.getElementById('live-region').textContent"))


def test_split_merge_unsure_undo_and_redo(person: Person, client: httpx.Client) -> None:
    person.go("key", run="work", message="dev-001", set="dev-001.1")
    person.writes("#author", "Dora")
    first = person.cells()
    assert len(first) == 1
    person.button("Split").click()
    person.until(lambda: person.cells() == [[one] for one in first[0]], "the cell split")
    person.run(
        "const s = document.querySelector('.cell-tools select'); s.selectedIndex = 1;"
        "s.dispatchEvent(new Event('change'))"
    )
    merged = [first[0][:2], *[[one] for one in first[0][2:]]]
    person.until(lambda: person.cells() == merged, "two cells merged")
    person.button("Add an alternative").click()
    person.writes(".weights input", "0.25")
    person.until(
        lambda: latest(client, "dev-001.1")["cells"] == merged,
        "an alternative like the key is none",
    )
    person.button("Split").click()
    apart = [[one] for one in first[0]]
    wanted = [{"cells": apart, "weight": 0.25}]
    person.until(lambda: latest(client, "dev-001.1")["alternatives"] == wanted, "the alternative")
    assert latest(client, "dev-001.1")["cells"] == merged
    person.button("Undo").click()
    person.until(lambda: latest(client, "dev-001.1")["alternatives"] == [], "undone")
    person.button("Redo").click()
    person.until(lambda: latest(client, "dev-001.1")["alternatives"] == wanted, "done again")
    person.go("key", run="work", message="dev-001", set="dev-001.1")
    assert person.cells() == merged
    person.sees(".alternative-row", "Alternative 1")


def latest(client: httpx.Client, name: str) -> dict[str, list[object]]:
    """The newest key; without cells as long as there is none."""
    keys: list[dict[str, list[object]]] = client.get(f"/runs/work/sets/{name}/keys").json()
    return keys[-1] if keys else {"cells": [], "alternatives": []}


def test_what_cannot_be_sent_is_kept_and_sent_later(person: Person, client: httpx.Client) -> None:
    person.go("key", run="work", message="msg-034")
    person.writes("#author", "Emil")
    network(person, offline=True)
    person.button("Split").click()
    person.sees(".status.failed", "kept in this browser")
    wanted = person.cells()
    assert any("draft" in name for name in person.store())
    network(person, offline=False)
    person.button("Try again").click()
    person.sees(".status.saved", "by Emil")
    assert keys_of(client, "msg-034.1")["Emil"] == wanted
    assert not any("draft" in name for name in person.store())

    network(person, offline=True)
    person.button("Undo").click()
    person.sees(".status.failed", "kept in this browser")
    wanted = person.cells()
    network(person, offline=False)
    person.go("key", run="work", message="msg-034")
    person.sees(".status.saved", "by Emil")
    assert person.cells() == keys_of(client, "msg-034.1")["Emil"] == wanted


def network(person: Person, offline: bool) -> None:
    person.driver.execute_cdp_cmd("Network.enable", {})
    person.driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
    )


def test_save_and_next_by_keyboard_then_a_key_is_withdrawn(
    person: Person, client: httpx.Client
) -> None:
    first = client.get("/runs/work/next?limit=1").json()[0]
    person.go("key", run="work", message=first["message"], set=first["set"])
    person.presses(Keys.TAB, Keys.ENTER)  # skip to the content
    tab_to(person, f"return Boolean({HELD})", most=3)
    person.writes("#author", "Gil")
    ActionChains(person.driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(
        Keys.CONTROL
    ).perform()
    person.until(lambda: f"set={first['set']}" not in person.driver.current_url, "another set")
    assert keys_of(client, first["set"])["Gil"]
    then = client.get("/runs/work/next?limit=1").json()[0]
    person.sees("h1", f"Label {then['set']}")
    person.go("key", run="work", message=first["message"], set=first["set"])
    person.clicks("Withdraw my label")
    person.until(
        lambda: (
            not any(
                key["counts"]
                for key in client.get(f"/runs/work/sets/{first['set']}/keys").json()
                if key["author"] == "Gil"
            )
        ),
        "the key withdrawn",
    )


def test_a_contradiction_is_saved_only_on_purpose(person: Person, client: httpx.Client) -> None:
    text = "A fuel depot is at Kinston. A rail depot is at Tarboro. The depot is empty."
    client.post("/runs/work/messages", json={"id": "apart", "text": text}).raise_for_status()
    person.go("key", run="work", message="apart")
    person.writes("#author", "Hal")
    person.run(
        "const s = document.querySelector('.cell-tools select'); s.selectedIndex = 1;"
        "s.dispatchEvent(new Event('change'))"
    )
    person.sees(".status.failed", "are known to differ")
    assert client.get("/runs/work/sets/apart.1/keys").json() == []
    person.clicks("Save nevertheless")
    person.sees(".status.saved", "by Hal")


def test_disagreement_is_shown_and_settled_by_agreement(
    person: Person, client: httpx.Client
) -> None:
    there = "/runs/work/sets/new-074.1/keys"
    ids = [one["id"] for one in client.get("/runs/work/sets/new-074.1").json()["templates"]]
    apart = {"cells": [[one] for one in ids], "author": "Ida"}
    client.post(there, json=apart).raise_for_status()
    person.go("key", run="work", message="new-074")
    person.writes("#author", "Jo")
    person.clicks("Confirm")
    person.sees(".agreement", "Disputed: Ida against Jo")
    client.post(there, json=apart | {"author": "Kim"}).raise_for_status()
    person.sees(".agreement", "2 of 3 authors agree (Ida, Kim)")

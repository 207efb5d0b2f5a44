"""From `partita demo` and `partita serve` to a key, a trained model and what has changed."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser.person import Person

SECOND = "An ammunition depot was found near Fairview. The depot is empty. It was a rail depot."


def colours_of(cells: list[list[str]], marks: dict[str, str]) -> bool:
    """Whether templates have one colour exactly if they are in one cell."""
    cell = {name: n for n, members in enumerate(cells) for name in members}
    return all(
        (cell[a] == cell[b]) == (marks[a] == marks[b]) and marks[a] for a in cell for b in cell
    )


def test_the_papers_message_steps_through_its_seven_configurations(
    person: Person, client: httpx.Client
) -> None:
    person.driver.get(person.address)
    person.sees("h1", "kinston")
    assert "found 100 km southwest of the capitol of Raleigh" in person.sees(".message-text").text
    listed = client.get("/runs/paper/messages/kinston").json()["sets"][0]["configurations"]
    assert len(listed) == len(person.all(".configuration")) == 7
    person.sees(".remainder", "all configurations listed")
    best = [one.text for one in person.all(".entity h3")]
    assert "Kinston Military Rail Depot\nA rail depot" not in best
    assert (
        person.sees(".configuration").get_attribute("title")
        == "Kinston Military Rail Depot = A rail depot = the depot\nthe ammunition depot"
    )
    seen = []
    for rank, one in enumerate(listed):
        assert colours_of(one["cells"], person.marks())
        assert person.sees(".configuration.current .number").text == f"{one['probability']:.4f}"
        assert f"rank={rank}" in person.driver.current_url or rank == 0
        seen.append(person.sees(".changes").text)
        person.presses(Keys.ARROW_RIGHT)
    assert len(set(seen)) == 7
    assert [one.text for one in person.all(".entity h3")] != best  # as in the last configuration
    second = "T2 leaves T1 and T7 and stands alone."
    assert seen[1] == f"An alternative. Compared with the entities: {second}"
    assert person.sees(".configuration.current .rank").text == "7"


def test_a_template_tells_its_slots_form_antecedents_and_rule(person: Person) -> None:
    person.go("read", run="paper")
    person.sees(".tag")
    person.run("document.querySelector('.tag[data-template=T7]').focus()")
    card = person.sees(".card")
    for words in (
        "FACILITY",
        "DEPOT",
        "definite",
        "T2 (preferred), T4, T1",
        "facility",
        "T1 0.9663",
    ):
        assert words in card.text
    person.presses(Keys.ESCAPE)
    person.until(lambda: not card.is_displayed(), "the card closed")


def test_why_goes_from_the_pair_alone_to_the_marginal(person: Person, client: httpx.Client) -> None:
    person.go("why", run="paper")
    told = client.get("/runs/paper/sets/kinston.1/why?left=T4&right=T7").json()
    person.sees(".answer h2", "T4 “the ammunition depot” = T7 “the depot”")
    figures = [one.text for one in person.all(".from-to .number")]
    assert figures == [f"{told['probability']:.4f}", f"{told['marginal']:.4f}"]
    person.until(lambda: len(person.all(".waterfall")) == 2, "two waterfalls")
    steps = [
        one.text for one in person.all(".waterfall")[1].find_elements("css selector", ".label")
    ]
    assert [one.split()[0] for one in steps[1:-1]] == [
        step["templates"][0] for step in told["rest"]["influences"]
    ]
    assert person.sees(".sentence").text == "Alone 68 %, overall 1 %: T7 fits T1 and T2 better."
    person.button("Show all").click()
    person.until(lambda: len(labels(person)) > 14, "all features")
    assert labels(person)[0] == "starting point"
    rows = person.run("return document.querySelectorAll('.answer details tbody tr').length")
    assert rows == len(labels(person)) - 1  # the chart has the total too
    described = person.run("return document.querySelector('.answer details').textContent")
    assert "How many words the expression “the depot” has." in described
    total = sum(one["weight"] for one in told["pair"]["contributions"])
    assert total == pytest.approx(told["pair"]["log_odds"])
    for template in ("T1", "T2"):
        person.run(f"document.querySelector('.mark[data-template={template}]').click()")
    person.sees(".answer h2", "T1 “Kinston Military Rail Depot” = T2 “A rail depot”")


def labels(person: Person) -> list[str]:
    return [one.text for one in person.all(".waterfall")[0].find_elements("css selector", ".label")]


def test_a_key_teaches_and_the_distribution_changes(person: Person, client: httpx.Client) -> None:
    person.go("next", run="paper")
    person.sees(".next-rows li", "kinston.1").find_element("css selector", "a").click()
    person.writes("#author", "Ana")
    drag(person, "T7", "T4")
    person.sees(".status.saved", "by Ana")
    assert person.cells() == [["T1", "T2"], ["T4", "T7"]]
    assert colours_of(person.cells(), {k: v for k, v in person.marks().items() if v})
    (key,) = client.get("/runs/paper/sets/kinston.1/keys").json()
    assert (key["author"], key["cells"]) == ("Ana", [["T1", "T2"], ["T4", "T7"]])

    person.go("next", run="paper")
    person.button("Train on the labels").click()
    link = person.sees(".status.saved a")
    assert link.text != "paper"
    before_bits, after_bits = re.findall(r"[\d.]+(?= bits?)", person.sees(".key-bits").text)
    assert float(after_bits) < float(before_bits)
    name, *figures = person.sees(".before-after tbody tr").text.split()
    assert name == "kinston.1"
    assert float(figures[1]) > float(figures[0])
    was = client.get("/runs/paper/sets/kinston.1").json()["configurations"]
    link.click()
    person.until(
        lambda: person.run("return document.getElementById('run').value") != "paper", "run"
    )
    person.sees("h1", "kinston")
    now = [one.text for one in person.all(".configuration .number")]
    assert now != [f"{one['probability']:.4f}" for one in was]
    trained = person.run("return document.getElementById('run').value")
    best = client.get(f"/runs/{trained}/sets/kinston.1").json()["configurations"]
    keyed = [["T1", "T2"], ["T4", "T7"]]
    assert _probability(best, keyed) > _probability(was, keyed)


def _probability(listed: list[dict[str, Any]], cells: list[list[str]]) -> float:
    return next(one["probability"] for one in listed if one["cells"] == cells)


def drag(person: Person, template: str, onto: str) -> None:
    """With the mouse, from one cell into another."""
    chip = person.sees(f"[data-chip={template}]")
    box = person.sees(f".cell-box[data-cell={onto}]")
    ActionChains(person.driver).drag_and_drop(chip, box).perform()

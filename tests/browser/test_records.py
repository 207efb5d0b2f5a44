"""Clusters of records: the most uncertain first, labels by keyboard, alternatives."""

from __future__ import annotations

from pathlib import Path

from browser.person import Person

SCORES = "left,right,probability\na,b,0.9\nb,c,0.6\na,c,0.4\nc,d,0.5\ne,f,0.97\n"


def test_questions_are_answered_by_keyboard_and_labels_count(
    person: Person, tmp_path: Path
) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(SCORES)
    person.go("records")
    person.sees("#scores").send_keys(str(file))
    person.sees(".cluster-summary", "6 records in 3 clusters")
    first = person.sees(".set-button").text
    assert first == "a, b, c, d"  # the least certain
    asked = person.sees(".question h2").text
    person.run("document.activeElement.blur()")
    person.presses("u")
    person.until(lambda: person.sees(".question h2").text != asked, "another question")
    second = person.sees(".question h2").text
    person.presses("d")
    person.sees(".label-count", "1 label;")
    person.until(lambda: person.sees(".question h2").text != second, "the question answered")
    person.button("Remove the last label").click()
    person.sees(".label-count", "0 labels;")
    colours = "return [...document.querySelectorAll('.graph .node')].map((n) => n.classList[1])"
    before = person.run(colours)
    person.run("document.querySelectorAll('[name=change]')[1].click()")
    person.until(lambda: person.run(colours) != before, "an alternative shown")
    assert person.log() == []

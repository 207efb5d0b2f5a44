"""Clusters of records: the most uncertain first, labels by keyboard, alternatives, own clusters."""

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
    assert first == "a · b · c · d"  # the least certain
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


def test_clusters_that_somebody_has(person: Person, tmp_path: Path) -> None:
    clusters, scores = tmp_path / "clusters.csv", tmp_path / "scores.csv"
    rows = "a,1,.7,.6\nb,1,.7,.6\nc,2,1,1\nd,3,1,1\ne,4,.9,.9\nf,4,.9,.9\n"
    clusters.write_text(f"record,cluster,membership,exact\n{rows}")
    scores.write_text("left,right,probability\na,b,0.1\nc,d,0.98\ne,f,0.97\n")
    person.go("records")
    person.sees("#clusters").send_keys(str(clusters))
    person.sees(".cluster-summary", "6 records in 4 clusters, 2 with several records.")
    assert [one.text for one in person.all(".set-button")] == ["a · b", "e · f"]
    person.sees(".review", "Open the scores too")
    person.sees("#scores").send_keys(str(scores))
    person.sees(".cluster-summary", "2 sets where clusters.csv disagrees")
    assert [one.text for one in person.all(".set-button")] == ["a · b", "c · d", "e · f"]
    person.all(".set-button")[1].click()
    texts = [one.text for one in person.all(".alternatives-of label")]
    assert texts[0] == "As in clusters.csv"
    assert texts[1].startswith("As computed: exactly this cluster")
    colours = "return [...document.querySelectorAll('.graph .node')].map((n) => n.classList[1])"
    assert len(set(person.run(colours))) == 2
    person.run("document.querySelectorAll('[name=change]')[1].click()")
    person.until(lambda: len(set(person.run(colours))) == 1, "one cluster as computed")
    assert person.log() == []

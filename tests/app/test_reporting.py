"""Reports on files of results and on runs of a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracles import reported
from oracles.pages import Page
from partita.app.report import report_html, report_of_results
from partita.app.runner import Settings, text_hash, usual_budget
from partita.app.workspace import open_workspace
from partita.core import Template
from partita.errors import InputError, Unknown
from partita.results.result_lines import singletons_line

TEXT = "x<1>x<1>x<1> was seen."
DEPOT = "A rail depot was seen. The depot is empty. A bridge is near."


def write_results(path: Path, messages: int = 1, run: dict[str, object] | None = None) -> Path:
    """Each message a set of three templates and one that is alone."""
    lines = [
        reported.line(["A", "B", "C"], "m0", name="m0.1"),
        singletons_line([Template("D", "a road", 13, 16)], "m0", run),
    ]
    whole = "".join(f"{one}\n" for one in lines)
    path.write_text("".join(whole.replace('"m0', f'"m{n}') for n in range(messages)))
    return path


def test_a_file_with_its_texts(tmp_path: Path):
    told = {"partita": "0.1", "domain": "depots", "seed": 7, "text": text_hash(TEXT)}
    results = write_results(tmp_path / "r.jsonl", run=told)
    (tmp_path / "m0.txt").write_text(TEXT, encoding="utf-8")
    page = Page(report_of_results(results, [tmp_path / "m0.txt"]))
    assert page.tags["mark"] == 4
    assert "was seen." in page.words
    for name, value in (("domain", "depots"), ("seed", "7"), ("file", "r.jsonl")):
        assert f"{name}{value}" in page.words
    assert "textsha" not in page.words
    assert "1 set computed exactly" in page.words


def test_a_file_alone_shows_its_expressions_and_says_so(tmp_path: Path):
    page = Page(report_of_results(write_results(tmp_path / "r.jsonl")))
    assert "No texts were given: expressions are shown without their message." in page.words
    assert page.tags["mark"] == 4


def test_texts_that_are_missing_are_counted(tmp_path: Path):
    (tmp_path / "m1.txt").write_text(TEXT, encoding="utf-8")
    results = write_results(tmp_path / "r.jsonl", 3)
    page = Page(report_of_results(results, [tmp_path / "m1.txt"]))
    assert "2 of the messages shown have no text among those given." in page.words


def test_another_text_of_the_same_name_is_refused(tmp_path: Path):
    results = write_results(tmp_path / "r.jsonl", run={"text": text_hash(TEXT)})
    other = tmp_path / "m0.txt"
    other.write_text("Another text.", encoding="utf-8")
    with pytest.raises(InputError, match=r"m0\.txt: the results of message m0 were made from"):
        report_of_results(results, [other])
    with pytest.raises(InputError, match=r"none\.txt: cannot be read"):
        report_of_results(results, [tmp_path / "none.txt"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no results"),
        ("[1]\n", r", line 1: is not a JSON object \(expected a line of results"),
        ("{\n", r", line 1: is not JSON"),
        ('{"version":1,"message":"m"}\n', r", line 1: the line has no field 'set'"),
    ],
)
def test_bad_results(tmp_path: Path, text: str, problem: str):
    path = tmp_path / "r.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        report_of_results(path)


def test_a_thousand_messages(tmp_path: Path):
    results = write_results(tmp_path / "r.jsonl", 1000)
    page = report_of_results(results)
    assert len(page) < 3_000_000
    found = Page(page)
    assert found.tags["article"] == 50
    note = "The 50 most uncertain of 1,000 messages are shown in full; the other 950 are only"
    assert note in found.words
    assert "m999" in found.words


def test_the_same_file_gives_the_same_bytes(tmp_path: Path):
    results = write_results(tmp_path / "r.jsonl", 5)
    page = report_of_results(results, most=2)
    assert page == report_of_results(results, most=2)
    assert Page(page).tags["article"] == 2


def test_runs_with_different_settings_are_told(tmp_path: Path):
    path = tmp_path / "r.jsonl"
    lines = [singletons_line([Template("A")], name, {"seed": n}) for n, name in enumerate("ab")]
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    assert "The file holds 2 runs with different settings" in report_of_results(path)


def test_a_run_of_a_store(tmp_path: Path):
    file = tmp_path / "note.txt"
    file.write_text(DEPOT, encoding="utf-8")
    workspace = open_workspace(tmp_path / "s.db")
    try:
        run = workspace.ingest(
            [file], Settings("depots", "evidential", budget=usual_budget("evidential")), workers=1
        )
        page = Page(report_html(workspace, run))
        assert f"Partita report on {run}" in page.words
        assert "numpy " in page.words
        (one,) = workspace.message(run, "note")["sets"]
        workspace.key(run, one["set"], one["configurations"][0]["cells"], "ana <b>")
        page = Page(report_html(workspace, run))
        assert "key: ana <b>" in page.words
        with pytest.raises(Unknown, match="no run other"):
            report_html(workspace, "other")
    finally:
        workspace.close()

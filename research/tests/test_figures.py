"""The tables of figures on the pages are those that `make figures` writes."""

from __future__ import annotations

import re
from collections import Counter

import pytest

import figures
from figures import DATA, FIGURES, Figure, Unavailable

QUICK = [
    pytest.param(name, marks=pytest.mark.corpus if figure.needs else ())
    for name, figure in FIGURES.items()
    if figure.quick
]


def test_every_mark_names_a_figure_and_every_figure_has_one_mark() -> None:
    texts = [page.read_text(encoding="utf-8") for page in figures.pages()]
    marks = [re.findall(r"^<!-- (/?figures.*) -->$", text, re.MULTILINE) for text in texts]
    starts = [mark for page in marks for mark in page[::2]]
    assert Counter(starts) == Counter(f"figures: {name}" for name in FIGURES)
    assert {mark for page in marks for mark in page[1::2]} == {"/figures"}
    assert all(len(page) % 2 == 0 for page in marks)


def test_every_block_is_made_of_tables() -> None:
    blocks = figures.blocks()
    assert blocks.keys() == FIGURES.keys()
    for name, block in blocks.items():
        assert "\n\n".join(figures.tables(block)) == block, name


@pytest.mark.parametrize("name", QUICK)
def test_quick_figures_are_what_the_page_has(name: str) -> None:
    figure = FIGURES[name]
    if not all((DATA / folder).exists() for folder in figure.needs):
        pytest.skip(f"{DATA} is not there")
    assert figures.blocks()[name] == figure.markdown()


def test_a_figure_without_its_data_is_left_as_it_is(tmp_path, monkeypatch, capsys) -> None:
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n<!-- figures: one -->\n\n| a |\n\n<!-- /figures -->\n")
    monkeypatch.setattr(figures, "pages", lambda: [page])
    monkeypatch.setattr(figures, "DATA", tmp_path)
    figure = Figure(lambda: "| b |", needs=("gum",))
    with pytest.raises(Unavailable, match="gum"):
        figure.markdown()
    figures._make("one", figure)
    assert "| a |" in page.read_text()
    assert capsys.readouterr().out == f"one: left as it is (needs {tmp_path / 'gum'})\n"
    (tmp_path / "gum").mkdir()
    figures._make("one", figure)
    text = "Before.\n\n<!-- figures: one -->\n\n| b |\n\n<!-- /figures -->\n"
    assert page.read_text() == text


def test_tables_are_chosen_by_their_number(monkeypatch) -> None:
    text = "## Title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| c | d |\n| --- | --- |\n| 3 | |\n"
    monkeypatch.setattr(figures, "printed", lambda command: text)
    assert figures.table_of("", 0) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert figures.table_of("", 1) == "| c | d |\n| --- | --- |\n| 3 | |"

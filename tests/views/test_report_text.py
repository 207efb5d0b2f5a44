"""A text with marks: nothing is lost, and each template is marked where it stands."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from oracles.pages import Page
from partita.core import Template
from partita.views.report import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    Colours,
    ReportMessage,
    colours_of,
    mark_templates,
    marked_text,
)

TEXTS = st.text("ab<>&\"'\n ", min_size=1, max_size=30)
SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=7)


class Stretches(HTMLParser):
    """By the title of a mark, the text inside it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: dict[str, str] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(str(dict(attrs)["title"]) if tag == "mark" else tag)

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if "sub" not in self.open:
            for name in self.open:
                self.found[name] = self.found.get(name, "") + data


def templates(text: str, spans: list[tuple[int, int]]) -> list[Template]:
    ends = [(min(a, b), min(max(a, b), len(text))) for a, b in spans]
    return [Template(f"T{n}", start=a, end=b) for n, (a, b) in enumerate(ends) if a < b]


def plain(given: list[Template]) -> Colours:
    return Colours({}, {}, {one.id: one.id for one in given})


@given(TEXTS, SPANS)
def test_any_marks_in_any_text(text: str, spans: list[tuple[int, int]]):
    given = templates(text, spans)
    html = mark_templates(text, given, plain(given))
    assert Page(html).words == text
    assert Stretches(html).found == {one.id: text[one.start : one.end] for one in given}


def test_nested_marks_are_one_in_the_other():
    given = [Template("A", start=0, end=9), Template("B", start=4, end=9)]
    html = mark_templates("the depot.", given, plain(given))
    outer = (
        '<mark class="none d1" title="A">the <mark class="none d0" title="B">depot</mark></mark>.'
    )
    assert html == outer


def test_crossing_marks_are_cut():
    given = [Template("A", start=0, end=4), Template("B", start=2, end=6)]
    assert Page(mark_templates("abcdef", given, plain(given))).tags == {"mark": 3}


def test_what_lies_too_deep_is_told():
    alone = tuple(Template(f"T{n}", start=n, end=4000 - n) for n in range(1500))
    message = ReportMessage("m", (), alone, "a" * 4000)
    page = Page(marked_text(message, colours_of(message)))
    assert page.tags["mark"] == MAX_DEPTH
    assert f"{1500 - MAX_DEPTH:,} more are nested in over {MAX_DEPTH} templates" in page.words


def test_many_templates_in_a_row():
    alone = tuple(Template(f"T{n}", start=2 * n, end=2 * n + 1) for n in range(2000))
    message = ReportMessage("m", (), alone, "a " * 2000)
    assert Page(marked_text(message, colours_of(message))).tags["mark"] == 2000


def test_much_text_and_lost_templates_are_told():
    alone = (Template("A", "a", 0, 1), Template("B"))
    message = ReportMessage("m", (), alone, "a" * (MAX_CHARACTERS + 5))
    words = Page(marked_text(message, colours_of(message))).words
    assert "5 more characters are not shown" in words
    assert "1 template has no position in this text" in words


def test_without_a_text_the_expressions_stand_alone():
    message = ReportMessage("m", (), (Template("A", "a <depot>"), Template("B")))
    page = Page(marked_text(message, colours_of(message)))
    assert (page.tags["mark"], page.words) == (2, "a <depot>B")

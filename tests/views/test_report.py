"""A report: one file without script, in which no text makes a tag or an attribute of its own."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import reported
from oracles.answers import brute
from oracles.pages import Page
from partita.core import Configuration
from partita.files.strict import Place
from partita.results.result_lines import result_line
from partita.views.palette import STYLE
from partita.views.report import (
    MessageRow,
    ReportKey,
    ReportMessage,
    message_section,
    most_uncertain,
    report_page,
    set_of,
)

EVIL = st.one_of(
    st.text(min_size=1, max_size=12),
    st.text("<>&\"'/= \n", min_size=1, max_size=12),
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            '" onmouseover="alert(1)',
            "' onload='x",
            "javascript:alert(1)",
            "</style><img src=x onerror=alert(1)>",
            "</title><svg/onload=x>",
            "<!--",
            "]]>",
            "&lt;b&gt;",
            "\u202eevil\x00\ud800",
        ]
    ),
)
WORDS = st.lists(EVIL, min_size=6, max_size=6)


def page_of(words: Sequence[str], text: str | None) -> str:
    ids = [f"T{n}{words[n]}" for n in range(3)]
    messages = [reported.message(ids, f"m{n}{words[n]}", text, words) for n in range(2)]
    return report_page(reported.report(messages, words))


def harmless(text: str) -> str:
    return "x" * len(text)


@given(WORDS, EVIL)
@settings(deadline=None, max_examples=40)
def test_no_text_makes_a_tag_or_an_attribute(words: list[str], text: str):
    found = Page(page_of(words, text))
    plain = Page(page_of([harmless(word) for word in words], harmless(text)))
    assert found.tags == plain.tags
    assert found.attributes == plain.attributes
    page_of(words, text).encode()


def test_nothing_runs_and_nothing_is_loaded():
    page = Page(page_of(["<script>", "javascript:x", "a", "b", "c", "d"], "javascript:x"))
    assert not page.tags.keys() & {"script", "iframe", "object", "img", "link", "form", "base"}
    names = {name for _, name in page.attributes}
    assert not [name for name in names if name.startswith("on") or name in ("style", "src")]
    places = {value for _, name, value in page.values if name == "href"}
    assert places
    assert all(place.startswith("#") for place in places)
    known = {f"#{value}" for _, name, value in page.values if name == "id"}
    assert places <= known
    assert "url(" not in STYLE
    assert "@import" not in STYLE


def test_the_policy_knows_the_style():
    html = page_of(reported.WORDS, "text")
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    found = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"&#x27;sha256-{found}&#x27;" in html
    assert "default-src &#x27;none&#x27;" in html


def test_what_a_person_sees():
    words = ("a depot", "DEPOT", "RALEIGH", "ana", "reports", "domain")
    found = Page(page_of(words, "0123456789ab and the rest")).words
    assert "Partita report on reports" in found
    assert "5 configurations" in found
    assert "key: ana" in found
    assert "RALEIGH 0.7000, unknown 0.3000" in found
    bits = reported.distribution(["A", "B", "C"]).entropy_bits
    assert f"entropy {bits:.4f} bits" in found


def test_a_key_that_is_not_listed_is_told():
    ids = [f"T{n}" for n in range(7)]
    answer = brute(ids, dict.fromkeys(itertools.combinations(ids, 2), 0.5), top=3)
    rare = ReportKey("bob", Configuration([ids[:2], ids[2:4], ids[4:]]))
    assert rare.configuration not in [one.configuration for one in answer.configurations]
    one = set_of(json.loads(result_line(answer, "m")), Place("test"), [rare])
    words = Page(message_section(0, ReportMessage("m", (one,)), 50)).words
    assert "the key of bob is not among the listed configurations" in words
    assert "874 more configurations" in words


def test_much_is_left_out_and_said():
    ids = [f"T{n}" for n in range(7)]
    answer = brute(ids, dict.fromkeys(itertools.combinations(ids, 2), 0.5), top=25)
    one = set_of(json.loads(result_line(answer, "m")), Place("test"))
    page = Page(message_section(0, ReportMessage("m", (one,) * 5), 3))
    assert "5 more listed in the results" in page.words
    assert "2 more sets not shown here" in page.words
    assert page.tags["details"] == 3


def test_the_same_ids_in_two_sets_have_colours_of_their_own():
    together = brute(["A", "B"], {("A", "B"): 0.9}, name="1")
    apart = brute(["A", "B"], {("A", "B"): 0.1}, name="2")
    sets = tuple(set_of(json.loads(result_line(x, "m")), Place("t")) for x in (together, apart))
    page = message_section(0, ReportMessage("m", sets), 5)
    first, second = page.split("<details")[1:]
    assert "chip c0" in first
    assert "chip single" in second
    assert "chip c0" not in second


def test_the_most_uncertain_are_chosen_in_their_order():
    rows = [MessageRow(str(n), 1, 1, 1, bits) for n, bits in enumerate((1.0, 5.0, 0.0, 5.0))]
    assert most_uncertain(rows, 2) == [1, 3]
    assert most_uncertain(rows, 3) == [0, 1, 3]


@pytest.mark.parametrize("shown", [1, 2])
def test_what_is_in_the_list_only_is_told(shown: int):
    messages = [reported.message(["A", "B"], f"m{n}", None) for n in range(3)]
    told = reported.report(messages)
    words = Page(report_page(replace(told, messages=told.messages[:shown]))).words
    assert f"The {shown} most uncertain of 4 messages are shown in full" in words
    assert f"the other {4 - shown} are only listed" in words


def test_an_answer_that_is_not_settled_warns():
    line = json.loads(reported.line(["A", "B"], "m"))
    line |= {"method": "sampled", "converged": False, "entropy_bits_interval": [0.5, 1.5]}
    for one in line["pairs"]:
        one["interval"] = [0.1, 0.9]
    words = Page(message_section(0, ReportMessage("m", (set_of(line, Place("t")),)), 3)).words
    assert "NOT converged" in words
    assert "The chains disagree" in words
    assert "→ 0.6000 [0.1000, 0.9000]" in words

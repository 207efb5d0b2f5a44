"""Markup by plain calls: nothing that is not markup already gets through unescaped."""

from __future__ import annotations

from partita.views.markup import Html, element, escape_text, join_markup


def test_children_and_attributes_are_escaped():
    made = element("p", "<b>", element("i", "&"), title='"><script>', class_="a")
    told = '<p title="&quot;&gt;&lt;script&gt;" class="a">&lt;b&gt;<i>&amp;</i></p>'
    assert made == told


def test_names_of_attributes():
    assert (
        element("line", stroke_width=1.50, x1=2, none=None)
        == '<line stroke-width="1.5" x1="2"></line>'
    )
    assert element("br") == "<br>"


def test_a_text_that_markup_was_put_into_is_text_again():
    assert join_markup([f"{element('b', 'x')}!"]) == "&lt;b&gt;x&lt;/b&gt;!"
    assert isinstance(join_markup(["a", element("i")], ", "), Html)
    assert join_markup(["a", element("i")], "&") == "a&amp;<i></i>"


def test_what_steers_is_shown():
    assert escape_text("a\x00b\x1b[1m\u202ec\ud800\n\t") == "a·b·[1m·c·\n\t"
    escape_text("\ud800").encode()

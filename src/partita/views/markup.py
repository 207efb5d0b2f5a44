"""HTML and SVG by plain calls: what is not markup already is escaped, whoever forgets to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

# Controls, lone surrogates and what turns the direction of reading are shown, not obeyed.
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
VOID = frozenset({"br", "meta"})


class Html(str):
    """Text that is markup already; only this module makes it."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | None) -> Html:
    """`class_` stands for class and `stroke_width` for stroke-width; None leaves one out."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{safe(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{told}>")
    return Html(f"<{name}{told}>{joined(children)}</{name}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """One after another; what is not markup is escaped."""
    return Html(
        safe(between).join(part if isinstance(part, Html) else safe(part) for part in parts)
    )


def safe(text: str) -> Html:
    """As text of a page, or of an attribute."""
    return Html(escape(UNSEEN.sub("·", text)))


def document(title: str, style: str, policy: str, *body: str) -> str:
    """A whole file; `policy` says what a browser may load and run from it."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(style)),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *body), lang='en')}\n"


def cut(text: str, most: int) -> str:
    """On one line, and no longer than that."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _number(value: str | float) -> str:
    """Coordinates need no more than two digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)

"""Build HTML with escaping."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

# Control characters, lone surrogates and marks of text direction are replaced.
CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
VOID = frozenset({"br", "meta"})


class Html(str):
    """Escaped markup; made only by this module."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | None) -> Html:
    """Return an element; `class_` means class, `stroke_width` stroke-width, None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_text(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join_markup(children)}</{name}>")


def join_markup(parts: Iterable[str], between: str = "") -> Html:
    """Join parts, escaping those that are not markup."""
    escaped = (part if isinstance(part, Html) else escape_text(part) for part in (between, *parts))
    return Html(next(escaped).join(escaped))


def table_element(
    rows: Iterable[str], class_: str | None = None, titles: Iterable[str] = ()
) -> Html:
    """Return a table of rows; titles, as text or `th` elements, make its head."""
    body = join_markup(rows)
    heads = [title if isinstance(title, Html) else element("th", title) for title in titles]
    if heads:
        head = element("thead", element("tr", *heads))
        body = join_markup([head, element("tbody", body)])
    return element("table", body, class_=class_)


def table_row(*cells: str | tuple[str, str], title: str | None = None,
              class_: str | None = None) -> Html:  # fmt: skip
    """Return a row of contents, each alone or with the class of its cell, after a `th` title."""
    head = () if title is None else (element("th", title),)
    pairs = ((cell, None) if isinstance(cell, str) else cell for cell in cells)
    return element("tr", *head, *(element("td", x, class_=c) for x, c in pairs), class_=class_)


def escape_text(text: str) -> Html:
    """Escape text for content and attributes."""
    return Html(escape(CONTROLS.sub("·", text)))


def document(title: str, style: str, policy: str | None, *body: str) -> str:
    """Return a whole HTML file, with a content security policy unless that is None."""
    security = {"http_equiv": "Content-Security-Policy", "content": policy}
    head = element(
        "head",
        element("meta", charset="utf-8"),
        *((element("meta", **security),) if policy else ()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(style)),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *body), lang='en')}\n"


def _number(value: str | float) -> str:
    """Format a coordinate with at most two digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)

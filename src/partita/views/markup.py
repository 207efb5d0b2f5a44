"""Build HTML with escaping; the colours of page and notebooks, and the style of single files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

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


SHEET = Path(__file__).parents[1] / "web/page/style/palette.css"
COLOURS = SHEET.read_text(encoding="utf-8").partition("*/")[2].strip()

_LIGHT: dict[str, str] = dict(
    re.findall(r"--([\w-]+): (#[0-9a-f]{6});", COLOURS.partition("@media")[0])
)


def colour(name: str) -> str:
    """Return a colour of the light scheme, such as `accent`, as #rrggbb."""
    return _LIGHT[name]


def tinted(name: str, share: float) -> str:
    """Return a colour as rgba, with `share` as its opacity."""
    red, green, blue = (int(colour(name)[n : n + 2], 16) for n in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:.3f})"


_PAGE = """
* { box-sizing: border-box }
body { margin: 0; background: var(--surface); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
main { max-width: 66rem; margin: 0 auto; padding: 0 1.25rem }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem }
a { color: var(--accent); text-decoration: none } a:hover { text-decoration: underline }
"""

STYLE = COLOURS + _PAGE

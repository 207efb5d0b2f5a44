"""Build HTML and SVG with escaping."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from partita.errors import InputError
from partita.evaluation.calibration import ReliabilityBin
from partita.files.writing import write_atomically
from partita.views.palette import STYLE

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


def drawing(width: float, height: float, label: str, *parts: str, class_: str = "plot") -> Html:
    """Return an SVG image that shrinks to its container; `label` is its title."""
    return element(
        "svg",
        element("title", label),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        class_=class_,
    )


def line_element(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def label_text(x: float, y: float, text: str, class_: str, anchor: str = "start") -> Html:
    return element("text", text, x=x, y=y, class_=class_, text_anchor=anchor)


def polyline(points: list[tuple[float, float]], class_: str) -> Html:
    return element(
        "polyline", points=" ".join(f"{x:.2f},{y:.2f}" for x, y in points), class_=class_
    )


SIDE, LEFT, TOP, BELOW = 240.0, 52.0, 14.0, 42.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
LARGE = 10.0  # radius of the bin with the highest count


def reliability_plot(bins: Sequence[ReliabilityBin], label: str) -> Html:
    """Draw a dot for every bin; points on the dashed line are well calibrated."""
    largest = max((bin_.count for bin_ in bins), default=1)
    dots = (_dot(bin_, largest) for bin_ in bins)
    path = [(_x(bin_.stated), _y(bin_.observed)) for bin_ in bins]
    return drawing(
        LEFT + SIDE + 14,
        TOP + SIDE + BELOW,
        label,
        join_markup(map(_tick, TICKS)),
        line_element(_x(0.0), _y(0.0), _x(1.0), _y(1.0), "ideal"),
        polyline(path, "curve"),
        join_markup(dots),
        label_text(_x(0.5), TOP + SIDE + 36, "stated", "axis", "middle"),
        element(
            "text", "observed", class_="axis", text_anchor="middle",
            transform=f"translate(11 {_y(0.5):.1f}) rotate(-90)",
        ),
    )  # fmt: skip


def save_plots(bins: Mapping[str, Sequence[ReliabilityBin]], path: Path) -> None:
    """Write reliability plots beside each other, each under its name, as one SVG image."""
    if path.suffix != ".svg":
        raise InputError(f"unknown extension {path.suffix!r}; expected .svg", file=str(path))
    width, above = LEFT + SIDE + 14, 20.0
    plots = (
        element("g", label_text(_x(0.0), 0, name, "axis"), reliability_plot(some, name),
                transform=f"translate({n * width:g} {above:g})")
        for n, (name, some) in enumerate(bins.items())
    )  # fmt: skip
    style = element("style", Html(STYLE))
    image = drawing(len(bins) * width, above + TOP + SIDE + BELOW, "Reliability", style, *plots)
    write_atomically(path, image.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def _dot(bin_: ReliabilityBin, most: int) -> Html:
    radius = max(2.5, LARGE * math.sqrt(bin_.count / most))
    hint = f"stated {bin_.stated:.3f}, observed {bin_.observed:.3f}, {bin_.count:,} statements"
    x, y = _x(bin_.stated), _y(bin_.observed)
    dot = element("circle", element("title", hint), cx=x, cy=y, r=radius, class_="dot")
    inward = bin_.stated > 0.5
    label_x = x - radius - 2 if inward else x + radius + 2
    count = label_text(label_x, y - 6, f"{bin_.count:,}", "tick", "end" if inward else "start")
    return join_markup([dot, count])


def _tick(p: float) -> Html:
    grid = [line_element(_x(p), _y(0.0), _x(p), _y(1.0), "grid")]
    grid += [line_element(_x(0.0), _y(p), _x(1.0), _y(p), "grid")]
    below = label_text(_x(p), TOP + SIDE + 20, f"{p:g}", "tick", "middle")
    beside = label_text(LEFT - 12, _y(p) + 3.5, f"{p:g}", "tick", "end")
    return join_markup([*grid, below, beside])


def _x(p: float) -> float:
    return LEFT + SIDE * p


def _y(p: float) -> float:
    return TOP + SIDE * (1 - p)

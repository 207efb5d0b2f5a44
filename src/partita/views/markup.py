"""Build HTML and SVG with escaping."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from partita.evaluation.calibration import Bin
from partita.records import FloatArray

# Controls, lone surrogates and what turns the direction of reading are shown, not obeyed.
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
VOID = frozenset({"br", "meta"})


class Html(str):
    """Text that is markup already; only this module makes it."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | None) -> Html:
    """`class_` stands for class and `stroke_width` for stroke-width; None leaves one out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{safe(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


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


def drawing(width: float, height: float, label: str, *parts: str, class_: str = "plot") -> Html:
    """A drawing of its own size that shrinks with its place; `label` says what it shows."""
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


def rectangle(x: float, y: float, width: float, height: float, class_: str, hint_text: str = "",
              **more: str | float) -> Html:  # fmt: skip
    """`told` appears where a pointer rests on it."""
    hint = (element("title", hint_text),) if hint_text else ()
    return element(
        "rect", *hint, x=x, y=y, width=width, height=height, class_=class_, **more
    )  # fmt: skip


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def words(x: float, y: float, text: str, class_: str, anchor: str = "start") -> Html:
    return element("text", text, x=x, y=y, class_=class_, text_anchor=anchor)


def polyline(points: list[tuple[float, float]], class_: str) -> Html:
    return element(
        "polyline", points=" ".join(f"{x:.2f},{y:.2f}" for x, y in points), class_=class_
    )


BAR_WIDTH, BAR_HEIGHT = 100.0, 10.0


def bar(p: float, interval: tuple[float, float] | None = None, class_: str = "share") -> Html:
    """As wide as its place: a whole bar is probability 1."""
    share = min(max(p, 0.0), 1.0)
    parts = [
        rectangle(0.0, 0.0, BAR_WIDTH, BAR_HEIGHT, "track"),
        rectangle(0.0, 0.0, BAR_WIDTH * share, BAR_HEIGHT, class_),
    ]
    if interval is not None:
        low, high = (BAR_WIDTH * min(max(end, 0.0), 1.0) for end in interval)
        parts += [line(low, BAR_HEIGHT / 2, high, BAR_HEIGHT / 2, "whisker")]
        parts += [line(end, 2.0, end, BAR_HEIGHT - 2.0, "whisker") for end in (low, high)]
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {BAR_WIDTH:g} {BAR_HEIGHT:g}",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )


EDGES = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # bits; the last class is open
WIDE, HIGH, STEP = 26.0, 90.0, 30.0


def classes(bits: Sequence[float]) -> list[tuple[str, int]]:
    """The classes from the first to the last that anything is in, with what is in them."""
    counts = [0] * len(EDGES)
    for one in bits:
        counts[sum(one >= edge for edge in EDGES[1:])] += 1
    last = max((n for n, count in enumerate(counts) if count), default=0)
    return [(_name(n), counts[n]) for n in range(last + 1)]


def _name(n: int) -> str:
    if n == 0:
        return f"< {EDGES[1]:g}"
    return f"{EDGES[n]:g}+" if n == len(EDGES) - 1 else f"{EDGES[n]:g}–{EDGES[n + 1]:g}"


def histogram(bits: Sequence[float], label: str) -> Html:
    """A column for every class, with its count."""
    columns_ = classes(bits)
    most = max(count for _, count in columns_) or 1
    columns = (
        _column(n, name, count, HIGH * count / most) for n, (name, count) in enumerate(columns_)
    )
    wide = 8 + 44.0 * len(columns_)
    ground = line(0.0, HIGH + 16, wide, HIGH + 16, "ground")
    axis = words(wide / 2, HIGH + 46, "bits per message", "axis", "middle")
    return drawing(max(wide, 120.0), HIGH + 52, label, joined(columns), ground, axis)


def _column(n: int, name: str, count: int, high: float) -> Html:
    left = 8 + 44.0 * n
    hint = f"{count:,} with {name} bits"
    return joined(
        [
            rectangle(left, HIGH + 16 - high, WIDE + 8, high, "share", hint),
            words(left + 17, HIGH + 11 - high, f"{count:,}", "tick", "middle"),
            words(left + 17, HIGH + 30, name, "tick", "middle"),
        ]
    )


SIZES = ((8, 34.0), (14, 26.0), (1000, 13.0))  # of a square, for so many templates
NUMBERS = 14  # templates: of more, squares have no room for a number
LETTER = 6.2
DEEP = 0.5  # from here on a number is written in the colour of the paper


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """Which templates, and for every two of them a number or, if they never corefer, a cross;
    `hints` say the same in words."""

    labels: Sequence[str]
    values: FloatArray
    apart: Sequence[Sequence[bool]]
    hints: Sequence[Sequence[str]]


def triangle(pairs: Triangle, label: str, letters: int = 26) -> Html:
    """Names stand on the diagonal and go on where the matrix would say the same again."""
    n = len(pairs.labels)
    size = next(size for most, size in SIZES if n <= most)
    names = [cut(name, letters) for name in pairs.labels]
    room = max((k * size + len(name) * LETTER + 10 for k, name in enumerate(names)), default=0.0)
    squares = (_square(pairs, row, column, size) for row in range(n) for column in range(row))
    titles = (
        words(k * size + 5, (k + 0.5) * size + 4, name, "name") for k, name in enumerate(names)
    )
    return drawing(max(room, n * size), n * size + 2, label, joined(squares), joined(titles))


def _square(pairs: Triangle, row: int, column: int, size: float) -> Html:
    p = float(pairs.values[row, column])
    at = (column * size + 1, row * size + 1, size - 2, size - 2)
    hint = pairs.hints[row][column]
    if pairs.apart[row][column]:
        return joined([rectangle(*at, "never", hint), _cross(*at)])
    drawn = rectangle(*at, "pair", hint, fill_opacity=f"{p:.3f}")
    frame = rectangle(*at, "edge")
    if len(pairs.labels) > NUMBERS:
        return joined([frame, drawn])
    middle = (column + 0.5) * size, (row + 0.5) * size + 3.5
    number = words(*middle, short(p), "deep" if p > DEEP else "plain", "middle")
    return joined([frame, drawn, number])


def _cross(x: float, y: float, width: float, height: float) -> Html:
    a, b = 0.38, 0.62
    ends = f"M{x + a * width:.1f} {y + a * height:.1f}L{x + b * width:.1f} {y + b * height:.1f}"
    back = f"M{x + b * width:.1f} {y + a * height:.1f}L{x + a * width:.1f} {y + b * height:.1f}"
    return element("path", d=ends + back, class_="cross")


def short(p: float) -> str:
    """Two digits; only what is certain is 0 or 1."""
    if p <= 0.0 or p >= 1.0:
        return f"{min(max(p, 0.0), 1.0):.0f}"
    return f"{min(max(round(p, 2), 0.01), 0.99):.2f}".lstrip("0")


SIDE, LEFT, TOP, BELOW = 240.0, 52.0, 14.0, 42.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
LARGE = 10.0  # radius of the bin with the highest count


def reliability(bins: Sequence[Bin], label: str) -> Html:
    """A dot for every bin, its area the count; points on the dashed line are well calibrated."""
    most = max((bin_.count for bin_ in bins), default=1)
    dots = (_dot(bin_, most) for bin_ in bins)
    path = [(_x(bin_.stated), _y(bin_.observed)) for bin_ in bins]
    return drawing(
        LEFT + SIDE + 14,
        TOP + SIDE + BELOW,
        label,
        joined(map(_tick, TICKS)),
        line(_x(0.0), _y(0.0), _x(1.0), _y(1.0), "ideal"),
        polyline(path, "curve"),
        joined(dots),
        words(_x(0.5), TOP + SIDE + 36, "stated", "axis", "middle"),
        element(
            "text", "observed", class_="axis", text_anchor="middle",
            transform=f"translate(11 {_y(0.5):.1f}) rotate(-90)",
        ),
    )  # fmt: skip


def _dot(bin_: Bin, most: int) -> Html:
    radius = max(2.5, LARGE * math.sqrt(bin_.count / most))
    hint = f"stated {bin_.stated:.3f}, observed {bin_.observed:.3f}, {bin_.count:,} statements"
    x, y = _x(bin_.stated), _y(bin_.observed)
    dot = element("circle", element("title", hint), cx=x, cy=y, r=radius, class_="dot")
    inward = bin_.stated > 0.5
    at = x - radius - 2 if inward else x + radius + 2
    count = words(at, y - 6, f"{bin_.count:,}", "tick", "end" if inward else "start")
    return joined([dot, count])


def _tick(p: float) -> Html:
    grid = [line(_x(p), _y(0.0), _x(p), _y(1.0), "grid")]
    grid += [line(_x(0.0), _y(p), _x(1.0), _y(p), "grid")]
    below = words(_x(p), TOP + SIDE + 20, f"{p:g}", "tick", "middle")
    beside = words(LEFT - 12, _y(p) + 3.5, f"{p:g}", "tick", "end")
    return joined([*grid, below, beside])


def _x(p: float) -> float:
    return LEFT + SIDE * p


def _y(p: float) -> float:
    return TOP + SIDE * (1 - p)

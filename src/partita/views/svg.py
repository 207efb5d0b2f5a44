"""What every drawing is made of: the frame, lines, rectangles and texts of an SVG."""

from __future__ import annotations

from partita.views.markup import Html, element


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


def rectangle(x: float, y: float, width: float, height: float, class_: str, told: str = "",
              **more: str | float) -> Html:  # fmt: skip
    """`told` appears where a pointer rests on it."""
    hint = (element("title", told),) if told else ()
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

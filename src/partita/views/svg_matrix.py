"""The pairs of a set as a triangle: the darker a square, the more probable that the two corefer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from partita.records import FloatArray
from partita.views.markup import Html, cut, element, joined
from partita.views.svg import drawing, rectangle, words

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


def triangle(given: Triangle, label: str, letters: int = 26) -> Html:
    """Names stand on the diagonal and go on where the matrix would say the same again."""
    n = len(given.labels)
    size = next(size for most, size in SIZES if n <= most)
    names = [cut(name, letters) for name in given.labels]
    room = max((k * size + len(name) * LETTER + 10 for k, name in enumerate(names)), default=0.0)
    squares = (_square(given, row, column, size) for row in range(n) for column in range(row))
    titles = (
        words(k * size + 5, (k + 0.5) * size + 4, name, "name") for k, name in enumerate(names)
    )
    return drawing(max(room, n * size), n * size + 2, label, joined(squares), joined(titles))


def _square(given: Triangle, row: int, column: int, size: float) -> Html:
    p = float(given.values[row, column])
    at = (column * size + 1, row * size + 1, size - 2, size - 2)
    hint = given.hints[row][column]
    if given.apart[row][column]:
        return joined([rectangle(*at, "never", hint), _cross(*at)])
    drawn = rectangle(*at, "pair", hint, fill_opacity=f"{p:.3f}")
    frame = rectangle(*at, "edge")
    if len(given.labels) > NUMBERS:
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

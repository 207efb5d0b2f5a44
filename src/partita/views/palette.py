"""The colours of the page, of reports, of plots and of notebooks: one style sheet."""

from __future__ import annotations

import re
from pathlib import Path

SHEET = Path(__file__).parents[1] / "web/page/style/palette.css"
STYLE = SHEET.read_text(encoding="utf-8").partition("*/")[2].strip()
CELLS = STYLE.count("\n.cell-")  # colours for cells, entities and categories

_LIGHT: dict[str, str] = dict(
    re.findall(r"--([\w-]+): (#[0-9a-f]{6});", STYLE.partition("@media")[0])
)


def colour(name: str) -> str:
    """Return a colour of the light scheme, such as `accent`, as #rrggbb."""
    return _LIGHT[name]


def categories() -> list[str]:
    """Return the colours of categories: strong enough for lines and dots."""
    return [colour("accent"), colour("down"), *(colour(f"line-{n}") for n in range(1, CELLS))]


def tinted(name: str, share: float) -> str:
    """Return a colour as rgba, with `share` as its opacity."""
    red, green, blue = (int(colour(name)[n : n + 2], 16) for n in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:.3f})"

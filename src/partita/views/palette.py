"""The colours of the page and notebooks, and the style sheet of single files."""

from __future__ import annotations

import re
from pathlib import Path

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

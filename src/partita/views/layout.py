"""Words and bars in the columns of a terminal."""

from __future__ import annotations

import textwrap
import unicodedata

BAR = 16
LINES = 4
EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(p: float) -> str:
    full, part = divmod(round(min(max(p, 0.0), 1.0) * BAR * 8), 8)
    return "█" * full + (EIGHTHS[part] if part else "")


def wrapped(cells: str, room: int) -> list[str]:
    """At most a few lines: a configuration of hundreds of templates is not read here."""
    if columns(cells) <= room:
        return [cells]
    rows = textwrap.wrap(cells, room)
    return rows if len(rows) <= LINES else [*rows[: LINES - 1], f"… {len(rows) - LINES + 1} lines"]


def indented(sentence: str, width: int, by: int = 2) -> list[str]:
    """A sentence in lines that begin so many columns further right."""
    return [" " * by + row for row in textwrap.wrap(sentence, width - by)]


def clean(words: str) -> str:
    """Nothing from a file may steer the terminal."""
    return "".join(c if c.isprintable() else "·" for c in words)


def columns(words: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in words)


def padded(words: str, wide: int) -> str:
    return words + " " * (wide - columns(words))


def cut(words: str, width: int) -> str:
    if columns(words) <= width:
        return words
    kept = ""
    for c in words:
        if columns(kept + c) > width - 1:
            break
        kept += c
    return f"{kept}…"


def bold(words: str, colour: bool) -> str:
    return f"\x1b[1m{words}\x1b[0m" if colour else words


def coloured(words: str, colour: bool) -> str:
    return f"\x1b[36m{words}\x1b[0m" if colour and words else words

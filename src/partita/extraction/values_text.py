"""Text as the readers of values take it: one spelling, of bounded length."""

from __future__ import annotations

import re

from partita.templates.words import symbol

# No number, date, measure or coordinate is longer: what is, is not looked at.
LONGEST = 200

_DASHES = re.compile(r"[‐‑‒–—−]")


def spelled(text: str) -> str:
    """Upper case, single spaces, one kind of dash; nothing of what is too long to be a value."""
    if len(text) > LONGEST:
        return ""
    plain = symbol(_DASHES.sub("-", text))
    return plain if len(plain) <= LONGEST else ""

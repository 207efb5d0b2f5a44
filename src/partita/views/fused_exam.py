"""How far systems of the exam are trusted, for people and programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from partita.fusion.systems import Trusted


def trusted_text(trusted: Sequence[Trusted], templates: int, fills: int) -> str:
    """The most trusted first; all figures are expected ones, no key is known."""
    head = f"  {'system':<24}templates   fills  precision  recall      F  weight\n"
    rows = (
        f"  {_clean(one.source)[:23]:<24}{one.templates:9,}{one.fills:8,}{one.precision:11.3f}"
        f"{one.recall:8.3f}{one.f:7.3f}{one.weight:8.2f}\n"
        for one in sorted(trusted, key=lambda one: (-one.f, one.source))
    )
    return f"{templates:,} templates with {fills:,} fills\n\n{head}{''.join(rows)}"


def trusted_json(trusted: Sequence[Trusted], templates: int, fills: int) -> str:
    sources = [asdict(one) for one in trusted]
    return json.dumps({"templates": templates, "fills": fills, "sources": sources}) + "\n"


def _clean(words: str) -> str:
    """Nothing from a file's name may steer the terminal."""
    return "".join(c if c.isprintable() else "·" for c in words)

"""Parameters that ship with the package, as JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from partita.errors import InputError

VERSION = 1


@dataclass(frozen=True, slots=True)
class Learned:
    """Values by name; the data they came from in words and as a hash; what was measured on it."""

    model: str
    values: Mapping[str, float]
    learned_from: str
    sha256: str
    seed: int
    figures: Mapping[str, float]

    def text(self) -> str:
        """As JSON, the same bytes for the same values."""
        written = {
            "version": VERSION,
            "model": self.model,
            "values": dict(self.values),
            "learned_from": {"description": self.learned_from, "sha256": self.sha256},
            "seed": self.seed,
            "figures": dict(self.figures),
        }
        return json.dumps(written, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


__all__ = ["VERSION", "Learned", "shipped_bytes", "shipped_text"]


def shipped_text(model: str) -> str | None:
    """The JSON of a model's shipped parameters, or None where none are shipped."""
    from importlib.resources import files

    file = files(__name__).joinpath(f"{model}.json")
    return file.read_text(encoding="utf-8") if file.is_file() else None


def shipped_bytes(name: str, what: str) -> bytes:
    """Return the content of a shipped file."""
    from importlib.resources import files

    file = files(__name__).joinpath(name)
    if not file.is_file():
        raise InputError(f"the package contains no {what}")
    return file.read_bytes()

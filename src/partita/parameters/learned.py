"""The learned parameters of a model and what they were learned from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

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

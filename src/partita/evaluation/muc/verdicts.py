"""What a fill of a response is to a fill of the key: correct 1, partial ½, incorrect 0."""

from __future__ import annotations

from typing import Final

Verdict = float

CORRECT: Final = 1.0
PARTIAL: Final = 0.5
INCORRECT: Final = 0.0

"""Counts of the exam and what follows from them.

R = (COR + ½ PAR)/(COR + PAR + INC + MIS), P with SPU for MIS, F = 2PR/(P + R).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tally:
    """How many fills are correct, partial, incorrect, spurious, missing."""

    correct: int = 0
    partial: int = 0
    incorrect: int = 0
    spurious: int = 0
    missing: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.correct + other.correct,
            self.partial + other.partial,
            self.incorrect + other.incorrect,
            self.spurious + other.spurious,
            self.missing + other.missing,
        )

    @property
    def possible(self) -> int:
        return self.correct + self.partial + self.incorrect + self.missing

    @property
    def actual(self) -> int:
        return self.correct + self.partial + self.incorrect + self.spurious

    @property
    def points(self) -> float:
        return self.correct + self.partial / 2

    @property
    def recall(self) -> float:
        return self.points / self.possible if self.possible else 0.0

    @property
    def precision(self) -> float:
        return self.points / self.actual if self.actual else 0.0

    @property
    def overgeneration(self) -> float:
        return self.spurious / self.actual if self.actual else 0.0

    def f(self, beta: float = 1.0) -> float:
        """Below 1 precision weighs more, above 1 recall."""
        below = beta**2 * self.precision + self.recall
        return (1 + beta**2) * self.precision * self.recall / below if below else 0.0

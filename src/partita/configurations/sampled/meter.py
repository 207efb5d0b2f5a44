"""The rest of a budget in sweeps: seconds left / seconds a sweep, or work left."""

from __future__ import annotations

import time
from dataclasses import dataclass

from partita.core import Budget


@dataclass(slots=True)
class Meter:
    """Counts sweeps against a clock, or against a number, which alone is deterministic."""

    end: float
    work: float | None
    pace: float = 0.0  # seconds a sweep, as measured last

    @classmethod
    def of(cls, budget: Budget) -> Meter:
        return cls(time.monotonic() + budget.seconds, budget.work)

    def share(self, part: float) -> Meter:
        """Return a meter for that part of the rest."""
        now = time.monotonic()
        work = None if self.work is None else self.work * part
        return Meter(now + (self.end - now) * part, work, self.pace)

    def settle(self, part: Meter, share: float) -> None:
        """Take back what a part, which started with so much, has left."""
        if self.work is not None and part.work is not None:
            self.work -= self.work * share - max(part.work, 0.0)
        self.pace = part.pace

    def charge(self, sweeps: float, since: float) -> None:
        """Charge so many sweeps made since then."""
        if self.work is not None:
            self.work -= sweeps
        self.pace = max(time.monotonic() - since, 1e-9) / max(sweeps, 1e-9)

    @property
    def over(self) -> bool:
        return self.sweeps() <= 0.0

    def sweeps(self) -> float:
        """Return how many more are allowed; infinite before the first are charged."""
        if self.work is not None:
            return max(self.work, 0.0)
        left = max(self.end - time.monotonic(), 0.0)
        return left / self.pace if self.pace else float("inf")

"""What is left of a budget: of a search in nodes, of Markov chains in sweeps; bytes in words."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from partita.core import Budget

SLICE = 1 << 18  # nodes between two looks at the clock: a few hundredths of a second


@dataclass(slots=True)
class SearchMeter:
    """A running count against a budget.

    With `work` given the clock is not read, so that the same input gives the same bytes.
    """

    budget: Budget
    spent: int = 0
    started: float = field(default_factory=time.monotonic)

    def allowance(self, most: float = SLICE) -> int:
        """Return how many nodes may be visited before the next check; 0 when all is spent."""
        if self.budget.work is not None:
            return int(max(0, min(most, self.budget.work - self.spent)))
        return int(most) if self.seconds_left() > 0.0 else 0

    def seconds_left(self) -> float:
        if self.budget.work is not None:
            return math.inf
        return self.budget.seconds - (time.monotonic() - self.started)

    def spend(self, nodes: int) -> None:
        self.spent += nodes


@dataclass(slots=True)
class SweepMeter:
    """Counts sweeps against a clock, or against a number, which alone is deterministic."""

    end: float
    work: float | None
    pace: float = 0.0  # seconds a sweep, as measured last

    @classmethod
    def of(cls, budget: Budget) -> SweepMeter:
        return cls(time.monotonic() + budget.seconds, budget.work)

    def share(self, part: float) -> SweepMeter:
        """Return a meter for that part of the rest."""
        now = time.monotonic()
        work = None if self.work is None else self.work * part
        return SweepMeter(now + (self.end - now) * part, work, self.pace)

    def settle(self, part: SweepMeter, share: float) -> None:
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


def in_bytes(number: float) -> str:
    """Format a number of bytes."""
    if not math.isfinite(number) or number >= 1e18:
        return "more memory than any machine has"
    units = ("bytes", "kB", "MB", "GB", "TB", "PB")
    power = min(int(math.log10(max(number, 1)) // 3), len(units) - 1)
    return f"{number / 1000**power:.3g} {units[power]}"

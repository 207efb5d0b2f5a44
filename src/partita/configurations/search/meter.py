"""What a search has spent of its budget: units of work (nodes) and seconds of a clock."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from partita.core import Budget

SLICE = 1 << 18  # nodes between two looks at the clock: a few hundredths of a second


@dataclass(slots=True)
class Meter:
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

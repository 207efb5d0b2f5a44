"""How often the greedy merger is right:  p_k = (right + ½)/(sets + 1), the rule of Krichevsky
and Trofimov, so that no share is 0 or 1 and a size that was never seen gets ½.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tally:
    """Sets of one size: how many there were, and how many the merger got right."""

    sets: int = 0
    right: int = 0

    @property
    def share(self) -> float:
        return (self.right + 0.5) / (self.sets + 1)

    def __add__(self, right: bool) -> Tally:
        return Tally(self.sets + 1, self.right + right)

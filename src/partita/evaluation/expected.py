"""Expected B³ and LEA: the mean of recall and precision over draws, and F of these."""

from __future__ import annotations

from collections.abc import Callable

from partita.evaluation.tally import Tally
from partita.records import IntArray

Score = Callable[[IntArray, IntArray], Tally]


def expected(score: Score, key: IntArray, draws: IntArray) -> Tally:
    """One document's share: the mean of its tallies over configurations drawn for it."""
    total = sum((score(key, row) for row in draws), Tally())
    return total.times(1 / len(draws)) if len(draws) else total

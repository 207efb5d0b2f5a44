"""The fills of one slot of two mapped templates: paired so that most is gained, then counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partita.evaluation.muc.compare import compare
from partita.evaluation.muc.tally import Tally
from partita.evaluation.muc.templates import Fill, Slot
from partita.evaluation.muc.verdicts import CORRECT, PARTIAL
from partita.records import FloatArray

# Equal verdicts are told apart by these: fills that must be there are matched first.
_REQUIRED = 1e-3


def count(slot: Slot, response: Sequence[Fill], key: Sequence[Fill]) -> Tally:
    """What is left over on both sides is incorrect; beyond that, spurious or missing."""
    pairs = matched(slot, response, key)
    verdicts = [compare(slot, response[r], key[k]) for r, k in pairs]
    taken = {k for _, k in pairs}
    required = sum(not fill.optional for k, fill in enumerate(key) if k not in taken)
    over = len(response) - len(pairs)
    wrong = min(over, required)
    return Tally(
        sum(verdict == CORRECT for verdict in verdicts),
        sum(verdict == PARTIAL for verdict in verdicts),
        wrong,
        over - wrong,
        required - wrong,
    )


def matched(slot: Slot, response: Sequence[Fill], key: Sequence[Fill]) -> list[tuple[int, int]]:
    """Pairs of places, each correct or partial, with the largest sum of verdicts."""
    if not response or not key:
        return []
    table: FloatArray = np.array([[compare(slot, r, k) for k in key] for r in response])
    if len(response) == len(key) == 1:
        return [(0, 0)] if table[0, 0] else []
    from scipy.optimize import linear_sum_assignment

    needed = np.array([not fill.optional for fill in key])
    rows, columns = linear_sum_assignment(table + _REQUIRED * needed * (table > 0), maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(r, k) for r, k in pairs if table[r, k] > 0]

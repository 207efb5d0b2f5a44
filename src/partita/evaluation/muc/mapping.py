"""Which template of a response is which of the key: at most one each, so that most is gained.

Two may be mapped if their types match at least in part, and so does a perpetrator or a target.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partita.evaluation.muc.slots import count, matched
from partita.evaluation.muc.templates import SCORED, SLOTS, Incident
from partita.records import FloatArray

CONTENT = (9, 10, 12, 13, 18, 19, 20)
TYPE = 4


def mapped(
    response: Sequence[Incident], key: Sequence[Incident]
) -> list[tuple[Incident, Incident]]:
    """The pairs of one message."""
    if not response or not key:
        return []
    from scipy.optimize import linear_sum_assignment

    gains: FloatArray = np.array([[gain(r, k) for k in key] for r in response])
    rows, columns = linear_sum_assignment(gains, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(response[r], key[k]) for r, k in pairs if gains[r, k] > 0]


def gain(response: Incident, key: Incident) -> float:
    """The points of all slots; 0 for two that may not be mapped."""
    if not alike(response, key):
        return 0.0
    return sum(count(slot, response.of(slot.number), key.of(slot.number)).points for slot in SCORED)


def alike(response: Incident, key: Incident) -> bool:
    def meet(number: int) -> bool:
        return bool(matched(SLOTS[number], response.of(number), key.of(number)))

    return meet(TYPE) and any(map(meet, CONTENT))

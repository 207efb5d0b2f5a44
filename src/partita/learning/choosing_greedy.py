"""Sets one after another, each the one that tells most beside those before it.

Information has diminishing returns, so a set whose last known gain is below the best gain that is
known now need not be looked at again: a queue by last known gain finds what a full search would.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from partita.learning.choosing import Told, held, information
from partita.records import FloatArray

LEAST = 1e-9  # bits: a set that tells less tells nothing


def choose(
    inverse: FloatArray, sets: Sequence[Told], limit: int, by_template: bool = False
) -> list[tuple[int, float]]:
    """Places of at most `limit` sets, and the bits that each adds to what is held by then; with
    `by_template` the gain for each template that has to be keyed decides."""

    def cost(place: int) -> int:
        return sets[place].templates if by_template else 1

    queue = [(-information(inverse, one) / cost(n), n, 0) for n, one in enumerate(sets)]
    heapq.heapify(queue)
    found: list[tuple[int, float]] = []
    while queue and len(found) < limit:
        gain, place, known = heapq.heappop(queue)
        if known < len(found):
            again = information(inverse, sets[place]) / cost(place)
            heapq.heappush(queue, (-again, place, len(found)))
            continue
        if -gain * cost(place) <= LEAST:
            break
        found.append((place, -gain * cost(place)))
        inverse = held(inverse, sets[place])
    return found

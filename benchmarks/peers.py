"""The same work with the tools that people have."""

from __future__ import annotations

import time

from naive import partitions


def dempster_shafer_seconds(n: int) -> float:
    """All pair masses over all configurations, combined one after another."""
    from pyds import MassFunction

    frame = [tuple(labels) for labels in partitions(n)]
    start = time.perf_counter()
    belief = MassFunction({frozenset(frame): 1.0})
    for i in range(n):
        for j in range(i + 1, n):
            together = frozenset(c for c in frame if c[i] == c[j])
            apart = frozenset(frame) - together
            p = 0.3 + 0.4 * ((i * 7 + j * 13) % 10) / 10
            belief = belief & MassFunction({together: p, apart: 1 - p})
    belief.pignistic()
    return time.perf_counter() - start

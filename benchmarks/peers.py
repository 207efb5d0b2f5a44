"""The same work with the tools that people have."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from naive import partitions

Table = Mapping[str, Mapping[str, float]]  # values by object and source
ROUNDS = 50


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


def crh(claims: Table) -> dict[str, float]:
    """Return the truths of CRH (Li et al. 2014) for numbers.

    They minimise the weighted loss |v - t| / the object's deviation.
    """
    sources = sorted({source for said in claims.values() for source in said})
    weights = dict.fromkeys(sources, 1.0)
    deviation = {thing: max(float(np.std(list(said.values()))), 1e-9)
                 for thing, said in claims.items()}  # fmt: skip
    truths: dict[str, float] = {}
    for _ in range(ROUNDS):
        truths = {thing: weighted_median(said, weights) for thing, said in claims.items()}
        losses = {
            source: float(np.mean([
                abs(said[source] - truths[thing]) / deviation[thing]
                for thing, said in claims.items()
                if source in said
            ]))
            for source in sources
        }  # fmt: skip
        total = sum(losses.values())
        weights = {source: -float(np.log(max(loss, 1e-9) / total))
                   for source, loss in losses.items()}  # fmt: skip
    return truths


def weighted_median(said: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the value at which half of the weight is reached."""
    ordered = sorted((value, weights[source]) for source, value in said.items())
    half, reached = sum(weight for _, weight in ordered) / 2, 0.0
    for value, weight in ordered:
        reached += weight
        if reached >= half:
            return value
    return ordered[-1][0]

"""Distributions by brute force, for tests of what reads and writes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oracles.instances import log_odds
from oracles.partitions import Labels, distribution, pair_marginals
from partita.core import (
    Best,
    CoreferenceSet,
    Distribution,
    Figure,
    Figures,
    Listing,
    Marginals,
    Remainder,
    pair,
)

Floats = NDArray[np.float64]
TABLE_1 = {("A", "B"): 0.671, ("A", "D"): 0.505, ("B", "D"): 0.752, ("C", "D"): 0.504}


@dataclass(frozen=True)
class BrutePosterior:
    """Every configuration with its probability, most probable first."""

    size: int
    listed: list[tuple[Labels, float]]
    method: str = "exact"
    reason: str = "brute force"

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        cells: dict[tuple[int, ...], float] = {}
        for labels, p in self.listed:
            for label in set(labels):
                members = tuple(n for n, other in enumerate(labels) if other == label)
                cells[members] = cells.get(members, 0.0) + p
        return iter(cells.items())

    def best(self, k: int) -> Best:
        rows = self.listed[:k]
        return Best(np.array([r for r, _ in rows]), np.log([p for _, p in rows]))


def brute(
    ids: list[str], given: dict[tuple[str, str], float], top: int = 10, name: str = "1"
) -> Distribution:
    """The evidential distribution of a small set; pairs that are not given are incompatible."""
    place = {one: n for n, one in enumerate(ids)}
    p = np.zeros((len(ids), len(ids)))
    for (left, right), value in given.items():
        p[place[left], place[right]] = p[place[right], place[left]] = value
    probabilities = distribution(log_odds(p))
    ordered = sorted(probabilities.items(), key=lambda item: (-item[1], item[0]))
    rest = ordered[top:]
    return Distribution(
        CoreferenceSet(
            CoreferenceSet.of(ids).templates,
            frozenset(pair(*both) for both, value in given.items() if value == 0.0),
            name=name,
        ),
        "evidential",
        "exact",
        "brute force",
        p,
        Marginals.exact(pair_marginals(probabilities, len(ids))),
        Listing(
            tuple(ids), np.array([row for row, _ in ordered[:top]]), [v for _, v in ordered[:top]]
        ),
        Remainder(
            len(rest), math.log2(len(rest)) if rest else -math.inf, math.fsum(v for _, v in rest)
        ),
        Figures(
            Figure.exact(-math.fsum(v * math.log2(v) for _, v in ordered if v)),
            Figure.exact(0.0),
            Figure.exact(math.log2(len(ordered))),
        ),
        0.5,
        len(ordered),
        0,
        BrutePosterior(len(ids), ordered),  # type: ignore[arg-type]
    )

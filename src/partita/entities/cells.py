"""The cells of a distribution with their probabilities: all of them, drawn, or those listed.

For every template the cells that hold it have probabilities that add up to 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from partita.errors import Unavailable
from partita.records import Distribution, Figure, FloatArray, IntArray, Kind

MOST = 1 << 16  # cells that are all looked at; a set that has more is drawn from
DRAWS = 500
FEWEST = 32
COMMON = 60  # templates: of larger sets a draw takes longer, and fewer are made

Cell = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells as positions in text order. `draws` is how many configurations they come from where
    they are an estimate, `missing` the mass of what was not looked at where they are bounds."""

    shares: Mapping[Cell, float]
    kind: Kind = "exact"
    draws: int = 0
    missing: float = 0.0

    def figure(self, share: float) -> Figure:
        """A sum of shares, and how it was obtained."""
        share = min(max(share, 0.0), 1.0)
        if self.kind == "exact":
            return Figure.exact(share)
        if self.kind == "interval":
            seen = share * (1.0 - self.missing)
            return Figure(share, seen, min(1.0, seen + self.missing), "interval")
        error = _error(share, self.draws)
        return Figure(share, max(0.0, share - error), min(1.0, share + error), "estimate")


def _error(share: float, draws: int) -> float:
    """One standard error; that nothing else was drawn does not make a thing certain."""
    likely = (share * draws + 1) / (draws + 2)
    return math.sqrt(likely * (1 - likely) / draws)


def cells_of(distribution: Distribution) -> Cells:
    """All cells where they are known and not too many, else those of draws, else the listed."""
    try:
        found = dict(islice(distribution.posterior.cells(), MOST + 1))
    except Unavailable:
        found = {}
    if found and len(found) <= MOST:
        return Cells(found)
    try:
        number = _number(len(distribution.set))
        rows = distribution.posterior.draws(number, np.random.default_rng(distribution.seed))
    except Unavailable:
        return _listed(distribution)
    return Cells(_shares(rows, np.full(len(rows), 1.0 / len(rows))), "estimate", len(rows))


def _number(templates: int) -> int:
    return max(FEWEST, int(DRAWS * min(1.0, (COMMON / templates) ** 2)))


def _listed(distribution: Distribution) -> Cells:
    """Of what the list holds; the rest may be anything."""
    listed = distribution.configurations
    low = [one[0] for one in listed.intervals or [(p, p) for p in listed.probabilities]]
    shares = np.array(listed.probabilities) / math.fsum(listed.probabilities)
    return Cells(_shares(listed.rows, shares), "interval", missing=max(0.0, 1.0 - math.fsum(low)))


def _shares(rows: IntArray, shares: FloatArray) -> dict[Cell, float]:
    """The share of every cell that any of the rows of labels has."""
    found: Counter[Cell] = Counter()
    for row, share in zip(rows.tolist(), shares.tolist(), strict=True):
        cells: dict[int, list[int]] = {}
        for place, label in enumerate(row):
            cells.setdefault(label, []).append(place)
        for members in cells.values():
            found[tuple(members)] += share
    return dict(found)

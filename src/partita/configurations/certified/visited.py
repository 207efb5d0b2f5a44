"""What was visited: its mass, which pairs it joins, its entropy, and draws from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from partita.configurations.certified.flow import Flow
from partita.configurations.search.prices import UNIT, rounding
from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Visited:
    """The distribution over the configurations that were visited.

    `log_mass` is a lower bound on the log-normaliser, `pairs` and `entropy` (natural) are of the
    visited part alone, up to `slack` of rounding; `position` says where in the order of `flow` each
    template stands.
    """

    log_mass: float
    pairs: FloatArray
    entropy: float
    position: IntArray
    slack: float
    flow: Flow | None = None
    reach: FloatArray | None = None

    def reordered(self, position: IntArray) -> Visited:
        """With templates in the caller's order."""
        return replace(self, pairs=self.pairs[np.ix_(position, position)], position=position)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray | None:
        """Rows of labels drawn from the visited part, None if it is only a list."""
        from partita.configurations.certified.states import walk

        made = self.flow
        if made is None or self.reach is None:
            return None
        uniforms = rng.random((count, len(self.position)))
        rows = walk(
            *(made.cells.masks, made.cells.shares, made.edges, made.target, made.cell),
            *(self.reach, made.final, uniforms),
        )
        return rows[:, self.position]


def from_list(theta: FloatArray, labels: IntArray) -> Visited:
    """Configurations one by one."""
    from partita.configurations.search.neighbours import renumber

    rows = np.ascontiguousarray(labels)
    weights = renumber(theta, rows)
    top = float(weights.max())
    share = np.exp(weights - top)
    total = float(share.sum())
    share /= total
    pairs = np.zeros(theta.shape)
    for row, p in zip(rows, share, strict=True):
        pairs += p * (row[:, None] == row[None, :])
    entropy = float(-(share[share > 0.0] * np.log(share[share > 0.0])).sum())
    mass = top + math.log(total)
    slack = listing_slack(theta, mass)
    return Visited(mass - slack, pairs, entropy, np.arange(len(theta)), slack + UNIT * len(rows))


def listing_slack(theta: FloatArray, log_mass: float) -> float:
    """More than what a sum over a list loses: sums of log-odds, exponentials, the sum itself.

    numpy adds pairwise, so that a sum of any length that fits in memory loses fewer than 60 units.
    """
    return rounding(theta) + UNIT * (64.0 + 2.0 * abs(log_mass))


def from_flow(made: Flow) -> Visited:
    """All that arrives: H = log(arrived) − Σ_C P(C)·log v(C), prices cancel."""
    from partita.configurations.certified.states import backward, pair_mass

    shares = made.cells.shares
    reach, cell_mass = np.zeros(len(made.mass)), np.zeros(len(shares))
    reach[made.final] = 1.0
    backward(
        *(shares, made.mass, made.edges, made.target, made.cell),
        *(made.sequence, len(made.sequence), reach, cell_mass),
    )
    arrived, used = float(reach[0]), cell_mass > 0.0
    pairs = pair_mass(made.cells.masks, cell_mass, len(made.cells.b)) / arrived
    entropy = math.log(arrived) - float(cell_mass[used] @ np.log(shares[used])) / arrived
    position, slack = np.arange(len(made.cells.b)), 4.0 * UNIT * (64 + len(made.target))
    pairs, entropy = np.clip(pairs, 0.0, 1.0), max(0.0, entropy)
    return Visited(made.low, pairs, entropy, position, slack, made, reach)

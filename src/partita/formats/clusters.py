"""One hard answer: every template in one cluster, and how probable it is that they are together.

P(S together) = Σ_{cells C ⊇ S} P(C); where cells are too many to add up, the bound
P(S together) ≥ 1 − Σ_{edges of a tree over S} (1 − P(edge)) is given instead.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

import numpy as np

from partita.errors import Unavailable
from partita.formats.results import in_text_order
from partita.records import Distribution, FloatArray

HEADER = ("id", "cluster", "probability")
TABLE_LIMIT = 14  # templates of which all groups are added up: 16,384
ROUNDING = 1e-12

Cluster = tuple[int, ...]
Row = tuple[str, str, float]


def cluster_rows(
    distribution: Distribution, cautious: float | None = None, prefix: str = ""
) -> list[Row]:
    """A row for every template in text order; a cluster is called by its first template.

    The clusters are the cells of the most probable configuration or, with `cautious`, merge only
    what is together with at least that probability.
    """
    together = _together(distribution)
    clusters = (
        _most_probable(distribution)
        if cautious is None
        else _merged(distribution.marginals.value, together, cautious)
    )
    ids = distribution.set.ids
    rows: dict[int, Row] = {}
    for members in clusters:
        name, probability = prefix + ids[members[0]], together(members)
        rows.update({n: (ids[n], name, probability) for n in members})
    return [rows[n] for n in range(len(ids))]


def write_rows(stream: TextIO, rows: Iterable[Sequence[object]]) -> None:
    csv.writer(stream, lineterminator="\n").writerows(rows)


def _most_probable(distribution: Distribution) -> list[Cluster]:
    place = {name: n for n, name in enumerate(distribution.set.ids)}
    cells = in_text_order(distribution.most_probable, place)
    return [tuple(place[name] for name in cell) for cell in cells]


def _merged(
    marginals: FloatArray, together: Callable[[Cluster], float], least: float
) -> list[Cluster]:
    """Pairs from the most probable one on, each merged if the whole group stays probable enough."""
    home: dict[int, Cluster] = {n: (n,) for n in range(len(marginals))}
    left, right = np.nonzero(np.triu(marginals >= least - ROUNDING, 1))
    for at in np.lexsort((right, left, -marginals[left, right])).tolist():
        a, b = home[int(left[at])], home[int(right[at])]
        if a != b and together(union := tuple(sorted(a + b))) >= least - ROUNDING:
            home.update(dict.fromkeys(union, union))
    return sorted(set(home.values()))


def _together(distribution: Distribution) -> Callable[[Cluster], float]:
    """How probable it is that some templates all corefer: exactly if possible, else at least."""
    if len(distribution.set) <= TABLE_LIMIT:
        try:
            table = _supersets(distribution)
        except Unavailable:
            return lambda members: _tree_bound(distribution, members)
        return lambda members: _probability(float(table[_mask(members)]), members)
    return lambda members: _tree_bound(distribution, members)


def _supersets(distribution: Distribution) -> FloatArray:
    """For every group of templates, as a mask, the sum over the cells that hold it."""
    n = len(distribution.set)
    table = np.zeros(1 << n)
    for cell, probability in distribution.posterior.cells():
        table[_mask(cell)] += probability
    for bit in range(n):
        halves = table.reshape(-1, 2, 1 << bit)
        halves[:, 0] += halves[:, 1]
    return table


def _mask(members: Cluster) -> int:
    return sum(1 << n for n in members)


def _probability(value: float, members: Cluster) -> float:
    return 1.0 if len(members) == 1 else min(max(value, 0.0), 1.0)


def _tree_bound(distribution: Distribution, members: Cluster) -> float:
    """With the tree that loses least, grown from the first template (Prim)."""
    marginals = distribution.marginals
    least = marginals.low if marginals.kind == "interval" else marginals.value
    inside = least[np.ix_(members, members)]
    reached, loss = inside[0].copy(), 0.0
    reached[0] = -1.0
    for _ in members[1:]:
        nearest = int(reached.argmax())
        loss += 1.0 - float(reached[nearest])
        reached = np.where(reached < 0.0, -1.0, np.maximum(reached, inside[nearest]))
        reached[nearest] = -1.0
    return _probability(1.0 - loss, members)

"""Probabilities of cells, and the partial configuration that they make certain enough to report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from partita.core.configurations import (
    BoolArray,
    DrawnPosterior,
    Figure,
    FloatArray,
    IntArray,
    Kind,
    Marginals,
    least_cells,
)
from partita.errors import Unavailable

if TYPE_CHECKING:
    from partita.core.distributions import Distribution

MOST = 1 << 16  # most cells to enumerate; larger sets are sampled
DRAWS = 500
FEWEST = 32
COMMON = 60  # templates; larger sets, where draws take longer, get fewer draws
LIKELY = 0.5  # least probability of a part: two cells above it cannot overlap
BORDER = 0.05  # least probability of a border that is reported
CHUNK = 4096  # pairs looked at together

Places = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CellProbabilities:
    """Probabilities of cells, which are positions in text order.

    `rows` are the draws of an estimate; `missing` is the probability mass outside the listed
    configurations if the shares are bounds.
    """

    shares: Mapping[Places, float]
    kind: Kind = "exact"
    rows: IntArray | None = None
    missing: float = 0.0
    figures: dict[float, Figure] = field(default_factory=dict)  # made so far, by their shares

    @cached_property
    def by_template(self) -> dict[int, list[Places]]:
        """Return the cells that each template is in."""
        cells: dict[int, list[Places]] = {}
        for cell in self.shares:
            for place in cell:
                cells.setdefault(place, []).append(cell)
        return cells

    def figure(self, share: float) -> Figure:
        """Return a sum of shares as a figure, with its interval or standard error."""
        if share not in self.figures:  # draws give few different shares
            self.figures[share] = self._figure(share)
        return self.figures[share]

    def _figure(self, share: float) -> Figure:
        share = min(max(share, 0.0), 1.0)
        if self.kind == "exact":
            return Figure.exact(share)
        if self.kind == "interval":
            seen = share * (1.0 - self.missing)
            return Figure(share, seen, min(1.0, seen + self.missing), "interval")
        error = _error(share, 0 if self.rows is None else len(self.rows))
        return Figure(share, max(0.0, share - error), min(1.0, share + error), "estimate")


def _error(share: float, draws: int) -> float:
    """Return one standard error, smoothed so that no share counts as certain."""
    likely = (share * draws + 1) / (draws + 2)
    return math.sqrt(likely * (1 - likely) / draws)


def cells_of(distribution: Distribution) -> CellProbabilities:
    """Return all cells if they are known and few enough, else those of draws or of the list."""
    cells: dict[Places, float] = {}
    if least_cells(distribution.posterior) <= MOST:
        with suppress(Unavailable):
            cells = dict(islice(distribution.posterior.cells(), MOST + 1))
    if cells and len(cells) <= MOST:
        return CellProbabilities(cells)
    try:
        rows = _drawn(distribution)
    except Unavailable:
        return _listed_cells(distribution)
    return CellProbabilities(
        cell_shares(rows, np.full(len(rows), 1.0 / len(rows))), "estimate", rows
    )


def _drawn(distribution: Distribution) -> IntArray:
    """Return the draws behind the pair probabilities, or new ones."""
    posterior = distribution.posterior
    if isinstance(posterior, DrawnPosterior):
        return posterior.drawn_rows()
    number = max(FEWEST, int(DRAWS * min(1.0, (COMMON / len(distribution.set)) ** 2)))
    return posterior.draws(number, np.random.default_rng(distribution.seed))


def _listed_cells(distribution: Distribution) -> CellProbabilities:
    """Return the cells of the listed configurations; the remaining mass is unknown."""
    listed = distribution.configurations
    low = [interval[0] for interval in listed.intervals or [(p, p) for p in listed.probabilities]]
    shares = np.array(listed.probabilities) / math.fsum(listed.probabilities)
    return CellProbabilities(
        cell_shares(listed.rows, shares), "interval", missing=max(0.0, 1.0 - math.fsum(low))
    )


def cell_shares(rows: IntArray, shares: FloatArray) -> dict[Places, float]:
    """Return the share of every cell in the rows of labels."""
    totals: dict[Places, float] = {}
    members = np.argsort(rows, axis=1, kind="stable")
    labels = np.take_along_axis(rows, members, axis=1)
    changes = np.ones(rows.shape, dtype=np.bool_)
    changes[:, 1:] = labels[:, 1:] != labels[:, :-1]
    for row, begins, share in zip(members.tolist(), changes, shares.tolist(), strict=True):
        edges = [*np.flatnonzero(begins).tolist(), len(row)]
        for first, last in pairwise(edges):
            cell = tuple(row[first:last])
            totals[cell] = totals.get(cell, 0.0) + share
    return totals


@dataclass(frozen=True, slots=True)
class PartialCell:
    """Templates that are probably together.

    `cell` is the probability that exactly these are one cell, and `together` the probability that
    one cell holds them all, with or without others.
    """

    templates: tuple[str, ...]
    cell: Figure
    together: Figure

    @property
    def settled(self) -> bool:
        """Whether these templates are a cell with a probability of at least .5."""
        return self.cell.value >= LIKELY


@dataclass(frozen=True, slots=True)
class Border:
    """Two parts, by their numbers, and the probability that one cell holds both."""

    left: int
    right: int
    probability: Figure


@dataclass(frozen=True, slots=True)
class PartialConfiguration:
    """What a distribution says of a large set, where every single configuration is improbable.

    `parts` divide the templates, in text order: the cells with a probability of at least .5, which
    never overlap, and groups of the remaining templates that share a cell with a probability of at
    least .5; a template in no such group is a part of its own. `borders` are the pairs of parts
    that share a cell with a probability of at least .05, most probable first. `probability` is
    that of all cells of at least .5 at once.
    """

    parts: tuple[PartialCell, ...]
    borders: tuple[Border, ...]
    probability: Figure

    @property
    def settled(self) -> tuple[PartialCell, ...]:
        """The cells with a probability of at least .5."""
        return tuple(part for part in self.parts if part.settled)


def partial_configuration(distribution: Distribution) -> PartialConfiguration:
    """Return the partial configuration of a distribution."""
    cells, ids = cells_of(distribution), distribution.set.ids
    joint = _Joint.of(cells, distribution.marginals)
    settled = _likely_cells(cells)
    places = sorted([*settled, *_groups(joint, settled, len(ids))])
    parts = tuple(
        PartialCell(
            tuple(ids[n] for n in members),
            cells.figure(cells.shares.get(members, 0.0)),
            joint.together(members),
        )
        for members in places
    )
    return PartialConfiguration(parts, _borders(joint, places), _at_once(cells, settled))


def _likely_cells(cells: CellProbabilities) -> list[Places]:
    """Return the cells with a probability of at least .5; of two at .5 that overlap, the first."""
    taken: set[int] = set()
    likely = []
    for cell, share in sorted(cells.shares.items()):
        if share >= LIKELY and taken.isdisjoint(cell):
            likely.append(cell)
            taken.update(cell)
    return likely


def _at_once(cells: CellProbabilities, settled: Sequence[Places]) -> Figure:
    """Return the probability of all these cells at once: counted in draws, or bounded."""
    if cells.rows is not None:
        held = np.ones(len(cells.rows), dtype=np.bool_)
        for cell in settled:
            wanted = np.zeros(cells.rows.shape[1], dtype=np.bool_)
            wanted[list(cell)] = True
            held &= ((cells.rows == cells.rows[:, cell[:1]]) == wanted).all(axis=1)
        return cells.figure(float(held.mean()))
    figures = [cells.figure(cells.shares[cell]) for cell in settled]
    if len(figures) < 2:
        return figures[0] if figures else Figure.exact(1.0)
    low = max(0.0, 1.0 - math.fsum(1.0 - one.low for one in figures))
    return Figure.interval(low, min(one.high for one in figures))


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """The probability that templates share a cell; of two, their marginal."""

    cells: CellProbabilities
    marginals: Marginals
    shares: FloatArray
    holding: Mapping[int, list[int]]  # by template, the numbers of the cells that hold it

    @classmethod
    def of(cls, cells: CellProbabilities, marginals: Marginals) -> _Joint:
        holding: dict[int, list[int]] = {}
        for number, cell in enumerate(cells.shares):
            for place in cell:
                holding.setdefault(place, []).append(number)
        return cls(cells, marginals, np.array(list(cells.shares.values())), holding)

    def together(self, members: Places) -> Figure:
        if len(members) == 1:
            return Figure.exact(1.0)
        if len(members) == 2:
            values = (self.marginals.value, self.marginals.low, self.marginals.high)
            value, low, high = (float(matrix[members]) for matrix in values)
            return Figure(value, low, high, self.marginals.kind)
        first, *others = (self.holding[place] for place in members)
        held = sorted(set(first).intersection(*others))
        return self.cells.figure(float(self.shares[held].sum()))


def _groups(joint: _Joint, settled: Sequence[Places], size: int) -> list[Places]:
    """Join the other templates along the strongest pairs while all are together at .5 or more.

    No two groups that result could still be joined: a union that fails once fails with more.
    """
    free = np.ones(size, dtype=np.bool_)
    free[[place for cell in settled for place in cell]] = False
    groups: dict[int, Places] = {place: (place,) for place in np.flatnonzero(free).tolist()}
    home = np.arange(size)
    least = joint.marginals.value.copy()  # probability of a pair between two groups
    for left, right in _strong_pairs(joint.marginals.value, free, home):
        first, second = int(home[left]), int(home[right])
        if first == second or least[first, second] < LIKELY:  # a pair rules the union out
            continue
        union = tuple(sorted(groups[first] + groups[second]))
        if joint.together(union).value >= LIKELY:
            groups[first] = union
            home[list(groups.pop(second))] = first
            np.minimum(least[first], least[second], out=least[first])
            np.minimum(least[:, first], least[:, second], out=least[:, first])
    return list(groups.values())


def _strong_pairs(value: FloatArray, free: BoolArray, home: IntArray) -> Iterator[tuple[int, int]]:
    """Yield pairs of at least .5 that are not yet in one group, the strongest first."""
    left, right = np.nonzero(np.triu((value >= LIKELY) & free[:, None] & free, 1))
    order = np.argsort(-value[left, right], kind="stable")
    for start in range(0, len(order), CHUNK):
        some = order[start : start + CHUNK]
        some = some[home[left[some]] != home[right[some]]]
        yield from zip(left[some].tolist(), right[some].tolist(), strict=True)


def _borders(joint: _Joint, parts: Sequence[Places]) -> tuple[Border, ...]:
    """Return the borders; where one pair of two parts is too improbable, so is their union."""
    order = [place for members in parts for place in members]
    starts = np.cumsum([0, *map(len, parts)])[:-1]
    value = joint.marginals.value[np.ix_(order, order)]
    least = np.minimum.reduceat(np.minimum.reduceat(value, starts, axis=0), starts, axis=1)
    borders = []
    for left, right in np.argwhere(np.triu(least >= BORDER, 1)).tolist():
        figure = joint.together(tuple(sorted(parts[left] + parts[right])))
        if figure.value >= BORDER:
            borders.append(Border(left, right, figure))
    return tuple(sorted(borders, key=lambda one: -one.probability.value))

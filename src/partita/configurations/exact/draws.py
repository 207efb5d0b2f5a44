"""Independent draws from tables over subsets."""

from __future__ import annotations

import numpy as np

from partita.configurations.exact.subsets import SMALL, parts
from partita.configurations.exact.tables import AnyTables
from partita.core import FloatArray, IntArray


def draw_rows(tables: AnyTables, count: int, rng: np.random.Generator) -> IntArray:
    """Draw `count` configurations as rows of labels in restricted growth form."""
    n = len(tables.log_w).bit_length() - 1
    rest = np.full(count, len(tables.log_w) - 1, dtype=np.int64)
    labels = np.zeros((count, n), dtype=np.int64)
    step = 0
    while rest.any():
        cells = _next_cells(tables, rest, rng)
        labels += step * (cells[:, None] >> np.arange(n) & 1)
        rest ^= cells
        step += 1
    return canonical_rows(labels)


def _next_cells(tables: AnyTables, rest: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw one cell for every row; none where all templates are placed."""
    cells = np.zeros_like(rest)
    order = np.argsort(rest, kind="stable")
    order = order[rest[order] > 0]
    uniforms = rng.random(len(order))
    if len(tables.log_w) > 1 << SMALL:
        from partita.configurations.exact.kernels import choose

        by_uniform = np.lexsort((uniforms, rest[order]))
        order, chosen = order[by_uniform], np.empty(len(order), dtype=np.int64)
        choose(tables.log_w, tables.log_z, rest[order], uniforms[by_uniform], chosen)
        cells[order] = chosen
        return cells
    starts = np.flatnonzero(np.diff(rest[order], prepend=0))
    for rows in np.split(np.arange(len(order)), starts[1:]):
        cells[order[rows]] = _choices(tables, int(rest[order[rows[0]]]), uniforms[rows])
    return cells


def _choices(tables: AnyTables, rest: int, uniforms: FloatArray) -> IntArray:
    """Return, for each uniform number, the cell into whose share it falls."""
    cells: IntArray = parts(rest)
    log_shares = tables.log_w[cells] + tables.log_z[rest ^ cells] - tables.log_z[rest]
    shares = np.cumsum(np.exp(log_shares))
    place = np.searchsorted(shares, uniforms * shares[-1], side="right")
    nearest: IntArray = cells[np.minimum(place, len(cells) - 1)]
    return nearest


def canonical_rows(labels: IntArray) -> IntArray:
    """Return every row of labels in restricted growth form."""
    count, n = labels.shape
    renamed = np.full((count, int(labels.max(initial=0)) + 1), -1, dtype=np.int64)
    result = np.empty_like(labels)
    used = np.zeros(count, dtype=np.int64)
    rows = np.arange(count)
    for i in range(n):
        name = renamed[rows, labels[:, i]]
        new = name < 0
        name = np.where(new, used, name)
        renamed[rows, labels[:, i]] = result[:, i] = name
        used += new
    return result

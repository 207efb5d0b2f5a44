"""Draws where nothing bites: the model itself, template by template, all draws at once."""

from __future__ import annotations

import math

import numpy as np

from partita.configurations.graphs import BoolArray
from partita.configurations.merging.model import Merger
from partita.records import IntArray


def simulate(model: Merger, count: int, rng: np.random.Generator) -> IntArray:
    """Independent configurations as rows of labels."""
    labels = np.zeros((count, model.size), dtype=np.int64)
    tail = np.zeros((count, model.size), dtype=bool)
    cells = np.zeros(count, dtype=np.int64)
    for x in range(model.size):
        alone = _ask(model, x, labels, tail, rng)
        labels[alone, x] = cells[alone]
        cells += alone
        tail[:, x] = True
    return labels


def _ask(
    model: Merger, x: int, labels: IntArray, tail: BoolArray, rng: np.random.Generator
) -> BoolArray:
    """Let x ask the tails of every draw, latest first; who is left starts a new cell."""
    alone = np.ones(len(labels), dtype=bool)
    for t in np.flatnonzero(model.log_yes[x, :x] > -math.inf)[::-1]:
        asked = np.flatnonzero(alone & tail[:, t])
        joins = asked[rng.random(len(asked)) < math.exp(model.log_yes[x, t])]
        labels[joins, x] = labels[joins, t]
        tail[joins, t] = alone[joins] = False
    return alone

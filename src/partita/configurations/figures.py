"""Sums of figures, keeping how they were obtained: bounds add, standard errors add in squares."""

from __future__ import annotations

import math
from collections.abc import Sequence

from partita.records import Figure, Kind, Method

ORDER: tuple[Kind, ...] = ("exact", "interval", "estimate")
METHODS: tuple[Method, ...] = ("exact", "certified", "sampled")


def total(figures: Sequence[Figure]) -> Figure:
    """The sum of independent figures, no surer than the least sure of them."""
    kind = ORDER[max((ORDER.index(figure.kind) for figure in figures), default=0)]
    value = math.fsum(figure.value for figure in figures)
    if kind == "estimate":
        spread = math.sqrt(math.fsum((figure.high - figure.value) ** 2 for figure in figures))
        return Figure.estimate(value, spread)
    low = math.fsum(figure.low for figure in figures)
    high = math.fsum(figure.high for figure in figures)
    return Figure(value, low, high, kind)


def least_sure(methods: Sequence[Method]) -> Method:
    """The method by which a whole was answered whose parts were answered by these."""
    return METHODS[max((METHODS.index(method) for method in methods), default=0)]

"""Solve many sets, small ones of equal size together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from partita.configurations.dense.posterior import log2_of
from partita.configurations.enumeration import REASON, Enumerated, partitions
from partita.configurations.odds import UNSCALED, ScaledParameters, knowledge_of
from partita.configurations.report import unlisted
from partita.configurations.small_sets import SolvedRows, solve_rows
from partita.configurations.solve import Parameters, solve
from partita.errors import PartitaError
from partita.records import (
    BoolArray,
    Budget,
    Distribution,
    Figure,
    Figures,
    FloatArray,
    Listing,
    Marginals,
    PairProbabilities,
    Remainder,
)

SHARED = 8  # templates up to which sets share a table
ENTRIES = 1 << 16  # log-weights held at a time: what a core has in its own cache
COMPILED = 500  # sets from which compiled loops pay for being loaded
MODELS = ("evidential", "scaled", "uniform")
TOP = 10

Answer = Distribution | PartitaError


def solve_many(
    sets: Sequence[PairProbabilities],
    model: str = "evidential",
    *,
    parameters: Parameters | None = None,
    top: int | None = None,
    threshold: float | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    method: str = "auto",
    progress: Callable[[str], None] | None = None,
) -> Iterator[Answer]:
    """Yield the distributions of many sets in order; a refused set yields its error.

    All small sets are solved together before the first answer.

    All small sets are solved at once, before the first answer is given.
    """
    shares = model in MODELS and threshold is None and method in ("auto", "exact")
    scaled = parameters if isinstance(parameters, ScaledParameters) else UNSCALED
    shared = _solve_small_sets(sets, model, scaled, top or TOP) if shares else {}

    def answer(place: int, pairs: PairProbabilities) -> Answer:
        if place in shared:
            return _distribution(pairs, *shared[place], model, seed)
        try:
            return solve(
                pairs,
                model,
                parameters=parameters,
                top=top,
                threshold=threshold,
                budget=budget,
                seed=seed,
                method=method,
                progress=progress,
            )
        except PartitaError as error:
            return error

    return map(answer, range(len(sets)), sets)


def _solve_small_sets(
    sets: Sequence[PairProbabilities], model: str, scaled: ScaledParameters, top: int
) -> dict[int, tuple[SolvedRows, int]]:
    """Return the row with the answer of each small set that has a possible configuration."""
    answered: dict[int, tuple[SolvedRows, int]] = {}
    by_size: dict[int, list[int]] = {}
    for place, pairs in enumerate(sets):
        by_size.setdefault(len(pairs.matrix), []).append(place)
    for n in sorted(by_size.keys() & set(range(2, SHARED + 1))):
        for places in _chunks(by_size[n], max(1, ENTRIES // len(partitions(n)))):
            theta, must = _log_odds([sets[place] for place in places], scaled, model == "uniform")
            rows = solve_rows(theta, must, n, top, compiled=len(sets) >= COMPILED)
            for row, place in enumerate(places):
                if rows.counts[row]:
                    answered[place] = (rows, row)
    return answered


def _chunks(places: list[int], size: int) -> Iterator[list[int]]:
    return (places[start : start + size] for start in range(0, len(places), size))


def _log_odds(
    sets: list[PairProbabilities], scaled: ScaledParameters, flat: bool
) -> tuple[FloatArray, BoolArray]:
    """Return θ of every pair as rows, −∞ where incompatible, and which pairs are must-links."""
    left, right = np.triu_indices(len(sets[0].matrix), 1)
    p = np.stack([pairs.matrix for pairs in sets])[:, left, right]
    must, apart = p == 1.0, p == 0.0
    for row, pairs in enumerate(sets):
        if pairs.set.must or pairs.set.incompatible:
            knowledge = knowledge_of(pairs)
            must[row], apart[row] = knowledge.must[left, right], ~knowledge.compatible[left, right]
    if flat:
        return np.where(apart, -np.inf, 0.0), must
    with np.errstate(divide="ignore"):
        theta = np.log(p) - np.log1p(-p)
    theta = scaled.scale * np.where(must | apart, 0.0, theta) + scaled.bias
    return np.where(apart, -np.inf, theta), must


def _distribution(
    pairs: PairProbabilities, rows: SolvedRows, row: int, model: str, seed: int
) -> Distribution:
    number = rows.counts[row]
    ids, total = pairs.set.ids, Figure.exact(rows.log_normalisers[row])
    listing = Listing(ids, rows.best[row, :number], rows.best_probabilities[row][:number])
    left = number - len(listing)
    return Distribution(
        set=pairs.set,
        model=model,
        method="exact",
        reason=REASON,
        probabilities=pairs.matrix,
        marginals=Marginals.exact(rows.marginals[row]),
        configurations=listing,
        remainder=Remainder(left, log2_of(left), unlisted(listing, left)),
        figures=Figures(Figure.exact(rows.entropies[row]), total, Figure.exact(math.log2(number))),
        conflict=None if model == "uniform" else rows.conflicts[row],
        count=number,
        seed=seed,
        posterior=Enumerated(len(ids), rows.theta[row], rows.must[row], total),
    )

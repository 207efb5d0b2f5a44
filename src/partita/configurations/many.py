"""Many sets at once: small ones of one size share a table of all partitions, by matrix products.

With J the table (partition × pair, 1 if together): log-weights = Θ·Jᵀ, pair marginals = P·J.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from partita.configurations.enumerated import Enumerated
from partita.configurations.graphs import BoolArray
from partita.configurations.odds import UNSCALED, known_pairs
from partita.configurations.partitions import joined, partitions
from partita.configurations.scaled import ScaledParameters
from partita.configurations.solve import Parameters, solve
from partita.errors import PartitaError
from partita.records import (
    Budget,
    Configuration,
    Distribution,
    Figure,
    FloatArray,
    IntArray,
    Listed,
    Marginals,
    PairProbabilities,
    Remainder,
)

SHARED = 8  # templates up to which sets share a table
ENTRIES = 1 << 20  # log-weights held at a time
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
    """The distributions of many sets in order; what is refused is an error in its place."""
    shares = model in MODELS and threshold is None and method in ("auto", "exact")
    scaled = parameters if isinstance(parameters, ScaledParameters) else UNSCALED
    shared = _shared(sets, model, scaled, top or TOP, seed) if shares else {}
    for place, pairs in enumerate(sets):
        if place in shared:
            yield shared[place]
            continue
        try:
            yield solve(
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
            yield error


def _shared(
    sets: Sequence[PairProbabilities], model: str, scaled: ScaledParameters, top: int, seed: int
) -> dict[int, Distribution]:
    """What tables answer, by place. A set without a possible configuration is left to `solve`."""
    answered: dict[int, Distribution] = {}
    for n in range(2, SHARED + 1):
        places = [place for place, pairs in enumerate(sets) if len(pairs.set) == n]
        step = max(1, ENTRIES // len(partitions(n)))
        for start in range(0, len(places), step):
            some = places[start : start + step]
            together = _Together.of([sets[place] for place in some], model, scaled, top)
            for row, place in enumerate(some):
                if together.counts[row]:
                    answered[place] = together.distribution(row, model, seed)
    return answered


@dataclass(frozen=True, slots=True, eq=False)
class _Together:
    """Sets of one size, solved as rows of matrices."""

    sets: list[PairProbabilities]
    log_weights: FloatArray
    log_normalisers: FloatArray
    conflicts: list[float]
    entropies: list[float]
    counts: list[int]
    marginals: FloatArray
    best: IntArray
    best_probabilities: list[list[float]]

    @classmethod
    def of(
        cls, sets: list[PairProbabilities], model: str, scaled: ScaledParameters, top: int
    ) -> _Together:
        n = len(sets[0].set)
        theta, must = _log_odds(sets, scaled)
        weights, possible = _log_weights(theta, must, n, flat=model == "uniform")
        totals = _log_sums(weights)
        shares = np.exp(weights - totals[:, None])
        best = _largest(weights, top)
        return cls(
            sets,
            weights,
            totals,
            (-np.expm1(np.minimum(0.0, _base(theta, must) + totals))).tolist(),
            _entropies(shares, weights - totals[:, None]).tolist(),
            possible.tolist(),
            _matrices(np.clip(shares @ joined(n), 0.0, 1.0), n),
            best,
            np.take_along_axis(shares, best, axis=1).tolist(),
        )

    def distribution(self, row: int, model: str, seed: int) -> Distribution:
        pairs, number = self.sets[row], self.counts[row]
        n, total = len(pairs.set), Figure.exact(float(self.log_normalisers[row]))
        posterior = Enumerated(n, self.log_weights[row], total)
        found = self._listed(row, pairs.set.ids, number)
        return Distribution(
            set=pairs.set,
            model=model,
            method="exact",
            reason=posterior.reason,
            probabilities=pairs.matrix,
            marginals=Marginals.exact(self.marginals[row]),
            configurations=found,
            remainder=_remainder(found, number),
            entropy_bits=Figure.exact(self.entropies[row]),
            conflict=None if model == "uniform" else self.conflicts[row],
            log_normaliser=total,
            log2_count=Figure.exact(math.log2(number)),
            count=number,
            seed=seed,
            posterior=posterior,
        )

    def _listed(self, row: int, ids: tuple[str, ...], number: int) -> tuple[Listed, ...]:
        labels = partitions(len(ids))[self.best[row, :number]].tolist()
        configurations = Configuration.from_rows(ids, labels)
        return tuple(map(Listed, configurations, self.best_probabilities[row]))


def _log_odds(
    sets: list[PairProbabilities], scaled: ScaledParameters
) -> tuple[FloatArray, BoolArray]:
    """θ of every pair as rows, infinite where something is known, and which must be together."""
    left, right = np.triu_indices(len(sets[0].set), 1)
    p = np.stack([pairs.matrix[left, right] for pairs in sets])
    must, apart = p == 1.0, p == 0.0
    for row, pairs in enumerate(sets):
        if pairs.set.must or pairs.set.incompatible:
            known = known_pairs(pairs)
            must[row], apart[row] = known.must[left, right], ~known.compatible[left, right]
    with np.errstate(divide="ignore"):
        theta = np.log(p) - np.log1p(-p)
    theta = scaled.scale * np.where(must | apart, 0.0, theta) + scaled.bias
    return np.where(apart, -np.inf, theta), must


def _log_weights(
    theta: FloatArray, must: BoolArray, n: int, flat: bool
) -> tuple[FloatArray, IntArray]:
    """log-weights of all partitions, minus infinity where one breaks what is known."""
    table = joined(n)
    apart = np.isneginf(theta)
    free = np.where(apart | must, 0.0, theta)
    weights: FloatArray = np.zeros((len(theta), len(table))) if flat else free @ table.T
    if apart.any() or must.any():
        broken = (apart.astype(float) - must) @ table.T + must.sum(axis=1)[:, None]
        weights[broken > 0.5] = -np.inf
    return weights, np.count_nonzero(weights > -np.inf, axis=1)


def _log_sums(weights: FloatArray) -> FloatArray:
    """log Σ exp of each row; 0 for a row without anything possible."""
    top = weights.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    sums = np.exp(weights - top[:, None]).sum(axis=1)
    return top + np.log(np.where(sums > 0.0, sums, 1.0))


def _base(theta: FloatArray, must: BoolArray) -> FloatArray:
    """log of the mass with which the free pairs all say no."""
    log_no = -np.logaddexp(0.0, theta)
    sums: FloatArray = np.where(must, 0.0, log_no).sum(axis=1)
    return sums


def _entropies(shares: FloatArray, logs: FloatArray) -> FloatArray:
    """In bits, for each row."""
    terms = np.where(shares > 0.0, shares * np.where(shares > 0.0, logs, 0.0), 0.0)
    bits: FloatArray = np.maximum(0.0, -terms.sum(axis=1)) / np.log(2.0)
    return bits


def _matrices(rows: FloatArray, n: int) -> FloatArray:
    """Rows of pairs as symmetric matrices with ones on the diagonal."""
    left, right = np.triu_indices(n, 1)
    matrices = np.tile(np.eye(n), (len(rows), 1, 1))
    matrices[:, left, right] = matrices[:, right, left] = rows
    return matrices


def _largest(weights: FloatArray, k: int) -> IntArray:
    """The places of the k largest of each row, largest first, equal ones in order of place."""
    k = min(k, weights.shape[1])
    some = np.sort(np.argpartition(-weights, k - 1, axis=1)[:, :k], axis=1)
    order = np.argsort(-np.take_along_axis(weights, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def _remainder(found: tuple[Listed, ...], number: int) -> Remainder:
    left = number - len(found)
    if not left:
        return Remainder(0, -math.inf, 0.0)
    mass = max(0.0, 1.0 - math.fsum(item.probability for item in found))
    return Remainder(left, math.log2(left), mass)

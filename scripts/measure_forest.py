"""Measure the models over pair scores on the tables of scripts/score_records.py.

python scripts/measure_forest.py SCORES [--only NAME]

For every table: bits per set and bits per compared pair in sets of at most MOST records by all
models, then forest and the raw scores in sets of every size. Pairs that were not compared have
probability .5 for evidential, merging and scaled.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from partita.app.solve import learned_parameters
from partita.configurations.dense.draws import canonical_rows
from partita.configurations.forest.model import Scores, log_odds, weigh
from partita.configurations.forest.posterior import of_graph
from partita.configurations.solve import solve
from partita.records import (
    Budget,
    CoreferenceSet,
    FloatArray,
    IntArray,
    PairProbabilities,
    linked_components,
)

MOST = 9
LEAST = 1e-9
PAPER = ("evidential", "merging", "scaled")


@dataclass(frozen=True, slots=True, eq=False)
class KeyedScores:
    """The scores of one component, and the true clusters of its records."""

    left: IntArray
    right: IntArray
    p: FloatArray
    labels: IntArray

    @property
    def same(self) -> FloatArray:
        return (self.labels[self.left] == self.labels[self.right]).astype(np.float64)


@dataclass(slots=True)
class Sums:
    """Bits of sets, and stated and true values of pairs."""

    bits: list[float] = field(default_factory=list)
    stated: list[FloatArray] = field(default_factory=list)
    true: list[FloatArray] = field(default_factory=list)

    def row(self, name: str) -> str:
        p, y = np.concatenate(self.stated), np.concatenate(self.true)
        p = np.clip(p, LEAST, 1.0 - LEAST)
        pair_bits = -float((y * np.log2(p) + (1 - y) * np.log2(1 - p)).mean())
        bins = np.minimum((10 * p).astype(int), 9)
        error = sum(abs((p - y)[bins == k].sum()) for k in range(10)) / len(p)
        sets = f"{np.mean(self.bits):8.3f}" if self.bits else "       –"
        return f"  {name:12s} {sets} bits a set {pair_bits:7.4f} bits a pair  error {error:.3f}"


def main() -> None:
    """Print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scores", type=Path)
    parser.add_argument("--only", action="append")
    given = parser.parse_args()
    for truth in sorted(given.scores.glob("*.truth.csv")):
        name = truth.name.removesuffix(".truth.csv")
        if given.only and name not in given.only:
            continue
        sets = list(components(given.scores / f"{name}.csv", truth))
        small = [one for one in sets if len(one.labels) <= MOST]
        print(f"{name}: {len(sets)} sets, {len(small)} of at most {MOST} records")
        for model in (*PAPER, "forest", "raw"):
            print(measured(small, model).row(model), flush=True)
        for model in ("forest", "raw"):
            print(measured(sets, model).row(f"{model}, all"), flush=True)


def components(scores: Path, truth: Path) -> Iterator[KeyedScores]:
    """Yield the connected components of a table."""
    with truth.open(encoding="utf-8", newline="") as stream:
        cluster = {row["id"]: row["cluster"] for row in csv.DictReader(stream)}
    place = {name: n for n, name in enumerate(cluster)}
    numbers = {name: n for n, name in enumerate(dict.fromkeys(cluster.values()))}
    labels = np.array([numbers[name] for name in cluster.values()])
    with scores.open(encoding="utf-8", newline="") as stream:
        rows = [
            (place[r["left"]], place[r["right"]], float(r["probability"]))
            for r in csv.DictReader(stream)
        ]
    left, right = (np.array([row[k] for row in rows]) for k in (0, 1))
    p, home = np.array([row[2] for row in rows]), linked_components(len(place), left, right)
    order = np.argsort(home[left], kind="stable")
    for chosen in np.split(order, np.flatnonzero(np.diff(home[left][order])) + 1):
        members = np.unique([left[chosen], right[chosen]])
        a, b = np.searchsorted(members, left[chosen]), np.searchsorted(members, right[chosen])
        yield KeyedScores(a, b, p[chosen], canonical_rows(labels[members][None])[0])


def measured(sets: list[KeyedScores], model: str) -> Sums:
    """Measure one model on sets."""
    sums, answer = Sums(), {"raw": _raw, "forest": _forest}.get(model) or _paper(model)
    for one in sets:
        bits, stated = answer(one)
        sums.bits += [] if bits is None else [bits]
        sums.stated.append(stated)
        sums.true.append(one.same)
    return sums


def _raw(one: KeyedScores) -> tuple[float | None, FloatArray]:
    return None, one.p


def _forest(one: KeyedScores) -> tuple[float | None, FloatArray]:
    n, none = len(one.labels), np.zeros((0, 2), dtype=np.int64)
    complete = 2 * len(one.left) == n * (n - 1)
    scores = Scores(np.arange(n), one.left, one.right, log_odds(one.p), none, complete)
    posterior = of_graph(weigh(scores, learned_parameters("forest")), Budget(work=2000))
    log = posterior.log_weight(one.labels) - posterior.log_normaliser.value
    stated = posterior.pairs().value[one.left, one.right]
    if posterior.method == "sampled":  # a share of draws is never quite 0 or 1
        stated = (stated * 2000 + 0.25) / 2000.5
    return -log / math.log(2.0), stated


def _paper(model: str) -> Callable[[KeyedScores], tuple[float | None, FloatArray]]:
    def answer(one: KeyedScores) -> tuple[float | None, FloatArray]:
        n = len(one.labels)
        matrix = np.full((n, n), 0.5)
        p = np.clip(one.p, LEAST, 1.0 - LEAST)
        matrix[one.left, one.right] = matrix[one.right, one.left] = p
        pairs = PairProbabilities(CoreferenceSet.of(map(str, range(n))), matrix)
        found = solve(pairs, model, parameters=learned_parameters(model), top=1)
        log = found.posterior.log_weight(one.labels) - found.log_normaliser
        return -log / math.log(2.0), found.marginals.value[one.left, one.right]

    return answer


if __name__ == "__main__":
    main()

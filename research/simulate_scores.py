"""Simulated tables of pair scores with known clusters, for research/measure_forest.py.

Entities have categorical fields with Zipf frequencies; families share some of
them. A record copies the fields of its entity with errors (typos, other values, no value), at a
rate of its own. Records are compared if they agree in one of the blocking fields. Scores are naive
Bayes over three levels of agreement with the true frequencies, so they are roughly calibrated but
count dependent fields twice; then their log-odds are scaled and shifted, and pairs are dropped.

The constants of the forest model and of merges may be chosen on the groups `development` and
`random`, whose laws are drawn at random. The group `held-out` has other laws of sizes, noise and
scores, and other seeds; it serves for final figures alone.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from partita.core import FloatArray, IntArray

Sizes = Callable[[np.random.Generator, int], IntArray]
LEAST, MOST = 1e-4, 1.0 - 1e-7  # scores below LEAST are not written
MISSING = -1
TYPO = 1_000_000  # is added to a value that is misspelt
BLOCK = 60  # records with one value, above which the value does not block


@dataclass(frozen=True, slots=True)
class Design:
    """The laws of one table."""

    sizes: Sizes
    entities: int
    fields: tuple[int, ...]  # numbers of values
    error: tuple[float, float] = (1.0, 9.0)  # of the Beta law of each record's error rate
    missing: float = 0.05
    family: float = 0.0  # share of entities that copy half of the fields of another
    blocks: tuple[int, ...] = (0, 1, 2)
    scale: float = 1.0
    shift: float = 0.0
    dropped: float = 0.0


def _geometric(mean: float) -> Sizes:
    return lambda rng, n: rng.geometric(1.0 / mean, n)


def _pareto(exponent: float, most: int) -> Sizes:
    return lambda rng, n: np.minimum(most, 1 + (2.0 * rng.pareto(exponent, n)).astype(np.int64))


def _uniform(low: int, high: int) -> Sizes:
    return lambda rng, n: rng.integers(low, high + 1, n)


def _either(low: int, high: int, share: float) -> Sizes:
    return lambda rng, n: np.where(rng.random(n) < share, high, low)


FIELDS = (80, 120, 60, 30)
DESIGNS: dict[str, dict[str, Design]] = {
    "development": {
        "pairs": Design(_uniform(1, 2), 900, FIELDS, (1.0, 12.0)),
        "plain": Design(_geometric(2.0), 500, FIELDS),
        "overconfident": Design(_geometric(3.0), 350, FIELDS, scale=1.8),
        "underconfident": Design(_geometric(3.0), 350, FIELDS, scale=0.5),
        "large": Design(_pareto(1.0, 80), 150, (60, 90, 120, 25), (1.0, 4.0)),
        "low": Design(_geometric(2.5), 400, FIELDS, shift=-2.0),
        "high": Design(_geometric(2.5), 400, FIELDS, shift=2.0),
        "narrow": Design(_geometric(3.0), 400, (150, 40, 25), (1.0, 6.0), blocks=(0,)),
        "families": Design(_geometric(2.0), 450, FIELDS, family=0.4),
    },
    "held-out": {
        "even": Design(_uniform(1, 6), 320, (70, 100, 50, 50), (2.0, 14.0)),
        "two-sizes": Design(_either(1, 20, 0.06), 500, (90, 90, 90, 12), (1.0, 6.0), 0.1),
        "bad-records": Design(_geometric(2.2), 500, (100, 140, 40, 40), (0.25, 1.8)),
        "households": Design(_uniform(1, 4), 420, (60, 150, 80, 20), (1.0, 10.0), family=0.6),
        "steep": Design(_geometric(2.6), 420, (90, 110, 70, 20), (1.0, 7.0), scale=1.5, shift=-1.0),
        "flat": Design(_geometric(2.6), 420, (90, 110, 70, 20), (1.0, 7.0), scale=0.6, shift=1.0),
        "gaps": Design(_pareto(1.3, 40), 300, (60, 110, 80, 40), (1.0, 6.0), dropped=0.3),
        "two-fields": Design(_uniform(1, 3), 500, (200, 60), (1.0, 9.0), 0.08, blocks=(0, 1)),
        "clean": Design(_uniform(1, 2), 1200, (120, 150, 90, 60), (1.0, 25.0), 0.02),
    },
}  # fmt: skip


def random_design(rng: np.random.Generator, scale: float, shift: float) -> Design:
    """Draw the laws of a table of some 900 records.

    `scale` is the mean logarithm of the factor on log-odds, `shift` the mean of what is added.
    """
    high = int(rng.integers(3, 25))
    share, mean = rng.uniform(0.03, 0.3), rng.uniform(1.3, 4.0)
    laws: list[tuple[Sizes, float]] = [
        (_geometric(mean), mean),
        (_pareto(rng.uniform(0.9, 2.0), int(rng.integers(20, 80))), 3.5),
        (_uniform(1, 2 + high // 3), 1.5 + high // 3 / 2),
        (_either(1, high, share), 1.0 + share * (high - 1)),
    ]
    sizes, mean = laws[rng.integers(len(laws))]
    count = int(rng.integers(2, 6))
    fields = tuple(np.exp(rng.uniform(np.log(15), np.log(250), count)).astype(int).tolist())
    blocks = np.argsort(fields)[::-1][: rng.integers(1, min(3, count) + 1)]
    return Design(
        sizes,
        int(900 / mean),
        fields,
        (float(np.exp(rng.uniform(-1.2, 0.7))), float(np.exp(rng.uniform(1.4, 3.2)))),
        float(rng.uniform(0.0, 0.12)),
        float(rng.choice([0.0, rng.uniform(0.2, 0.7)])),
        tuple(blocks.tolist()),
        float(np.exp(rng.normal(scale, 0.3))),
        float(rng.normal(shift, 1.0)),
        float(rng.choice([0.0, rng.uniform(0.05, 0.35)], p=[0.6, 0.4])),
    )


def _random_designs() -> dict[str, Design]:
    """Return designs with scores that are right on average, and with scores that are, as those of
    the public tables, rather too steep and too low."""
    designs = {}
    for name, scale, shift in (("right", 0.0, 0.0), ("low", 0.3, -1.0)):
        for number in range(30):
            rng = np.random.default_rng([len(name), number])
            designs[f"{name}-{number:02d}"] = random_design(rng, scale, shift)
    return designs


DESIGNS["random"] = _random_designs()


def write_simulated(out: Path, group: str) -> None:
    """Write the tables of a group as score_records.py does for real ones."""
    out.mkdir(parents=True, exist_ok=True)
    for number, (name, design) in enumerate(DESIGNS[group].items()):
        rng = np.random.default_rng([sorted(DESIGNS).index(group), number])
        write(out / name, *simulated(design, rng))


def write(file: Path, clusters: IntArray, ends: IntArray, p: FloatArray) -> None:
    """Write the scores and the true clusters."""
    with Path(f"{file}.truth.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["id", "cluster"])
        table.writerows((f"r{n}", c) for n, c in enumerate(clusters.tolist()))
    with Path(f"{file}.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["left", "right", "probability"])
        for (a, b), value in zip(ends.tolist(), p.tolist(), strict=True):
            table.writerow([f"r{a}", f"r{b}", repr(value)])


def simulated(design: Design, rng: np.random.Generator) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the cluster of each record, the compared pairs and their scores."""
    values = _entities(design, rng)
    clusters = np.repeat(np.arange(design.entities), design.sizes(rng, design.entities))
    clusters = rng.permutation(clusters)
    records = _records(values[clusters], design, rng)
    ends = _compared(records, design.blocks)
    theta = _log_odds(records, ends, clusters)
    p = 1.0 / (1.0 + np.exp(-(design.scale * theta + design.shift)))
    p = np.minimum(np.round(p, 9), MOST)
    kept = (p >= LEAST) & (rng.random(len(p)) >= design.dropped)
    return clusters, ends[kept], p[kept]


def _entities(design: Design, rng: np.random.Generator) -> IntArray:
    """Return the values of every field of every entity."""
    columns = []
    for count in design.fields:
        weights = 1.0 / np.arange(3, count + 3)
        columns.append(rng.choice(count, design.entities, p=weights / weights.sum()))
    values = np.stack(columns, axis=1)
    shared = np.arange(len(design.fields)) % 2 == 1
    for entity in np.flatnonzero(rng.random(design.entities) < design.family).tolist():
        values[entity, shared] = values[rng.integers(design.entities), shared]
    return values


def _records(values: IntArray, design: Design, rng: np.random.Generator) -> IntArray:
    """Return the values with errors: half of them typos, half other values; some are missing."""
    rate = rng.beta(*design.error, len(values))[:, None]
    chance, records = rng.random(values.shape), values.copy()
    typo, other = chance < 0.5 * rate, (chance >= 0.5 * rate) & (chance < rate)
    records[typo] += TYPO * rng.integers(1, 9, int(typo.sum()))
    fresh = rng.integers(0, np.broadcast_to(design.fields, values.shape))
    records[other] = fresh[other]
    records[rng.random(values.shape) < design.missing] = MISSING
    return records


def _compared(records: IntArray, blocks: tuple[int, ...]) -> IntArray:
    """Return the pairs that agree in one of the fields, each once."""
    pairs: set[tuple[int, int]] = set()
    for field in blocks:
        members = defaultdict(list)
        for record, value in enumerate(records[:, field].tolist()):
            if value != MISSING:
                members[value].append(record)
        for own in members.values():
            if len(own) <= BLOCK:
                pairs.update(combinations(own, 2))
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def _log_odds(records: IntArray, ends: IntArray, clusters: IntArray) -> FloatArray:
    """Return the log-odds of naive Bayes with the true frequencies of each level of agreement."""
    a, b = records[ends[:, 0]], records[ends[:, 1]]
    level = np.where(a == b, 2, np.where(a % TYPO == b % TYPO, 1, 0))
    level[(a == MISSING) | (b == MISSING)] = 3
    same = clusters[ends[:, 0]] == clusters[ends[:, 1]]
    theta = np.full(len(ends), np.log(same.mean() / (1.0 - same.mean())))
    for field in range(records.shape[1]):
        true, false = (
            np.bincount(level[chosen, field], minlength=4) + 0.5 for chosen in (same, ~same)
        )
        theta += np.log(true / true.sum() / (false / false.sum()))[level[:, field]]
    return theta

"""Does it matter which sets are keyed? Rules of choice beside chance, on the same pools and with
the same first keys, by bits on documents that nobody keys.

The difference of a rule to chance is paired: d ± t·s/√n over runs, t of Student with n − 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from partita.errors import InputError
from partita.evaluation.adapted import PRECISION, Lesson, lesson
from partita.evaluation.cuts import Cut
from partita.evaluation.keying_bits import MODELS, held_out_bits, merging_weights, sizes_of
from partita.learning.choosing import OpenPairs
from partita.learning.choosing_rules import RULES, Pool, taken
from partita.learning.pair_parameters import PairParameters
from partita.records import FloatArray

Progress = Callable[[str], None]
LEVEL = 0.95
CHANCE = "random"
BY = ("keys", "templates")


@dataclass(frozen=True, slots=True)
class Design:
    """How many sets are in a pool, how many are held out, how many keys there are at first, after
    how many all is measured, how often, and by which rules."""

    pool: int = 120
    held: int = 150
    first: int = 2
    numbers: tuple[int, ...] = (5, 10, 20, 40)
    runs: int = 20
    seed: int = 0
    rules: tuple[str, ...] = RULES


@dataclass(frozen=True, slots=True)
class Measured:
    """One rule in one run: bits per template of what is held out, by model; after so many keys, or
    after as many templates as that many keys have on average; and how many were keyed by then."""

    run: int
    rule: str
    by: str
    number: int
    keys: int
    templates: int
    bits: dict[str, float]


@dataclass(frozen=True, slots=True)
class Compared:
    """One rule over all runs, and its difference to chance with an interval of 95 %."""

    model: str
    by: str
    rule: str
    number: int
    bits: float
    difference: float
    low: float
    high: float
    keys: float
    templates: float


def keying(
    sets: Sequence[Cut], start: PairParameters, design: Design, progress: Progress
) -> list[Measured]:
    """Every run: a third of the documents is held out, and the pool is drawn from the others."""
    known: dict[int, Lesson] = {}

    def observed(places: Iterable[int]) -> list[Lesson]:
        chosen = list(places)
        for n in chosen:
            if n not in known:
                known[n] = lesson(sets[n], start)
        return [known[n] for n in chosen]

    found: list[Measured] = []
    for run in range(design.runs):
        pool, held = map(observed, _parted(sets, design, np.random.default_rng([design.seed, run])))
        for rule in design.rules:
            progress(f"run {run + 1} of {design.runs}: {rule}")
            order = _taken(rule, pool, start, design, run)
            found += _measured(run, rule, [pool[n] for n in order], pool, held, start, design)
    return found


def _parted(
    sets: Sequence[Cut], design: Design, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Places of the sets of the pool and of those held out, never of one document."""
    names = sorted({one.document.name for one in sets})
    away = {names[n] for n in rng.permutation(len(names))[: len(names) // 3].tolist()}
    order = rng.permutation(len(sets)).tolist()
    pool = [n for n in order if sets[n].document.name not in away][: design.pool]
    held = [n for n in order if sets[n].document.name in away][: design.held]
    if len(pool) <= max(design.numbers) or not held:
        expected = f"more than {max(design.numbers)}, and documents beside them to measure on"
        raise InputError(f"the corpus has {len(pool)} sets to key; expected {expected}")
    return pool, held


def _budgets(pool: Sequence[Lesson], design: Design) -> dict[int, int]:
    """The templates that each number of keys has on average."""
    mean = float(np.mean([len(one.cut.labels) for one in pool]))
    return {number: round(number * mean) for number in design.numbers}


def _taken(
    rule: str, pool: Sequence[Lesson], start: PairParameters, design: Design, run: int
) -> list[int]:
    """The order in which a rule takes the pool, as far as anything is measured."""
    pairs = [
        OpenPairs(one.by_merger, one.open.left, one.open.right, len(one.cut.labels)) for one in pool
    ]
    last, most = max(design.numbers), max(_budgets(pool, design).values())

    def learn(chosen: Sequence[int]) -> FloatArray:
        return merging_weights([pool[n] for n in chosen], start)

    def enough(chosen: Sequence[int]) -> bool:
        return len(chosen) >= last and sum(pairs[n].templates for n in chosen) >= most

    given = Pool(pairs, sizes_of(start.questions), PRECISION, learn)
    luck = np.random.default_rng([design.seed, run, 1])
    return taken(rule, given, range(design.first), enough, luck)


def _measured(
    run: int,
    rule: str,
    keys: Sequence[Lesson],
    pool: Sequence[Lesson],
    held: Sequence[Lesson],
    start: PairParameters,
    design: Design,
) -> Iterator[Measured]:
    """What the first of these keys come to."""
    spent = np.cumsum([len(one.cut.labels) for one in keys]).tolist()
    known: dict[int, dict[str, float]] = {}
    for number, budget in _budgets(pool, design).items():
        within = max(design.first, sum(one <= budget for one in spent))
        for by, count in zip(BY, (number, within), strict=True):
            if count not in known:
                known[count] = held_out_bits(keys[:count], held, start)
            yield Measured(run, rule, by, number, count, spent[count - 1], known[count])


def compared(found: Sequence[Measured]) -> list[Compared]:
    """Every rule beside chance, run by run."""
    rows: dict[tuple[str, str, int], list[Measured]] = {}
    for one in found:
        rows.setdefault((one.by, one.rule, one.number), []).append(one)
    return [
        _compared(model, some, rows[by, CHANCE, number])
        for model in MODELS
        for (by, _, number), some in sorted(rows.items(), key=lambda row: BY.index(row[0][0]))
    ]


def _compared(model: str, some: Sequence[Measured], chance: Sequence[Measured]) -> Compared:
    first = some[0]
    mine, other = (np.array([one.bits[model] for one in side]) for side in (some, chance))
    low, high = paired_interval(mine - other)
    return Compared(
        model,
        first.by,
        first.rule,
        first.number,
        float(mine.mean()),
        float((mine - other).mean()),
        low,
        high,
        float(np.mean([one.keys for one in some])),
        float(np.mean([one.templates for one in some])),
    )


def paired_interval(differences: FloatArray, level: float = LEVEL) -> tuple[float, float]:
    """Of their mean, by Student's t."""
    from scipy.special import stdtrit

    n, mean = len(differences), float(differences.mean())
    if n < 2:
        return mean, mean
    half = float(stdtrit(n - 1, (1 + level) / 2) * differences.std(ddof=1) / np.sqrt(n))
    return mean - half, mean + half

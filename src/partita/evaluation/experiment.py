"""The paper's experiment on any corpus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from partita.errors import InputError
from partita.evaluation.calibration import Interval, bootstrap
from partita.evaluation.measure import Asking, Measure, measure
from partita.evaluation.models import Counts, FromPairs, Greedy, Model, PairLearner, Uniform, part
from partita.evaluation.rows import Row, row, table
from partita.evaluation.splits import Cut, Split, coverage, learn_excluded
from partita.records import Budget

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """The limits for one set of one model, the number of draws, and of bootstrap samples.

    By default a number of sweeps, or of questions to the merger: the same bytes on any machine.
    """

    budget: Budget = field(default_factory=lambda: Budget(work=2_000))
    merging: Budget = field(default_factory=lambda: Budget(work=10_000_000))
    draws: int = 20
    times: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """The rows of all models, and the measures of every document that they add up."""

    rows: tuple[Row, ...]
    measures: dict[str, tuple[Measure, ...]]
    train: int
    test: int
    excluded: float

    def json(self) -> dict[str, Any]:
        return {
            "rows": [asdict(one) for one in self.rows],
            "train": {"documents": self.train},
            "test": {"documents": self.test},
            "excluded": self.excluded,
        }


def paper_models(effort: Effort, counts: Counts) -> tuple[Model, ...]:
    """Return uniform, greedy, merging, evidential and scaled, with the paper's characteristics."""
    learner = PairLearner(seed=effort.seed)
    return (
        Uniform(counts),
        Greedy(counts),
        FromPairs("merging", learner, effort.merging, effort.seed),
        FromPairs("evidential", learner, effort.budget, effort.seed),
        FromPairs("scaled", learner, effort.budget, effort.seed),
    )


def run(
    train: Sequence[Cut],
    test: Sequence[Cut],
    more: Sequence[Model] = (),
    *,
    effort: Effort | None = None,
    progress: Progress | None = None,
    paper: bool = True,
) -> Experiment:
    """Run the experiment on documents that are already cut into sets."""
    if not train or not test:
        raise InputError("an experiment needs documents to learn from and documents to test on")
    chosen, told = effort or Effort(), progress or _silent
    counts = Counts(chosen.budget, chosen.seed)
    models = (*(paper_models(chosen, counts) if paper else ()), *more)
    asking = Asking(learn_excluded(train), counts, chosen.draws, chosen.seed)
    found, seconds = _measured(models, train, test, asking, told)
    kept = coverage(test)
    rows = tuple(
        row(name, measures, kept, seconds=seconds[name], seed=chosen.seed, times=chosen.times)
        for name, measures in found.items()
    )
    return Experiment(rows, found, len(train), len(test), asking.excluded.sets)


def _measured(
    models: Sequence[Model],
    train: Sequence[Cut],
    test: Sequence[Cut],
    asking: Asking,
    told: Progress,
) -> tuple[dict[str, tuple[Measure, ...]], dict[str, float]]:
    """Measure document by document, so that what models share is computed once for each."""
    fitted, seconds = {}, {}
    for model in models:
        told(f"learning {model.name} from {len(train)} documents")
        start = time.monotonic()
        fitted[model.name] = model.fit(train)
        seconds[model.name] = time.monotonic() - start
    found: dict[str, list[Measure]] = {model.name: [] for model in models}
    for number, one in enumerate(test, 1):
        for name, learned in fitted.items():
            told(f"document {number} of {len(test)}, {name}")
            start = time.monotonic()
            found[name].append(measure(learned, one, asking))
            seconds[name] += time.monotonic() - start
    return {name: tuple(measures) for name, measures in found.items()}, seconds


def _silent(_: str) -> None:
    return None


SplitProgress = Callable[[str], None]
LARGEST = 9  # templates in a set: all of it is exact, and quick


@dataclass(frozen=True, slots=True)
class Compared:
    """One model over many splits: bits per set and share right, with intervals over splits."""

    model: str
    bits_per_set: float
    bits_interval: Interval
    right: float
    right_interval: Interval
    bits_per_mention: float
    mention_interval: Interval


def divided(
    documents: Sequence[Cut],
    splits: Iterable[Split],
    more: Sequence[Model] = (),
    *,
    effort: Effort | None = None,
    progress: SplitProgress | None = None,
) -> dict[str, Experiment]:
    """Return, for each split, the figures of all models."""
    found = {}
    for split in splits:
        train, test = ([documents[n] for n in places] for places in (split.train, split.test))
        told = None if progress is None else _within(split.name, progress)
        found[split.name] = run(train, test, more, effort=effort, progress=told)
    return found


def _within(name: str, progress: SplitProgress) -> SplitProgress:
    return lambda told: progress(f"{name}: {told}")


def only_small(one: Cut, largest: int = LARGEST) -> Cut:
    """Return the document with its small sets only."""
    kept = [members for members in one.sets if len(members) <= largest]
    members = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *kept]))
    document = part(one.document, members)
    return Cut(
        document,
        one.compatible[np.ix_(members, members)],
        document.labels,
        tuple(np.searchsorted(members, each) for each in kept),
        crosses=False,
        schema=one.schema,
    )


def compared(
    rows: Mapping[str, tuple[Row, ...]], seed: int = 0, times: int = 1000
) -> tuple[Compared, ...]:
    """Return each model over all splits; the same splits are drawn for every model."""
    names = [one.model for one in next(iter(rows.values()), ())]
    return tuple(_compared(name, list(rows.values()), seed, times) for name in names)


def _compared(name: str, rows: Sequence[Sequence[Row]], seed: int, times: int) -> Compared:
    mine = [next(one for one in each if one.model == name) for each in rows]
    figures = (
        [one.bits_per_set for one in mine],
        [one.right / max(one.sets, 1) for one in mine],
        [one.bits_per_mention for one in mine],
    )
    first, second, third = (
        bootstrap(values, _mean, np.random.default_rng(seed), times=times) for values in figures
    )
    bits, right, mention = map(_mean, figures)
    return Compared(name, bits, first, right, second, mention, third)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def paper_markdown(rows: Mapping[str, tuple[Row, ...]]) -> str:
    """Return the paper's Table 2: a line for each model, bits and number right by split."""
    names = [one.model for one in next(iter(rows.values()), ())]
    lines = [
        [
            name,
            *(
                f"{r.bits_per_set:.2f} ({r.right})"
                for e in rows.values()
                for r in e
                if r.model == name
            ),
        ]
        for name in names
    ]
    counts = ["sets", *(str(each[0].sets) for each in rows.values())]
    return table(["model", *rows], [counts, *lines])


def compared_markdown(found: Sequence[Compared]) -> str:
    """Return a table of means over splits with intervals of 95 %."""
    lines = [
        [
            one.model,
            _spread(one.bits_per_mention, one.mention_interval),
            _spread(one.bits_per_set, one.bits_interval),
            _spread(one.right, one.right_interval),
        ]
        for one in found
    ]
    return table(["model", "bits per mention", "bits per set", "share right"], lines)


def _spread(value: float, interval: Interval) -> str:
    return f"{value:.3f} ({interval.low:.3f}–{interval.high:.3f})"

"""The paper's experiment on any corpus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from partita.core import Budget
from partita.errors import InputError
from partita.evaluation.calibration import Interval, bootstrap
from partita.evaluation.models import (
    EXACT,
    Greedy,
    Model,
    PairBasedModel,
    PairLearner,
    Uniform,
    UniformPosteriors,
    part,
)
from partita.evaluation.rows import (
    DocumentMeasure,
    MeasureSettings,
    ModelRow,
    measure_document,
    row,
    table,
)
from partita.evaluation.splits import Cut, Split, coverage, learn_excluded

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ExperimentEffort:
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

    rows: tuple[ModelRow, ...]
    measures: dict[str, tuple[DocumentMeasure, ...]]
    train: int
    test: int
    excluded: float

    def json(self) -> dict[str, Any]:
        return {
            "rows": [asdict(row) for row in self.rows],
            "train": {"documents": self.train},
            "test": {"documents": self.test},
            "excluded": self.excluded,
        }


def paper_models(
    effort: ExperimentEffort, counts: UniformPosteriors, largest: int
) -> tuple[Model, ...]:
    """Return uniform, greedy, merging, evidential, scaled and forest, with the paper's
    characteristics; forest only where it is exact in sets with as many templates as `largest`."""
    learner = PairLearner(seed=effort.seed)
    models: tuple[Model, ...] = (
        Uniform(counts),
        Greedy(counts),
        PairBasedModel("merging", learner, effort.merging, effort.seed),
        PairBasedModel("evidential", learner, effort.budget, effort.seed),
        PairBasedModel("scaled", learner, effort.budget, effort.seed),
    )
    if largest > EXACT:
        return models
    return (*models, PairBasedModel("forest", learner, effort.budget, effort.seed))


def run_experiment(
    train: Sequence[Cut],
    test: Sequence[Cut],
    more: Sequence[Model] = (),
    *,
    effort: ExperimentEffort | None = None,
    progress: Progress | None = None,
    paper: bool = True,
) -> Experiment:
    """Run the experiment on documents that are already cut into sets."""
    if not train or not test:
        raise InputError("an experiment needs documents to learn from and documents to test on")
    chosen, report = effort or ExperimentEffort(), progress or (lambda _: None)
    counts = UniformPosteriors(chosen.budget, chosen.seed)
    largest = max((len(members) for cut in test for members in cut.sets), default=0)
    models = (*(paper_models(chosen, counts, largest) if paper else ()), *more)
    asking = MeasureSettings(learn_excluded(train), counts, chosen.draws, chosen.seed)
    measures_by_model, seconds = _measure_all(models, train, test, asking, report)
    kept = coverage(test)
    rows = tuple(
        row(name, measures, kept, seconds=seconds[name], seed=chosen.seed, times=chosen.times)
        for name, measures in measures_by_model.items()
    )
    return Experiment(rows, measures_by_model, len(train), len(test), asking.excluded.sets)


def _measure_all(
    models: Sequence[Model],
    train: Sequence[Cut],
    test: Sequence[Cut],
    asking: MeasureSettings,
    report: Progress,
) -> tuple[dict[str, tuple[DocumentMeasure, ...]], dict[str, float]]:
    """Measure document by document, so that what models share is computed once for each."""
    fitted, seconds = {}, {}
    for model in models:
        report(f"learning {model.name} from {len(train)} documents")
        start = time.monotonic()
        fitted[model.name] = model.fit(train)
        seconds[model.name] = time.monotonic() - start
    results: dict[str, list[DocumentMeasure]] = {model.name: [] for model in models}
    for number, cut in enumerate(test, 1):
        for name, learned in fitted.items():
            report(f"document {number} of {len(test)}, {name}")
            start = time.monotonic()
            results[name].append(measure_document(learned, cut, asking))
            seconds[name] += time.monotonic() - start
    return {name: tuple(measures) for name, measures in results.items()}, seconds


LARGEST = 9  # templates in a set: all of it is exact, and quick


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """One model over many splits: bits per set and share right, with intervals over splits."""

    model: str
    bits_per_set: float
    bits_interval: Interval
    right: float
    right_interval: Interval
    bits_per_mention: float
    mention_interval: Interval


def run_splits(
    documents: Sequence[Cut],
    splits: Iterable[Split],
    more: Sequence[Model] = (),
    *,
    effort: ExperimentEffort | None = None,
    progress: Progress | None = None,
) -> dict[str, Experiment]:
    """Return, for each split, the figures of all models."""
    experiments = {}
    for split in splits:
        train, test = ([documents[n] for n in places] for places in (split.train, split.test))
        report = None if progress is None else _within(split.name, progress)
        experiments[split.name] = run_experiment(train, test, more, effort=effort, progress=report)
    return experiments


def _within(name: str, progress: Progress) -> Progress:
    return lambda text: progress(f"{name}: {text}")


def only_small(cut: Cut, largest: int = LARGEST) -> Cut:
    """Return the document with its small sets only."""
    kept = [members for members in cut.sets if len(members) <= largest]
    members = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *kept]))
    document = part(cut.document, members)
    return Cut(
        document,
        cut.compatible[np.ix_(members, members)],
        document.labels,
        tuple(np.searchsorted(members, each) for each in kept),
        crosses=False,
        schema=cut.schema,
    )


def compare_models(
    rows: Mapping[str, tuple[ModelRow, ...]], seed: int = 0, times: int = 1000
) -> tuple[ModelComparison, ...]:
    """Return each model over all splits; the same splits are drawn for every model."""
    names = [row.model for row in next(iter(rows.values()), ())]
    return tuple(_compare_model(name, list(rows.values()), seed, times) for name in names)


def _compare_model(
    name: str, rows: Sequence[Sequence[ModelRow]], seed: int, times: int
) -> ModelComparison:
    mine = [next(row for row in table if row.model == name) for table in rows]
    figures = (
        [row.bits_per_set for row in mine],
        [row.right / max(row.sets, 1) for row in mine],
        [row.bits_per_mention for row in mine],
    )
    first, second, third = (
        bootstrap(values, _mean, np.random.default_rng(seed), times=times) for values in figures
    )
    bits, right, mention = map(_mean, figures)
    return ModelComparison(name, bits, first, right, second, mention, third)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def paper_markdown(rows: Mapping[str, tuple[ModelRow, ...]]) -> str:
    """Return the paper's Table 2: a line for each model, bits and number right by split."""
    names = [row.model for row in next(iter(rows.values()), ())]
    lines = [
        [
            name,
            *(
                f"{r.bits_per_set:.2f} ({'—' if name == 'uniform' else r.right})"
                for e in rows.values()
                for r in e
                if r.model == name
            ),
        ]
        for name in names
    ]
    counts = ["sets", *(str(each[0].sets) for each in rows.values())]
    return table(["model", *rows], [counts, *lines])


def comparison_markdown(models: Sequence[ModelComparison]) -> str:
    """Return a table of means over splits with intervals of 95 %."""
    lines = [
        [
            model.model,
            _spread(model.bits_per_mention, model.mention_interval),
            _spread(model.bits_per_set, model.bits_interval),
            _spread(model.right, model.right_interval),
        ]
        for model in models
    ]
    return table(["model", "bits per mention", "bits per set", "share right"], lines)


def _spread(value: float, interval: Interval) -> str:
    return f"{value:.3f} ({interval.low:.3f}–{interval.high:.3f})"

"""The paper's experiment on any corpus."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from partita.core import Budget
from partita.errors import InputError
from partita.evaluation.models import (
    Model,
    UniformPosteriors,
)
from partita.evaluation.rows import (
    DocumentMeasure,
    MeasureSettings,
    ModelRow,
    measure_document,
    row,
    table,
)
from partita.evaluation.splits import Cut, coverage, learn_excluded

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


def run_experiment(
    train: Sequence[Cut],
    test: Sequence[Cut],
    models: Sequence[Model],
    *,
    effort: ExperimentEffort | None = None,
    progress: Progress | None = None,
) -> Experiment:
    """Run the experiment on documents that are already cut into sets."""
    if not train or not test:
        raise InputError("an experiment needs documents to learn from and documents to test on")
    chosen, report = effort or ExperimentEffort(), progress or (lambda _: None)
    counts = UniformPosteriors(chosen.budget, chosen.seed)
    asking = MeasureSettings(learn_excluded(train), counts, chosen.draws, chosen.seed)
    measures_by_model, seconds = _measure_all(models, train, test, asking, report)
    kept = coverage(test)
    rows = tuple(
        row(name, measures, kept, seconds=seconds[name], seed=chosen.seed, times=chosen.times)
        for name, measures in measures_by_model.items()
    )
    return Experiment(rows, measures_by_model)


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

"""The paper's experiment on any corpus: learn from some documents, measure all models on others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from partita.errors import InputError
from partita.evaluation.cuts import Cut, coverage, cut, learn_excluded
from partita.evaluation.measure import Asking, Measure, measure
from partita.evaluation.models import Model
from partita.evaluation.rows import Row, row
from partita.evaluation.set_models import Counts, FromPairs, Greedy, PairLearner, Uniform
from partita.records import Budget, Document

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much one set of one model may take, how many draws, and how many bootstrap samples.

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
    """Uniform, greedy, merging, evidential and scaled, with the paper's characteristics."""
    learner = PairLearner(seed=effort.seed)
    return (
        Uniform(counts),
        Greedy(counts),
        FromPairs("merging", learner, effort.merging, effort.seed),
        FromPairs("evidential", learner, effort.budget, effort.seed),
        FromPairs("scaled", learner, effort.budget, effort.seed),
    )


def experiment(
    train: Iterable[Document],
    test: Iterable[Document],
    more: Sequence[Model] = (),
    *,
    effort: Effort | None = None,
    progress: Progress | None = None,
) -> Experiment:
    """All rows: the paper's models and `more`, such as the joint model, learned and measured."""
    told = progress or _silent
    told("reading what to learn from")
    learned_from = [cut(document) for document in train]
    told("reading what to test on")
    tested_on = [cut(document) for document in test]
    return run(learned_from, tested_on, more, effort=effort, progress=told)


def run(
    train: Sequence[Cut],
    test: Sequence[Cut],
    more: Sequence[Model] = (),
    *,
    effort: Effort | None = None,
    progress: Progress | None = None,
    paper: bool = True,
) -> Experiment:
    """The experiment on documents that are already cut into sets."""
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
    """Document by document, so that what models share is worked out once for each."""
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

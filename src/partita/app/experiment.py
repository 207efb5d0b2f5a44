"""Run experiments on corpora."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita.configurations.joint.model import shipped_joint_model
from partita.corpora.documents import read_corpora
from partita.domains import schema_of
from partita.errors import InputError
from partita.evaluation.experiment import (
    Experiment,
    ExperimentEffort,
    ModelComparison,
    compare_models,
    comparison_markdown,
    only_small,
    paper_markdown,
    run_experiment,
    run_splits,
)
from partita.evaluation.models import Joint, Model
from partita.evaluation.rows import markdown, sizes_markdown
from partita.evaluation.splits import Cut, cut_document, grouped_splits, paper_splits
from partita.options import ExperimentOptions
from partita.views.markup import save_plots

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """One experiment for every way to divide the documents, by name; of many splits the means."""

    experiments: dict[str, Experiment]
    means: tuple[ModelComparison, ...] = ()

    def json(self) -> str:
        """The rows; of several divisions, the rows of each and the means over splits."""
        found = {name: experiment.json() for name, experiment in self.experiments.items()}
        told: Any = found[""] if list(found) == [""] else {"splits": found}
        if self.means:
            told["compared"] = [asdict(one) for one in self.means]
        return json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"

    def markdown(self) -> str:
        """Every division of the paper, its table, and the means over splits."""
        told = {n: e for n, e in self.experiments.items() if not n.startswith("split ")}
        parts = [_section(name, found) for name, found in told.items()]
        if len(told) > 1:
            rows = {name: found.rows for name, found in told.items()}
            parts.append(f"## Bits per set (number right)\n\n{paper_markdown(rows)}\n")
        if self.means:
            count = len(self.experiments) - len(told)
            parts.append(f"## Means of {count} splits\n\n{comparison_markdown(self.means)}\n")
        return "\n".join(parts)


def save_charts(experiments: Mapping[str, Experiment], folder: Path) -> None:
    """Save the reliability of pairs between .05 and .95 of every experiment as SVG."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=str(folder)) from error
    for name, experiment in experiments.items():
        prefix = f"{name.replace(' ', '-')}-" if name else ""
        bins = {row.model: row.pair_reliability for row in experiment.rows}
        save_plots(bins, folder / f"{prefix}reliability.svg")


def _section(name: str, found: Experiment) -> str:
    told = f"{found.train} documents to learn from, {found.test} to test on"
    title = f"## {name}: {told}" if name else told
    return f"{title}\n\n{markdown(found.rows)}\n\n{sizes_markdown(found.rows)}\n"


def study(
    corpora: Sequence[Path], options: ExperimentOptions, progress: Progress | None = None
) -> Study:
    """On documents to test on or, without any, on the paper's three divisions of one corpus and
    on many more at random."""
    effort = ExperimentEffort(seed=options.seed)
    documents = _cuts(options, corpora, progress)
    models: list[Model] = [Joint(seed=options.seed)]  # besides those of the paper
    if options.shipped:
        models.append(Joint(shipped_joint_model(), options.seed, "shipped joint"))
    if options.test:
        tested = _cuts(options, options.test, progress)
        return Study(
            {"": run_experiment(documents, tested, models, effort=effort, progress=progress)}
        )
    rng = np.random.default_rng(options.seed)
    shapes = paper_splits(len(documents), rng)
    more = tuple(grouped_splits(len(documents), rng, options.splits))
    found = run_splits(documents, (*shapes, *more), models, effort=effort, progress=progress)
    many = {split.name: found[split.name].rows for split in more}
    return Study(found, compare_models(many, options.seed) if many else ())


def _cuts(
    options: ExperimentOptions, corpora: Sequence[Path], progress: Progress | None
) -> list[Cut]:
    """Every document of every corpus, cut into coreference sets."""
    found, schema = [], schema_of(options.domain, corpora)
    for document in read_corpora(corpora, options.source):
        if progress:
            progress(f"reading {document.name}")
        one = cut_document(document, schema)
        found.append(one if options.largest is None else only_small(one, options.largest))
    if not any(len(one.labels) for one in found):
        raise InputError(f"no mentions in {', '.join(map(str, corpora))}")
    return found

"""Experiments as the shells call them: corpora in, the table of all models out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita.errors import InputError
from partita.evaluation.cuts import Cut, cut
from partita.evaluation.experiment import Effort, Experiment, run
from partita.evaluation.joint import joint
from partita.evaluation.markdown import markdown, sizes_markdown
from partita.evaluation.splits import paper_splits
from partita.formats.documents import read_documents

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """One experiment for every way to divide the documents, by name."""

    experiments: dict[str, Experiment]

    def json(self) -> str:
        """The rows; of several divisions, the rows of each."""
        found = {name: experiment.json() for name, experiment in self.experiments.items()}
        told: Any = found[""] if list(found) == [""] else {"splits": found}
        return json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"

    def markdown(self) -> str:
        return "\n".join(_section(name, found) for name, found in self.experiments.items())


def _section(name: str, found: Experiment) -> str:
    told = f"{found.train} documents to learn from, {found.test} to test on"
    title = f"## {name}: {told}" if name else told
    return f"{title}\n\n{markdown(found.rows)}\n\n{sizes_markdown(found.rows)}\n"


def study(
    corpora: Sequence[Path],
    test: Sequence[Path],
    source: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Study:
    """On documents to test on, or, without any, on the paper's three divisions of one corpus."""
    effort = Effort(seed=seed)
    documents = read_cuts(corpora, source, progress)
    if test:
        tested = read_cuts(test, source, progress)
        return Study({"": _run(documents, tested, effort, progress)})
    splits = paper_splits(len(documents), np.random.default_rng(seed))
    found: dict[str, Experiment] = {}
    for split in splits:
        train, away = ([documents[n] for n in part] for part in (split.train, split.test))
        found[split.name] = _run(train, away, effort, progress)
    return Study(found)


def _run(
    train: Sequence[Cut], test: Sequence[Cut], effort: Effort, progress: Progress | None
) -> Experiment:
    """The paper's models and the joint one."""
    return run(train, test, [joint(seed=effort.seed)], effort=effort, progress=progress)


def read_cuts(
    corpora: Sequence[Path], source: str | None = None, progress: Progress | None = None
) -> list[Cut]:
    """Every document of every corpus, cut into coreference sets."""
    cuts = list(_read(corpora, source, progress))
    if not any(len(one.labels) for one in cuts):
        raise InputError(f"no mentions in {', '.join(map(str, corpora))}")
    return cuts


def _read(corpora: Sequence[Path], source: str | None, progress: Progress | None) -> Iterator[Cut]:
    for document in read_documents(corpora, source):
        if progress:
            progress(f"reading {document.name}")
        yield cut(document)

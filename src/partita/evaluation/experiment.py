"""The paper's experiment on any corpus: bits of the keys of sets, and how many are right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from partita.core import Budget, IntArray, Posterior, restricted_growth
from partita.errors import InputError
from partita.evaluation.models import Model, UniformPosteriors
from partita.evaluation.rows import TIE, mean, table
from partita.evaluation.splits import Cut, Excluded, allowed_bits, excluded_bits, learn_excluded

Progress = Callable[[str], None]
LISTED = 10  # configurations that a model reports


@dataclass(frozen=True, slots=True)
class ExperimentEffort:
    """The limits for one set of one model.

    By default a number of sweeps, or of questions to the merger: the same bytes on any machine.
    """

    budget: Budget = field(default_factory=lambda: Budget(work=2_000))
    merging: Budget = field(default_factory=lambda: Budget(work=10_000_000))
    seed: int = 0


@dataclass(frozen=True, slots=True)
class KeyedSetResult:
    """One set by one model: the bits of its key, and whether the key is its only best answer."""

    bits: float
    right: bool


Results = Sequence[KeyedSetResult]  # of a document


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One model: bits per set and how many sets are right, over all documents."""

    model: str
    sets: int
    bits_per_set: float
    right: int


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """The rows of all models, and the results of every document that they add up."""

    rows: tuple[PaperRow, ...]
    results: dict[str, tuple[Results, ...]]


def bits_per_set(results: Sequence[Results]) -> float:
    return mean([one.bits for document in results for one in document])


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
    counts, excluded = UniformPosteriors(chosen.budget, chosen.seed), learn_excluded(train)
    fitted = {}
    for model in models:
        report(f"learning {model.name} from {len(train)} documents")
        fitted[model.name] = model.fit(train)
    results: dict[str, list[Results]] = {model.name: [] for model in models}
    for number, cut in enumerate(test, 1):  # what models share is computed once for a document
        for name, learned in fitted.items():
            report(f"document {number} of {len(test)}, {name}")
            answers = ((members, learned.posterior(cut, members)) for members in cut.sets)
            found = [set_result(cut, *answer, excluded, counts) for answer in answers]
            results[name].append(found)
    rows = tuple(
        PaperRow(
            name, sum(map(len, found)), bits_per_set(found), sum(s.right for d in found for s in d)
        )
        for name, found in results.items()
    )
    return Experiment(rows, {name: tuple(found) for name, found in results.items()})


def set_result(
    cut: Cut, members: IntArray, posterior: Posterior, excluded: Excluded, counts: UniformPosteriors
) -> KeyedSetResult:
    """Measure one set; a key that knowledge excludes has its share of the excluded mass."""
    key = restricted_growth(cut.labels[members].tolist())
    best, total = posterior.best(LISTED), posterior.log_normaliser.value
    stated = np.exp(np.minimum(best.log_weights - total, 0.0))
    first = bool((best.labels[0] == key).all())
    right = first and (len(stated) < 2 or bool(stated[1] < stated[0] - TIE))
    mass = excluded.sets if cut.open(members) else 0.0
    if cut.broken(members):
        return KeyedSetResult(excluded_bits(len(key), counts.log2(cut, members), mass), right)
    return KeyedSetResult(allowed_bits(posterior.log_weight(key) - total, mass), right)


def paper_markdown(rows: Mapping[str, tuple[PaperRow, ...]]) -> str:
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

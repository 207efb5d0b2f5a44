"""Solve pair probabilities from files and from Python objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from partita.errors import Contradiction, InputError, PartitaError
from partita.records import Budget, Distribution, Pair, PairProbabilities

if TYPE_CHECKING:
    from partita.linkage.pair_table import PairTable
    from partita.linkage.sets import Sets

LEARNED = ("greedy", "scaled")
TOP = 10

Triples = Iterable[tuple[str, str, float]]
Given = PairProbabilities | Mapping[Pair, float] | Triples
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Task:
    """How sets are to be solved: the arguments of `solve` that are the same for all of them."""

    model: str = "evidential"
    parameters: Any = None
    top: int | None = None
    threshold: float | None = None
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    method: str = "auto"


def solve(
    pairs: Given | Any,
    model: str = "evidential",
    *,
    parameters: Any = None,
    top: int | None = None,
    threshold: float | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    method: str = "auto",
    missing: float | None = None,
    soft: bool = False,
    assume: Sequence[str] = (),
    progress: Progress | None = None,
) -> Distribution:
    """The distribution over the configurations of one coreference set.

    `pairs` are triples (left, right, probability), a mapping from two ids to a probability, a
    data frame with the columns of a pairs file, or PairProbabilities. The other arguments are
    those of the command `partita solve`.
    """
    from partita.configurations.solve import solve as solve_set

    return solve_set(
        _one_set(pairs, missing, soft, assume),
        model,
        parameters=parameters if parameters is not None else learned_parameters(model),
        top=top,
        threshold=threshold,
        budget=budget or Budget(memory=default_memory()),
        seed=seed,
        method=method,
        progress=progress,
    )


def _one_set(
    pairs: Given | Any, missing: float | None, soft: bool, assume: Sequence[str]
) -> PairProbabilities:
    """All pairs given belong to one set, connected or not."""
    from partita.linkage.grouping import group
    from partita.linkage.sets import conditioned

    if isinstance(pairs, PairProbabilities):
        return pairs
    table = _table(pairs)
    if table.sets is not None and len(table.set_names) > 1:
        raise InputError(
            f"{table.file} has {len(table.set_names)} sets; solve_all answers them all"
        )
    together = replace(
        table,
        sets=table.left * 0,
        set_names=table.set_names or ("",),
        problems=tuple(replace(problem, set=0) for problem in table.problems),
    )
    sets = conditioned(group(together, missing=missing, soft=soft), assume)
    for error in sets.failed.values():
        raise error
    return sets.pairs()[0]


def _table(pairs: Any) -> PairTable:
    """Pairs from Python objects as the readers of files give them."""
    from partita.files.rows import Rows
    from partita.linkage.pairs import gather

    if hasattr(pairs, "__arrow_c_stream__") or hasattr(pairs, "__dataframe__"):
        from partita.linkage.frames import frame_pairs

        return frame_pairs(pairs)
    rows = [(*ends, p) for ends, p in pairs.items()] if isinstance(pairs, Mapping) else list(pairs)
    if odd := next((row for row in rows if len(row) != 3), None):
        raise InputError(f"{odd!r} is not a pair; expected (left, right, probability)")
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    names = ("left", "right", "probability")
    return gather([Rows(names, columns, range(1, len(rows) + 1), {})], "pairs", unit="row")


def solve_all(
    pairs: Any,
    task: Task | None = None,
    *,
    missing: float | None = None,
    soft: bool = False,
    assume: Sequence[str] = (),
) -> Iterator[Distribution | PartitaError]:
    """The distributions of every set of a data frame or of triples, in text order."""
    from partita.linkage.grouping import group
    from partita.linkage.sets import conditioned

    sets = conditioned(group(_table(pairs), missing=missing, soft=soft), assume)
    return solved(sets, task or Task())


def read_sets(
    path: str | Path,
    form: str | None = None,
    templates: str | Path | None = None,
    missing: float | None = None,
    soft: bool = False,
    assume: Sequence[str] = (),
    stdin: BinaryIO | None = None,
) -> Sets:
    """The coreference sets of a file of pairs."""
    from partita.linkage.grouping import group
    from partita.linkage.pairs import read_pairs
    from partita.linkage.sets import conditioned

    listed = None
    if templates is not None:
        from partita.linkage.clusters import read_templates

        listed = read_templates(templates)
    table = read_pairs(path, form, stdin)
    return conditioned(group(table, missing=missing, soft=soft, listed=listed), assume)


def solve_file(
    path: str | Path, task: Task | None = None, **reading: Any
) -> Iterator[Distribution | PartitaError]:
    """The distribution of every set of a file in order, or the error that it has instead."""
    return solved(read_sets(path, **reading), task or Task())


def solved(
    sets: Sets, task: Task, progress: Progress | None = None
) -> Iterator[Distribution | PartitaError]:
    """Every set in order; one that fails does not stop the others."""
    sound = [k for k in range(len(sets)) if k not in sets.failed]
    pairs = sets.pairs()
    answers = _solve_some([pairs[k] for k in sound], task, progress)
    for k in range(len(sets)):
        if k in sets.failed:
            yield sets.failed[k]
            continue
        answer = next(answers)
        yield answer if isinstance(answer, Distribution) else placed(answer, sets, k)


def _solve_some(
    pairs: list[PairProbabilities], task: Task, progress: Progress | None
) -> Iterator[Distribution | PartitaError]:
    options: dict[str, Any] = {
        "parameters": task.parameters,
        "top": task.top,
        "threshold": task.threshold,
        "budget": task.budget,
        "seed": task.seed,
        "method": task.method,
    }
    if len(pairs) > 1:
        from partita.configurations.solve_batch import solve_many

        return iter(solve_many(pairs, task.model, **options))
    from partita.configurations.solve import solve as solve_set

    return _one_by_one(pairs, lambda one: solve_set(one, task.model, progress=progress, **options))


def _one_by_one(
    pairs: list[PairProbabilities], answer: Callable[[PairProbabilities], Distribution]
) -> Iterator[Distribution | PartitaError]:
    for one in pairs:
        try:
            yield answer(one)
        except PartitaError as error:
            yield error


def placed(error: PartitaError, sets: Sets, k: int) -> PartitaError:
    """An error of set k that says where in the file its cause stands."""
    from partita.linkage.pair_table import located

    if not isinstance(error, Contradiction):
        return InputError(f"set {sets.names[k]}: {error}", file=sets.file)
    line = sets.line(k, error.left, error.right)
    unlisted = line is None and sets.missing is None
    for left, right in zip(error.chain, error.chain[1:], strict=False):
        line = line or sets.line(k, left, right)
    why = " (a pair that is not listed is incompatible)" if unlisted else ""
    if line is None:
        return InputError(f"set {sets.names[k]}: {error}{why}", file=sets.file)
    return located(sets.file, sets.unit, line, f"{error}{why}")


def learned_parameters(model: str, path: str | Path | None = None) -> Any:
    """The parameters of a model from a file, or those that come with the package."""
    if model not in LEARNED:
        return None
    from partita.training.parameter_files import model_parameters

    return model_parameters(model, path)


def default_memory() -> int:
    """A quarter of the machine, or 1 GB where that cannot be told."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, OSError, ValueError):
        return 1 << 30

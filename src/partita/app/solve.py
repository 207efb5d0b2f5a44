"""Solve pair probabilities from files and from Python objects."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from partita.app.batch import Outcome, OutputForms, WorkPiece, gc_paused, process
from partita.core import (
    Budget,
    CoreferenceSet,
    Distribution,
    Id,
    PairProbabilities,
    pair,
)
from partita.errors import Contradiction, InputError, PartitaError
from partita.files.text import HeldText, TextSource
from partita.linkage.sets import Sets, conditioned
from partita.options import SolveOptions, default_memory, described

if TYPE_CHECKING:
    from partita.app.train import TrainedModel
    from partita.linkage.pairs import Chosen, PairTable
    from partita.tables.columns import IntegerIds


LEARNED = ("greedy", "scaled", "forest")
PROVABLE = ("evidential", "scaled")

Triples = Iterable[tuple[Id, Id, float]]
Pairs = PairProbabilities | Mapping[tuple[Id, Id], float] | Triples | str | os.PathLike[str] | Any
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Solver:
    """A model of configurations with its options, the same for all sets."""

    model: str = "evidential"
    parameters: Any = None
    top: int | None = None
    threshold: float | None = None
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    method: str = "auto"
    prove: bool = False

    @classmethod
    def of(cls, options: SolveOptions) -> Solver:
        """Return the solver that options ask for, with its parameters read."""
        return cls(
            options.model,
            learned_parameters(options.model, parameters_source(options.parameters)),
            options.top,
            options.threshold,
            options.budget or Budget(memory=default_memory()),
            options.seed,
            options.method,
            options.prove,
        )

    def solve(
        self, sets: Sequence[PairProbabilities], progress: Progress | None = None
    ) -> Iterator[Distribution | PartitaError]:
        """Return the distribution of each set in order, or the error that it has instead."""
        from partita.configurations.solve_batch import solve_many

        return iter(solve_many(sets, self.model, progress=progress, **self._options()))

    def solve_one(
        self, pairs: PairProbabilities, progress: Progress | None = None
    ) -> Distribution | PartitaError:
        """Return the distribution of a single set, or its error."""
        from partita.configurations.solve import solve_set

        try:
            return solve_set(pairs, self.model, progress=progress, **self._options())
        except PartitaError as error:
            return error

    def _options(self) -> dict[str, Any]:
        return {
            "parameters": self.parameters,
            "top": self.top,
            "threshold": self.threshold,
            "budget": self.budget,
            "seed": self.seed,
            "method": self.method,
        }


@described(SolveOptions)
def solve(
    pairs: Pairs,
    model: str = "evidential",
    *,
    parameters: str | os.PathLike[str] | TrainedModel | None = None,
    top: int | None = None,
    threshold: float | None = None,
    missing: float | None = None,
    soft: bool = False,
    assume: Sequence[str] = (),
    budget: Budget | None = None,
    method: str = "auto",
    seed: int = 0,
    prove: bool = False,
    progress: Progress | None = None,
) -> Distribution:
    """Return the distribution over the configurations of one coreference set.

    `pairs` is a data frame (pandas, Polars, Arrow) or a file with the columns left, right and
    probability (or Splink's), a mapping from two ids to a probability, a list of triples
    (left, right, probability) or of dicts, or PairProbabilities. Probability 0 says that two
    templates cannot corefer, 1 that they must; pairs that are not listed are incompatible
    unless `missing` gives their probability. All pairs belong to one set: use `cluster` for
    many sets. Ids are texts or integers. `parameters` is a trained model or a file of parameters.
    """
    options = SolveOptions.of(locals())
    one, ids = _one_set(pairs, options)
    solver = Solver.of(options)
    distribution = solver.solve_one(one, progress)
    if isinstance(distribution, PartitaError):
        raise distribution
    if prove:
        distribution = _proved(distribution, solver.parameters, solver.budget)
    return renamed(distribution, ids.original) if ids is not None else distribution


def _proved(distribution: Distribution, parameters: Any, budget: Budget) -> Distribution:
    """Prove the most probable configuration, or bound how much better another can be."""
    if distribution.model not in PROVABLE:
        names = " or ".join(PROVABLE)
        raise InputError(f"no proof of an optimum in the {distribution.model} model; use {names}")
    from partita.configurations.optimality import prove

    if distribution.model == "scaled":
        return prove(distribution, budget, parameters)
    return prove(distribution, budget)


def _one_set(pairs: Pairs, options: SolveOptions) -> tuple[PairProbabilities, IntegerIds | None]:
    """Take all pairs as one set, connected or not; also return how the user names its members."""
    from partita.linkage.grouping import group

    if isinstance(pairs, PairProbabilities):
        return pairs, None
    table, ids = pair_table(pairs, "pairs")
    if table.sets is not None and len(table.set_names) > 1:
        problem = f"{table.file} has {len(table.set_names)} sets (expected one)"
        raise InputError(f"{problem}: use cluster, or solve each set by itself")
    together = replace(
        table,
        sets=table.left * 0,
        set_names=table.set_names or ("",),
        problems=tuple(replace(problem, set=0) for problem in table.problems),
    )
    sets = group(together, missing=options.missing, soft=options.soft)
    sets = conditioned(sets, options.assume)
    for error in sets.failed.values():
        raise error
    return sets.pairs()[0], ids


def renamed(distribution: Distribution, name_of: Callable[[str], Id]) -> Distribution:
    """Name the templates otherwise: as the user does, where integers are, or by texts alone."""
    named = {name: cast(str, name_of(name)) for name in distribution.set.ids}
    if all(name is original for name, original in named.items()):
        return distribution
    known = distribution.set
    group = CoreferenceSet(
        tuple(replace(template, id=named[template.id]) for template in known.templates),
        frozenset(pair(named[left], named[right]) for left, right in known.incompatible),
        frozenset(pair(named[left], named[right]) for left, right in known.must),
        known.name,
    )
    listing = replace(distribution.configurations, ids=group.ids)
    return replace(distribution, set=group, configurations=listing)


def warned(text: str) -> None:
    """Pass a note on the reading of a table to the user of Python."""
    warnings.warn(text, stacklevel=4)


def pair_table(
    pairs: Any,
    what: str,
    chosen: Chosen = (None, None, None),
    note: Callable[[str], None] = warned,
) -> tuple[PairTable, IntegerIds]:
    """Read pairs from a file or from Python objects; also return how the user names records.

    `chosen` names the columns of both ids and of the score, where they are called otherwise.
    """
    from partita.linkage.pairs import read_pairs
    from partita.tables.columns import IntegerIds
    from partita.tables.reading import is_frame

    ids = IntegerIds()
    name = None
    if not isinstance(pairs, str | os.PathLike):
        name = "the data frame" if is_frame(pairs) else what
    return read_pairs(pairs, name=name, chosen=chosen, ids=ids, note=note), ids


def read_sets(
    pairs: Any,
    options: SolveOptions = SolveOptions(),
    templates: Any = None,
    note: Callable[[str], None] = warned,
) -> Sets:
    """Return the coreference sets of a table of pairs."""
    from partita.linkage.grouping import group
    from partita.linkage.pairs import read_pairs

    listed = None
    if templates is not None:
        from partita.linkage.clusters import read_template_list

        listed = read_template_list(templates, note)
    table = read_pairs(pairs, note=note)
    sets = group(table, missing=options.missing, soft=options.soft, listed=listed)
    return conditioned(sets, options.assume)


def solved(
    sets: Sets, solver: Solver, progress: Progress | None = None
) -> Iterator[Distribution | PartitaError]:
    """Yield in order the distribution of every set, or its error."""
    sound = [k for k in range(len(sets)) if k not in sets.failed]
    chosen = chosen_sets(sets, sound).pairs()
    if len(sets) - len(sets.failed) == 1:
        distributions = iter([solver.solve_one(one, progress) for one in chosen])
    else:
        distributions = solver.solve(chosen, progress)
    for k in range(len(sets)):
        if k in sets.failed:
            yield sets.failed[k]
            continue
        outcome = next(distributions)
        if not isinstance(outcome, Distribution):
            yield placed(outcome, sets, k)
        elif solver.prove:
            yield _proved(outcome, solver.parameters, solver.budget)
        else:
            yield outcome


def chosen_sets(sets: Sets, numbers: Sequence[int]) -> Sets:
    """Return some of the sets that did not fail."""
    if len(numbers) == len(sets):
        return sets
    assumed = {n: sets.assumed[k] for n, k in enumerate(numbers) if k in sets.assumed}
    return replace(sets.chosen(np.array(numbers, np.int64)), failed={}, assumed=assumed)


def placed(error: PartitaError, sets: Sets, k: int) -> PartitaError:
    """An error of set k that says where in the file its cause stands."""
    if not isinstance(error, Contradiction):
        return InputError(f"set {sets.names[k]}: {error}", file=sets.file)
    line = sets.line(k, error.left, error.right)
    unlisted = line is None and sets.missing is None
    for left, right in zip(error.chain, error.chain[1:], strict=False):
        line = line or sets.line(k, left, right)
    why = " (a pair that is not listed is incompatible)" if unlisted else ""
    if line is None:
        return InputError(f"set {sets.names[k]}: {error}{why}", file=sets.file)
    return InputError(f"{error}{why}", file=sets.file, line=line, unit=sets.unit)


def learned_parameters(model: str, path: TextSource | None = None) -> Any:
    """The parameters of a model from a file, or those that come with the package."""
    if model not in LEARNED:
        return None
    from partita.training.parameter_files import model_parameters

    return model_parameters(model, path)


def parameters_source(
    parameters: TextSource | os.PathLike[str] | TrainedModel | None,
) -> Path | HeldText | None:
    """Return the file of parameters, or the text of a trained model."""
    if parameters is None or isinstance(parameters, HeldText):
        return parameters
    if isinstance(parameters, str | os.PathLike):
        return Path(parameters)
    from partita.app.train import TrainedModel

    if not isinstance(parameters, TrainedModel):
        expected = "a trained model or a file of parameters"
        raise TypeError(f"parameters must be {expected}, not {type(parameters).__name__}")
    return HeldText("the trained model", parameters.json())


CHUNK = 1000
LARGE = 18  # templates: a larger set has all the memory and all the cores to itself
PAYS = 15_000  # small sets: fewer are done before other processes have started


def solve_sets(
    sets: Sets,
    solver: Solver,
    forms: OutputForms,
    source: str = "",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """Yield the outcome of every set in order, then one for the templates in no set."""
    here = partial(solve_piece, solver, forms, source, progress=progress)
    work = partial(solve_piece, solver, forms, source)
    return chain(process(_pieces(sets), work, workers, here), _singletons(sets, forms, source))


def _pieces(sets: Sets) -> Iterator[WorkPiece[Sets]]:
    """Yield stretches of sets; a large set is one by itself and stays in this process."""
    large = np.flatnonzero(sets.sizes > LARGE)
    cuts = {0, len(sets), *large.tolist(), *(large + 1).tolist(), *range(0, len(sets), CHUNK)}
    for first, last in pairwise(sorted(cuts)):
        piece = sets.slice(first, last)
        shared = bool(piece.sizes.max(initial=0) <= LARGE)
        yield WorkPiece(piece, _load(piece) / PAYS if shared else 0.0, shared)


def _load(sets: Sets) -> float:
    """Return the work in small sets: one of 14 templates is worth thousands of 5."""
    return float(np.sum(np.where(sets.sizes <= 8, 1.0, 3.0 ** (sets.sizes - 8.0))))


def solve_piece(
    solver: Solver, forms: OutputForms, source: str, sets: Sets, progress: Progress | None = None
) -> list[Outcome]:
    """Return the outcomes of some sets."""
    with gc_paused():
        unlisted = sets.unlisted().tolist()
        distributions = enumerate(solved(sets, solver, progress))
        return [_outcome(sets, k, one, forms, source, unlisted[k]) for k, one in distributions]


def _outcome(
    sets: Sets,
    k: int,
    distribution: Distribution | PartitaError,
    forms: OutputForms,
    source: str,
    unlisted: int,
) -> Outcome:
    name = sets.names[k]
    if isinstance(distribution, PartitaError):
        return Outcome(name, error=str(distribution))
    lines: tuple[str, ...] = ()
    if forms.json:
        from partita.results.result_lines import result_line

        lines = (result_line(distribution, source, (unlisted, sets.missing or 0.0)),)
    return Outcome(
        name,
        lines=lines,
        shown=_shown(distribution, forms),
        converged=distribution.converged is not False,
    )


def _shown(distribution: Distribution, forms: OutputForms) -> str:
    if not forms.view:
        return ""
    from partita.views.distribution import distribution_line, distribution_text

    if forms.view == "line":
        return distribution_line(distribution, forms.width) + "\n"
    return distribution_text(distribution, forms.width, forms.colour)


def _singletons(sets: Sets, forms: OutputForms, source: str) -> Iterator[Outcome]:
    """Yield one outcome for the templates that may corefer with no other."""
    templates = sets.singletons
    if not templates:
        return
    shown = ""
    lines: tuple[str, ...] = ()
    if forms.json:
        from partita.results.result_lines import singletons_line

        lines = (singletons_line(templates, source),)
    if forms.view:
        from partita.views.distribution import names_text

        shown = names_text("Alone:", [template.id for template in templates], forms.width)
    yield Outcome("", counted=False, lines=lines, shown=shown)

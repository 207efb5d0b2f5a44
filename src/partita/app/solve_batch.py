"""Solve many sets in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain, compress, pairwise
from typing import Any

import numpy as np

from partita.app.batch import Outcome, OutputForms, WorkPiece, gc_paused, process
from partita.app.solve import TOP, Progress, Solver, solved
from partita.core import BoolArray, Distribution, FloatArray
from partita.errors import PartitaError
from partita.linkage.sets import Sets

CHUNK = 1000
LARGE = 18  # templates: a larger set has all the memory and all the cores to itself
PAYS = 15_000  # small sets: fewer are done before other processes have started
BATCHED = 0.1  # the work in a small set that is solved and written with others


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
    pieces = _pieces(sets, BATCHED if _only_lines(forms, solver) else 1.0)
    return chain(process(pieces, work, workers, here), _singletons(sets, forms, source))


def _pieces(sets: Sets, least: float) -> Iterator[WorkPiece[Sets]]:
    """Yield stretches of sets; a large set is one by itself and stays in this process."""
    large = np.flatnonzero(sets.sizes > LARGE)
    cuts = {0, len(sets), *large.tolist(), *(large + 1).tolist(), *range(0, len(sets), CHUNK)}
    for first, last in pairwise(sorted(cuts)):
        piece = sets.slice(first, last)
        shared = bool(piece.sizes.max(initial=0) <= LARGE)
        yield WorkPiece(piece, _load(piece, least) / PAYS if shared else 0.0, shared)


def _load(sets: Sets, least: float) -> float:
    """Return the work in small sets: one of 14 templates is worth thousands of 5."""
    return float(np.sum(np.where(sets.sizes <= 8, least, 3.0 ** (sets.sizes - 8.0))))


def _only_lines(forms: OutputForms, solver: Solver) -> bool:
    return forms.json and not forms.view and not forms.clusters and solver.batched


def solve_piece(
    solver: Solver, forms: OutputForms, source: str, sets: Sets, progress: Progress | None = None
) -> list[Outcome]:
    """Return the outcomes of some sets; small ones of which only lines are wanted, at once."""
    with gc_paused():
        lines = _small_set_lines(sets, solver, forms, source)
        outcomes = {k: Outcome(sets.names[k], lines=(line,)) for k, line in lines.items()}
        unlisted = sets.unlisted().tolist()
        others = (k for k in range(len(sets)) if k not in lines)
        for k, distribution in zip(others, solved(sets, solver, progress, lines), strict=True):
            outcomes[k] = _outcome(sets, k, distribution, forms, source, unlisted[k])
    return [outcomes[k] for k in range(len(sets))]


def _small_set_lines(
    sets: Sets, solver: Solver, forms: OutputForms, source: str
) -> Mapping[int, str]:
    """Return the lines of small sets, where there are enough of them for compiled loops."""
    if len(sets) == 1 or not _only_lines(forms, solver) or sets.templates or sets.evidence:
        return {}
    from partita.configurations.solve_batch import COMPILED, SHARED

    if len(sets) - len(sets.failed) < COMPILED:
        return {}
    plain = sets.sizes <= SHARED
    plain[[*sets.failed, *sets.assumed]] = False
    return _batch_lines(sets, solver, source, plain) if plain.any() else {}


def _batch_lines(sets: Sets, solver: Solver, source: str, plain: BoolArray) -> dict[int, str]:
    """Return the lines of plain sets that compiled loops can solve."""
    from partita.configurations.odds import UNSCALED
    from partita.configurations.solve_batch import REASON, SHARED, solve_padded
    from partita.results.batch_lines import SmallSets, small_set_lines

    given, listed = _pair_rows(sets, plain, SHARED)
    sizes = np.where(plain, sets.sizes, 0)
    answers = solve_padded(given, sizes, solver.parameters or UNSCALED, solver.top or TOP)
    done = answers.counts > 0
    small = SmallSets(
        names=[*compress(sets.names, done)],
        ids=[*compress(sets.ids, np.repeat(done, sets.sizes))],
        sizes=sizes[done],
        unlisted=sets.unlisted()[done],
        counts=answers.counts[done],
        given=given[done],
        marginals=answers.pairs[done],
        listed=listed[done],
        labels=answers.labels[done],
        shares=answers.shares[done],
        figures=answers.figures[done],
    )
    lines = small_set_lines(small, solver.model, source, sets.missing or 0.0, solver.seed, REASON)
    return dict(zip(np.flatnonzero(done).tolist(), lines, strict=True))


def _pair_rows(sets: Sets, plain: BoolArray, largest: int) -> tuple[FloatArray, BoolArray]:
    """Return the probabilities of the pairs of each plain set as a row, and which are listed."""
    given = np.full((len(sets), largest * (largest - 1) // 2), sets.missing or 0.0)
    home = np.repeat(np.arange(len(sets)), np.diff(sets.row_starts))
    kept = plain[home]
    home, left, right = home[kept], sets.left[kept], sets.right[kept]
    place = left * (2 * sets.sizes[home] - left - 1) // 2 + right - left - 1
    given[home, place] = sets.probability[kept]
    listed = given > 0.0
    listed[home, place] = True
    return given, listed


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
    prefix = f"{name}:" if sets.named else ""
    rows = _cluster_rows(distribution, forms, prefix) if forms.clusters else []
    missing = (unlisted, sets.missing or 0.0)
    return Outcome(
        name,
        lines=(_json_line(distribution, source, missing),) if forms.json else (),
        shown=_shown(distribution, forms),
        clusters=tuple((*row, name) if sets.named else row for row in rows),
        converged=distribution.converged is not False,
    )


def _cluster_rows(distribution: Distribution, forms: OutputForms, prefix: str) -> list[Any]:
    from partita.linkage.clusters import cluster_rows

    return list(cluster_rows(distribution, forms.cautious, prefix))


def _json_line(distribution: Distribution, source: str, missing: tuple[int, float]) -> str:
    from partita.results.result_lines import result_line

    return result_line(distribution, source, missing)


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
    name = ("",) if sets.named else ()
    yield Outcome(
        "",
        counted=False,
        lines=lines,
        shown=shown,
        clusters=tuple((template.id, template.id, 1.0, *name) for template in templates),
    )

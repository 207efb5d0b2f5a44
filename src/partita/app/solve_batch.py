"""Solve many sets in order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from partita.app.batch import Forms, Outcome, Piece, gc_paused, process
from partita.app.solve import Progress, Solver, solved
from partita.errors import PartitaError
from partita.linkage.sets import Sets
from partita.records import Distribution

CHUNK = 1000
LARGE = 18  # templates: a larger set has all the memory and all the cores to itself
PAYS = 15_000  # small sets: fewer are done before other processes have started


def solve_sets(
    sets: Sets,
    solver: Solver,
    forms: Forms,
    source: str = "",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """Yield the outcome of every set in order, then one for the templates in no set."""
    here = partial(solve_piece, solver, forms, source, progress=progress)
    work = partial(solve_piece, solver, forms, source)
    return chain(process(_pieces(sets), work, workers, here), _singletons(sets, forms, source))


def _pieces(sets: Sets) -> Iterator[Piece[Sets]]:
    """Yield stretches of sets; a large set is one by itself and stays in this process."""
    large = np.flatnonzero(sets.sizes > LARGE)
    cuts = {0, len(sets), *large.tolist(), *(large + 1).tolist(), *range(0, len(sets), CHUNK)}
    for first, last in pairwise(sorted(cuts)):
        piece = sets.slice(first, last)
        shared = bool(piece.sizes.max(initial=0) <= LARGE)
        yield Piece(piece, _load(piece) / PAYS if shared else 0.0, shared)


def _load(sets: Sets) -> float:
    """Return the work in small sets: one of 14 templates is worth thousands of 5."""
    return float(np.sum(np.maximum(1.0, 3.0 ** (sets.sizes - 8.0))))


def solve_piece(
    solver: Solver, forms: Forms, source: str, sets: Sets, progress: Progress | None = None
) -> list[Outcome]:
    """Return the outcomes of some sets."""
    unlisted = sets.unlisted().tolist()
    with gc_paused():
        return [
            _outcome(sets, k, distribution, forms, source, unlisted[k])
            for k, distribution in enumerate(solved(sets, solver, progress))
        ]


def _outcome(
    sets: Sets,
    k: int,
    distribution: Distribution | PartitaError,
    forms: Forms,
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


def _cluster_rows(distribution: Distribution, forms: Forms, prefix: str) -> list[Any]:
    from partita.linkage.clusters import cluster_rows

    return list(cluster_rows(distribution, forms.cautious, prefix))


def _json_line(distribution: Distribution, source: str, missing: tuple[int, float]) -> str:
    from partita.results.result_lines import result_line

    return result_line(distribution, source, missing)


def _shown(distribution: Distribution, forms: Forms) -> str:
    if not forms.view:
        return ""
    from partita.views.distribution import line, text

    if forms.view == "line":
        return line(distribution, forms.width) + "\n"
    return text(distribution, forms.width, forms.colour)


def _singletons(sets: Sets, forms: Forms, source: str) -> Iterator[Outcome]:
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

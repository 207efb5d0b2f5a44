"""The command fuse."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from partita.cli.command import command
from partita.cli.console import Console
from partita.options import REPORT_JSON, FuseOptions, argument, option

if TYPE_CHECKING:
    from partita.app.fuse import EntityFusion, Fusion, MassFusion


@dataclass(frozen=True, kw_only=True)
class FuseCommand(FuseOptions):
    """Options of the command fuse."""

    sources: tuple[Path, ...] = argument(
        "Results of run (JSONL), records (a column per slot), claims (object,source,value) or "
        "judgements (left,right,source,same), as CSV, JSONL, Parquet or TSV; or beliefs (mass "
        "functions over sets of values, JSONL)",
        "SOURCE...",
    )
    form: str | None = option(
        "Format of the sources, of a package that adds one", flag="--from", metavar="FORM"
    )
    out: Path | None = option("With --from: output file for what was fused")
    json: bool = option(REPORT_JSON, False)


@command(FuseCommand)
def fuse(options: FuseCommand, console: Console) -> None:
    """Fuse the claims of several sources into one belief.

    Each value of each object gets a probability. The reliability of each source is
    estimated from how sources agree, unless it is given. Results of run, and
    records that do not name their object, are linked first: Partita computes which
    of them describe the same thing, with probabilities. Beliefs are combined by
    Dempster's rule: each value gets a belief, a plausibility and a probability.

    \b
    Examples:
      partita fuse claims.csv
      partita fuse answers.csv --one-to-one _ --truth truth.csv --json
      partita fuse places.csv --hierarchy hierarchy.csv --without wikiquote
      partita fuse reports.jsonl table.csv --without table
      partita fuse beliefs.jsonl --reliability reliabilities.csv
    """
    if options.form is not None or options.out is not None:
        sources = list(options.sources)
        console.say(_in_other_format(sources, options.form, options.out, options.json))
        return
    from partita.app.fuse import fuse_sources

    names = str(options.columns or "")
    options = replace(
        options, columns=tuple(name.strip() for name in names.split(",")) if names else ()
    )
    fusion = fuse_sources(options.sources, options)
    for note in fusion.notes:
        console.note(note)
    for piece in _pieces(fusion, options.without, options.json):
        console.say(piece)


def _in_other_format(sources: list[Path], form: str | None, out: Path | None, json: bool) -> str:
    """Fuse sources in the format of a package, and return its report."""
    from partita.errors import InputError
    from partita.files.writing import refuse_inputs
    from partita.plugins import FUSIONS, format_of

    if form is None or out is None:
        raise InputError("expected --from FORM and --out F together")
    fuse_files: Callable[[list[Path], Path, bool], str] = format_of(FUSIONS, form)
    refuse_inputs(out, sources)
    return fuse_files(sources, out, json)


def _pieces(
    fusion: "Fusion | EntityFusion | MassFusion", without: str | None, json: bool
) -> Iterator[str]:
    from partita.app.fuse import EntityFusion, MassFusion
    from partita.views import fusion as views

    if json:
        from json import dumps

        from partita.app.belief import report_of

        yield dumps(report_of(fusion, without)) + "\n"
        return
    if isinstance(fusion, EntityFusion):
        yield from views.entities_text(fusion.fused)
        if without is not None:
            yield from views.entity_changes_text(fusion.changes, without)
        return
    if isinstance(fusion, MassFusion):
        yield from views.masses_text(fusion.combined, fusion.masses, fusion.reliabilities)
    else:
        yield from views.claims_text(fusion.fused, fusion.measured)
    if without is not None:
        yield from views.changes_text(fusion.changes, without)

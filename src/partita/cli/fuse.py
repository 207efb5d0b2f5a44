"""The command fuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options
from partita.cli.console import error_boundary

if TYPE_CHECKING:
    from partita.app.fuse import EntityFusion, Fusion, MassFusion

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="SOURCE...",
        help="Results of run (JSONL), records (a column per slot), claims (object,source,value) "
        "or judgements (left,right,source,same), as CSV, JSONL, Parquet or TSV; or beliefs "
        "(mass functions over sets of values, JSONL).",
    ),
]
Truth = Annotated[
    Path | None,
    typer.Option("--truth", metavar="F", help="True values (object,value) to evaluate against."),
]
Known = Annotated[
    Path | None,
    typer.Option("--known", metavar="F", help="True values of some objects to learn from."),
]
Reliability = Annotated[
    Path | None,
    typer.Option(
        "--reliability",
        metavar="F",
        help="Fixed reliabilities (source,reliability); the others are estimated, "
        "or 1 for beliefs.",
    ),
]
Hierarchy = Annotated[
    Path | None,
    typer.Option(
        "--hierarchy",
        metavar="F",
        help="Hierarchy of values (name,parent or id,name,parentID).",
    ),
]
Objects = Annotated[
    Path | None,
    typer.Option(
        "--objects", metavar="F", help="List of valid objects; any other object is an error."
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,B,...",
        help="Column names for files without a header; - skips a column. "
        "E.g. source,object,-,authors",
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="[NAME=]KIND",
        show_default="detected",
        help="Kind of a slot: closed, open, number, date, several or people. Kind of a file: "
        "reports, records, claims, judgements or beliefs. Repeatable.",
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        "--tolerance",
        metavar="X",
        min=0.0,
        help="Treat numbers within this relative difference, and dates within this number of "
        "days, as equal.",
    ),
]
OneToOne = Annotated[
    str | None,
    typer.Option(
        "--one-to-one",
        metavar="SEP",
        help="Objects are pairs LEFT SEP RIGHT, and each side has at most one match; e.g. _",
    ),
]
Discount = Annotated[
    bool,
    typer.Option("--discount-copies", help="Give less weight to claims that appear to be copied."),
]
Without = Annotated[
    str | None,
    typer.Option("--without", metavar="S", help="Show what changes without source S."),
]
Latest = Annotated[
    list[str] | None,
    typer.Option(
        "--latest",
        metavar="SLOT",
        help="Slot that changes: the last statement of a source (by the column stated, or by "
        "the order of lines) supersedes its earlier ones. Repeatable.",
    ),
]
Domain = Annotated[
    str,
    typer.Option(
        "--domain",
        metavar="D",
        help="Domain of the slots; records of the same thing are then linked first.",
    ),
]
Parameters = Annotated[
    Path | None,
    typer.Option(
        "--parameters",
        metavar="F",
        show_default="the domain's own",
        help="Parameters of the pair model that compares records.",
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORM",
        help="Format of the sources, of a package that adds one.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="F", help="With --from: output file for what was fused."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("fuse")(fuse)


def fuse(
    sources: Sources,
    truth: Truth = None,
    known: Known = None,
    reliability: Reliability = None,
    hierarchy: Hierarchy = None,
    objects: Objects = None,
    columns: Columns = None,
    kind: Kinds = None,
    tolerance: Tolerance = 0.0,
    one_to_one: OneToOne = None,
    discount_copies: Discount = False,
    without: Without = None,
    latest: Latest = None,
    domain: Domain = "",
    parameters: Parameters = None,
    form: Form = None,
    out: Out = None,
    json: options.JsonReport = False,
) -> None:
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
    with error_boundary() as console:
        if form is not None or out is not None:
            console.say(_in_other_format(sources, form, out, json))
            console.flush()
            return
        from partita.app.fuse import FuseOptions, fuse_sources

        fuse_options = FuseOptions(
            truth=truth,
            known=known,
            reliability=reliability,
            hierarchy=hierarchy,
            objects=objects,
            columns=tuple(name.strip() for name in columns.split(",")) if columns else (),
            kinds=tuple(kind or ()),
            tolerance=tolerance,
            separator=one_to_one,
            discount=discount_copies,
            without=without,
            latest=tuple(latest or ()),
        )
        fusion = fuse_sources(sources, fuse_options, domain, parameters)
        for note in fusion.notes:
            console.note(note)
        for piece in _pieces(fusion, without, json):
            console.say(piece)
        console.flush()


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
    fusion: Fusion | EntityFusion | MassFusion, without: str | None, json: bool
) -> Iterator[str]:
    from partita.app.fuse import Fusion, MassFusion

    if isinstance(fusion, Fusion):
        yield from _claims(fusion, without, json)
    elif isinstance(fusion, MassFusion):
        yield from _masses(fusion, without, json)
    else:
        yield from _entities(fusion, without, json)


def _claims(fusion: Fusion, without: str | None, json: bool) -> Iterator[str]:
    from partita.views.fusion import changes_text, fused_json, report

    if json:
        from json import dumps

        yield dumps(fused_json(fusion.fused, fusion.measured, fusion.changes, without)) + "\n"
        return
    yield from report(fusion.fused, fusion.measured)
    if without is not None:
        yield from changes_text(fusion.changes, without)


def _masses(fusion: MassFusion, without: str | None, json: bool) -> Iterator[str]:
    from partita.views.fusion import changes_text, masses_json, masses_text

    inputs = (fusion.combined, fusion.masses, fusion.reliabilities)
    if json:
        from json import dumps

        yield dumps(masses_json(*inputs, fusion.changes, without)) + "\n"
        return
    yield from masses_text(*inputs)
    if without is not None:
        yield from changes_text(fusion.changes, without)


def _entities(fusion: EntityFusion, without: str | None, json: bool) -> Iterator[str]:
    from partita.views.fusion import thing_changes_text, things_json, things_text

    if json:
        from json import dumps

        yield dumps(things_json(fusion.fused, fusion.domain, fusion.changes, without)) + "\n"
        return
    yield from things_text(fusion.fused)
    if without is not None:
        yield from thing_changes_text(fusion.changes, without)

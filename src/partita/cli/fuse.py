"""The command fuse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options
from partita.cli.console import edge

if TYPE_CHECKING:
    from partita.app.fuse import Fusion, Things, Wanted

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="SOURCE...",
        help="Results of run (JSONL), records (a column for every slot), claims "
        "(object,source,value) or judgements (left,right,source,same) in CSV, JSONL, Parquet "
        "or tab-separated text.",
    ),
]
Truth = Annotated[
    Path | None,
    typer.Option("--truth", metavar="F", help="True values (object,value): measure against them."),
]
Known = Annotated[
    Path | None,
    typer.Option("--known", metavar="F", help="True values of some objects: learn from them."),
]
Reliability = Annotated[
    Path | None,
    typer.Option(
        "--reliability",
        metavar="F",
        help="source,reliability: taken as they are; those of others are learned.",
    ),
]
Hierarchy = Annotated[
    Path | None,
    typer.Option(
        "--hierarchy",
        metavar="F",
        help="id,name,parentID or name,parent: which values contain which.",
    ),
]
Objects = Annotated[
    Path | None,
    typer.Option("--objects", metavar="F", help="The objects there are; others are refused."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,B,...",
        help="What the columns of files without a header are; - is left out. "
        "E.g. --columns source,object,-,authors",
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="[NAME=]KIND",
        help="Of a slot closed, open, number, date, several or people (without it closed if "
        "there are few values, else open); of a file reports, records, claims or judgements "
        "(without it by what is in it). May be given often.",
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        "--tolerance",
        metavar="X",
        min=0.0,
        help="Numbers within this share, dates within so many days, are the same; e.g. .01",
    ),
]
OneToOne = Annotated[
    str | None,
    typer.Option(
        "--one-to-one",
        metavar="SEP",
        help="Objects are LEFT SEP RIGHT, and each side has at most one match; e.g. _",
    ),
]
Discount = Annotated[
    bool, typer.Option("--discount-copies", help="Believe claims that seem copied less.")
]
Without = Annotated[
    str | None,
    typer.Option("--without", metavar="S", help="Tell what changes if source S is left out."),
]
Domain = Annotated[
    str,
    typer.Option(
        "--domain",
        metavar="D",
        help="The domain whose slots the sources fill; they are asked which thing is which.",
    ),
]
Parameters = Annotated[
    Path | None,
    typer.Option(
        "--parameters",
        metavar="F",
        help="Of the pair model that compares accounts; without it the domain's own.",
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORM",
        help="muc: each SOURCE holds the answers of a system to the exam of 1992.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="F", help="With --from muc: where to write the fused answers."),
]


def add_to(app: typer.Typer) -> None:
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
    domain: Domain = "",
    parameters: Parameters = None,
    form: Form = None,
    out: Out = None,
    json: options.JsonReport = False,
) -> None:
    """What several sources say, contradictory or not, into one belief.

    Each value of each object gets a probability, each source a reliability
    that is learned from how sources agree, unless it is given. Reports of
    run and records without objects are first put together: who speaks of
    the same thing, with the distribution over all that may be.

    \b
    Examples:
      partita fuse claims.csv
      partita fuse answers.csv --one-to-one _ --truth truth.csv --json
      partita fuse places.csv --hierarchy hierarchy.csv --without wikiquote
      partita fuse reports.jsonl table.csv --without table
      partita fuse --from muc GE.txt SRI.txt UMASS.txt --out fused.txt
    """
    with edge() as console:
        if form is not None or out is not None:
            console.say(_exam(sources, form, out, json))
            console.flush()
            return
        from partita.app.fuse import Wanted

        wanted = Wanted(
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
        )
        found = _found(sources, wanted, domain, parameters)
        for note in found.notes:
            console.note(note)
        for piece in _pieces(found, without, json):
            console.say(piece)
        console.flush()


def _found(
    sources: list[Path], wanted: Wanted, domain: str, parameters: Path | None
) -> Fusion | Things:
    """Things where it must be told which is which, else the objects that claims name."""
    from partita.app.fuse import as_asked, fuse_files, sorted_out

    files, slots = sorted_out(wanted.kinds)
    asked = as_asked(sources, wanted, files, domain, parameters)
    if asked is None:
        return fuse_files(sources, replace(wanted, kinds=slots))
    from partita.app.fuse import fuse_things

    return fuse_things(sources, asked)


def _exam(sources: list[Path], form: str | None, out: Path | None, json: bool) -> str:
    """The answers of systems to the exam, fused and written; how far each system is trusted."""
    from partita.domains.incidents.fuse_muc import fuse_exams
    from partita.errors import InputError
    from partita.views.fused_things import trusted_json, trusted_text

    if form != "muc" or out is None:
        raise InputError("expected --from muc and --out F together")
    fused = fuse_exams(sources, out)
    told = (fused.trusted, fused.templates, fused.fills)
    return trusted_json(*told) if json else trusted_text(*told)


def _pieces(found: Fusion | Things, without: str | None, json: bool) -> Iterator[str]:
    from partita.app.fuse import Fusion

    if isinstance(found, Fusion):
        yield from _claims(found, without, json)
    else:
        yield from _things(found, without, json)


def _claims(found: Fusion, without: str | None, json: bool) -> Iterator[str]:
    from partita.views.fusion import changes_text, fused_json, report

    if json:
        from json import dumps

        yield dumps(fused_json(found.fused, found.measured, found.changes, without)) + "\n"
        return
    yield from report(found.fused, found.measured)
    if without is not None:
        yield from changes_text(found.changes, without)


def _things(found: Things, without: str | None, json: bool) -> Iterator[str]:
    from partita.views.fused_things import changes_text, things_json, things_text

    if json:
        from json import dumps

        yield dumps(things_json(found.fused, found.domain, found.changes, without)) + "\n"
        return
    yield from things_text(found.fused)
    if without is not None:
        yield from changes_text(found.changes, without)

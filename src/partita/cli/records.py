"""The commands on tables of records and claims and on knowledge bases."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from partita.cli.command import command
from partita.cli.console import Console
from partita.errors import InputError
from partita.files.writing import refuse_inputs, write_atomically
from partita.options import (
    EXCEL_SAFE,
    MEMORY,
    REPORT_JSON,
    BuildOptions,
    ClusterOptions,
    FuseOptions,
    LinkOptions,
    Options,
    argument,
    memory_limit,
    one_of,
    option,
    optional_argument,
    positive,
)

if TYPE_CHECKING:
    from partita.app.cluster import Clusters
    from partita.app.fuse import AnyFusion
    from partita.collection.query import Answer
    from partita.core import Budget


FORMS = ("graphrag", "neo4j", "jsonld", "ftm", "graphml", "html")
WIDTH = 40  # letters of a value


@dataclass(frozen=True, kw_only=True)
class BuildCommand(BuildOptions):
    """Options of the command build."""

    inputs: tuple[Path, ...] = optional_argument(
        "Texts, folders, JSONL with a field text, results of run; what --from names",
        "[INPUT]...",
        (),
    )
    to: str | None = option(
        f"Also export it to KB/NAME: {', '.join(FORMS)}",
        metavar="NAME",
        check=one_of(FORMS),
    )
    json: bool = option(REPORT_JSON, False)


@dataclass(frozen=True, kw_only=True)
class QueryCommand(Options):
    """Options of the command query."""

    base: Path = argument("Folder that partita build wrote", "KB")
    sql: str | None = optional_argument("A SELECT statement", "[SQL]")
    worlds: bool = option("Answer in every world: each figure gets a 90 % interval", False)
    explain: tuple[str, str] | None = option(
        "Explain why two records are the same or not", metavar="A B"
    )
    seconds: float = option("Time limit", 30.0, metavar="S", check=positive)
    json: bool = option(REPORT_JSON, False)


@command(BuildCommand)
def build(options: BuildCommand, console: Console) -> None:
    """Build one knowledge base from many documents.

    The documents may also be entities of another system. The knowledge base says who
    is who across documents, with probabilities. Its folder has tables (Parquet) and
    draws of whole worlds. Further documents extend it, and ids persist.
    Needs: pip install 'partita[link]'

    \b
    Examples:
      partita build articles/ --out KB
      partita build new/ --out KB --labels judged.csv
      partita build --from graphrag output/ --out KB --to graphrag
      partita build --entities nodes.csv --relations edges.csv --out KB
      partita query KB "select count(*) from entities" --worlds
    """
    from partita.app.build import build_base

    if options.out is None:
        raise InputError("build needs --out, the folder of the knowledge base")
    report: dict[str, Any] = {"progress": console.progress, "note": console.wrapped_note}
    kb = build_base(replace(options, source=options.inputs, **report))
    if options.to is not None:
        kb.export(options.to, Path(options.out) / options.to)
    console.clear()
    if options.json:
        console.json(kb.to_dict())
        return
    console.say(f"{kb}\n")
    console.say(f'Written to {options.out}. Ask it: partita query {options.out} "select …"\n')


@command(QueryCommand)
def query(options: QueryCommand, console: Console) -> None:
    """Query a knowledge base in SQL (read only).

    With --worlds each figure has an interval.

    Tables: documents, mentions, records, entities, names, values, relations,
    contradictions, review, alternatives, kept_apart, worlds.

    \b
    Examples:
      partita query KB "select name, documents from entities limit 5"
      partita query KB "select count(*) from entities" --worlds
      partita query KB --explain a.txt:E1 b.txt:E3
    """
    from partita.collection.query import ask

    if options.explain is not None:
        from partita.app.build import explained, open_base

        console.say(f"{explained(open_base(options.base), *options.explain)}\n")
        return
    if not options.sql:
        raise InputError("query needs a question in SQL, or --explain A B")
    answer = ask(options.base, options.sql, options.worlds, options.seconds)
    if options.json:
        console.json(_json(answer))
        return
    for line in _lines(answer):
        console.say(f"{line}\n")


def _json(answer: "Answer") -> dict[str, Any]:
    names = answer.columns

    def rows(given: Any) -> list[dict[str, Any]]:
        return [dict(zip(names, map(_plain, row), strict=True)) for row in given]

    found = {"columns": list(names), "rows": rows(answer.rows), "worlds": answer.worlds}
    return found | {"low": rows(answer.low), "high": rows(answer.high)}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None | list) else str(value)


def _lines(answer: "Answer") -> list[str]:
    """Return the answer as a table of text."""
    rows = [
        [_shown(answer, n, k) for k in range(len(answer.columns))] for n in range(len(answer.rows))
    ]
    table = [list(answer.columns), *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(answer.columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
             for row in table]  # fmt: skip
    if answer.worlds:
        lines.append(f"(median and 90 % interval over {answer.worlds} worlds)")
    return lines


def _shown(answer: "Answer", row: int, column: int) -> str:
    value = answer.rows[row][column]
    if not answer.worlds or isinstance(value, str | None):
        return _cell(value)
    low, high = answer.low[row][column], answer.high[row][column]
    return _cell(value) if low == high else f"{_cell(value)} ({_cell(low)}–{_cell(high)})"


def _cell(value: Any) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


@dataclass(frozen=True, kw_only=True)
class TableOutputs(Options):
    """What cluster and link write, and the limits of their work."""

    out: Path | None = option("Write record,cluster,membership,exact (.csv, .jsonl or .parquet)")
    alternatives: Path | None = option("Write the next best split or merge of each cluster")
    pairs: Path | None = option("Write the probability of each compared pair")
    review: Path | None = option("Write the pairs to review, the most useful first")
    to_label: Path | None = option(
        "Write the 50 pairs whose labels calibrate best; fill in same, and give it as --labels"
    )
    changes: Path | None = option(
        "Write what happened since --previous: created, grown, split, merged"
    )
    excel_safe: bool = option(EXCEL_SAFE, False)
    explain: tuple[str, str] | None = option(
        "Explain why two records are together or not", metavar="A B"
    )
    json: bool = option(REPORT_JSON, False)
    memory: str | None = option(MEMORY)
    work: int | None = option("Draws for each large set", metavar="N", min=1, shown="250")

    @property
    def files(self) -> dict[str, Path | None]:
        """The files of tables, by the name of the table."""
        names = ["alternatives", "pairs", "review", "to_label"]
        names += ["changes"] if self.changes else []
        files = {"clusters": self.out, **{name: getattr(self, name) for name in names}}
        worlds: tuple[int, Path] | None = getattr(self, "worlds", None)
        return files if worlds is None else files | {"worlds": worlds[1]}

    @property
    def limits(self) -> "Budget":
        """The budget of memory and work."""
        from partita.core import Budget

        return Budget(memory=memory_limit(self.memory), work=self.work)


@dataclass(frozen=True, kw_only=True)
class ClusterCommand(TableOutputs, ClusterOptions):
    """Options of the command cluster."""

    scores: str = argument(
        "Pair scores with Splink's columns, left,right,probability or id_1,id_2,score; - reads "
        "stdin",
        "SCORES",
    )
    left: str | None = option("Column of the first id", metavar="COL")
    right: str | None = option("Column of the second id", metavar="COL")
    score: str | None = option("Column of the score, from 0 to 1", metavar="COL")


@dataclass(frozen=True, kw_only=True)
class LinkCommand(TableOutputs, LinkOptions):
    """Options of the command link."""

    records: tuple[Path, ...] = argument(
        "CSV, JSONL, Parquet or Arrow files of records; several are linked", "RECORDS..."
    )
    settings_out: Path | None = option("Write the trained model as Splink settings (JSON)")


@command(ClusterCommand)
def cluster(options: ClusterCommand, console: Console) -> None:
    """Cluster records by pair scores, with probabilities.

    Scores are evidence: 0 and 1 are strong, never certain. Records that were not
    compared are probably different, not certainly. Every record of --records is in
    the output.

    \b
    Examples:
      partita cluster scores.parquet --records people.csv --out clusters.csv
      partita cluster scores.csv --out clusters.csv --review questions.csv
      partita cluster scores.csv --target-precision .99 --out clusters.csv
      partita cluster scores.csv --previous old.csv --changes changes.csv
    """
    from partita.app.cluster import cluster_scores

    inputs = [options.scores, options.records, options.parameters, options.labels]
    _check_outputs(options, options.previous, inputs)
    options = replace(
        options,
        columns=(options.left, options.right, options.score),
        budget=options.limits,
        progress=console.progress,
        note=console.wrapped_note,
    )
    scores = options.scores
    clusters = cluster_scores(scores if scores == "-" else Path(scores), options)
    _write(clusters, options)
    _show(console, clusters, options)


@command(LinkCommand)
def link(options: LinkCommand, console: Console) -> None:
    """Deduplicate a table of records, or link several.

    No labels or settings are needed: columns are compared as their headers and
    values suggest, and the model adapts to the tables. The output has every record.
    Needs: pip install 'partita[link]'

    \b
    Examples:
      partita link people.csv --out clusters.csv
      partita link people.csv --settings-out model.json --review questions.csv
      partita link people.csv --out clusters.csv --explain 3 17
      partita link clinic.csv register.parquet --one-to-one --out clusters.csv
      partita link new.csv --reference register.csv --out matches.csv
    """
    from partita.app.link import link_tables

    inputs = [*options.records, options.settings, options.parameters, options.labels]
    inputs.append(options.reference)
    settings_out = {"settings": options.settings_out}
    _check_outputs(options, options.previous, inputs, settings_out)
    options = replace(
        options, budget=options.limits, progress=console.progress, note=console.wrapped_note
    )
    if options.reference is not None:
        _match(options, console)
        return
    clusters = link_tables(list(options.records), options)
    _write(clusters, options)
    if options.settings_out is not None:
        _write_settings(options.settings_out, clusters.settings)
    _show(console, clusters, options)


def _match(options: LinkCommand, console: Console) -> None:
    """Match records with a reference table, and write the tables."""
    from partita.app.link import match_tables
    from partita.tables.writing import write_table
    from partita.views.distribution import matches_text, written_text

    for name in ("alternatives", "review", "to_label", "changes", "explain"):
        if getattr(options, name) is not None:
            flag = name.replace("_", "-")
            raise typer.BadParameter(f"--{flag} is not for matches with --reference")
    found = match_tables(list(options.records), options)
    files = {"matches": options.out, "candidates": options.pairs}
    files |= {"worlds": options.files.get("worlds")}
    for name, path in files.items():
        if path is not None:
            write_table(path, found.columns(name), excel_safe=options.excel_safe)
    if options.settings_out is not None:
        _write_settings(options.settings_out, found.settings)
    if options.json:
        console.json(found.summary.to_dict(), ensure_ascii=True)
    else:
        console.say(matches_text(found.summary) + written_text(files))


def _write_settings(path: Path, settings: Any) -> None:

    write_atomically(path, json.dumps(settings, indent=2) + "\n")


def _check_outputs(
    outputs: TableOutputs,
    previous: Any,
    inputs: list[Any],
    more: dict[str, Path | None] | None = None,
) -> None:
    from partita.tables.writing import check_suffix

    if outputs.changes is not None and previous is None:
        raise typer.BadParameter("--changes needs --previous")
    seen: dict[Path, str] = {}
    for name, path in (outputs.files | (more or {})).items():
        if path is None:
            continue
        if name in outputs.files:
            check_suffix(path)
        refuse_inputs(path, [*inputs, previous])
        if (other := seen.setdefault(path.resolve(), name)) != name:
            raise InputError(f"is named for {other} and for {name}", file=str(path))


def _write(clusters: "Clusters", outputs: TableOutputs) -> None:
    from partita.tables.writing import write_table

    for name, path in outputs.files.items():
        if path is not None:
            write_table(path, clusters.columns(name), excel_safe=outputs.excel_safe)


def _show(console: Console, clusters: "Clusters", outputs: TableOutputs) -> None:
    from partita.views.distribution import summary_text, written_text

    found = None
    if outputs.explain is not None:
        from partita.app.explain import explain

        found = explain(clusters, *outputs.explain)
    if outputs.json:
        more = {} if found is None else {"explanation": found.to_dict()}
        console.json(clusters.summary.to_dict() | more, ensure_ascii=True)
        return
    console.say(summary_text(clusters.summary) + written_text(outputs.files))
    if found is not None:
        console.say(f"\n{found}")


@dataclass(frozen=True, kw_only=True)
class FuseCommand(FuseOptions):
    """Options of the command fuse."""

    sources: tuple[Path, ...] = argument(
        "Results of run (JSONL), records (a column per slot), claims (object,source,value) or "
        "judgements (left,right,source,same), as CSV, JSONL, Parquet or TSV",
        "SOURCE...",
    )
    json: bool = option(REPORT_JSON, False)


@command(FuseCommand)
def fuse(options: FuseCommand, console: Console) -> None:
    """Fuse the claims of several sources into one belief.

    Each value of each object gets a probability. The reliability of each source is
    estimated from how sources agree, unless it is given. Results of run, and
    records that do not name their object, are linked first: Partita computes which
    of them describe the same thing, with probabilities.

    \b
    Examples:
      partita fuse claims.csv
      partita fuse answers.csv --one-to-one _ --truth truth.csv --json
      partita fuse places.csv --hierarchy hierarchy.csv --without wikiquote
      partita fuse reports.jsonl table.csv --without table
    """
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


def _pieces(fusion: "AnyFusion", without: str | None, json: bool) -> Iterator[str]:
    from partita.app.fuse import EntityFusion
    from partita.views import fusion as views

    if json:
        from partita.app.fuse import report_of

        yield dumps(report_of(fusion, without)) + "\n"
        return
    linked = isinstance(fusion, EntityFusion)
    if isinstance(fusion, EntityFusion):
        yield from views.entities_text(fusion.fused)
    else:
        yield from views.claims_text(fusion.fused, fusion.measured)
    if without is not None:
        yield from views.changes_text(fusion.changes, without, "thing" if linked else "value")

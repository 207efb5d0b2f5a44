"""The commands on knowledge bases: build and query."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.cli.command import command
from partita.cli.console import Console
from partita.options import (
    REPORT_JSON,
    BuildOptions,
    Options,
    argument,
    one_of,
    option,
    optional_argument,
    positive,
)

if TYPE_CHECKING:
    from partita.collection.query import Answer

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
        f"Also write it for others, in KB/NAME: {', '.join(FORMS)}",
        metavar="NAME",
        check=one_of(FORMS),
    )
    json: bool = option(REPORT_JSON, False)


@dataclass(frozen=True, kw_only=True)
class QueryCommand(Options):
    """Options of the command query."""

    base: Path = argument("Folder that partita build wrote", "KB")
    sql: str | None = optional_argument("A question in SQL, a SELECT", "[SQL]")
    worlds: bool = option("Answer in every world: each figure gets a 90 % interval", False)
    explain: tuple[str, str] | None = option(
        "Explain why two records are the same or not", metavar="A B"
    )
    seconds: float = option("Time limit", 30.0, metavar="S", check=positive)
    json: bool = option(REPORT_JSON, False)


@command(BuildCommand)
def build(options: BuildCommand, console: Console) -> None:
    """Make one knowledge base of many documents, or of another system's entities.

    Says who is who across documents, with probabilities. The folder has tables
    (Parquet) and draws of whole worlds. Called again with further documents, it
    grows and ids persist. Needs: pip install 'partita[link]'

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
        from partita.errors import InputError

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
    """Ask a knowledge base in SQL: read only, with an interval for each figure.

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
        from partita.errors import InputError

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

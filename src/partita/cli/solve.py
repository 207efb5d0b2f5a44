"""The commands solve and demo."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from partita.cli.command import command
from partita.cli.console import Console
from partita.cli.output import MANY, SOLVED, Output, ReplacedFile, view_of
from partita.files.writing import refuse_inputs
from partita.options import (
    MEMORY,
    SECONDS,
    WORK,
    WORKERS,
    Options,
    SolveOptions,
    argument,
    memory_limit,
    option,
)

if TYPE_CHECKING:
    from partita.core import Budget
    from partita.linkage.sets import Sets


@dataclass(frozen=True, kw_only=True)
class DemoCommand(Options):
    """Options of the command demo."""

    paper: bool = option("Show the message and the table of Kehler (1997) instead", False)


@command(DemoCommand)
def demo(options: DemoCommand, console: Console) -> None:
    """Show what Partita does, in thirty lines.

    \b
    Examples:
      partita demo
      partita demo --paper
    """
    from partita.cli import demo as pages

    pieces = pages.paper if options.paper else pages.demo
    for piece in pieces(console.width, console.colour):
        console.say(piece)


@dataclass(frozen=True, kw_only=True)
class SolveCommand(SolveOptions):
    """Options of the command solve."""

    pairs: str = argument(
        "CSV, JSONL or Parquet with left,right,probability; - reads stdin", "PAIRS"
    )
    templates: Path | None = option("CSV or JSONL file of templates: id, text, in text order")
    json: bool = option("Write one JSON object per set to standard output", False)
    out: Path | None = option("Write one JSON object per set to a file (JSONL)")
    strict: bool = option("Exit with code 1 if a sampled answer has not converged", False)
    seconds: float | None = option(SECONDS)
    memory: str | None = option(MEMORY)
    work: int | None = option(WORK)
    workers: int | None = option(WORKERS)


@command(SolveCommand)
def solve(options: SolveCommand, console: Console) -> None:
    """Compute distributions over configurations from pair scores.

    PAIRS has the columns left,right,probability (or Splink's unique_id_l,
    unique_id_r,match_probability) and optionally set. Probability 0 means that two
    templates cannot be the same, 1 that they must be. Without a set column, every
    connected component is a set.

    \b
    Examples:
      partita solve pairs.csv
      partita solve pairs.csv --json --top 100 > results.jsonl
      partita solve scores.parquet --out results.jsonl --seconds 5
    """
    from partita.app.batch import OutputForms
    from partita.app.solve import Solver, read_sets, solve_sets

    pairs, json, out = options.pairs, options.json, options.out
    refuse_inputs(out, [pairs, options.parameters, options.templates])
    _note_parameters(console, options.model, options.parameters)
    solver = Solver.of(replace(options, budget=_budget(options)))
    sets = read_sets(pairs, options, options.templates, console.note)
    _note_unlisted(console, sets)
    forms = OutputForms(
        json=json or out is not None,
        view=view_of(len(sets) > MANY, json, out is not None),
        width=console.width,
        colour=console.colour,
    )
    sink = None if out is None else ReplacedFile(out, SOLVED)

    def summary(output: Output) -> str:
        told = f"{output.done:,} sets answered, {output.failed:,} failed"
        return told if sink is not None and not forms.view else ""

    output = Output(
        console,
        "set",
        sink,
        print_lines=out is None,
        separated=forms.view == "text",
        total=len(sets),
        summary=summary,
    )
    output.write(
        solve_sets(sets, solver, forms, Path(pairs).name, options.workers, console.progress)
    )
    if output.failed or (options.strict and output.not_converged):
        raise typer.Exit(1)


def _budget(options: SolveCommand) -> "Budget":
    """Return the budget for a set: with an amount of work no clock is looked at by default."""
    from partita.core import Budget

    usual = float("inf") if options.work is not None else Budget().seconds
    seconds = usual if options.seconds is None else options.seconds
    return Budget(seconds, memory_limit(options.memory), options.work)


def _note_parameters(console: Console, model: str, parameters: Any) -> None:
    from partita.app.solve import LEARNED

    if model in LEARNED and parameters is None:
        console.note(f"{model} uses the parameters that ship with Partita (--parameters F)")
    if parameters is not None and model not in LEARNED:
        console.note(f"{model} has no parameters: {parameters} is not used")


def _note_unlisted(console: Console, sets: "Sets") -> None:
    """Report how many pairs the file does not list; for many sets their sum."""
    unlisted = sets.unlisted()
    taken = "incompatible" if sets.missing is None else f"probability {sets.missing:g}"
    gaps = [k for k in range(len(sets)) if unlisted[k] > 0 and k not in sets.failed]
    if len(gaps) > MANY:
        inside = f"{unlisted[gaps].sum():,} pairs inside {len(gaps):,} sets"
        console.note(f"{inside} are not listed: {taken}")
        return
    for k in gaps:
        pairs = "1 pair is" if unlisted[k] == 1 else f"{unlisted[k]:,} pairs are"
        console.note(f"set {sets.names[k]}: {pairs} not listed: {taken}")

"""The commands solve and demo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from partita.cli import options
from partita.cli.console import Console, error_boundary
from partita.cli.output import MANY, SOLVED, ClustersFile, Output, ReplacedFile, Sink, view_of

if TYPE_CHECKING:
    from partita.app.solve import Solver
    from partita.core import Budget
    from partita.linkage.sets import Sets


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(demo)
    app.command()(solve)


def demo() -> None:
    """Run the paper's worked example and the bundled corpus.

    Example: partita demo
    """
    with error_boundary() as console:
        from partita.cli.demo import demo as pieces

        for piece in pieces(console.width, console.colour):
            console.say(piece)
        console.flush()


def solve(
    pairs: options.Pairs,
    model: options.Model = "evidential",
    parameters: options.Parameters = None,
    top: options.Top = None,
    threshold: options.Threshold = None,
    missing: options.Missing = None,
    soft: options.Soft = False,
    assume: options.Assume = None,
    templates: options.Templates = None,
    form: options.Form = None,
    clusters: options.Clusters = None,
    excel_safe: options.ExcelSafe = False,
    cautious: options.Cautious = None,
    json: options.Json = False,
    out: options.Out = None,
    seconds: options.Seconds = None,
    memory: options.Memory = None,
    work: options.Work = None,
    method: options.Method = "auto",
    prove: options.Prove = False,
    strict: options.Strict = False,
    seed: options.Seed = 0,
    workers: options.Workers = None,
) -> None:
    """Compute distributions over configurations from pair scores.

    PAIRS has the columns left,right,probability (or Splink's unique_id_l,
    unique_id_r,match_probability) and optionally set. Probability 0 means that two
    templates cannot be the same, 1 that they must be. Without a set column, every
    connected component is a set.

    \b
    Examples:
      partita solve pairs.csv
      partita solve pairs.csv --json --top 100 > results.jsonl
      partita solve scores.parquet --clusters clusters.csv --cautious .95
    """
    if cautious is not None and clusters is None:
        raise typer.BadParameter("--cautious needs --clusters F.csv")
    with error_boundary() as console:
        from partita.app.batch import Forms
        from partita.app.solve import read_sets
        from partita.app.solve_batch import solve_sets

        _refuse_overwriting(out, clusters, [pairs, parameters, templates])
        _note_parameters(console, model, parameters)
        budget = _budget(seconds, memory, work)
        solver = _solver(model, parameters, top, threshold, budget, seed, method, prove)
        sets = read_sets(pairs, form, templates, missing, soft, assume or (), console.note)
        _note_unlisted(console, sets)
        forms = Forms(
            json=json or out is not None,
            clusters=clusters is not None,
            cautious=cautious,
            view=view_of(len(sets) > MANY, json, bool(out or clusters)),
            width=console.width,
            colour=console.colour,
        )
        output = Output(
            console,
            "set",
            _sinks(out, clusters, sets, excel_safe),
            print_lines=out is None,
            separated=forms.view == "text",
            total=len(sets),
            summary=_no_summary if forms.view else _summary,
        )
        outcomes = solve_sets(sets, solver, forms, Path(pairs).name, workers, console.progress)
        output.write(outcomes)
    if output.failed or (strict and output.not_converged):
        raise typer.Exit(1)


def _refuse_overwriting(
    out: Path | None, clusters: Path | None, inputs: Sequence[str | Path | None]
) -> None:
    from partita.errors import InputError
    from partita.files.writing import refuse_inputs

    if out is not None and clusters is not None and _same_file(out, clusters):
        raise InputError("is named by --out and by --clusters (expected two files)", file=str(out))
    for file in (out, clusters):
        refuse_inputs(file, inputs)


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() and (one.is_file() or not one.exists())


def _sinks(out: Path | None, clusters: Path | None, sets: Sets, excel_safe: bool) -> list[Sink]:
    sinks: list[Sink] = [] if out is None else [ReplacedFile(out, SOLVED)]
    if clusters is not None:
        sinks.append(ClustersFile(clusters, sets.named, excel_safe))
    return sinks


def _summary(output: Output) -> str:
    if not output.sinks:
        return ""
    return f"{output.done:,} sets answered, {output.failed:,} failed"


def _no_summary(_: Output) -> str:
    return ""


def _solver(
    model: str,
    parameters: Path | None,
    top: int | None,
    threshold: float | None,
    budget: Budget,
    seed: int,
    method: str,
    prove: bool,
) -> Solver:
    from partita.app.solve import TOP, Solver, learned_parameters

    listed = TOP if top is None and threshold is None else top
    learned = learned_parameters(model, parameters)
    return Solver(model, learned, listed, threshold, budget, seed, method, prove)


def _budget(seconds: float | None, memory: str | None, work: int | None) -> Budget:
    """Return the budget for a set: with an amount of work no clock is looked at by default."""
    from partita.core import Budget

    usual = float("inf") if work is not None else Budget().seconds
    return Budget(usual if seconds is None else seconds, options.memory_limit(memory), work)


def _note_parameters(console: Console, model: str, parameters: Path | None) -> None:
    from partita.app.solve import LEARNED

    if model in LEARNED and parameters is None:
        console.note(f"{model} uses the parameters that ship with Partita (--parameters F)")
    if parameters is not None and model not in LEARNED:
        console.note(f"{model} has no parameters: {parameters} is not used")


def _note_unlisted(console: Console, sets: Sets) -> None:
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

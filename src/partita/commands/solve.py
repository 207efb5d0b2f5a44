"""The commands demo and solve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from partita.commands import options
from partita.commands.console import Console
from partita.commands.shell import edge

if TYPE_CHECKING:
    from partita.formats.sets import Sets
    from partita.records import Budget
    from partita.workspace.batch import Wanted
    from partita.workspace.solving import Task

MANY = 20  # sets: of more, each is told in one line


def add_to(app: typer.Typer) -> None:
    """The commands of this file."""
    app.command()(demo)
    app.command()(solve)


def demo() -> None:
    """The paper's worked example, from its message to its seven configurations.

    Example: partita demo
    """
    with edge() as console:
        from partita.commands.demo import demo as pieces

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
    cautious: options.Cautious = None,
    json: options.Json = False,
    out: options.Out = None,
    seconds: options.Seconds = None,
    memory: options.Memory = None,
    work: options.Work = None,
    method: options.Method = "auto",
    strict: options.Strict = False,
    seed: options.Seed = 0,
    workers: options.Workers = None,
) -> None:
    """A distribution over configurations from pair probabilities.

    PAIRS has the columns left,right,probability (or Splink's unique_id_l,
    unique_id_r,match_probability) and, if you like, set. Probability 0 says
    that two templates cannot be the same, 1 that they must be. Without a set
    column every connected component is a set.

    \b
    Examples:
      partita solve pairs.csv
      partita solve pairs.csv --json --top 100 > results.jsonl
      partita solve scores.parquet --clusters clusters.csv --cautious .95
    """
    if cautious is not None and clusters is None:
        raise typer.BadParameter("--cautious needs --clusters F.csv")
    with edge() as console:
        from partita.commands.delivery import Delivery
        from partita.workspace.batch import answers
        from partita.workspace.solving import read_sets

        _say_parameters(console, model, parameters)
        limits = _budget(seconds, memory, work)
        task = _task(model, parameters, top, threshold, limits, seed, method)
        sets = read_sets(pairs, form, templates, missing, soft, assume or ())
        _say_unlisted(console, sets)
        wanted = _wanted(console, pairs, len(sets), json, out, clusters, cautious)
        delivery = Delivery(console, sets, wanted, out, clusters)
        delivery.deliver(answers(sets, task, wanted, workers, console.progress))
    if delivery.failed or (strict and delivery.unsettled):
        raise typer.Exit(1)


def _task(
    model: str,
    parameters: Path | None,
    top: int | None,
    threshold: float | None,
    limits: Budget,
    seed: int,
    method: str,
) -> Task:
    from partita.workspace.solving import TOP, Task, learned_parameters

    listed = TOP if top is None and threshold is None else top
    learned = learned_parameters(model, parameters)
    return Task(model, learned, listed, threshold, limits, seed, method)


def _wanted(
    console: Console,
    pairs: str,
    sets: int,
    json: bool,
    out: Path | None,
    clusters: Path | None,
    cautious: float | None,
) -> Wanted:
    """A few sets are shown in full, many in a line each, many that go to a file not at all."""
    from partita.workspace.batch import Wanted

    silent = json or (sets > MANY and (out or clusters))
    return Wanted(
        message=Path(pairs).name,
        json=json or out is not None,
        shown="" if silent else "text" if sets <= MANY else "line",
        clusters=clusters is not None,
        cautious=cautious,
        width=console.width,
        colour=console.colour,
    )


def _budget(seconds: float | None, memory: str | None, work: int | None) -> Budget:
    """With an amount of work no clock is looked at, unless seconds are given too."""
    from partita.records import Budget
    from partita.workspace.solving import default_memory

    usual = float("inf") if work is not None else Budget().seconds
    return Budget(
        usual if seconds is None else seconds,
        default_memory() if memory is None else options.size_of(memory),
        work,
    )


def _say_parameters(console: Console, model: str, parameters: Path | None) -> None:
    from partita.workspace.solving import LEARNED

    if model in LEARNED and parameters is None:
        console.note(f"{model} uses the parameters that come with Partita (--parameters F)")
    if parameters is not None and model not in LEARNED:
        console.note(f"{model} has no parameters: {parameters} is not used")


def _say_unlisted(console: Console, sets: Sets) -> None:
    """How many pairs the file leaves out; of many sets the sum."""
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

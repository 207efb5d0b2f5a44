"""The commands solve and demo."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from partita.app.solve_batch import Answer, Wanted
from partita.cli import options
from partita.cli.console import Console, StandardOutput, error_boundary
from partita.errors import PartitaError
from partita.files.writing import replacing
from partita.linkage.clusters import HEADER, write_rows
from partita.linkage.sets import Sets
from partita.results.result_lines import singletons_line

if TYPE_CHECKING:
    from partita.app.solve import Task
    from partita.records import Budget


class NothingAnswered(PartitaError):
    """Every set failed, and each has said why."""


@dataclass(slots=True)
class Delivery:
    """Each answer is written as soon as it is there; `failed` and `unsettled` count the rest."""

    console: Console
    sets: Sets
    wanted: Wanted
    out: Path | None = None
    clusters: Path | None = None
    done: int = 0
    failed: int = 0
    unsettled: int = 0
    stdout: StandardOutput = field(init=False)

    def __post_init__(self) -> None:
        self.stdout = StandardOutput(self.console, bool(self.out or self.clusters))

    def deliver(self, answers: Iterable[Answer]) -> None:
        """All of them. Ctrl-C keeps what was finished, an error leaves the files as they were."""
        with ExitStack() as files:
            out = files.enter_context(replacing(self.out)) if self.out else None
            clusters = files.enter_context(replacing(self.clusters)) if self.clusters else None
            if clusters is not None:
                write_rows(clusters, [(*HEADER, "set") if self.sets.named else HEADER])
            try:
                self._all(answers, out, clusters)
            except KeyboardInterrupt:
                self.console.flush()
                raise KeyboardInterrupt(self._kept()) from None
            self._alone(out, clusters)
            if self.failed and not self.done and not self.sets.singletons:
                raise NothingAnswered
        self.stdout.say("", flush=True)
        if not self.wanted.shown and (self.out or self.clusters):
            self.console.note(f"{self.done:,} sets answered, {self.failed:,} failed")

    def _all(self, answers: Iterable[Answer], out: TextIO | None, clusters: TextIO | None) -> None:
        for answer in answers:
            if answer.error:
                self.failed += 1
                self.console.note(answer.error)
                continue
            self._one(answer, out, clusters)
            self.done += 1
            self.console.progress(f"{self.done + self.failed:,} of {len(self.sets):,} sets")

    def _one(self, answer: Answer, out: TextIO | None, clusters: TextIO | None) -> None:
        if not answer.converged:
            self.unsettled += 1
            self.console.note(f"set {answer.set}: the chains disagree; the answer is not settled")
        if out is not None:
            out.write(answer.json + "\n")
        elif answer.json:
            self.stdout.say(answer.json + "\n")
        if answer.shown:
            self.stdout.say(
                "\n" + answer.shown if self.done and self.wanted.shown == "text" else answer.shown
            )
        if clusters is not None:
            named = (answer.set,) if self.sets.named else ()
            write_rows(clusters, [(*row, *named) for row in answer.clusters])

    def _alone(self, out: TextIO | None, clusters: TextIO | None) -> None:
        """Templates that may corefer with no other."""
        alone = self.sets.singletons
        if not alone:
            return
        line = singletons_line(alone, self.wanted.message) + "\n"
        if out is not None:
            out.write(line)
        elif self.wanted.json:
            self.stdout.say(line)
        if self.wanted.shown:
            from partita.views.distribution import names_text

            self.stdout.say(names_text("Alone:", [t.id for t in alone], self.wanted.width))
        if clusters is not None:
            named = ("",) if self.sets.named else ()
            write_rows(clusters, [(t.id, t.id, 1.0, *named) for t in alone])

    def _kept(self) -> str:
        places = [str(place) for place in (self.out, self.clusters) if place]
        where = f" and are in {' and '.join(places)}" if places else ""
        return f"{self.done:,} of {len(self.sets):,} sets were finished{where}"


MANY = 20  # sets: of more, each is told in one line


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
        from partita.app.solve import read_sets
        from partita.app.solve_batch import answers

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
    from partita.app.solve import TOP, Task, learned_parameters

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
    from partita.app.solve_batch import Wanted

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
    from partita.app.solve import default_memory
    from partita.records import Budget

    usual = float("inf") if work is not None else Budget().seconds
    return Budget(
        usual if seconds is None else seconds,
        default_memory() if memory is None else options.size_of(memory),
        work,
    )


def _say_parameters(console: Console, model: str, parameters: Path | None) -> None:
    from partita.app.solve import LEARNED

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

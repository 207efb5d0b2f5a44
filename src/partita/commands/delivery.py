"""Answers to where they are wanted: standard output, a file of results, a file of clusters."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from partita.commands.console import Audience, Console
from partita.errors import PartitaError
from partita.formats.clusters import HEADER, write_rows
from partita.formats.results import singletons_line
from partita.formats.sets import Sets
from partita.formats.writing import replacing
from partita.workspace.batch import Answer, Wanted


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
    audience: Audience = field(init=False)

    def __post_init__(self) -> None:
        self.audience = Audience(self.console, bool(self.out or self.clusters))

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
        self.audience.say("", flush=True)
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
            self.audience.say(answer.json + "\n")
        if answer.shown:
            self.audience.say(
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
            self.audience.say(line)
        if self.wanted.shown:
            from partita.views.terminal import names_text

            self.audience.say(names_text("Alone:", [t.id for t in alone], self.wanted.width))
        if clusters is not None:
            named = ("",) if self.sets.named else ()
            write_rows(clusters, [(t.id, t.id, 1.0, *named) for t in alone])

    def _kept(self) -> str:
        places = [str(place) for place in (self.out, self.clusters) if place]
        where = f" and are in {' and '.join(places)}" if places else ""
        return f"{self.done:,} of {len(self.sets):,} sets were finished{where}"

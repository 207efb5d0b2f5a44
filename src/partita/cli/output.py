"""Write outcomes as soon as they are there: to standard output, files and a store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from partita.cli.console import Console, StandardOutput
from partita.errors import InputError, PartitaError
from partita.files.text import opened
from partita.files.writing import replacing

if TYPE_CHECKING:
    from partita.app.batch import Outcome, View
    from partita.app.recording import Recording
    from partita.files.resume import Growing, Stretch

MANY = 20  # sets or messages: of more, each is shown in one line


def view_of(many: bool, json: bool, elsewhere: bool) -> View:
    """Return how results are shown: a few in full, many in a line each or, in a file, not."""
    if json or (many and elsewhere):
        return ""
    return "line" if many else "text"


class NothingWritten(PartitaError):
    """Everything failed, and every error has been reported."""


class Sink:
    """A place for outcomes besides standard output."""

    place: str
    replaced = False  # a file whose old contents are kept if nothing can be written
    resumable = False  # the same command continues where it was stopped

    @contextmanager
    def opened(self) -> Iterator[None]:
        yield

    def write(self, outcome: Outcome) -> None:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file, and a pattern of its first line."""

    name: str
    first_line: bytes

    def check(self, path: Path) -> None:
        """Raise an error if the file holds something else."""
        if not path.is_file():
            return
        with opened(path) as stream:
            line = stream.readline()
        if line and not re.match(self.first_line, line):
            problem = f"holds something else than {self.name}"
            raise InputError(f"{problem}; use another file, or remove it", file=str(path))


SOLVED = Kind("results of solve", rb'\{"version":.*("unlisted":\{|"singletons":.*"run":null)')
CONLLU = Kind("CoNLL-U", rb"# newdoc")


class ReplacedFile(Sink):
    """A file that gets new contents.

    An error leaves the file as it was; Ctrl-C keeps what was finished. Only an earlier file of the
    same kind is replaced: `kind` says what its first line looks like.
    """

    replaced = True

    def __init__(self, path: Path, kind: Kind) -> None:
        self.path, self.place, self.kind = path, str(path), kind
        self.stream: TextIO

    @contextmanager
    def opened(self) -> Iterator[None]:
        self.kind.check(self.path)
        with replacing(self.path) as self.stream:
            yield

    def write(self, outcome: Outcome) -> None:
        for line in outcome.lines:
            self.stream.write(f"{line}\n")


class ResumedFile(Sink):
    """A file of results that grows by whole messages; `earlier` are those that it has already."""

    resumable = True

    def __init__(self, path: Path, earlier: Mapping[str, Stretch]) -> None:
        self.path, self.place, self.earlier = path, str(path), earlier
        self.file: Growing

    @contextmanager
    def opened(self) -> Iterator[None]:
        from partita.files.resume import growing

        with growing(self.path, self.earlier) as self.file:
            yield

    def write(self, outcome: Outcome) -> None:
        if outcome.name in self.earlier:
            self.file.keep(outcome.name)
        elif not outcome.error and not outcome.skipped:
            self.file.add(outcome.name, outcome.lines)


class StoredRun(Sink):
    """A run in a store."""

    resumable = True

    def __init__(self, record: Recording) -> None:
        self.record, self.place = record, record.store.name

    def write(self, outcome: Outcome) -> None:
        self.record.write(outcome)


@dataclass(slots=True)
class Output:
    """Write all outcomes and count them; `summary` describes them at the end, if need be."""

    console: Console
    noun: str  # what an outcome is about: set, message
    sink: Sink | None = None
    print_lines: bool = True  # on standard output
    separated: bool = False  # by blank lines, in what is shown
    total: int | None = None
    summary: Callable[[Output], str] = lambda output: ""
    done: int = 0
    skipped: int = 0
    failed: int = 0
    not_converged: int = 0
    noted: int = 0
    sizes: tuple[int, int, int] = (0, 0, 0)
    stdout: StandardOutput = field(init=False)

    def __post_init__(self) -> None:
        self.stdout = StandardOutput(self.console, elsewhere=self.sink is not None)

    def write(self, outcomes: Iterable[Outcome]) -> None:
        """Write all outcomes; whatever stops this, what was finished is kept."""
        with nullcontext() if self.sink is None else self.sink.opened():
            self.console.finished = self._interrupted
            self._write_all(outcomes)
        self.stdout.say("", flush=True)
        if text := self.summary(self):
            self.console.note(text)

    def _write_all(self, outcomes: Iterable[Outcome]) -> None:
        written = 0
        for outcome in outcomes:
            written += not outcome.error
            self._write(outcome)
            if self.console.due:
                self.console.progress(self._progress())
        if self.failed and not written and self.sink is not None and self.sink.replaced:
            raise NothingWritten

    def _write(self, outcome: Outcome) -> None:
        if outcome.error:
            self.failed += 1
            self.console.note(outcome.error)
        if not outcome.converged:
            self.not_converged += 1
            problem = "the chains disagree; the answer is not settled"
            self.console.note(f"{self.noun} {outcome.name}: {problem}")
        self._note(outcome)
        self.skipped += outcome.skipped
        if self.sink is not None:
            self.sink.write(outcome)
        if outcome.error or outcome.skipped:
            return
        if self.print_lines:
            self.stdout.say("".join(f"{line}\n" for line in outcome.lines))
        if outcome.shown:
            blank = "\n" if self.separated and self.done and outcome.counted else ""
            self.stdout.say(blank + outcome.shown)
        self.done += outcome.counted
        if any(outcome.sizes):
            templates, sets, entities = map(sum, zip(self.sizes, outcome.sizes, strict=True))
            self.sizes = templates, sets, entities

    def _note(self, outcome: Outcome) -> None:
        """Show the notes on an outcome; of many outcomes with notes, the first ones."""
        self.noted += bool(outcome.notes)
        for note in outcome.notes if self.noted <= MANY else ():
            self.console.note(f"{self.noun} {outcome.name}: {note}")
        if outcome.notes and self.noted == MANY + 1:
            self.console.note(f"notes on further {self.noun}s are not shown")

    def _progress(self) -> str:
        count = self.done + self.skipped
        if self.total is not None:
            return f"{count + self.failed:,} of {self.total:,} {self.noun}s"
        text = f"{count:,} {self.noun}s"
        return f"{text}, {self.failed:,} failed" if self.failed else text

    def _interrupted(self) -> str:
        of_total = "" if self.total is None else f" of {self.total:,}"
        finished = self.done + self.skipped
        text = f"{finished:,}{of_total} {self.noun}s were finished"
        if not finished or self.sink is None:
            return text
        again = "; the same command goes on from there" if self.sink.resumable else ""
        return f"{text} and are in {self.sink.place}{again}"

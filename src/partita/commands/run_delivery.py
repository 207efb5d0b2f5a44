"""Messages that are done, to where they are wanted: standard output, a file that grows, a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from partita.commands.console import Audience, Console
from partita.formats.resumed import Growing, Stretch, growing
from partita.views.message import counted
from partita.workspace.run_batch import Done, Wanted

if TYPE_CHECKING:  # SQL is loaded only where there is a store
    from partita.workspace.recording import Recording


@dataclass(slots=True)
class RunDelivery:
    """Each message is written as soon as it is there; the numbers say what became of all."""

    console: Console
    wanted: Wanted
    out: Path | None = None
    before: Mapping[str, Stretch] = field(default_factory=dict)
    record: Recording | None = None
    done: int = 0
    kept: int = 0
    failed: int = 0
    sizes: tuple[int, int, int] = (0, 0, 0)
    audience: Audience = field(init=False)

    def __post_init__(self) -> None:
        self.audience = Audience(self.console, elsewhere=self._elsewhere)

    @property
    def _elsewhere(self) -> bool:
        return self.out is not None or self.record is not None

    def deliver(self, messages: Iterable[Done]) -> None:
        """All of them. Whatever stops this, what was finished is in the file."""
        with self._file() as file:
            try:
                for message in messages:
                    self._one(message, file)
                    self.console.progress(self._progress())
            except KeyboardInterrupt:
                self.console.flush()
                raise KeyboardInterrupt(self._left()) from None
        self.audience.say("", flush=True)
        if self.done + self.kept + self.failed > 1 or self._elsewhere:
            self.console.note(self._summary())

    @contextmanager
    def _file(self) -> Iterator[Growing | None]:
        if self.out is None:
            yield None
            return
        with growing(self.out, self.before) as file:
            yield file

    def _one(self, message: Done, file: Growing | None) -> None:
        if message.error:
            self.failed += 1
            self.console.note(message.error)
        self.kept += message.kept
        if self.record is not None:
            self.record.take(message)
        if file is not None and message.message in self.before:
            file.keep(message.message)
        if message.error or message.kept:
            return
        if file is not None:
            if message.message not in self.before:
                file.add(message.message, message.lines)
        else:
            self.audience.say("".join(f"{line}\n" for line in message.lines))
        if message.shown:
            apart = "\n" if self.done and self.wanted.shown == "text" else ""
            self.audience.say(apart + message.shown)
        self.done += 1
        templates, sets, entities = map(sum, zip(self.sizes, message.sizes, strict=True))
        self.sizes = templates, sets, entities

    def _progress(self) -> str:
        told = f"{self.done + self.kept:,} messages"
        return f"{told}, {self.failed:,} failed" if self.failed else told

    def _summary(self) -> str:
        messages = "1 message" if self.done == 1 else f"{self.done:,} messages"
        told = [f"{messages}: {counted(*self.sizes)}"]
        if self.kept:
            told.append(f"{self.kept:,} done before")
        if self.failed:
            told.append(f"{self.failed:,} failed")
        if self.record is not None:
            told.append(f"run {self.record.run} of store {self.record.store.name}")
        return "; ".join(told)

    def _left(self) -> str:
        told = f"{self.done + self.kept:,} messages were finished"
        if not self._elsewhere:
            return told
        where = self.record.store.name if self.record is not None else self.out
        return f"{told} and are in {where}; the same command goes on from there"


def deliver_answers(console: Console, messages: Iterable[Done], out: Path | None) -> int:
    """The exam's answers of all messages, to a file or standard output; how many have failed."""
    from partita.formats.atomic import write_atomically

    pieces: list[str] = []
    failed = 0
    for number, message in enumerate(messages, 1):
        if message.error:
            failed += 1
            console.note(message.error)
        pieces += message.lines
        console.progress(f"{number:,} messages")
    text = "".join(pieces)
    if out is None:
        console.say(text)
        console.flush()
    else:
        write_atomically(out, text)
    templates = sum(line[:3] == "1. " and line[-1] != "*" for line in text.splitlines())
    told = f"{len(pieces):,} messages, {templates:,} incidents"
    console.note(f"{told}; {failed:,} failed" if failed else told)
    return failed

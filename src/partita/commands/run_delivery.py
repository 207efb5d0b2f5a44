"""Messages that are done, to where they are wanted: standard output, or a file that grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from partita.commands.console import Audience, Console
from partita.formats.resumed import Growing, Stretch, growing
from partita.views.message import counted
from partita.workspace.run_batch import Done, Wanted


@dataclass(slots=True)
class RunDelivery:
    """Each message is written as soon as it is there; the numbers say what became of all."""

    console: Console
    wanted: Wanted
    out: Path | None = None
    before: Mapping[str, Stretch] = field(default_factory=dict)
    done: int = 0
    kept: int = 0
    failed: int = 0
    sizes: tuple[int, int, int] = (0, 0, 0)
    audience: Audience = field(init=False)

    def __post_init__(self) -> None:
        self.audience = Audience(self.console, elsewhere=self.out is not None)

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
        if self.done + self.kept + self.failed > 1 or self.out:
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
        if file is not None and message.message in self.before:
            file.keep(message.message)
        if message.error or message.kept:
            return
        if file is not None:
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
        return "; ".join(told)

    def _left(self) -> str:
        told = f"{self.done + self.kept:,} messages were finished"
        if self.out is None:
            return told
        return f"{told} and are in {self.out}; the same command goes on from there"

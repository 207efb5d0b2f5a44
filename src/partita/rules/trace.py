"""Record what each phase saw and which rule won."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.rules.build import Contribution, fitting
from partita.rules.cascade import Step
from partita.rules.domain import At, Rule
from partita.rules.phrases import Described
from partita.templates.schema import Schema


@dataclass(frozen=True, slots=True)
class Piece:
    """A phrase as a phase saw it: its text, and its tag or kind."""

    text: str
    mark: str
    built: bool


@dataclass(frozen=True, slots=True)
class Win:
    """A match: the rule, what it covers, what it made or said, and the rules that it beat."""

    rule: str
    at: At
    text: str
    size: int
    kind: str = ""
    made: Mapping[str, Any] = field(default_factory=dict)
    beaten: tuple[tuple[str, int], ...] = ()
    about: str = ""
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """A phase: the sentences before it, and its matches in each of them."""

    phase: str
    starts: str
    rules: int
    sentences: tuple[tuple[Piece, ...], ...]
    wins: tuple[tuple[Win, ...], ...]
    whole: bool = True

    @property
    def count(self) -> int:
        return sum(map(len, self.wins))


@dataclass(slots=True)
class Tracer:
    """An observer of a cascade."""

    schema: Schema
    seen: list[Seen] = field(default_factory=list)

    def __call__(self, step: Step) -> None:
        bounds = list(_sentences(step.items))
        wins = list(self._wins(step))
        self.seen.append(
            Seen(
                step.stage.phase.name,
                step.stage.phase.starts,
                len(step.stage.phase.rules),
                tuple(tuple(map(_piece, step.items[a:b])) for a, b in bounds),
                tuple(tuple(win for at, win in wins if a <= at < b) for a, b in bounds),
                step.found.whole,
            )
        )

    def _wins(self, step: Step) -> Iterator[tuple[int, Win]]:
        """The matches with where they begin."""
        rules = step.stage.phase.rules
        if step.stage.phase.starts == "cursor":
            for (number, spans), made in zip(step.found.matches, step.made, strict=True):
                start, end = spans[0]
                beaten = tuple(_beaten(step, number, start))
                said = {name: one for name, one in made.attributes.items() if name not in _KNOWN}
                text, kind = made.attributes["text"], made.attributes["kind"]
                rule = rules[number]
                yield start, Win(rule.name, rule.at, text, end - start, kind, said, beaten)
            return
        for one, start in step.said:
            text = "".join(step.pieces[one.first : one.last + 1]).rstrip()
            yield start, self._said(one, text, rules[one.order])

    def _said(self, one: Contribution, text: str, rule: Rule) -> Win:
        taken, refused = {}, []
        for slot, value in one.slots.items():
            fits, reason = fitting(self.schema, slot, value)
            if reason:
                refused.append(f"{slot}: {reason}")
            if fits is not None:
                taken[slot] = fits
        return Win(one.rule, rule.at, text, one.size, "", taken, (), one.about.text, tuple(refused))


_KNOWN = ("kind", "text", "region", "column")


def _sentences(items: list[Described]) -> Iterator[tuple[int, int]]:
    begin = 0
    for n, item in enumerate(items):
        if not item.attributes:
            yield begin, n
            begin = n + 1


def _piece(item: Described) -> Piece:
    said = item.attributes
    built = said["kind"] != "word"
    return Piece(said["text"], said["kind"] if built else said["tag"], built)


def _beaten(step: Step, winner: int, start: int) -> Iterator[tuple[str, int]]:
    """Rules that matched at the same place, and how much they covered."""
    for number, spans in step.stage.matching.contenders(step.characters, start):
        if number != winner:
            yield step.stage.phase.rules[number].name, spans[0][1] - start

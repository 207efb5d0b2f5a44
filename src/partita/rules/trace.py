"""Record the input and the matches of each phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.rules.build import Contribution, fit_value
from partita.rules.cascade import CascadeStep
from partita.rules.domain import At, Rule
from partita.rules.drafts import contribution_scope
from partita.rules.phrases import SharedPhrase
from partita.templates.schema import Schema


@dataclass(frozen=True, slots=True)
class TracedPiece:
    """A phrase in a phase: its text, and its tag or kind."""

    text: str
    mark: str
    built: bool


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A match: the rule, its text and result, and the rules that it beat.

    `status` tells what is not asserted, with the words that say so.
    """

    rule: str
    at: At
    text: str
    size: int
    kind: str = ""
    made: Mapping[str, Any] = field(default_factory=dict)
    beaten: tuple[tuple[str, int], ...] = ()
    about: str = ""
    refused: tuple[str, ...] = ()
    status: str = ""


@dataclass(frozen=True, slots=True)
class PhaseTrace:
    """A phase: its input by sentence, and its matches in each sentence."""

    phase: str
    starts: str
    rules: int
    sentences: tuple[tuple[TracedPiece, ...], ...]
    wins: tuple[tuple[RuleMatch, ...], ...]
    whole: bool = True

    @property
    def count(self) -> int:
        return sum(map(len, self.wins))


@dataclass(slots=True)
class Tracer:
    """An observer that records the phases of a cascade."""

    schema: Schema
    seen: list[PhaseTrace] = field(default_factory=list)

    def __call__(self, step: CascadeStep) -> None:
        bounds = list(_sentences(step.items))
        wins = list(self._wins(step))
        self.seen.append(
            PhaseTrace(
                step.stage.phase.name,
                step.stage.phase.starts,
                len(step.stage.phase.rules),
                tuple(tuple(map(_piece, step.items[a:b])) for a, b in bounds),
                tuple(tuple(win for at, win in wins if a <= at < b) for a, b in bounds),
                step.matches.complete,
            )
        )

    def _wins(self, step: CascadeStep) -> Iterator[tuple[int, RuleMatch]]:
        """Yield the matches with their starts."""
        rules = step.stage.phase.rules
        if step.stage.phase.starts == "cursor":
            for (number, spans), made in zip(step.matches.matches, step.made, strict=True):
                start, end = spans[0]
                beaten = tuple(_beaten(step, number, start))
                attributes = {
                    name: value for name, value in made.attributes.items() if name not in _HIDDEN
                }
                text, kind = made.attributes["text"], made.attributes["kind"]
                rule = rules[number]
                yield (
                    start,
                    RuleMatch(rule.name, rule.at, text, end - start, kind, attributes, beaten),
                )
            return
        for contribution, start in step.said:
            text = "".join(step.pieces[contribution.first : contribution.last + 1]).rstrip()
            status = _status(step, contribution)
            yield start, self._contribution(contribution, text, rules[contribution.order], status)

    def _contribution(
        self, contribution: Contribution, text: str, rule: Rule, status: str
    ) -> RuleMatch:
        accepted, refused = {}, []
        for slot, value in contribution.slots.items():
            fits, reason = fit_value(self.schema, slot, value)
            if reason:
                refused.append(f"{slot}: {reason}")
            if fits is not None:
                accepted[slot] = fits
        return RuleMatch(
            contribution.rule,
            rule.at,
            text,
            contribution.size,
            "",
            accepted,
            (),
            contribution.about.text,
            tuple(refused),
            status,
        )


def _status(step: CascadeStep, contribution: Contribution) -> str:
    """Return the status of what a match says, if it is not asserted, and the words of its cue."""
    if step.statuses is None:
        return ""
    if contribution.roles:  # an event, whose verb decides
        scope = step.statuses.at(contribution.about.last)
    else:
        scope = contribution_scope(contribution, step.statuses)
    if scope is None:
        return ""
    cue = "".join(step.pieces[slice(*scope.cue)]).strip()
    return f"{scope.status} ({cue})" if cue else scope.status


_HIDDEN = ("kind", "text", "region", "column")


def _sentences(items: list[SharedPhrase]) -> Iterator[tuple[int, int]]:
    begin = 0
    for n, item in enumerate(items):
        if not item.attributes:
            yield begin, n
            begin = n + 1


def _piece(item: SharedPhrase) -> TracedPiece:
    attributes = item.attributes
    built = attributes["kind"] != "word"
    return TracedPiece(
        attributes["text"], attributes["kind"] if built else attributes["tag"], built
    )


def _beaten(step: CascadeStep, winner: int, start: int) -> Iterator[tuple[str, int]]:
    """Yield the other rules that match at the same position, with their lengths."""
    for number, spans in step.stage.matching.contenders(step.characters, start):
        if number != winner:
            yield step.stage.phase.rules[number].name, spans[0][1] - start

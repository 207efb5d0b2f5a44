"""The examples of rules: each must match in its phase, and should win there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from partita.extraction.cascade import Cascade, Columns, Step
from partita.extraction.domain import Phase, Rule
from partita.extraction.problems import Problem
from partita.records.documents import Region

Read = Callable[[str], tuple[Columns, Sequence[str], Sequence[Region]]]  # tokens, tags, regions


def failing(cascade: Cascade, read: Read) -> Iterator[Problem]:
    """Examples that do not match, as errors; where another rule wins, or the rule is of a domain
    that this one extends, as warnings."""
    for n, phase in enumerate(cascade.domain.phases):
        for rule in phase.rules:
            for example in rule.examples:
                yield from _failing(cascade, n, rule, example, read)


def _failing(
    cascade: Cascade, number: int, rule: Rule, example: str, read: Read
) -> Iterator[Problem]:
    steps: list[Step] = []
    tokens, tags, regions = read(example)
    cascade.run(tokens, tags, regions, steps.append)
    step = steps[number]
    family = _family(cascade.domain.phases[number], rule)
    if any(found in family for found, _ in step.found.matches):
        return
    said = f"rule {rule.name!r}: the example {example!r}"
    others = _matching(step, family)
    if others is None:
        yield Problem(rule.at, f"{said} does not match", error=_own(cascade, rule))
    else:
        winner = cascade.domain.phases[number].rules[others].name
        yield Problem(rule.at, f"{said} is won by {winner!r}", error=False)


def _own(cascade: Cascade, rule: Rule) -> bool:
    """Whether the rule is the domain's own: what it extends may be read with other words."""
    return Path(rule.at.file).parent.parent == Path(cascade.domain.at.file).parent


def _family(phase: Phase, rule: Rule) -> set[int]:
    """The rule, or all forms of its clause."""
    return {
        n
        for n, other in enumerate(phase.rules)
        if other is rule or (rule.clause and other.clause == rule.clause)
    }


def _matching(step: Step, family: set[int]) -> int | None:
    """If one of the rules matches at all: who won where it does."""
    for n in range(len(step.characters)):
        matching = {number for number, _ in step.stage.matching.contenders(step.characters, n)}
        if matching & family:
            return _winner(step, n)
    return None


def _winner(step: Step, at: int) -> int:
    for number, spans in step.found.matches:
        if spans[0][0] <= at < spans[0][1]:
            return number
    return step.found.matches[0][0]

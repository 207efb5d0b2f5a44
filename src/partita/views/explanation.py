"""Explanations of pair probabilities as text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from partita.pairs.explanation import (
    Influence,
    JointDecision,
    PairExplanation,
    SetExplanation,
)
from partita.views.layout import (
    WIDTH,
    cell,
    clean,
    count_text,
    cut_text,
    one_line,
    probability_text,
)


@dataclass(frozen=True, slots=True)
class ExplainedPair:
    """A pair, its probability alone and given the whole set, and why, as far as that is known.

    `noun` is what its members are called.
    """

    left: str
    right: str
    probability: float
    marginal: float
    pair: PairExplanation | None
    rest: SetExplanation | None
    expressions: Mapping[str, str]
    notes: Sequence[str]
    decision: JointDecision | None = None
    noun: ClassVar[str] = "template"

    @property
    def alone(self) -> str:
        """What `probability` is given."""
        return "the pair alone" if self.decision is None else "given the others as in the answer"


def explanation_text(explained: ExplainedPair) -> str:
    """Return the features with their weights, then the influence of the other templates."""
    names = (_named(one, explained.expressions) for one in (explained.left, explained.right))
    lines = [cut_text(" = ".join(names), WIDTH)]
    for note in (*([explained.decision.sentence] if explained.decision else ()), *explained.notes):
        lines += textwrap.wrap(note, WIDTH)
    if explained.pair is not None:
        lines += ["", *_features(explained.pair, WIDTH, explained.alone)]
    rest = explained.rest
    lines += ["", *(_ends(explained, WIDTH) if rest is None else _rest(explained, rest, WIDTH))]
    return "\n".join(lines) + "\n"


def _ends(summary: ExplainedPair, width: int) -> Iterator[str]:
    yield f"{cell(summary.alone, width - 12)} {probability_text(summary.probability):>11}"
    yield f"{cell('given the whole set', width - 12)} {probability_text(summary.marginal):>11}"


def _features(pair: PairExplanation, width: int, alone: str) -> Iterator[str]:
    room = width - 22
    yield f"{'feature':{room}} {'weight':>9} {'so far':>10}"
    total = 0.0
    weighted = [contribution for contribution in pair.contributions if contribution.weight]
    for contribution in weighted:
        total += contribution.weight
        weight, so_far = f"{contribution.weight:+9.4f}", probability_text(score_probability(total))
        yield f"{cell(contribution.feature, room)} {weight} {so_far:>10}"
    if unweighted := len(pair.contributions) - len(weighted):
        verb = "has" if unweighted == 1 else "have"
        yield f"{count_text(unweighted, 'more characteristic')} {verb} weight 0"
    label = f"{alone} (sum of the weights, probability)"
    yield f"{cell(label, room)} {pair.log_odds:+9.4f} {probability_text(pair.probability):>10}"


def _rest(explained: ExplainedPair, rest: SetExplanation, width: int) -> Iterator[str]:
    room, noun = width - 22, explained.noun
    yield f"{f'influence of the other {noun}s':{room}} {'change':>9} {'so far':>10}"
    yield f"{cell('the pair alone', room)} {'':9} {probability_text(rest.probability):>10}"
    for step in rest.influences:
        change = step.after - step.before
        label = cell(influence_label(step, explained.expressions, noun), room)
        yield f"{label} {change:+9.4f} {probability_text(step.after):>10}"
    change = rest.marginal - rest.probability
    label = "given the whole set"
    yield f"{cell(label, room)} {change:+9.4f} {probability_text(rest.marginal):>10}"


def score_probability(score: float) -> float:
    return (1 + math.tanh(score / 2)) / 2


def influence_label(step: Influence, expressions: Mapping[str, str], noun: str) -> str:
    """Return the templates of an influence, or their number."""
    if len(step.templates) == 1:
        return _named(step.templates[0], expressions)
    return f"{len(step.templates)} other {noun}s"


def _named(template: str, expressions: Mapping[str, str]) -> str:
    expression = one_line(expressions.get(template, ""))
    return f"{clean(template)} “{expression}”" if expression else clean(template)

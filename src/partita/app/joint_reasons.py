"""Why a template joined an entity in the joint model: its decision, with evidence taken away.

The decision is that of the later of two templates, given the other templates as in the answer. A
kind of evidence is taken away as in training, where some characteristics are dropped from every
choice; the change of the log-odds is exact for the decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from partita.configurations.joint import codes as code
from partita.configurations.joint.features import joint_columns
from partita.configurations.joint.model import JointModel
from partita.core import IntArray, Template, restricted_growth
from partita.pairs.explanation import FeatureContribution, JointDecision, PairExplanation
from partita.training.joint import decision_losses
from partita.views.layout import one_line, probability_text

if TYPE_CHECKING:
    from partita.configurations.joint.features_kernels import Mentions
    from partita.training.joint_kernels import Decisions

TOGETHER = "several kinds together"
TOGETHER_IS = "What the kinds say only together: the rest of the log-odds."
MOST_MEMBERS = 12  # the last ones of an entity, of which the one that carries a link is looked for
VISIBLE = 0.05  # least change of the log-odds that the sentence names
LINKED = 0.5
NAMES = [*(one.name for one in code.CELL), *(one.name for one in code.NEW), "word"]


@dataclass(frozen=True, slots=True, eq=False)
class _Decision:
    """The decision of the last mention of `labels`, which puts it into the cell asked about."""

    model: JointModel
    mentions: Mentions
    labels: IntArray

    def last(self) -> Decisions:
        from partita.training.joint_kernels import decisions_of

        found: Decisions = decisions_of(self.mentions, restricted_growth(self.labels))
        j = len(self.labels) - 1
        first = int(found.begin[j])
        return found._replace(
            codes=found.codes[first:],
            begin=found.begin[j:] - first,
            new=found.new[j:],
            lexemes=found.lexemes[j:],
            others=found.others[j:],
            answers=found.answers[j:],
        )

    def log_odds(self, without: Sequence[str] = ()) -> float:
        kept = np.array([[name not in without for name in NAMES]])
        return _log_odds(float(decision_losses(self._scaled(), self.last(), kept)[0]))

    def _scaled(self) -> JointModel:
        a, b = self.model.temperature
        cells = len(set(self.labels[:-1].tolist()))
        scale = math.exp(a + b * math.log(cells + 1))
        model = self.model
        return replace(
            model, out=scale * model.out, other=scale * model.other, gate=scale * model.gate
        )

    def runner_up(self) -> tuple[tuple[int, ...], float]:
        """Return the members of the best other choice (none if it is new) and its probability."""
        last, model = self.last(), self._scaled()
        near = int(last.begin[1])
        options = [n for n in (*range(near), NEW_CELL) if n != last.answers[0]]
        if not options:
            return (), 0.0
        losses = [
            float(decision_losses(model, last._replace(answers=np.array([n])))[0]) for n in options
        ]
        best = options[int(np.argmin(losses))]
        return (() if best == NEW_CELL else self._members_of(best)), math.exp(-min(losses))

    def _members_of(self, answer: int) -> tuple[int, ...]:
        """Return the members of the near cell with this number; the most recent come first."""
        earlier = self.labels[:-1]
        for label in dict.fromkeys(earlier[::-1].tolist()):
            moved = replace(self, labels=np.append(earlier, label))
            if int(moved.last().answers[0]) == answer:
                return tuple(np.flatnonzero(earlier == label).tolist())
        return ()

    def without(self, member: int) -> _Decision:
        """Return the decision with one member in a cell of its own."""
        labels = self.labels.copy()
        labels[member] = labels.max() + 1
        return replace(self, labels=labels)


NEW_CELL = -1


def _log_odds(loss: float) -> float:
    return -loss - math.log(-math.expm1(-max(loss, 1e-12)))


def explain_decision(
    templates: Sequence[Template],
    groups: Sequence[Sequence[str]],
    pair: tuple[str, str],
    marginal: float,
    model: JointModel,
) -> tuple[PairExplanation, JointDecision]:
    """Return the evidence of the later template's decision for the entity of the earlier one."""
    columns = joint_columns(templates, model.lexemes)
    ids = [templates[n].id for n in columns.order.tolist()]
    homes = {name: n for n, group in enumerate(groups) for name in group}
    i, j = sorted(map(ids.index, pair))
    labels = np.array([homes.get(name, len(groups) + n) for n, name in enumerate(ids[: j + 1])])
    labels[j] = labels[i]
    decision = _Decision(model, columns.mentions, labels)
    total = decision.log_odds()
    evidence = _contributions(decision, total)
    members = np.flatnonzero(labels[:j] == labels[i]).tolist()
    changes = {
        m: total - decision.without(m).log_odds()
        for m in (members[-MOST_MEMBERS:] if len(members) > 1 else ())
    }
    carrier = max(changes, key=lambda m: changes[m], default=members[-1])
    others, second = decision.runner_up()
    texts = {template.id: template.text for template in templates}
    found = JointDecision(
        "",
        ids[j],
        tuple(ids[m] for m in members),
        ids[carrier],
        changes.get(carrier, 0.0),
        tuple(ids[m] for m in others),
        second,
    )
    rest = total - sum(one.weight for one in evidence)
    listed = (*evidence, FeatureContribution(TOGETHER, rest, TOGETHER_IS))
    named = [f"“{one_line(texts[name])}”" for name in (ids[i], ids[j])]
    sentence = _sentence(found, evidence, named[0], named[1], marginal, texts)
    probability = 1.0 / (1.0 + math.exp(-total))
    return (
        PairExplanation(ids[i], ids[j], listed, total, probability),
        replace(found, sentence=sentence),
    )


def _contributions(decision: _Decision, total: float) -> list[FeatureContribution]:
    """Return the change of the log-odds by each kind of evidence, the heaviest first."""
    found = [
        FeatureContribution(kind, total - decision.log_odds(names), f"Without: {', '.join(names)}.")
        for kind, names in code.EVIDENCE.items()
    ]
    return sorted(found, key=lambda one: -abs(one.weight))


def _sentence(
    found: JointDecision,
    evidence: Sequence[FeatureContribution],
    earlier: str,
    later: str,
    marginal: float,
    texts: dict[str, str],
) -> str:
    said = [one for one in evidence if abs(one.weight) >= VISIBLE]
    for_it = _joined([one.feature for one in said if one.weight > 0][:2], "speak", "for it")
    against = _joined([one.feature for one in said if one.weight < 0][:2], "speak", "against it")
    linked = marginal >= LINKED
    verb = "is the same as" if linked else "is probably not the same as"
    parts = [part for part in ((for_it, against) if linked else (against, for_it)) if part]
    text = f"{later} {verb} {earlier} ({probability_text(marginal)})"
    text += f": {', '.join(parts)}." if parts else "."
    if linked and found.carrier_change > VISIBLE:
        text += f" It rests most on “{one_line(texts[found.carrier])}”."
    other = f"“{one_line(texts[found.runner_up[-1]])}”" if found.runner_up else "a new entity"
    return f"{text} The next choice is {other} ({probability_text(found.runner_up_probability)})."


def _joined(kinds: Sequence[str], verb: str, how: str) -> str:
    if not kinds:
        return ""
    return f"{' and '.join(kinds)} {verb if len(kinds) > 1 else verb + 's'} {how}"

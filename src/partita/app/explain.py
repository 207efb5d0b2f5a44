"""Explain why two templates were or were not resolved as the same.

In the joint model the decision is that of the later of two templates, given the other templates as
in the answer. A kind of evidence is taken away as in training, where some characteristics are
dropped from every choice; the change of the log-odds is exact for the decision.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from partita.app.cluster import Clusters
from partita.app.runner import Settings
from partita.app.solve import LEARNED, parameters_source, renamed
from partita.configurations import PAIR_MODELS
from partita.configurations.forest.model import ForestParameters
from partita.configurations.joint import codes as code
from partita.configurations.joint.features import joint_columns
from partita.configurations.joint.model import JointModel, read_joint_model, shipped_joint_model
from partita.configurations.solve import Parameters, solve_set
from partita.core import (
    Distribution,
    FloatArray,
    Id,
    IntArray,
    PairProbabilities,
    Template,
    compatible_pairs,
    pair,
    restricted_growth,
)
from partita.core.tabular import Columns, Tabular
from partita.domains import Domain, find_domain, maximum_entropy
from partita.errors import InputError
from partita.files.strict import Place
from partita.files.text import TextSource
from partita.options import ExplainOptions, described
from partita.pairs.columns import template_columns
from partita.pairs.explanation import (
    FeatureContribution,
    JointDecision,
    PairExplanation,
    SetExplanation,
    explain_pair,
    explain_set,
)
from partita.pairs.models import MaximumEntropy
from partita.results.result_lines import result_line
from partita.results.saved_results import Alone, Result, read_results, result_of
from partita.training.joint import decision_losses
from partita.training.parameter_files import (
    model_parameters,
    read_pair_parameters,
    shipped_pair_parameters,
    training_of,
)
from partita.views.explanation import ExplainedPair, explanation_text, score_probability
from partita.views.layout import one_line, probability_text

if TYPE_CHECKING:
    from partita.app.run import ResolvedMessage
    from partita.app.train import TrainedModel
    from partita.configurations.joint.features_kernels import Mentions
    from partita.training.joint_kernels import Decisions


TOLERANCE = 1e-6  # probabilities that differ by more come from other parameters


class Explanation(ExplainedPair, Tabular):
    """Why two templates were resolved as the same or not.

    `probability` is that of the pair alone, `marginal` the one in the distribution over
    configurations. `pair` has the features and their weights, where they are known, `rest` what
    the other templates of the set changed. Of the joint model `pair` has the kinds of evidence with
    the change of the log-odds when each is taken away, and `decision` the rest. The tables are
    `features` and `influences`.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return explanation_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as `partita explain --json` writes it."""
        return asdict(self)

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {"features": self._feature_columns, "influences": self._influence_columns}

    def _feature_columns(self) -> Columns:
        features = self.pair.contributions if self.pair else ()
        names = ("feature", "weight", "documentation")
        return {name: [getattr(one, name) for one in features] for name in names}

    def _influence_columns(self) -> Columns:
        influences = self.rest.influences if self.rest else ()
        return {
            "templates": [list(one.templates) for one in influences],
            "before": [one.before for one in influences],
            "after": [one.after for one in influences],
        }


class RecordExplanation(Explanation):
    """Why two records are in one cluster or not.

    `pair` has the match weights of the columns, where Splink compared them.
    """

    __slots__ = ()
    noun: ClassVar[str] = "record"


@runtime_checkable
class MessageAnswer(Protocol):
    """What `run` returns for a message, as far as it is explained and evaluated."""

    @property
    def settings(self) -> Settings: ...

    def lines(self) -> Iterator[str]: ...


@described(ExplainOptions)
def explain(
    results: ResolvedMessage | Distribution | Clusters | str | os.PathLike[str],
    left: Id,
    right: Id,
    *,
    set_name: str | None = None,
    parameters: str | os.PathLike[str] | TrainedModel | None = None,
    domain: str | None = None,
) -> Explanation:
    """Explain why two templates or records were resolved as the same or not.

    `results` is what `run`, `solve`, `cluster` or `link` returns, or a file of results (JSONL);
    `left` and `right` are ids of templates or records. `set_name` names the coreference set; the
    default is the only one that holds both. Slots are compared as `domain` says, and `parameters`
    are those that the results were made with: results of `run` have both.
    """
    if isinstance(results, Clusters):
        return explain_records(results, left, right)
    if isinstance(results, str | os.PathLike):
        lines, place = list(read_results(Path(results))), str(results)
    else:
        lines, place = saved(results), "the results"
    if isinstance(results, MessageAnswer):
        domain = domain or results.settings.domain
    result, domain_of_run = _select_set(lines, set_name, (str(left), str(right)), place)
    own = results.settings.parameters if isinstance(results, MessageAnswer) else None
    path = parameters_source(parameters or own or None)
    return explain_result(result, str(left), str(right), path, domain or domain_of_run, place)


def saved(answer: MessageAnswer | Distribution) -> list[Result | Alone]:
    """Return an answer as it would be read back from a file of results."""
    if isinstance(answer, Distribution):
        lines = [result_line(renamed(answer, str))]
    elif isinstance(answer, MessageAnswer):
        lines = list(answer.lines())
    else:
        expected = "what run or solve returns, or a file"
        raise TypeError(f"results must be {expected}, not {type(answer).__name__}")
    return [result_of(json.loads(line), Place("results", n)) for n, line in enumerate(lines, 1)]


def explain_result(
    result: Result,
    left: str,
    right: str,
    parameters: TextSource | None,
    domain: str | None,
    place: str,
) -> Explanation:
    """Explain two templates of one set of results."""
    _refuse_unknown(result, left, right, place)
    used = None if domain is None else find_domain(domain)
    if used is not None and parameters is not None:
        used = used.with_parameters(parameters)
    return _PairOfSet(result, left, right, parameters, used).explanation()


@dataclass(frozen=True, slots=True)
class _PairOfSet:
    """Two templates of a set, and what it was resolved with; `notes` say what is unknown."""

    result: Result
    left: str
    right: str
    path: TextSource | None
    domain: Domain | None
    notes: list[str] = field(default_factory=list)

    def explanation(self) -> Explanation:
        """Return everything that is known of the pair."""
        result, ids = self.result, self.result.set.ids
        matrix = result.probabilities.copy()
        np.fill_diagonal(matrix, 1.0)
        s, t = sorted((ids.index(self.left), ids.index(self.right)))
        probability, marginal = float(matrix[s, t]), float(result.marginals.value[s, t])
        decision: JointDecision | None = None
        if result.model == "joint":
            features, decision = self._decision(marginal)
            probability = features.probability if features else probability
        else:
            features = self._features(probability)
        rest = self._influences(PairProbabilities(result.set, matrix), marginal)
        expressions = {one.id: one.text for one in result.set.templates if one.text}
        known = (features, rest, expressions, tuple(self.notes), decision)
        return Explanation(ids[s], ids[t], probability, marginal, *known)

    def _features(self, probability: float) -> PairExplanation | None:
        """Return the features of the pair, or None and a note if they are unknown."""
        result, domain, notes = self.result, self.domain, self.notes
        if pair(self.left, self.right) in {pair(*apart) for apart in result.set.incompatible}:
            notes.append("The two are known to be incompatible, whatever their features are.")
            return None
        if not all(t.head or t.text or t.form or t.slots for t in result.set.templates):
            notes.append(
                "The results hold pair probabilities without what was observed of the templates: "
                "the features are unknown."
            )
            return None
        model = self._pair_model()
        if model is None:
            notes.append("The pair model of the domain has no features that could be shown.")
            return None
        columns = template_columns(
            result.set.templates,
            schema=None if domain is None else domain.schema,
            compatible=compatible_pairs(result.set),
        )
        explanation = explain_pair(model, columns, self.left, self.right)
        if abs(explanation.probability - probability) > TOLERANCE:
            notes.append(
                f"By these parameters the pair alone has {explanation.probability:.4f}, by the "
                f"results {probability:.4f}: these were made with other parameters."
            )
        return explanation

    def _decision(self, marginal: float) -> tuple[PairExplanation | None, JointDecision | None]:
        """Return the evidence of the later template's decision in the joint model."""
        templates, names = self.result.set.templates, (self.left, self.right)
        if any(one.context.get("DENIED_OF") in names for one in templates if one.id in names):
            self.notes.append("The text says that one is not the other.")
            return None, None
        model = shipped_joint_model() if self.path is None else read_joint_model(self.path)
        groups = [entity.templates for entity in self.result.entities] or self.result.first_cells
        return explain_decision(templates, groups, names, marginal, model)

    def _pair_model(self) -> MaximumEntropy | None:
        """Return the model of the domain or, without one, that of a file or the shipped one."""
        if self.domain is not None:
            model = self.domain.pair_model(self.result.model)
            return maximum_entropy(model, self.result.set.templates)
        path = self.path
        parameters = shipped_pair_parameters() if path is None else read_pair_parameters(path)
        return parameters.pair_model(training_of(self.result.model))

    def _influences(self, pairs: PairProbabilities, marginal: float) -> SetExplanation | None:
        """Return what the other templates change, for a model over pairs."""
        model, domain = self.result.model, self.domain
        if model not in PAIR_MODELS:
            return None
        if model == "scaled" and self.path is None and not (domain and domain.parameter_file):
            self.notes.append("The scale is the shipped one; --parameters F gives another.")
        parameters: Parameters | None = None
        if model in LEARNED and domain is None:
            parameters = model_parameters(model, self.path)
        elif model in LEARNED and domain is not None:
            parameters = getattr(domain.pair_parameters, model)

        def marginals(changed: PairProbabilities) -> FloatArray:
            return solve_set(changed, model, parameters=parameters, top=1).marginals.value

        return explain_set(pairs, self.left, self.right, marginal, marginals)


DENSE = 3000  # records of a set up to which the influence of the others is measured


def explain_records(clusters: Clusters, left: Id, right: Id) -> RecordExplanation:
    """Explain two records of clusters: what their columns say, then the rest of their set."""
    sets, answers = clusters.solved_sets, clusters.pair_probabilities
    names = (str(left), str(right))
    homes = [sets.home(name) for name in names]
    if names[0] == names[1]:
        raise InputError(f"both records are {left} (expected two different records)")
    for name, home in zip(names, homes, strict=True):
        if home is None and all(name != single.id for single in sets.singletons):
            raise InputError(f"unknown record {name}")
    weights = clusters.weights(left, right)
    features = None
    if weights:
        total = sum(weight for _, weight in weights)
        parts = tuple(FeatureContribution(label, weight, "") for label, weight in weights)
        features = PairExplanation(*names, parts, total, score_probability(total))
    if homes[0] is None or homes[0] != homes[1]:
        own = features.probability if features else sets.missing or 0.0
        note = "No scores connect the two records: they are in different sets."
        return RecordExplanation(*names, own, own, features, None, {}, (note,))
    part = sets.slice(homes[0], homes[0] + 1)
    s, t = sorted(part.ids.index(name) for name in names)
    rows = np.flatnonzero((part.left == s) & (part.right == t)) + sets.row_starts[homes[0]]
    notes = [] if len(rows) else ["The two were not compared: they have the default of the model."]
    if len(part.ids) > DENSE:
        raise InputError(f"the set of {left} and {right} is too large: it cannot be explained")
    parameters = ForestParameters(**(clusters.summary.parameters or {}))
    if (parameters.scale, parameters.bias) != (1.0, 0.0):
        scale, bias = parameters.scale, parameters.bias
        notes.append(f"The model multiplies log-odds of scores by {scale:.2f} and adds {bias:.2f}.")
    if parameters.floor > 0.0:
        notes.append(f"The model takes {parameters.floor:.0%} of low scores to be wrong.")

    def marginals(pairs: PairProbabilities) -> FloatArray:
        return solve_set(pairs, "forest", parameters=parameters, top=1).marginals.value

    pairs = part.pairs()[0]
    marginal = float(answers[rows[0]] if len(rows) else marginals(pairs)[s, t])
    rest = explain_set(pairs, *names, marginal, marginals)
    return RecordExplanation(
        part.ids[s], part.ids[t], rest.probability, marginal, features, rest, {}, tuple(notes)
    )


def _select_set(
    lines: Sequence[Result | Alone], name: str | None, ids: tuple[str, str], place: str
) -> tuple[Result, str | None]:
    """Return the set, and the domain of the run that resolved its message."""
    sets = [one for one in lines if isinstance(one, Result)]
    if name is not None:
        matching = [one for one in sets if one.set.name == name]
    else:
        matching = [one for one in sets if {*ids} <= {*one.set.ids}]
    if not matching and name is None:
        raise InputError(f"no set holds both {ids[0]} and {ids[1]}", file=place)
    several = {one.message or one.set.name for one in matching}  # windows of a message share some
    if not matching or (name is None and len(several) > 1):
        shown = [one.set.name for one in (matching or sets)]
        named = ", ".join(shown[:10]) + (", …" if len(shown) > 10 else "")
        problem = f"has no set {name}" if name else f"has {len(matching)} sets with both"
        raise InputError(f"{problem}; expected one of {named}", file=place)
    one = matching[-1]
    domains = (a.domain for a in lines if isinstance(a, Alone) and a.message == one.message)
    return one, next(domains, "") or None


def _refuse_unknown(result: Result, left: str, right: str, place: str) -> None:
    for template in (left, right):
        if template not in result.set.ids:
            shown = ", ".join(result.set.ids[:20])
            problem = f"set {result.set.name} has no template {template}; expected one of {shown}"
            raise InputError(problem, file=place)
    if left == right:
        raise InputError(f"both templates are {left} (expected two different templates)")


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

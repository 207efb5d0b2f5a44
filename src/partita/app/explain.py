"""Explain why two templates were or were not resolved as the same."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from partita.app.cluster import Clusters
from partita.app.runner import Settings
from partita.app.solve import LEARNED, parameters_path, renamed
from partita.configurations import PAIR_MODELS
from partita.configurations.forest.model import ForestParameters
from partita.configurations.joint.model import read_joint_model, shipped_joint_model
from partita.configurations.solve import Parameters, solve_set
from partita.core import (
    Distribution,
    FloatArray,
    Id,
    PairProbabilities,
    compatible_pairs,
    pair,
)
from partita.core.tabular import Columns, Tabular
from partita.domains import Domain, find_domain, maximum_entropy
from partita.errors import InputError
from partita.files.strict import Place
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
from partita.training.parameter_files import (
    model_parameters,
    read_pair_parameters,
    shipped_pair_parameters,
    training_of,
)
from partita.views.charts import explanation_chart, save
from partita.views.explanation import ExplainedPair, explanation_text, score_probability

if TYPE_CHECKING:
    from partita.app.run import ResolvedMessage
    from partita.app.train import TrainedModel

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

    def save_chart(self, path: str | os.PathLike[str]) -> None:
        """Draw a waterfall chart; the ending of the file gives the format: svg, html or png."""
        save(explanation_chart(self), Path(path))

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
        parameters = parameters or results.settings.parameters or None
    result, domain_of_run = _select_set(lines, set_name, (str(left), str(right)), place)
    path = parameters_path(parameters)
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
    parameters: Path | None,
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
    path: Path | None
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
        from partita.app.joint_reasons import explain_decision

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
    if not sets.evidence or len(part.ids) > DENSE:
        problem = "is not of the forest model" if not sets.evidence else "is too large"
        raise InputError(f"the set of {left} and {right} {problem}: it cannot be explained")
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
